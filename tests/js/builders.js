// Builders of events for the tests: a valid event of a type, with the fields that matter to the test.

/** @typedef {import("../../static/js/model/events.js").BatchDone} BatchDone */
/** @typedef {import("../../static/js/model/events.js").EpochDone} EpochDone */
/** @typedef {import("../../static/js/model/events.js").CandlePredicted} CandlePredicted */
/** @typedef {import("../../static/js/model/events.js").CandleScored} CandleScored */
/** @typedef {import("../../static/js/model/events.js").CandleLearnt} CandleLearnt */
/** @typedef {import("../../static/js/model/events.js").Warned} Warned */
/** @typedef {import("../../static/js/model/events.js").RunEnded} RunEnded */

export const START = Date.UTC(2025, 10, 22, 17, 3, 41);

/**
 * @param {Partial<BatchDone>} [fields]
 * @returns {BatchDone}
 */
export function batchDone(fields = {}) {
  return {
    type: "batch_done",
    run_id: 1,
    seq: 1,
    time: START,
    line: null,
    epoch: 1,
    epochs: 2,
    batch: 1,
    batches: 23,
    step: 1,
    loss: 0.535,
    candle_accuracy: 0.22,
    trend_accuracy: 0.51,
    learning_rate: 2e-3,
    gradient_norm: 0.8,
    windows_per_s: 120,
    eta_s: 12,
    skipped_steps: 0,
    ...fields,
  };
}

/**
 * @param {Partial<EpochDone>} [fields]
 * @returns {EpochDone}
 */
export function epochDone(fields = {}) {
  const figures = { loss: 1.5, candle_accuracy: 0.25, trend_accuracy: 0.5, n: 900, baselines: {} };
  return {
    type: "epoch_done",
    run_id: 1,
    seq: 1,
    time: START,
    line: null,
    epoch: 1,
    epochs: 2,
    batches: 23,
    train: figures,
    validation: figures,
    best: true,
    verdict: null,
    seconds: 3,
    ...fields,
  };
}

/**
 * @param {Partial<CandlePredicted>} [fields]
 * @returns {CandlePredicted}
 */
export function candlePredicted(fields = {}) {
  const time = fields.candle_time ?? START;
  return {
    type: "candle_predicted",
    run_id: 1,
    seq: 1,
    time: START,
    line: null,
    candle_time: time,
    as_of: time - 1000,
    closed: { time: time - 1000, open: 99, high: 101, low: 98, close: 100, volume: 5 },
    snapshot: 3,
    data_cut: START - 1e6,
    seen: false,
    candle_probabilities: [0.1, 0.2, 0.4, 0.2, 0.1],
    candle_edges: [-0.8, -0.25, 0.25, 0.8],
    sigma: 0.01,
    trend_up: 0.62,
    trend_due: time + 4000,
    label_probabilities: null,
    latency_ms: 4,
    ...fields,
  };
}

/**
 * @param {Partial<CandleScored>} [fields]
 * @returns {CandleScored}
 */
export function candleScored(fields = {}) {
  return {
    type: "candle_scored",
    run_id: 1,
    seq: 1,
    time: START,
    line: null,
    candle_time: START,
    seen: false,
    skipped: null,
    outcome: 2,
    predicted: 2,
    correct: true,
    loss: 0.9,
    trend_correct: null,
    trend_as_of: null,
    snapshot: 3,
    n: 1,
    figures: {},
    behind: 0,
    ...fields,
  };
}

/**
 * @param {Partial<CandleLearnt>} [fields]
 * @returns {CandleLearnt}
 */
export function candleLearnt(fields = {}) {
  return {
    type: "candle_learnt",
    run_id: 1,
    seq: 1,
    time: START,
    line: "first\nsecond",
    candle_time: START,
    seen: false,
    skipped: null,
    loss: 0.4231,
    average_loss: 0.4156,
    accuracy: 0.285,
    average_accuracy: 0.2532,
    step: 1,
    snapshot: 3,
    change: -0.0006,
    counts: { learnt: 1 },
    ...fields,
  };
}

/**
 * @param {Partial<import("../../static/js/model/events.js").DriftAlarm>} [fields]
 * @returns {import("../../static/js/model/events.js").DriftAlarm}
 */
export function driftAlarm(fields = {}) {
  return {
    type: "drift_alarm",
    run_id: 1,
    seq: 1,
    time: START,
    line: null,
    candle_time: START,
    loss: 1.9,
    loss_before: 1.5,
    alarms: 1,
    dummy_alarms: 2,
    message: "the loss has risen",
    ...fields,
  };
}

/**
 * @param {Partial<import("../../static/js/model/events.js").RolledBack>} [fields]
 * @returns {import("../../static/js/model/events.js").RolledBack}
 */
export function rolledBack(fields = {}) {
  return {
    type: "rolled_back",
    run_id: 1,
    seq: 1,
    time: START,
    line: null,
    candle_time: START,
    asked: false,
    since: null,
    taken_back: 8,
    back_to: 3,
    snapshot: 9,
    data_cut: START - 1e6,
    message: "snapshot 8 was taken back",
    ...fields,
  };
}

/**
 * @param {Partial<Warned>} [fields]
 * @returns {Warned}
 */
export function warned(fields = {}) {
  return { type: "warning", run_id: 1, seq: 1, time: START, line: null, code: "loss_zero", message: "The loss is 0.", ...fields };
}

/**
 * @param {Partial<RunEnded>} [fields]
 * @returns {RunEnded}
 */
export function runEnded(fields = {}) {
  return {
    type: "run_ended",
    run_id: 1,
    seq: 1,
    time: START,
    line: null,
    state: "finished",
    cause: null,
    summary: {},
    ...fields,
  };
}

/**
 * A stored run of `count` batches.
 * @param {number} count
 * @returns {BatchDone[]} numbered from 1
 */
export function storedBatches(count) {
  return Array.from({ length: count }, (_, index) => batchDone({ seq: index + 1, step: index + 1 }));
}
