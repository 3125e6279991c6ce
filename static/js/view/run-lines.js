// The lines of the run bar: one a run, with its state, a few facts, and the cause of its end.

import { feedFacts, feedText } from "../model/feed.js";
import { AUDITS } from "../model/audit.js";
import { batchFacts, liveFacts, stateText } from "../model/headline.js";
import { hasEnded } from "../model/run.js";
import { button, element } from "./element.js";
import { fillKeyed } from "./keyed.js";
import { learningOf } from "./learning.js";
import { showRunCause } from "./run-cause.js";
import { setText } from "./set-text.js";

/** @typedef {import("./context.js").PageContext} PageContext */
/** @typedef {import("../model/run.js").Run} Run */
/** @typedef {import("../model/headline.js").Fact} Fact */

const FIRST_HINT = "Load a model, train it on the stored candles, or let it learn candle by candle.";
/** A run that began so long ago has said something. */
const READING_MS = 10_000;

/** What runs on the open series, and in a few words what runs on others. */
export class RunLines {
  #facts = element("div", { class: "run-facts", "aria-label": "How the runs go" });
  #said = element("div", { class: "visually-hidden", "aria-live": "polite" });
  #context;
  #desk;

  /** @param {PageContext} context */
  constructor(context) {
    this.#context = context;
    this.#desk = learningOf(context).desk;
  }

  /** @returns {HTMLElement[]} */
  get roots() {
    return [this.#facts, this.#said];
  }

  /** Show what runs, what waits, and what ended last. */
  paint() {
    const shown = ["live", "batch", ...AUDITS, "load"].flatMap((mode) => this.#runsToTell(/** @type {"live"} */ (mode)));
    const elsewhere = this.#desk.runs.get().filter((run) => run.series_id !== this.#desk.seriesId && !hasEnded(run.state));
    fillKeyed(this.#facts, [
      ...shown.map((run) => this.#runLine(run)),
      ...elsewhere.map((run) => this.#elsewhereLine(run)),
      ...this.#hint(shown),
    ]);
    const words = shown.map((run) => `${run.mode} run ${run.id}: ${stateText(run, this.#desk.runs.get())}`).join("; ");
    setText(this.#said, words);
  }

  /**
   * Runs of a mode under way, else the one that ended last.
   * @param {"live" | "batch" | "load"} mode
   * @returns {Run[]}
   */
  #runsToTell(mode) {
    const runs = this.#desk.ofSeries.filter((run) => run.mode === mode);
    const underWay = runs.filter((run) => !hasEnded(run.state)).reverse();
    if (underWay.length > 0) return underWay;
    const newest = this.#desk.ofSeries.find((run) => run.mode !== "load" || run.state === "failed");
    return runs[0] !== undefined && runs[0] === newest ? [runs[0]] : [];
  }

  /**
   * @param {Run} run
   * @returns {import("./keyed.js").KeyedPart}
   */
  #runLine(run) {
    const progress = this.#desk.progressOf(run.id);
    const facts = progress === undefined ? [] : factsOf(run, progress);
    const feed = hasEnded(run.state) ? [] : feedFacts(run);
    const kind = run.mode === "live" ? `Live ${feedText(run)}` : KINDS[run.mode] ?? "Loading";
    const title = `${kind} · ${stateText(run, this.#desk.runs.get())}`;
    const quiet = run.state === "running" && facts.length === 0 ? this.#quietWords(run) : "";
    const make = () =>
      element(
        "div",
        { class: "run-line", "data-run": run.id },
        element("span", { class: `badge ${toneOf(run.state)}` }, title),
        ...[...feed, ...facts].map(factElement),
        quiet !== "" && element("span", { class: "muted" }, quiet),
        run.cause !== null && element("span", { class: "clip cause", title: run.cause }, run.cause.split("\n", 1)[0]),
        run.cause !== null && button("Why?", () => showRunCause(this.#context, run), { class: "quiet small" }),
      );
    return { key: JSON.stringify([run.id, title, run.cause, feed, facts, quiet]), make };
  }

  /**
   * What keeps a run from telling figures: it has none yet, or the page has not read them.
   * @param {Run} run
   */
  #quietWords(run) {
    const isUnread = this.#desk.eventsOf(run.id).length === 0 && Date.now() - (run.started ?? Date.now()) > READING_MS;
    return isUnread ? "reading what it has said …" : "getting ready …";
  }

  /**
   * @param {Run} run
   * @returns {import("./keyed.js").KeyedPart}
   */
  #elsewhereLine(run) {
    const symbol =
      this.#context.series.get().items.find((series) => series.id === run.series_id)?.symbol ?? `series ${run.series_id}`;
    const title = `${run.mode} on ${symbol} · ${stateText(run, this.#desk.runs.get())}`;
    const show = () => this.#context.openSeries(run.series_id);
    const make = () =>
      element(
        "div",
        { class: "run-line" },
        element("span", { class: "badge" }, title),
        button("Show", show, { class: "quiet small" }),
      );
    return { key: JSON.stringify([run.id, title]), make };
  }

  /**
   * @param {Run[]} shown
   * @returns {import("./keyed.js").KeyedPart[]}
   */
  #hint(shown) {
    const failure = this.#desk.failure.get();
    const words = failure === null ? FIRST_HINT : `Runs cannot be read: ${failure.message}`;
    if (failure === null && shown.length > 0) return [];
    return [{ key: words, make: () => element("div", { class: `run-line ${failure === null ? "muted first-hint" : "cause"}` }, words) }];
  }
}

/** @type {Record<string, string | undefined>} */
const KINDS = { batch: "Batch", skill: "Is it skill?", leaks: "Leak check" };

/**
 * @param {Run} run
 * @param {import("../model/run.js").RunProgress} progress
 */
function factsOf(run, progress) {
  if (run.mode !== "live") return batchFacts(progress);
  return liveFacts(progress, hasEnded(run.state) ? (run.ended ?? run.created) : Date.now());
}

/** @param {Fact} fact */
function factElement(fact) {
  return element(
    "span",
    { class: `fact ${fact.tone ?? ""}`, title: fact.title },
    element("span", { class: "muted" }, `${fact.label} `),
    element("b", { class: "number" }, fact.value),
    fact.beside !== undefined && element("span", { class: "muted" }, ` (${fact.beside})`),
  );
}

/** @param {string} state */
function toneOf(state) {
  if (state === "running" || state === "finished") return "ok";
  if (state === "failed") return "danger";
  return state === "stopped" || state === "queued" ? "" : "warning";
}
