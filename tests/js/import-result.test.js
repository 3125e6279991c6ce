// What a finished import says, and how its first and last candles are drawn before.
import assert from "node:assert/strict";
import { test } from "node:test";

import { placeCandles } from "../../static/js/model/candle-figure.js";
import { flaggedMarks, resultLines } from "../../static/js/model/import-result.js";

/** @type {import("../../static/js/model/types.js").Series} */
const SERIES = {
  id: 4, symbol: "A/B", timeframe: "1h", source: "upload", candles: 1200, first: 0, last: 1, simulated: false, precision: 2, label_set_id: 1, facts: {},
};

/**
 * @param {Record<string, unknown>} report
 * @returns {string[]}
 */
const said = (report) => resultLines({ series: SERIES, report }).map(({ text }) => text);

test("a new series says how many candles are stored, then what was left out with its lines", () => {
  const dropped = { "blank price": { count: 7, lines: [3, 4, 5, 6, 7, 8, 9] }, "exact duplicate": { count: 1, lines: [12] } };
  const gaps = { count: 1, missing_candles: 22, longest_ms: 79_200_000, items: [] };
  assert.deepEqual(said({ dropped, gaps, notes: ["The file is newest first."] }), [
    "1,200 candles are stored.",
    "7 rows were left out, blank price: lines 3, 4, 5, 6, 7 ….",
    "1 row was left out, exact duplicate: line 12.",
    "1 gap with 22 missing candles; the longest is 22 h 0 min.",
    "The file is newest first.",
  ]);
});

test("the same bytes say so and nothing else", () => {
  assert.deepEqual(said({ identical: true, gaps: { count: 3 } }), ["The same bytes were uploaded before; this is the series they made."]);
});

test("adding to a series counts what was added, changed and vanished, and flags the annotations", () => {
  const mark = { id: "m", label: "Long", kind: "span", start: 5 };
  const report = { added_to_series: true, added: 2, same: 10, changed: 1, vanished: 1, annotations_on_changed: [mark], orphan_annotations: [{ ...mark, id: "n" }] };
  assert.equal(said(report)[0], "Candles: 2 added, 10 as they were, 1 changed in the file, 1 no longer in the file.");
  assert.deepEqual(flaggedMarks(report).map(({ id, why }) => [id, why]), [
    ["m", "its candles differ in the file"],
    ["n", "its candles are no longer in the file"],
  ]);
  assert.equal(said({ ...report, changed: 0, vanished: 0 })[0], "Candles: 2 added, 10 as they were.");
});

/**
 * @param {number} time
 * @param {number} base
 */
const candle = (time, base) => ({ time, open: base, high: base + 2, low: base - 2, close: base + 1, volume: 1 });

test("the first and the last candles are drawn apart, each on its own scale", () => {
  const { parts, step } = placeCandles([candle(1, 10), candle(2, 12)], [candle(8, 1000), candle(9, 1001)], 9, { width: 100, height: 50 });
  assert.equal(step, 20);
  assert.deepEqual(parts.map(({ low, high, x }) => [low, high, x]), [[8, 14, 0], [998, 1003, 60]]);
  assert.deepEqual(parts[1].figures.map(({ x }) => x), [70, 90]);
  assert.equal(parts[0].figures[1].top, 0);
  assert.equal(parts[0].figures[0].bottom, 50);
});

test("a short series is drawn once and whole; a flat one stands in the middle", () => {
  const flat = { time: 1, open: 5, high: 5, low: 5, close: 5, volume: null };
  const { parts } = placeCandles([flat], [flat], 1, { width: 10, height: 8 });
  assert.deepEqual(parts.map(({ figures }) => figures.length), [1]);
  assert.deepEqual([parts[0].figures[0].bodyTop, parts[0].figures[0].bodyHeight], [4, 1]);
});
