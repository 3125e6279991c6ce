// Timeframes: lengths, candle opens, what a series offers.

import assert from "node:assert/strict";
import { test } from "node:test";

import { closeTime, floorTime, offeredTimeframes, parseTimeframe, stepMs, timeframeWords } from "../../static/js/model/timeframe.js";

test("a candle opens at the start of its timeframe, weeks on Monday, months on the first", () => {
  const time = Date.UTC(2024, 1, 29, 13, 47, 31);
  assert.equal(floorTime(time, "15s"), Date.UTC(2024, 1, 29, 13, 47, 30));
  assert.equal(floorTime(time, "4h"), Date.UTC(2024, 1, 29, 12));
  assert.equal(floorTime(time, "1w"), Date.UTC(2024, 1, 26));
  assert.equal(floorTime(time, "1mo"), Date.UTC(2024, 1, 1));
});

test("times before 1970 floor downwards", () => {
  assert.equal(floorTime(Date.UTC(1969, 11, 31, 23, 30), "1h"), Date.UTC(1969, 11, 31, 23));
  assert.equal(floorTime(Date.UTC(1969, 11, 31), "1mo"), Date.UTC(1969, 11, 1));
});

test("a month closes where the next one opens, whatever its length", () => {
  assert.equal(closeTime(Date.UTC(2024, 1, 1), "1mo"), Date.UTC(2024, 2, 1));
  assert.equal(closeTime(Date.UTC(2023, 11, 1), "1mo"), Date.UTC(2024, 0, 1));
  assert.equal(closeTime(0, "5m"), 300_000);
});

test("a series offers its own timeframe first and only coarser ones that it divides", () => {
  assert.deepEqual(offeredTimeframes("1h"), ["1h", "4h", "1d", "1w", "1mo"]);
  assert.deepEqual(offeredTimeframes("45m"), ["45m", "1d", "1w", "1mo"]);
  assert.deepEqual(offeredTimeframes("1mo"), ["1mo"]);
});

test("what is no timeframe is refused by name", () => {
  assert.throws(() => parseTimeframe("5 min"), /5 min/);
  assert.throws(() => stepMs("0m"), /0m/);
});

test("a timeframe reads in words", () => {
  assert.equal(timeframeWords("15s"), "15 s");
  assert.equal(timeframeWords("2w"), "2 weeks");
  assert.equal(timeframeWords("1mo"), "1 month");
});
