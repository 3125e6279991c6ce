// What the run bar says of a run: a few facts, each accuracy with what guessing reaches beside it. Pure; no DOM.

import { count, loss, percent } from "./format-metrics.js";

/** @typedef {import("./run.js").Run} Run */
/** @typedef {import("./run.js").RunProgress} RunProgress */
/** @typedef {import("./events.js").Baselines} Baselines */

/**
 * One fact of the run bar.
 * @typedef {object} Fact
 * @property {string} label
 * @property {string} value
 * @property {string} [beside] what it is compared with
 * @property {string} [title] a longer explanation
 * @property {"warning" | "muted"} [tone]
 */

/**
 * @typedef {object} LiveFigures running figures of one target, by window
 * @property {number} n
 * @property {number | null} accuracy
 * @property {[number, number] | null} interval
 * @property {number | null} nll
 * @property {string | null} [verdict] "better than guessing", "not better" or "worse"; null while nobody can say
 * @property {Record<string, {accuracy: number | null, nll: number | null, gap?: [number, number] | null}>} baselines
 */

/** @typedef {{alarms: number, rise: number | null}} AlarmFigures */

/** @typedef {Record<string, LiveFigures>} ByWindow `100`, `1000` and `all` */
/** @typedef {{of?: "seen" | "unseen", candle?: ByWindow, trend?: ByWindow, drift?: AlarmFigures & {dummy: AlarmFigures}}} FiguresByTarget `of` says of which candles */

/** Candles that may wait without a word. */
const MANY = 5;

/**
 * Say where a batch run stands.
 * @param {RunProgress} progress
 * @returns {Fact[]} none before its first batch
 */
export function batchFacts(progress) {
  const { batch } = progress;
  if (batch === null) return [];
  const baselines = progress.epochs.at(-1)?.train.baselines;
  return [
    { label: "Epoch", value: `${batch.epoch}/${batch.epochs}` },
    { label: "Batch", value: `${batch.batch}/${batch.batches}` },
    { label: "loss", value: loss(batch.loss), title: "Training loss of this batch" },
    {
      label: "candle",
      value: percent(batch.candle_accuracy),
      beside: guess(baselines, "candle"),
      title: "Accuracy on this train batch",
    },
    {
      label: "trend",
      value: percent(batch.trend_accuracy),
      beside: guess(baselines, "trend"),
      title: "Accuracy on this train batch",
    },
    ...validationFacts(progress),
    ...skippedFacts(batch.skipped_steps),
  ];
}

/**
 * @param {RunProgress} progress
 * @returns {Fact[]}
 */
function validationFacts(progress) {
  const last = progress.epochs.at(-1);
  if (last === undefined) return [];
  if (last.validation === null) return [{ label: "validation", value: "none", tone: "muted" }];
  const { validation } = last;
  return [
    {
      label: "validation",
      value: percent(validation.candle_accuracy),
      beside: guess(validation.baselines, "candle"),
      title: `Candle accuracy on ${count(validation.n)} validation windows after epoch ${last.epoch}`,
    },
  ];
}

/**
 * @param {number} skipped
 * @returns {Fact[]}
 */
function skippedFacts(skipped) {
  if (skipped === 0) return [];
  return [
    {
      label: "skipped steps",
      value: String(skipped),
      tone: "warning",
      title: "Loss or gradient was not finite; parameters stayed as they were",
    },
  ];
}

/**
 * Say where a live run stands.
 * @param {RunProgress} progress
 * @param {number} now ms UTC
 * @returns {Fact[]} none before its first candle
 */
export function liveFacts(progress, now) {
  const { learnt, scored, snapshot } = progress;
  if (learnt === null && scored === null) return [];
  const figures = /** @type {FiguresByTarget} */ (scored?.figures ?? {});
  return [
    { label: "loss", value: loss(learnt?.loss), beside: `avg ${loss(learnt?.average_loss)}`, title: "Per-candle training loss" },
    targetFact("candle", figures),
    targetFact("trend", figures),
    { label: "scored", value: count(scored?.n ?? 0), title: "Unseen candles scored so far" },
    ...skippedCandles(learnt?.counts ?? {}),
    ...driftFacts(figures),
    ...behindFacts(progress),
    ...snapshotFacts(snapshot, now),
  ];
}

/**
 * @param {Record<string, number>} counts candles learnt, and skipped by reason
 * @returns {Fact[]} none while every candle was learnt
 */
function skippedCandles(counts) {
  const reasons = Object.entries(counts).filter(([reason]) => reason !== "learnt");
  if (reasons.length === 0) return [];
  const skipped = reasons.reduce((sum, [, many]) => sum + many, 0);
  const why = reasons.map(([reason, many]) => `${count(many)} ${reason}`);
  return [{ label: "not learnt", value: count(skipped), title: `Candles that were not learnt: ${why.join(", ")}`, tone: "muted" }];
}

/**
 * @param {FiguresByTarget} figures
 * @returns {Fact[]} none before the first alarm
 */
function driftFacts({ drift }) {
  if (drift === undefined || drift.alarms === 0) return [];
  const rise = (/** @type {AlarmFigures} */ of) => (of.rise === null ? "not known yet" : loss(of.rise));
  return [
    {
      label: "drift alarms",
      value: String(drift.alarms),
      beside: `dummy ${drift.dummy.alarms}`,
      title: `The loss rose for good. Loss after an alarm less loss before: ${rise(drift)}; for a dummy that alarms by the clock: ${rise(drift.dummy)}`,
      tone: "warning",
    },
  ];
}

/**
 * @param {RunProgress} progress
 * @returns {Fact[]} none once nothing waits any more
 */
function behindFacts({ scored, ended }) {
  if (ended !== null) return [];
  const behind = scored?.behind ?? 0;
  return [
    {
      label: "behind",
      value: String(behind),
      title: "Closed candles that wait for the trainer",
      tone: behind > MANY ? "warning" : undefined,
    },
  ];
}

/**
 * Figures of candles that the model had learnt before are no measure of skill, and say so.
 * @param {"candle" | "trend"} target
 * @param {FiguresByTarget} figures
 * @returns {Fact}
 */
function targetFact(target, figures) {
  const last = figures[target]?.["100"];
  if (last === undefined) return { label: target, value: "–", title: "No score yet" };
  const all = figures[target]?.["all"];
  const majority = last.baselines["majority"]?.accuracy;
  const isSeen = figures.of === "seen";
  return {
    label: isSeen ? `${target}, seen in training` : target,
    value: percent(last.accuracy),
    beside: [`avg ${percent(all?.accuracy)}`, `majority ${percent(majority)}`, isSeen ? null : all?.verdict].filter(Boolean).join(", "),
    title: `${isSeen ? "Not prequential: accuracy" : "Prequential accuracy"} of the last ${last.n} ${isSeen ? "seen" : "unseen"} candles; avg: of all ${count(all?.n)}`,
    tone: isSeen ? "muted" : undefined,
  };
}

/**
 * @param {{number: number, since: number} | null} snapshot
 * @param {number} now
 * @returns {Fact[]}
 */
function snapshotFacts(snapshot, now) {
  if (snapshot === null) return [];
  const age = Math.max(0, Math.round((now - snapshot.since) / 1000));
  return [
    {
      label: "snapshot",
      value: String(snapshot.number),
      beside: `${age} s old`,
      title: "Published weights that predictions use",
    },
  ];
}

/**
 * @param {Baselines | undefined} baselines
 * @param {string} head
 * @returns {string | undefined}
 */
function guess(baselines, head) {
  const majority = baselines?.[head]?.["majority"]?.accuracy;
  return majority === undefined || majority === null ? undefined : `majority ${percent(majority)}`;
}

/**
 * Name the state of a run for a person, with what it waits for.
 * @param {Run} run
 * @param {readonly Run[]} runs all of them
 * @returns {string}
 */
export function stateText(run, runs) {
  if (run.state !== "queued") return run.state;
  const first = runs.findLast(
    (other) => other.mode === run.mode && other.id < run.id && ["running", "paused", "stopping"].includes(other.state),
  );
  return first === undefined ? "queued" : `waits for run ${first.id}`;
}
