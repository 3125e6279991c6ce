// What the page knows of runs and asks of them: one list of runs, one progress a followed run, the commands. No DOM.

import { AUDITS } from "../model/audit.js";
import { changesState, hasEnded, RunProgress } from "../model/run.js";
import { createStore } from "../model/store.js";
import { ReplayWatch } from "./replay-watch.js";

/** @typedef {import("../model/run.js").Run} Run */
/** @typedef {import("../model/config.js").Field} Field */
/** @typedef {import("../model/events.js").RunEvent} RunEvent */
/** @typedef {import("./api.js").Api} Api */
/** @typedef {import("./link.js").Link} Link */
/** @typedef {import("../model/types.js").SeriesState} SeriesState */

/** @typedef {{name: string, title: string}} ModelChoice */
/** @typedef {{items: ModelChoice[], fields: {load: Field[], batch: Field[], live: Field[]}, exchanges: Record<string, string>}} Catalogue */
/** @typedef {Record<string, unknown>} Config */
/** @typedef {(run: Run, events: RunEvent[], progress: RunProgress) => void} OnEvents */

const BUSY_POLL_MS = 1500;
const IDLE_POLL_MS = 10_000;

/** Runs of the open series are followed: those under way, the newest of each mode, and the one that is looked at. */
export class RunDesk {
  /** Every run, newest first. */
  runs = createStore(/** @type {Run[]} */ ([]));
  /** Models and fields; null until the server has said them. */
  catalogue = createStore(/** @type {Catalogue | null} */ (null));
  /** The run whose epochs, metrics and lines are shown; null follows the newest one. */
  picked = createStore(/** @type {number | null} */ (null));
  /** Runs that are shown beside each other in the metrics; fewer than two show the one that is looked at. */
  compared = createStore(/** @type {number[]} */ ([]));
  /** Why the list of runs could not be read; null when it could. */
  failure = createStore(/** @type {Error | null} */ (null));
  /** Of the open series. */
  replay = new ReplayWatch();

  /** @type {Map<number, {progress: RunProgress, follower: import("./run-follower.js").RunFollower}>} */
  #followed = new Map();
  /** @type {Set<OnEvents>} */
  #eventWatchers = new Set();
  /** @type {Set<() => void>} */
  #painters = new Set();
  #api;
  #link;
  #series;
  #frame;
  #framed = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #poll;
  /** @type {(() => void) | null} */
  #leaveSeries = null;

  /**
   * @param {Api} api
   * @param {Link} link
   * @param {import("../model/store.js").Store<SeriesState>} series
   * @param {(paint: () => void) => void} frame calls back in the next frame
   */
  constructor(api, link, series, frame) {
    this.#api = api;
    this.#link = link;
    this.#series = series;
    this.#frame = frame;
  }

  /** Read models and runs, then keep up. */
  start() {
    this.#series.subscribe((now, before) => {
      if (now.current?.id !== before.current?.id) this.#openSeries();
    });
    for (const store of [this.runs, this.catalogue, this.picked, this.compared, this.failure]) store.subscribe(() => this.repaint());
    this.picked.subscribe(() => this.#follow());
    this.replay.onRest(() => this.#followAnew());
    this.#link.onState((state) => (state === "live" ? void this.refresh() : this.repaint()));
    this.#openSeries();
    void this.#readCatalogue();
  }

  /** @returns {import("./link.js").LinkState} */
  get linkState() {
    return this.#link.state;
  }

  /** @returns {number | null} */
  get seriesId() {
    return this.#series.get().current?.id ?? null;
  }

  /** @returns {Run[]} runs of the open series, newest first */
  get ofSeries() {
    return this.runs.get().filter((run) => run.series_id === this.seriesId);
  }

  /**
   * Give the run of a mode that is under way on the open series; audits count as batch runs, whose queue they share.
   * @param {"batch" | "live" | "load"} mode
   * @returns {Run | undefined}
   */
  active(mode) {
    const modes = mode === "batch" ? ["batch", ...AUDITS] : [mode];
    return this.ofSeries.findLast((run) => modes.includes(run.mode) && !hasEnded(run.state));
  }

  /** @returns {Run | undefined} the run whose figures are shown */
  get focus() {
    const learning = this.ofSeries.filter((run) => run.mode !== "load");
    return learning.find((run) => run.id === this.picked.get()) ?? learning[0];
  }

  /**
   * @param {number} runId
   * @returns {RunProgress | undefined} undefined for a run that is not followed
   */
  progressOf(runId) {
    return this.#followed.get(runId)?.progress;
  }

  /**
   * @param {number} runId
   * @returns {readonly RunEvent[]} every event that the page has of a followed run
   */
  eventsOf(runId) {
    return this.#followed.get(runId)?.follower.items ?? [];
  }

  /**
   * Be told events as they come, each once and in order.
   * @param {OnEvents} watcher
   */
  onEvents(watcher) {
    this.#eventWatchers.add(watcher);
  }

  /**
   * Be called in one frame after anything changed.
   * @param {() => void} painter
   */
  onPaint(painter) {
    this.#painters.add(painter);
    this.repaint();
  }

  /** Ask for one paint in the next frame; any number of calls give one. */
  repaint() {
    if (this.#framed) return;
    this.#framed = true;
    this.#frame(() => {
      this.#framed = false;
      for (const painter of this.#painters) painter();
    });
  }

  /**
   * Load weights for a model: the newest fitting checkpoint, or a fresh one.
   * @param {Config} config with `model`
   * @param {string | number} [checkpoint] "latest", "new" or an id
   * @returns {Promise<Run>}
   */
  load(config, checkpoint = "latest") {
    const { model, ...rest } = config;
    return this.#begin("/api/models/load", { model, series_id: this.seriesId, checkpoint, config: rest });
  }

  /**
   * Start a run on the open series, or on a dataset of it.
   * @param {Run["mode"]} mode
   * @param {Config} config
   * @param {number | null} [datasetId]
   * @returns {Promise<Run>}
   */
  begin(mode, config, datasetId = null) {
    const about = datasetId === null ? { series_id: this.seriesId } : { dataset_id: datasetId };
    return this.#begin("/api/runs", { mode, ...about, config });
  }

  /**
   * @param {number} runId
   * @param {"stop" | "pause" | "resume"} action
   * @returns {Promise<Run>}
   */
  async command(runId, action) {
    return this.#keep((await this.#api.post(`/api/runs/${runId}/${action}`)).run);
  }

  /**
   * Remove the stored weights of the open series.
   * @returns {Promise<number>} how many there were
   */
  async discard() {
    return (await this.#api.delete(`/api/series/${this.seriesId}/checkpoints`)).deleted;
  }

  /** Read the list of runs again. */
  async refresh() {
    clearTimeout(this.#poll);
    try {
      this.#setRuns((await this.#api.get("/api/runs")).items);
      this.failure.set(null);
    } catch (error) {
      this.failure.set(/** @type {Error} */ (error));
    }
    const busy = this.runs.get().some((run) => !hasEnded(run.state));
    clearTimeout(this.#poll);
    this.#poll = setTimeout(() => void this.refresh(), busy ? BUSY_POLL_MS : IDLE_POLL_MS);
  }

  async #readCatalogue() {
    try {
      this.catalogue.set(await this.#api.get("/api/models"));
    } catch (error) {
      this.failure.set(/** @type {Error} */ (error));
      setTimeout(() => void this.#readCatalogue(), BUSY_POLL_MS);
    }
  }

  /**
   * @param {string} path
   * @param {unknown} body
   * @returns {Promise<Run>}
   */
  async #begin(path, body) {
    const run = this.#keep((await this.#api.post(path, body)).run);
    if (run.mode !== "load") this.picked.set(null);
    return run;
  }

  /**
   * @param {Run} run
   * @returns {Run}
   */
  #keep(run) {
    this.#setRuns([run, ...this.runs.get().filter((known) => known.id !== run.id)]);
    void this.refresh();
    return run;
  }

  /** @param {Run[]} runs */
  #setRuns(runs) {
    this.runs.set([...runs].sort((a, b) => b.id - a.id));
    this.#follow();
  }

  #openSeries() {
    this.#leaveSeries?.();
    const id = this.seriesId;
    this.#leaveSeries = id === null ? null : this.#link.followSeries(id, (notice) => this.#noticed(notice));
    this.picked.set(null);
    this.#follow();
    this.repaint();
  }

  /** @param {unknown} notice without `what` after a cut: anything may have changed */
  #noticed(notice) {
    const { what, run } = /** @type {{what?: string, run?: Run}} */ (notice);
    if (what === "replay" || what === "blind") this.replay.moved(/** @type {import("./replay-watch.js").Moved} */ (notice));
    else if (run !== undefined) this.#setRuns([run, ...this.runs.get().filter((known) => known.id !== run.id)]);
    else if (what === undefined) void this.refresh();
  }

  /** Other events are hidden now: forget all and read them again, with the list of runs. */
  #followAnew() {
    for (const id of this.#followed.keys()) this.#link.leaveRun(id);
    this.#followed.clear();
    void this.refresh();
  }

  /** Follow what the page shows, leave the rest. */
  #follow() {
    const wanted = new Set(this.#wanted().map((run) => run.id));
    for (const id of [...this.#followed.keys()]) {
      if (wanted.has(id)) continue;
      this.#link.leaveRun(id);
      this.#followed.delete(id);
    }
    for (const id of wanted) if (!this.#followed.has(id)) this.#followRun(id);
  }

  /** @returns {Run[]} */
  #wanted() {
    const runs = this.ofSeries;
    const newest = ["load", "batch", "live", ...AUDITS].map((mode) => runs.find((run) => run.mode === mode));
    const underWay = runs.filter((run) => !hasEnded(run.state));
    return [...newest, ...underWay, this.focus].filter((run) => run !== undefined);
  }

  /** @param {number} id */
  #followRun(id) {
    const progress = new RunProgress();
    const follower = this.#link.followRun(id, (events) => {
      progress.take(events);
      const run = this.runs.get().find((known) => known.id === id);
      if (run !== undefined) for (const watcher of this.#eventWatchers) watcher(run, events, progress);
      if (events.some(changesState)) void this.refresh();
      this.repaint();
    });
    this.#followed.set(id, { progress, follower });
  }
}
