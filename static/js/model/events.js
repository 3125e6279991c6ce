// The events of one run: their shapes, and the list that keeps them whole and in order. No DOM, no fetch.
//
// The shapes mirror nn/events.py. Times are ms UTC, accuracies fractions of 1.

/**
 * What every event has.
 * @typedef {object} EventBase
 * @property {number} run_id
 * @property {number} seq from 1, without holes
 * @property {number} time
 * @property {string | null} line the printed text, where the event has one
 */

/**
 * The figures of one head over one stretch of data.
 * @typedef {object} HeadFigures
 * @property {number} n
 * @property {number | null} accuracy
 * @property {[number, number] | null} [interval]
 * @property {number | null} [balanced_accuracy]
 * @property {number | null} [mcc]
 * @property {number | null} [nll]
 * @property {number | null} [f1]
 * @property {{difference: number, interval: [number, number] | null} | null} [uncertainty] what its head makes of the NLL
 */

/** @typedef {{accuracy: number | null, nll?: number | null, f1?: number | null}} BaselineFigures */
/** @typedef {Record<string, Record<string, BaselineFigures | null>>} Baselines head → baseline → figures */

/**
 * @typedef {object} SplitFigures
 * @property {number | null} loss
 * @property {number | null} candle_accuracy
 * @property {number | null} trend_accuracy
 * @property {number} n
 * @property {Baselines} baselines
 * @property {Record<string, HeadFigures>} [heads]
 */

/**
 * @typedef {EventBase & {type: "model_loaded", model: string, origin: string, reason: string, checkpoint: string | null,
 *   parameters: number, device: string, dtype: string, device_reason: string, memory: string, data_cut: number | null,
 *   snapshot: number}} ModelLoaded
 * @typedef {EventBase & {type: "run_started", mode: string, config: Record<string, unknown>, origin: string,
 *   reason: string, parameters: number, device: string, dtype: string, threads: number,
 *   data: Record<string, unknown>, notes: string[]}} RunStarted
 * @typedef {EventBase & {type: "batch_done", epoch: number, epochs: number, batch: number, batches: number,
 *   step: number, loss: number, candle_accuracy: number | null, trend_accuracy: number | null, learning_rate: number,
 *   gradient_norm: number | null, windows_per_s: number, eta_s: number, skipped_steps: number}} BatchDone
 * @typedef {EventBase & {type: "epoch_done", epoch: number, epochs: number, batches: number, train: SplitFigures,
 *   validation: SplitFigures | null, best: boolean, verdict: string | null, seconds: number}} EpochDone
 * @typedef {EventBase & {type: "test_judged", epoch: number | null, test: SplitFigures | null, verdict: string | null,
 *   seconds: number}} JudgedOnTest
 * @typedef {EventBase & {type: "control_epoch", number: number, runs: number, epoch: number, epochs: number,
 *   loss: number, heads: Record<string, number>, best_loss: number, eta_s: number}} ControlEpoch
 * @typedef {EventBase & {type: "leak_checked", check: string, passed: boolean, words: string, marks: string[]}} LeakChecked
 * @typedef {{time: number, open: number, high: number, low: number, close: number, volume: number | null}} Candle
 * @typedef {EventBase & {type: "candle_predicted", candle_time: number, as_of: number | null, closed: Candle | null,
 *   snapshot: number, data_cut: number | null, seen: boolean, candle_probabilities: number[],
 *   candle_edges: number[], sigma: number, trend_up: number, trend_due: number,
 *   label_probabilities: Record<string, number> | null, latency_ms: number}} CandlePredicted
 * @typedef {EventBase & {type: "candle_scored", candle_time: number, seen: boolean, skipped: string | null,
 *   outcome: number | null, predicted: number | null, correct: boolean | null, loss: number | null,
 *   trend_correct: boolean | null, trend_as_of: number | null, snapshot: number | null, n: number,
 *   figures: Record<string, unknown>, behind: number, after_no_trade?: boolean}} CandleScored
 * @typedef {EventBase & {type: "candle_learnt", candle_time: number, seen: boolean, skipped: string | null,
 *   loss: number | null, average_loss: number | null, accuracy: number | null, average_accuracy: number | null,
 *   step: number, snapshot: number, change: number | null, counts: Record<string, number>}} CandleLearnt
 * @typedef {EventBase & {type: "drift_alarm", candle_time: number, loss: number, loss_before: number, alarms: number,
 *   dummy_alarms: number, message: string}} DriftAlarm
 * @typedef {EventBase & {type: "rolled_back", candle_time: number | null, asked: boolean, since: number | null,
 *   taken_back: number, back_to: number, snapshot: number, data_cut: number | null, message: string}} RolledBack
 * @typedef {EventBase & {type: "run_resumed", step: number, from_checkpoint: string | null}} RunResumed
 * @typedef {EventBase & {type: "warning", code: string, message: string}} Warned
 * @typedef {EventBase & {type: "run_ended", state: string, cause: string | null,
 *   summary: Record<string, unknown>}} RunEnded
 * @typedef {ModelLoaded | RunStarted | BatchDone | EpochDone | JudgedOnTest | ControlEpoch | LeakChecked | CandlePredicted | CandleScored | CandleLearnt |
 *   DriftAlarm | RolledBack | RunResumed | Warned | RunEnded} RunEvent
 */

/** Events of a run that the page keeps: more candles than a chart holds at once; the rest is with the server. */
export const KEEP_EVENTS = 15_000;

/**
 * The newest events of one run as they are stored: in order of `seq`, each once.
 *
 * An item that comes too early waits until those before it were fetched.
 */
export class EventList {
  /** @type {RunEvent[]} */
  #items = [];
  /** @type {Map<number, RunEvent>} */
  #early = new Map();
  #last = 0;

  /** @returns {readonly RunEvent[]} the newest events so far, in order */
  get items() {
    return this.#items;
  }

  /** @returns {number} the number of the last event that has all before it; 0 at first */
  get last() {
    return this.#last;
  }

  /** @returns {boolean} whether a later event waits for one that has not come */
  get hasHole() {
    return this.#early.size > 0;
  }

  /**
   * Take events as they come, in any order and doubled.
   * @param {readonly RunEvent[]} items
   * @param {number} [completeTo] `items` holds all that is stored up to it: a number missing below was folded away
   * @returns {RunEvent[]} those that are new and in order, ready to be shown
   */
  add(items, completeTo = 0) {
    for (const item of items) if (item.seq > this.#last) this.#early.set(item.seq, item);
    /** @type {RunEvent[]} */
    const fresh = [];
    this.#takeStored(completeTo, fresh);
    this.#takeNext(fresh);
    for (const item of fresh) this.#items.push(item);
    if (this.#items.length > 1.1 * KEEP_EVENTS) this.#items.splice(0, this.#items.length - KEEP_EVENTS);
    return fresh;
  }

  /**
   * @param {number} completeTo
   * @param {RunEvent[]} fresh
   */
  #takeStored(completeTo, fresh) {
    const numbers = [...this.#early.keys()].filter((seq) => seq <= completeTo).sort((a, b) => a - b);
    for (const seq of numbers) this.#take(seq, fresh);
  }

  /** @param {RunEvent[]} fresh */
  #takeNext(fresh) {
    while (this.#early.has(this.#last + 1)) this.#take(this.#last + 1, fresh);
  }

  /**
   * @param {number} seq
   * @param {RunEvent[]} fresh
   */
  #take(seq, fresh) {
    const item = this.#early.get(seq);
    if (item === undefined) return;
    this.#early.delete(seq);
    this.#last = seq;
    fresh.push(item);
  }
}

/**
 * Give the printed lines of an event: none, one, or the two of a learnt candle.
 * @param {RunEvent} event
 * @returns {string[]}
 */
export function linesOf(event) {
  return event.line ? event.line.split("\n") : [];
}
