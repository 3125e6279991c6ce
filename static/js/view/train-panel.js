// The Train panel: the loaded model, the settings, how the shown run goes, its figures beside the baselines, all runs.

import { AUDITS, MODE_TITLES } from "../model/audit.js";
import { configValue, count, duration, percent, rate } from "../model/format-metrics.js";
import { hasEnded } from "../model/run.js";
import { auditParts, questionParts } from "./audit-parts.js";
import { card } from "./card.js";
import { compareRun } from "./comparing.js";
import { button, element } from "./element.js";
import { epochDetail, epochTable, liveTables } from "./figure-tables.js";
import { fillKeyed } from "./keyed.js";
import { KeptSnapshots } from "./kept-snapshots.js";
import { learningOf } from "./learning.js";
import { MemoryLine } from "./memory-line.js";
import { showRunCause } from "./run-cause.js";
import { editNote } from "./run-note.js";
import { runsTable } from "./runs-table.js";
import { warningParts } from "./run-warnings.js";
import { TrainForm } from "./train-form.js";

/** @typedef {import("./context.js").PageContext} PageContext */
/** @typedef {import("./keyed.js").KeyedPart} KeyedPart */
/** @typedef {import("../model/run.js").Run} Run */
/** @typedef {import("../model/run.js").RunProgress} RunProgress */
/** @typedef {import("../model/events.js").ModelLoaded} ModelLoaded */

/**
 * Fill the Train panel.
 * @param {HTMLElement} root
 * @param {PageContext} context
 */
export function mountTrainPanel(root, context) {
  new TrainPanel(root, context);
}

class TrainPanel {
  #context;
  #desk;
  #model = element("section", { class: "stack", "aria-label": "Loaded model" });
  #run = element("section", { class: "stack", "aria-label": "How the run goes" });
  #questions = element("section", { class: "stack", "aria-label": "Questions to a batch run" });
  #runs = element("section", { class: "stack", "aria-label": "Runs" });
  /** @type {{run: number, epoch: number} | null} the epoch that a person clicked */
  #picked = null;

  /**
   * @param {HTMLElement} root
   * @param {PageContext} context
   */
  constructor(root, context) {
    const { desk, settings } = learningOf(context);
    this.#context = context;
    this.#desk = desk;
    root.classList.add("train-panel");
    const memory = new MemoryLine(context.api, settings);
    root.append(this.#model, this.#run, this.#questions, new TrainForm(settings).root, memory.root, this.#runs);
    desk.onPaint(() => this.#paint());
  }

  #paint() {
    fillKeyed(this.#model, this.#modelParts());
    fillKeyed(this.#run, this.#runParts());
    fillKeyed(this.#questions, questionParts(this.#context, this.#desk.focus));
    fillKeyed(this.#runs, this.#runsParts());
  }

  /** @returns {KeyedPart[]} */
  #modelParts() {
    const loads = this.#desk.ofSeries.filter((run) => run.mode === "load");
    const newest = loads[0];
    const loaded = newest === undefined ? null : (this.#desk.progressOf(newest.id)?.loaded ?? null);
    if (newest !== undefined && newest.state === "failed") {
      const retry = () => void this.#try(() => this.#desk.load(newest.config));
      const make = () =>
        card({
          title: "The model was not loaded",
          text: newest.cause ?? "",
          tone: "danger",
          actions: [{ text: "Try again", run: retry }],
        });
      return [{ key: `failed ${newest.id}`, make }];
    }
    if (loaded === null) return [];
    const title = this.#desk.catalogue.get()?.items.find((model) => model.name === loaded.model)?.title ?? loaded.model;
    const isNews = this.#desk.ofSeries[0]?.id === loaded.run_id;
    return [{ key: `loaded ${loaded.run_id} ${isNews}`, make: () => modelCard(loaded, title, isNews) }];
  }

  /** @returns {KeyedPart[]} */
  #runParts() {
    const run = this.#desk.focus;
    const progress = run === undefined ? undefined : this.#desk.progressOf(run.id);
    if (run === undefined || progress === undefined) return [];
    const head = {
      key: `head ${run.id}`,
      make: () => element("h2", {}, `Run ${run.id}: ${MODE_TITLES[run.mode]}`),
    };
    if (AUDITS.includes(run.mode)) return [head, ...startParts(progress), ...auditParts(run, progress)];
    const figures = run.mode === "live" ? [...liveParts(progress), this.#keptPart(run)] : this.#epochParts(run, progress);
    return [head, ...startParts(progress), ...progressParts(run, progress), ...warningParts(progress), ...figures];
  }

  /**
   * @param {Run} run
   * @returns {KeyedPart}
   */
  #keptPart(run) {
    const make = () => new KeptSnapshots(this.#context, this.#desk, run.id).root;
    return { key: `kept ${run.id}`, make };
  }

  /**
   * @param {Run} run
   * @param {RunProgress} progress
   * @returns {KeyedPart[]}
   */
  #epochParts(run, progress) {
    if (progress.epochs.length === 0) return [];
    const picked = this.#picked?.run === run.id ? this.#picked.epoch : undefined;
    const shown = progress.epochs.findLast((epoch) => epoch.epoch === picked) ?? progress.epochs[progress.epochs.length - 1];
    const choose = (/** @type {number} */ epoch) => {
      this.#picked = { run: run.id, epoch };
      this.#desk.repaint();
    };
    return [
      ...verdictParts(progress),
      {
        key: `epochs ${run.id} ${progress.epochs.length} ${shown.epoch}`,
        make: () => epochTable(progress.epochs, shown.epoch, choose),
      },
      { key: `epoch ${run.id} ${shown.seq}`, make: () => epochDetail(shown) },
    ];
  }

  /** @returns {KeyedPart[]} */
  #runsParts() {
    const runs = this.#desk.ofSeries;
    const shown = this.#desk.focus?.id;
    const states = JSON.stringify([runs.map((run) => [run.id, run.state, run.cause, run.note]), this.#desk.compared.get()]);
    return [
      { key: "title", make: () => this.#runsHead() },
      { key: `${shown} ${states}`, make: () => runsTable(runs, shown, this.#runActions()) },
    ];
  }

  #runsHead() {
    const discard = button("Discard checkpoints", () => void this.#discard(), {
      class: "small",
      title: "Removes the stored weights of this series, so that the next run starts fresh",
    });
    return element("div", { class: "row spread" }, element("h2", {}, "Runs"), discard);
  }

  /** @returns {import("./runs-table.js").RunActions} */
  #runActions() {
    return {
      show: (run) => this.#desk.picked.set(run.id),
      resume: (run) => void this.#try(() => this.#desk.command(run.id, "resume")),
      explain: (run) => showRunCause(this.#context, run),
      note: (run) => editNote(this.#context, run),
      compared: this.#desk.compared.get(),
      compare: (run, isTicked) => compareRun(this.#context, this.#desk.compared, run.id, isTicked),
    };
  }

  async #discard() {
    const series = this.#context.series.get().current;
    if (series === null) return;
    const text = `The stored weights of every model on ${series.symbol} ${series.timeframe} are removed for good. Runs, figures and datasets stay.`;
    if (!(await this.#context.dialog.confirm("Discard checkpoints", text, "Discard checkpoints"))) return;
    await this.#try(async () => {
      const discarded = await this.#desk.discard();
      this.#context.toast(discarded === 0 ? "There were no checkpoints." : `${discarded} checkpoints are removed.`, {
        tone: "ok",
      });
    });
  }

  /** @param {() => Promise<unknown>} call */
  async #try(call) {
    try {
      await call();
    } catch (error) {
      this.#context.toast(/** @type {Error} */ (error).message, { tone: "danger" });
    }
  }
}

/**
 * @param {ModelLoaded} loaded
 * @param {string} title of the model
 * @param {boolean} open
 */
function modelCard(loaded, title, open) {
  const facts = [
    ["Weights", loaded.checkpoint === null ? loaded.origin : `${loaded.origin} ${loaded.checkpoint}`],
    ["Why", loaded.reason],
    ["Parameters", count(loaded.parameters)],
    ["Device", `${loaded.device}, ${loaded.dtype}: ${loaded.device_reason}`],
    ["Memory", loaded.memory],
    [
      "Learnt up to",
      loaded.data_cut === null ? "nothing yet" : `${new Date(loaded.data_cut).toISOString().slice(0, 19).replace("T", " ")} UTC`,
    ],
  ];
  return element(
    "details",
    { class: "card model-card", open },
    element("summary", {}, open ? `${title} is loaded` : `${title}, as loaded by run ${loaded.run_id}`),
    element("dl", { class: "facts" }, ...facts.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)])),
  );
}

/**
 * @param {RunProgress} progress
 * @returns {KeyedPart[]}
 */
function startParts(progress) {
  const { started } = progress;
  if (started === null) return [];
  const make = () =>
    element(
      "details",
      {},
      element("summary", {}, `From ${started.origin} weights: ${started.reason}`),
      element(
        "p",
        { class: "muted" },
        `${count(started.parameters)} parameters · ${started.device} ${started.dtype} · ${started.threads} threads`,
      ),
      ...started.notes.map((note) => element("p", { class: "muted" }, note)),
      element("p", { class: "muted" }, configValue(started.data)),
      element("p", { class: "muted" }, configValue(started.config)),
    );
  return [{ key: `started ${started.run_id} ${started.seq}`, make }];
}

/**
 * @param {Run} run
 * @param {RunProgress} progress
 * @returns {KeyedPart[]}
 */
function progressParts(run, progress) {
  const { batch } = progress;
  if (batch === null || run.mode !== "batch") return [];
  const batchSize = Number(progress.started?.config["batch_size"]);
  const speed = batchSize > 0 ? `${rate(batch.windows_per_s / batchSize)} batches/s` : `${rate(batch.windows_per_s)} windows/s`;
  const words = hasEnded(run.state) ? run.state : `${speed} · ${duration(batch.eta_s)} left`;
  const make = () =>
    element(
      "div",
      { class: "progress-row" },
      element("progress", { value: progress.share, max: 1, "aria-label": "Progress of the run" }),
      element("span", { class: "muted number" }, `${percent(progress.share)} · ${words}`),
    );
  return [{ key: `progress ${batch.seq} ${words}`, make }];
}

/**
 * @param {RunProgress} progress
 * @returns {KeyedPart[]}
 */
function verdictParts(progress) {
  const { verdict } = progress;
  if (verdict === null) return [];
  const tone = verdict.startsWith("not") ? "warning" : "ok";
  return [
    {
      key: `verdict ${verdict}`,
      make: () =>
        element(
          "p",
          {},
          element("span", { class: `badge ${tone} verdict` }, verdict),
          element("small", { class: "muted" }, " by validation loss"),
        ),
    },
  ];
}

/**
 * @param {RunProgress} progress
 * @returns {KeyedPart[]}
 */
function liveParts(progress) {
  return progress.scored === null ? [] : [{ key: `live ${progress.scored.seq}`, make: () => liveTables(progress) }];
}
