// Smoothing keeps the raw line and starts where the curve starts.
import assert from "node:assert/strict";
import { test } from "node:test";

import { smooth, smoothed } from "../../static/js/model/smoothing.js";

const LONG = { name: "batch", type: "scatter", mode: "lines", x: Array(20).fill(1), y: Array(20).fill(2), line: { dash: "solid" } };

test("a constant stays what it is from its first point on, and unknown values stay unknown", () => {
  assert.deepEqual(smooth([3, null, 3], 0.9), [3, null, 3]);
});

test("a step is followed slowly, the more so the larger the weight", () => {
  const [, gentle] = smooth([0, 1], 0.5);
  const [, slow] = smooth([0, 1], 0.9);
  assert.ok(Math.abs(Number(gentle) - 2 / 3) < 1e-12);
  assert.ok(Math.abs(Number(slow) - 0.1 / 0.19) < 1e-12);
});

test("the raw line stays behind the smoothed one", () => {
  const [raw, mean] = smoothed([LONG], 0.6);
  assert.deepEqual(raw.y, LONG.y);
  assert.equal(mean.name, "batch, smoothed");
});

test("baselines, short curves and marked points are left alone; a weight of 0 changes nothing", () => {
  const dashed = { ...LONG, line: { dash: "dash" } };
  const short = { ...LONG, x: [1], y: [2] };
  const marked = { ...LONG, mode: "lines+markers" };
  assert.deepEqual(smoothed([dashed, short, marked], 0.9), [dashed, short, marked]);
  assert.deepEqual(smoothed([LONG], 0), [LONG]);
});
