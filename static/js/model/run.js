// One run as the page shows it, built from its events alone; no DOM, no fetch.

import { linesOf } from "./events.js";

/** @typedef {import("./events.js").RunEvent} RunEvent */
/** @typedef {import("./events.js").BatchDone} BatchDone */
/** @typedef {import("./events.js").EpochDone} EpochDone */
/** @typedef {import("./events.js").CandlePredicted} CandlePredicted */
/** @typedef {import("./events.js").CandleScored} CandleScored */
/** @typedef {import("./events.js").CandleLearnt} CandleLearnt */
/** @typedef {import("./events.js").ModelLoaded} ModelLoaded */
/** @typedef {import("./events.js").RunStarted} RunStarted */
/** @typedef {import("./events.js").RunEnded} RunEnded */
/** @typedef {import("./events.js").Warned} Warned */
/** @typedef {import("./events.js").DriftAlarm} DriftAlarm */
/** @typedef {import("./events.js").RolledBack} RolledBack */

/**
 * A run as GET /api/runs gives it.
 * @typedef {object} Run
 * @property {number} id
 * @property {"load" | "batch" | "live" | "skill" | "leaks"} mode
 * @property {number} series_id
 * @property {number | null} [dataset_id]
 * @property {string} state queued, running, paused, stopping, finished, stopped, failed, interrupted
 * @property {string | null} cause
 * @property {Record<string, unknown>} config
 * @property {number} created
 * @property {number | null} started
 * @property {number | null} ended
 * @property {Record<string, unknown>} summary
 * @property {string | null} [note] a person's
 */

/** Printed lines kept: what a person scrolls through; the server keeps its events. */
const KEEP_LINES = 20_000;

const ENDED = new Set(["finished", "stopped", "failed", "interrupted"]);

/**
 * Say whether a run in this state will say nothing more by itself.
 * @param {string} state
 * @returns {boolean}
 */
export function hasEnded(state) {
  return ENDED.has(state);
}

/**
 * Say whether a run is in another state after an event.
 * @param {RunEvent} event
 * @returns {boolean}
 */
export function changesState(event) {
  return event.type === "run_started" || event.type === "run_resumed" || event.type === "run_ended";
}

/**
 * Say whether the same run can go on.
 * @param {Run} run
 * @returns {boolean}
 */
export function canResume(run) {
  return run.state === "paused" || (run.state === "interrupted" && (run.mode === "batch" || run.mode === "live"));
}

/** What the events of one run amount to so far. */
export class RunProgress {
  /** @type {ModelLoaded | null} */
  loaded = null;
  /** @type {RunStarted | null} */
  started = null;
  /** @type {BatchDone | null} */
  batch = null;
  /** @type {EpochDone[]} */
  epochs = [];
  /** @type {import("./events.js").JudgedOnTest | null} */
  tested = null;
  /** @type {import("./events.js").ControlEpoch | null} the newest epoch of a check on skill */
  control = null;
  /** @type {import("./events.js").LeakChecked[]} */
  findings = [];
  /** @type {CandlePredicted | null} */
  predicted = null;
  /** @type {CandleScored | null} */
  scored = null;
  /** @type {CandleLearnt | null} */
  learnt = null;
  /** @type {Warned[]} */
  warnings = [];
  /** @type {DriftAlarm[]} */
  alarms = [];
  /** @type {RolledBack[]} */
  rollbacks = [];
  /** @type {RunEnded | null} */
  ended = null;
  /** @type {string[]} */
  lines = [];
  /** @type {{number: number, since: number} | null} the newest snapshot and when it was first named, ms UTC */
  snapshot = null;

  /** @param {readonly RunEvent[]} events in order, each once */
  take(events) {
    for (const event of events) {
      this.#take(event);
      for (const line of linesOf(event)) this.lines.push(line);
    }
    if (this.lines.length > 1.1 * KEEP_LINES) this.lines.splice(0, this.lines.length - KEEP_LINES);
  }

  /** @param {RunEvent} event */
  #take(event) {
    switch (event.type) {
      case "model_loaded":
        this.loaded = event;
        return this.#published(event.snapshot, event.time);
      case "run_started":
        this.started = event;
        return;
      case "batch_done":
        this.batch = event;
        return;
      case "epoch_done":
        this.epochs.push(event);
        return;
      case "test_judged":
        this.tested = event;
        return;
      case "control_epoch":
        this.control = event;
        return;
      case "leak_checked":
        this.findings.push(event);
        return;
      case "candle_predicted":
        this.predicted = event;
        return this.#published(event.snapshot, event.time);
      case "candle_scored":
        this.scored = event;
        return;
      case "candle_learnt":
        this.learnt = event;
        return this.#published(event.snapshot, event.time);
      case "warning":
        this.warnings.push(event);
        return;
      case "drift_alarm":
        this.alarms.push(event);
        return;
      case "rolled_back":
        this.rollbacks.push(event);
        return this.#published(event.snapshot, event.time);
      case "run_resumed":
        this.ended = null;
        return;
      case "run_ended":
        this.ended = event;
    }
  }

  /**
   * @param {number} number
   * @param {number} time
   */
  #published(number, time) {
    if (this.snapshot === null || number !== this.snapshot.number) this.snapshot = { number, since: time };
  }

  /** @returns {number} share of the planned batches that are done, 0 to 1 */
  get share() {
    const batch = this.batch;
    if (batch === null) return 0;
    return ((batch.epoch - 1) * batch.batches + batch.batch) / (batch.epochs * batch.batches);
  }

  /** @returns {EpochDone | null} the epoch with the best validation, else the last one */
  get best() {
    return this.epochs.findLast((epoch) => epoch.best) ?? this.epochs.at(-1) ?? null;
  }

  /** @returns {string | null} what the last judged epoch said of the baselines */
  get verdict() {
    return this.epochs.findLast((epoch) => epoch.verdict !== null)?.verdict ?? null;
  }
}
