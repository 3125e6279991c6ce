// A run built from its events.
import assert from "node:assert/strict";
import { test } from "node:test";

import { canResume, hasEnded, RunProgress } from "../../static/js/model/run.js";
import { batchDone, candleLearnt, candlePredicted, driftAlarm, epochDone, rolledBack, runEnded, START, warned } from "./builders.js";

test("progress is the share of all batches of all epochs", () => {
  const progress = new RunProgress();
  assert.equal(progress.share, 0);
  progress.take([batchDone({ epoch: 2, epochs: 4, batch: 5, batches: 10 })]);
  assert.equal(progress.share, 15 / 40);
});

test("the best epoch is the last one that was marked best", () => {
  const progress = new RunProgress();
  progress.take(
    [1, 2, 3].map((epoch) => epochDone({ epoch, best: epoch === 2, verdict: epoch === 3 ? null : `after ${epoch}` })),
  );
  assert.equal(progress.best?.epoch, 2);
  assert.equal(progress.verdict, "after 2");
});

test("a snapshot's age counts from the event that first names it", () => {
  const progress = new RunProgress();
  progress.take([
    candlePredicted({ snapshot: 3, time: START }),
    candleLearnt({ snapshot: 4, time: START + 1000 }),
    candlePredicted({ snapshot: 4, time: START + 5000 }),
  ]);
  assert.deepEqual(progress.snapshot, { number: 4, since: START + 1000 });
});

test("printed lines are kept letter for letter, in order", () => {
  const progress = new RunProgress();
  progress.take([batchDone({ line: "Batch 1/23, Loss: 0.535" }), candleLearnt({ line: "Per-candle\nTrained on" }), warned()]);
  assert.deepEqual(progress.lines, ["Batch 1/23, Loss: 0.535", "Per-candle", "Trained on"]);
});

test("drift alarms and what was taken back are kept; going back names a new snapshot", () => {
  const progress = new RunProgress();
  progress.take([driftAlarm(), rolledBack({ snapshot: 9, time: START + 5 })]);
  assert.equal(progress.alarms.length, 1);
  assert.equal(progress.rollbacks.length, 1);
  assert.deepEqual(progress.snapshot, { number: 9, since: START + 5 });
});

test("of many printed lines the newest are kept", () => {
  const progress = new RunProgress();
  progress.take(Array.from({ length: 30_000 }, (_, index) => batchDone({ line: `Batch ${index}` })));
  assert.ok(progress.lines.length <= 22_000);
  assert.equal(progress.lines.at(-1), "Batch 29999");
});

test("a run that is resumed has not ended", () => {
  const progress = new RunProgress();
  progress.take([runEnded({ state: "interrupted" })]);
  assert.equal(progress.ended?.state, "interrupted");
  progress.take([{ type: "run_resumed", run_id: 1, seq: 2, time: START, line: null, step: 4, from_checkpoint: null }]);
  assert.equal(progress.ended, null);
});

test("only a paused run, or an interrupted one that learns, can go on", () => {
  /** @type {any} */
  const run = { mode: "batch", state: "interrupted" };
  assert.ok(canResume(run));
  assert.ok(canResume({ ...run, state: "paused" }));
  assert.ok(!canResume({ ...run, mode: "load" }));
  assert.ok(!canResume({ ...run, state: "failed" }));
  assert.deepEqual(["queued", "running", "stopping", "failed"].map(hasEnded), [false, false, false, true]);
});
