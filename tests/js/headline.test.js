// What the run bar says.
import assert from "node:assert/strict";
import { test } from "node:test";

import { batchFacts, liveFacts, stateText } from "../../static/js/model/headline.js";
import { RunProgress } from "../../static/js/model/run.js";
import { batchDone, candleLearnt, candleScored, epochDone, START } from "./builders.js";

/** @param {import("../../static/js/model/headline.js").Fact[]} facts */
const said = (facts) =>
  facts.map(({ label, value, beside }) => [label, value, beside].filter((part) => part !== undefined).join(" "));

test("a batch run says where it is, with the majority beside each accuracy", () => {
  const progress = new RunProgress();
  const baselines = { candle: { majority: { accuracy: 0.204 } }, trend: { majority: { accuracy: 0.5 } } };
  const figures = { loss: 1.6, candle_accuracy: 0.25, trend_accuracy: 0.5, n: 900, baselines };
  progress.take([
    epochDone({ train: figures, validation: figures }),
    batchDone({ epoch: 2, batch: 1, batches: 23, candle_accuracy: 0.22 }),
  ]);
  assert.deepEqual(said(batchFacts(progress)), [
    "Epoch 2/2",
    "Batch 1/23",
    "loss .535",
    "candle 22% majority 20%",
    "trend 51% majority 50%",
    "validation 25% majority 20%",
  ]);
});

test("an empty validation set is said as none", () => {
  const progress = new RunProgress();
  progress.take([epochDone({ validation: null }), batchDone()]);
  assert.ok(said(batchFacts(progress)).includes("validation none"));
});

test("steps that were not taken are said", () => {
  const progress = new RunProgress();
  progress.take([batchDone({ skipped_steps: 3 })]);
  assert.ok(said(batchFacts(progress)).includes("skipped steps 3"));
});

test("a live run says loss, both accuracies with their baselines, what waits and the snapshot's age", () => {
  const progress = new RunProgress();
  const window = {
    n: 100,
    accuracy: 0.285,
    interval: [0.2, 0.4],
    nll: 1.5,
    baselines: { majority: { accuracy: 0.21, nll: 1.6 } },
  };
  const windows = { 100: window, all: { ...window, n: 500, accuracy: 0.253 } };
  progress.take([candleScored({ n: 500, behind: 2, figures: { candle: windows } }), candleLearnt({ time: START })]);
  assert.deepEqual(said(liveFacts(progress, START + 3400)), [
    "loss .423 avg .416",
    "candle 28% avg 25%, majority 21%",
    "trend –",
    "scored 500",
    "behind 2",
    "snapshot 3 3 s old",
  ]);
});

test("the words of the verdict stand beside the accuracy, what was not learnt and drift beside them", () => {
  const progress = new RunProgress();
  const window = { n: 100, accuracy: 0.28, interval: null, nll: 1.5, baselines: {}, verdict: "not better" };
  const drift = { alarms: 2, rise: 0.31, dummy: { alarms: 4, rise: 0.01 } };
  const figures = { of: "unseen", candle: { 100: window, all: { ...window, verdict: "better than guessing" } }, drift };
  progress.take([candleScored({ figures }), candleLearnt({ counts: { learnt: 90, gap: 24, late: 1 } })]);
  const facts = liveFacts(progress, START);
  assert.ok(said(facts).includes("candle 28% avg 28%, majority –, better than guessing"));
  assert.ok(said(facts).includes("not learnt 25"));
  assert.ok(said(facts).includes("drift alarms 2 dummy 4"));
  assert.match(facts.find((fact) => fact.label === "not learnt")?.title ?? "", /24 gap, 1 late/);
  assert.match(facts.find((fact) => fact.label === "drift alarms")?.title ?? "", /\.310; for a dummy .* \.010/);
});

test("figures of candles that the model had learnt are named so", () => {
  const progress = new RunProgress();
  const window = { n: 40, accuracy: 0.6, interval: null, nll: 1, baselines: { majority: { accuracy: 0.2, nll: 1.6 } } };
  progress.take([candleScored({ n: 0, seen: true, figures: { of: "seen", candle: { 100: window, all: window } } })]);
  assert.ok(said(liveFacts(progress, START)).includes("candle, seen in training 60% avg 60%, majority 20%"));
});

test("a queued run names the one that it waits for", () => {
  /** @type {any} */
  const first = { id: 4, mode: "batch", state: "running" };
  const second = { ...first, id: 6, state: "queued" };
  assert.equal(stateText(second, [second, first]), "waits for run 4");
  assert.equal(stateText(second, [second]), "queued");
  assert.equal(stateText(first, [first]), "running");
});
