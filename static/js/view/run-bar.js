// The bar at the bottom: pick a model, load it, train, go live, stop; what runs, what waits, and how it goes.

import { batchFacts, feedText, liveFacts, stateText } from "../model/headline.js";
import { hasEnded } from "../model/run.js";
import { button, element, fill } from "./element.js";
import { fillKeyed } from "./keyed.js";
import { learningOf } from "./learning.js";
import { showRunCause } from "./run-cause.js";

/** @typedef {import("./context.js").PageContext} PageContext */
/** @typedef {import("../model/run.js").Run} Run */
/** @typedef {import("../model/headline.js").Fact} Fact */

const SPEEDS = [1, 10, 60, "max"];
const LIVE_TITLE = "Live Inference + Per-Candle Training";
const FIRST_HINT = "Load a model, train it on the stored candles, or let it learn candle by candle.";

/**
 * Fill the run bar.
 * @param {HTMLElement} root
 * @param {PageContext} context
 */
export function mountRunBar(root, context) {
  new RunBar(root, context);
}

class RunBar {
  #context;
  #desk;
  #settings;
  #model = element("select", { id: "model", "aria-label": "Model", title: "Which network to load, train or run live" });
  #speed = element(
    "select",
    { id: "speed", "aria-label": "Replay speed", title: "Candles a second for the next live run; max: as fast as it learns" },
    ...SPEEDS.map((speed) => element("option", { value: speed }, speed === "max" ? "max" : `${speed}×`)),
  );
  #load = button("Load", () => void this.#ask(() => this.#desk.load(this.#settings.modelConfig())), { id: "load-model" });
  #batch = button("Start batch training", () => void this.#ask(() => this.#start("batch")), { id: "start-batch", class: "primary" });
  #live = button("Start live training", () => void this.#ask(() => this.#start("live"), "live"), { id: "start-live", class: "primary", title: LIVE_TITLE });
  #controls = { batch: this.#runControls("batch"), live: this.#runControls("live") };
  #idleStop = button("Stop", () => undefined, { disabled: true, title: "Nothing runs" });
  #bar = element("div", { class: "run-progress", role: "progressbar", "aria-label": "Progress of the batch run", "aria-valuemin": 0, "aria-valuemax": 100 });
  #facts = element("div", { class: "run-facts", "aria-label": "How the runs go" });
  #said = element("div", { class: "visually-hidden", "aria-live": "polite" });
  #link = element("span", { class: "badge", id: "link-state" });

  /**
   * @param {HTMLElement} root
   * @param {PageContext} context
   */
  constructor(root, context) {
    const { desk, settings } = learningOf(context);
    this.#context = context;
    this.#desk = desk;
    this.#settings = settings;
    this.#model.addEventListener("change", () => settings.set("model", "model", this.#model.value));
    this.#speed.addEventListener("change", () => this.#setSpeed());
    root.append(this.#bar, this.#controlRow(), this.#facts, this.#said);
    settings.onChange(() => desk.repaint());
    desk.onPaint(() => this.#paint());
    context.keyboard.on("replay", () => void this.#ask(() => this.#pauseOrResume(desk.active("live") ? "live" : "batch")));
    setInterval(() => desk.active("live") && desk.repaint(), 1000); // the snapshot's age
  }

  #controlRow() {
    return element(
      "div",
      { class: "run-controls" },
      element("label", { class: "muted", for: "model" }, "Model"),
      this.#model,
      this.#load,
      this.#batch,
      element("span", { class: "joined" }, this.#live, this.#speed),
      this.#controls.batch.root,
      this.#controls.live.root,
      this.#idleStop,
      this.#link,
    );
  }

  #setSpeed() {
    const speed = this.#speed.value === "max" ? "max" : Number(this.#speed.value);
    const feed = /** @type {object} */ (this.#settings.get("live", "feed"));
    this.#settings.set("live", "feed", { ...feed, speed });
  }

  /** @param {"batch" | "live"} mode */
  #runControls(mode) {
    const pause = button("Pause", () => void this.#ask(() => this.#pauseOrResume(mode)));
    const stop = button("Stop", () => void this.#ask(() => this.#command(mode, "stop")));
    return { root: element("span", { class: "joined", role: "group", "aria-label": mode === "batch" ? "Batch run" : "Live run", hidden: true }, pause, stop), pause, stop };
  }

  /** @param {"batch" | "live"} mode */
  #pauseOrResume(mode) {
    return this.#command(mode, this.#desk.active(mode)?.state === "paused" ? "resume" : "pause");
  }

  /**
   * @param {"batch" | "live"} mode
   * @param {"stop" | "pause" | "resume"} action
   */
  async #command(mode, action) {
    const run = this.#desk.active(mode);
    if (run !== undefined) await this.#desk.command(run.id, action);
  }

  /** @param {"batch" | "live"} mode */
  #start(mode) {
    return this.#desk.begin(mode, mode === "batch" ? this.#settings.batchConfig() : this.#settings.liveConfig());
  }

  /**
   * Ask the server; a refused value is shown at its field, everything else as a message that stays.
   * @param {() => Promise<unknown>} call
   * @param {"batch" | "live"} [mode]
   */
  async #ask(call, mode) {
    try {
      this.#settings.refuse(null);
      await call();
    } catch (error) {
      if (this.#settings.refuse(/** @type {Error} */ (error), mode)) this.#context.tabs.show("train");
      else this.#context.toast(/** @type {Error} */ (error).message, { tone: "danger" });
    }
  }

  #paint() {
    this.#paintModels();
    this.#paintControls();
    this.#paintFacts();
    this.#paintLink();
  }

  #paintModels() {
    const choices = this.#desk.catalogue.get()?.items ?? [];
    if (this.#model.options.length !== choices.length)
      fill(this.#model, ...choices.map(({ name, title }) => element("option", { value: name }, title)));
    const picked = this.#settings.get("model", "model");
    if (picked !== undefined) this.#model.value = String(picked);
    setText(this.#load, `Load ${this.#model.selectedOptions[0]?.textContent ?? "model"}`);
    const feed = /** @type {{speed?: unknown} | undefined} */ (this.#settings.get("live", "feed"));
    this.#speed.value = String(feed?.speed ?? 1);
  }

  #paintControls() {
    const ready = this.#desk.catalogue.get() !== null && this.#desk.seriesId !== null;
    const active = { batch: this.#desk.active("batch"), live: this.#desk.active("live") };
    const both = active.batch !== undefined && active.live !== undefined;
    this.#load.disabled = !ready || this.#desk.active("load") !== undefined;
    this.#batch.disabled = !ready;
    this.#live.disabled = !ready || active.live !== undefined;
    this.#idleStop.hidden = active.batch !== undefined || active.live !== undefined;
    for (const mode of /** @type {const} */ (["batch", "live"])) this.#paintRunControls(mode, active[mode], both);
  }

  /**
   * @param {"batch" | "live"} mode
   * @param {Run | undefined} run
   * @param {boolean} named
   */
  #paintRunControls(mode, run, named) {
    const { root, pause, stop } = this.#controls[mode];
    root.hidden = run === undefined;
    if (run === undefined) return;
    const suffix = named ? ` ${mode}` : "";
    setText(pause, (run.state === "paused" ? "Resume" : "Pause") + suffix);
    setText(stop, (run.state === "stopping" ? "Stopping …" : "Stop") + suffix);
    pause.disabled = run.state !== "running" && run.state !== "paused";
    stop.disabled = run.state === "stopping";
  }

  #paintFacts() {
    const shown = ["live", "batch", "load"].flatMap((mode) => this.#runsToTell(/** @type {"live"} */ (mode)));
    const elsewhere = this.#desk.runs.get().filter((run) => run.series_id !== this.#desk.seriesId && !hasEnded(run.state));
    fillKeyed(this.#facts, [
      ...shown.map((run) => this.#runLine(run)),
      ...elsewhere.map((run) => this.#elsewhereLine(run)),
      ...this.#hint(shown),
    ]);
    this.#paintProgress();
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

  #paintProgress() {
    const run = this.#desk.active("batch");
    const share = run === undefined ? 0 : (this.#desk.progressOf(run.id)?.share ?? 0);
    this.#bar.style.setProperty("--share", String(share));
    this.#bar.setAttribute("aria-valuenow", String(Math.round(share * 100)));
    this.#bar.hidden = run === undefined;
  }

  /**
   * @param {Run} run
   * @returns {import("./keyed.js").KeyedPart}
   */
  #runLine(run) {
    const progress = this.#desk.progressOf(run.id);
    const facts = progress === undefined ? [] : factsOf(run, progress);
    const kind = run.mode === "live" ? `Live ${feedText(run)}` : run.mode === "batch" ? "Batch" : "Loading";
    const title = `${kind} · ${stateText(run, this.#desk.runs.get())}`;
    const isQuiet = run.state === "running" && facts.length === 0;
    const make = () =>
      element(
        "div",
        { class: "run-line", "data-run": run.id },
        element("span", { class: `badge ${toneOf(run.state)}` }, title),
        ...facts.map(factElement),
        isQuiet && element("span", { class: "muted" }, "getting ready …"),
        run.cause !== null && element("span", { class: "clip cause", title: run.cause }, run.cause.split("\n", 1)[0]),
        run.cause !== null && button("Why?", () => showRunCause(this.#context, run), { class: "quiet small" }),
      );
    return { key: JSON.stringify([run.id, title, run.cause, facts, isQuiet]), make };
  }

  /**
   * @param {Run} run
   * @returns {import("./keyed.js").KeyedPart}
   */
  #elsewhereLine(run) {
    const symbol = this.#context.series.get().items.find((series) => series.id === run.series_id)?.symbol ?? `series ${run.series_id}`;
    const title = `${run.mode} on ${symbol} · ${stateText(run, this.#desk.runs.get())}`;
    const show = () => this.#context.openSeries(run.series_id);
    const make = () =>
      element("div", { class: "run-line" }, element("span", { class: "badge" }, title), button("Show", show, { class: "quiet small" }));
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
    return [{ key: words, make: () => element("div", { class: `run-line ${failure === null ? "muted" : "cause"}` }, words) }];
  }

  #paintLink() {
    const words = { live: "● live", connecting: "connecting …", reconnecting: "reconnecting …", refused: "signed out" }[this.#desk.linkState];
    setText(this.#link, words);
    this.#link.className = `badge link ${this.#desk.linkState === "live" ? "ok" : "warning"}`;
    this.#link.title = this.#desk.linkState === "live" ? "New events arrive as they happen" : "Nothing is lost: what is missed now is fetched afterwards";
  }
}

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

/**
 * Set a text only when it changed, so that nothing is announced twice and no click is lost.
 * @param {HTMLElement} node
 * @param {string} text
 */
function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}
