// How figures are written.
import assert from "node:assert/strict";
import { test } from "node:test";

import * as format from "../../static/js/model/format-metrics.js";

test("a loss has three digits and no leading zero", () => {
  assert.deepEqual([0.5354, 1.6094, 0, -0.25, null, NaN].map(format.loss), [".535", "1.609", ".000", "-.250", "–", "–"]);
});

test("shares are percentages, missing ones a dash", () => {
  assert.equal(format.percent(0.2241), "22%");
  assert.equal(format.percent(0.2241, 1), "22.4%");
  assert.equal(format.percent(null), "–");
  assert.equal(format.interval([0.312, 0.358]), "31–36%");
  assert.equal(format.interval(null), "–");
});

test("durations are said in two units", () => {
  assert.deepEqual([0.42, 42, 125, 3840, 90000].map(format.duration), ["0.4 s", "42 s", "2 min 5 s", "1 h 4 min", "1 d 1 h"]);
});

test("rates keep two or three digits that matter", () => {
  assert.deepEqual([1.234, 12.34, 1234.4].map(format.rate), ["1.23", "12.3", "1,234"]);
});

test("config values are readable", () => {
  assert.equal(format.configValue({ candle: 1, trend: 0.5 }), "candle 1, trend 0.5");
  assert.deepEqual([true, null, [70, 15, 15], "gru"].map(format.configValue), ["on", "–", "70/15/15", "gru"]);
});
