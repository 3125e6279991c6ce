// Timeframes: lengths, candle opens, what a series offers.

import assert from "node:assert/strict";
import { test } from "node:test";

import { closeTime, floorTime, offeredTimeframes, parseTimeframe, stepMs, timeframeChoice, timeframeWords } from "../../static/js/model/timeframe.js";

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
  assert.deepEqual(offeredTimeframes("1h"), ["1h", "2h", "4h", "6h", "8h", "12h", "1d", "1w", "1mo"]);
  assert.deepEqual(offeredTimeframes("45m"), ["45m", "6h", "12h", "1d", "1w", "1mo"]);
  assert.deepEqual(offeredTimeframes("1mo"), ["1mo"]);
});

test("a series of seconds offers all eighteen, the rare ones in the menu", () => {
  const { usual, rare } = timeframeChoice("1s");
  assert.equal(offeredTimeframes("1s").length, 18);
  assert.deepEqual(rare, ["30s", "3m", "30m", "2h", "6h", "8h", "12h"]);
  assert.deepEqual(usual, ["1s", "5s", "15s", "1m", "5m", "15m", "1h", "4h", "1d", "1w", "1mo"]);
});

test("a rare timeframe that is the source itself has a button", () => {
  assert.deepEqual(timeframeChoice("2h"), { usual: ["2h", "4h", "1d", "1w", "1mo"], rare: ["6h", "8h", "12h"] });
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
