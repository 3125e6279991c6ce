// The tables of figures.
import assert from "node:assert/strict";
import { test } from "node:test";

import { epochRows, headsOf, liveRows } from "../../static/js/model/figure-rows.js";

const SPLIT = {
  loss: 1.5,
  candle_accuracy: 0.25,
  trend_accuracy: 0.5,
  n: 923,
  heads: {
    label: { n: 60, accuracy: 0.7, interval: null, balanced_accuracy: 0.6, mcc: 0.4, nll: 0.8, f1: 0.65 },
    candle: {
      n: 923,
      accuracy: 0.25,
      interval: /** @type {[number, number]} */ ([0.22, 0.28]),
      balanced_accuracy: 0.24,
      mcc: -0.01,
      nll: 1.6,
      f1: null,
    },
  },
  baselines: {
    candle: { majority: { accuracy: 0.23 }, persistence: { accuracy: 0.21 }, logistic: { accuracy: 0.26 } },
    label: { majority: { accuracy: 0.5, f1: 0.33 }, persistence: null },
  },
};

/** @param {{title: string, cells: string[]}[]} rows */
const byTitle = (rows) => Object.fromEntries(rows.map(({ title, cells }) => [title, cells]));

test("heads stand in a fixed order, whatever the order of the event", () => {
  assert.deepEqual(headsOf(SPLIT), ["candle", "label"]);
});

test("every accuracy has its interval, balanced accuracy, MCC and n, and the baselines below", () => {
  const rows = byTitle(epochRows(SPLIT));
  assert.deepEqual(rows["Accuracy"], ["25.0%", "70.0%"]);
  assert.deepEqual(rows["95% interval"], ["22–28%", "–"]);
  assert.deepEqual(rows["MCC"], ["−0.010", "0.400"]);
  assert.deepEqual(rows["n"], ["923", "60"]);
  assert.deepEqual(rows["Logistic regr."], ["26.0%", "–"]);
});

test("the label head's F1 stands beside the majority's", () => {
  const rows = byTitle(epochRows(SPLIT));
  assert.deepEqual(rows["F1"], ["–", "65.0%"]);
  assert.deepEqual(rows["Majority"], ["23.0%", "50.0%"]);
  assert.deepEqual(rows["Majority F1"], ["–", "33.0%"]);
});

test("what an uncertainty head makes of the loss has a sign and its interval", () => {
  /** @type {import("../../static/js/model/events.js").HeadFigures} */
  const candle = { ...SPLIT.heads.candle, uncertainty: { difference: -0.0042, interval: [-0.0062, -0.0022] } };
  const label = { ...SPLIT.heads.label, uncertainty: { difference: -0.0001, interval: null } };
  const rows = byTitle(epochRows({ ...SPLIT, heads: { candle, label } }));
  assert.deepEqual(rows["by uncertainty"], ["−.004", "+.000"]);
  assert.deepEqual(rows["95% ±"], [".002", "–"]);
  assert.equal(byTitle(epochRows(SPLIT))["by uncertainty"], undefined);
});

test("a figure that no head has makes no row", () => {
  const { heads, ...bare } = SPLIT;
  assert.ok(heads);
  assert.deepEqual(Object.keys(byTitle(epochRows(bare))), ["Majority", "Majority F1", "Persistence", "Logistic regr."]);
});

test("each rival's loss has the interval of the model's less its own, and the verdict stands in words", () => {
  const majority = { accuracy: 0.2, nll: 1.609, gap: /** @type {[number, number]} */ ([-0.12, 0.04]) };
  const window = { n: 100, accuracy: 0.3, interval: null, nll: 1.55, verdict: "worse", baselines: { majority } };
  const rows = byTitle(liveRows({ of: "unseen", candle: { 100: window } }, "candle").rows);
  assert.deepEqual(rows["Majority by NLL"], ["−.04 ±.08"]);
  assert.deepEqual(rows["Verdict"], ["worse"]);
  assert.equal(byTitle(liveRows({ of: "seen", candle: { 100: window } }, "candle").rows)["Verdict"], undefined);
});

test("a live table has a column a window and the rivals below the model", () => {
  const window = { n: 100, accuracy: 0.3, interval: null, nll: 1.55, baselines: { start: { accuracy: 0.2, nll: 1.6 } } };
  const { windows, rows } = liveRows({ of: "unseen", candle: { 100: window, all: { ...window, n: 500 } } }, "candle");
  assert.deepEqual(windows, ["last 100", "all"]);
  const columns = (/** @type {number} */ n) => liveRows({ of: "unseen", candle: { 100: window, 1000: { ...window, n: 1000 }, all: { ...window, n } } }, "candle").windows;
  assert.deepEqual([columns(1000), columns(1001)], [windows, ["last 100", "last 1000", "all"]], "no column twice");
  assert.deepEqual(byTitle(rows)["n"], ["100", "500"]);
  assert.deepEqual(byTitle(rows)["Start model"], ["20.0%", "20.0%"]);
  assert.deepEqual(byTitle(rows)["Verdict"], ["too few", "too few"]);
  assert.deepEqual(liveRows({}, "trend"), { windows: [], rows: [] });
});
