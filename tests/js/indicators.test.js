// Indicators: how they are asked for, which kept ones are used, how lines lie on candles.

import assert from "node:assert/strict";
import { test } from "node:test";

import { lineColour, onWindow, usableIndicators, usual, writtenAs } from "../../static/js/model/indicators.js";
import { at, hourly } from "./chart-builders.js";

const SMA = /** @type {const} */ ({ name: "sma", title: "Average", pane: "price", parameters: [{ name: "period", default: 20, least: 2, most: 5000 }] });
const MACD = /** @type {const} */ ({ name: "macd", title: "MACD", pane: "own", parameters: [12, 26, 9].map((usually, index) => ({ name: `p${index}`, default: usually, least: 1, most: 5000 })) });
const OFFERS = /** @type {import("../../static/js/model/indicators.js").Offer[]} */ (/** @type {unknown} */ ([SMA, MACD]));

test("an indicator is written with its numbers in order", () => {
  assert.deepEqual(OFFERS.map((offer) => writtenAs(usual(offer))), ["sma:20", "macd:12-26-9"]);
});

test("kept indicators that are not offered go, numbers out of their limits fall back to the usual ones", () => {
  const kept = [{ name: "sma", values: [50] }, { name: "gone", values: [] }, { name: "macd", values: [5, -1, "x"] }, null];
  assert.deepEqual(usableIndicators(kept, OFFERS), [{ name: "sma", values: [50] }, { name: "macd", values: [5, 26, 9] }]);
  assert.deepEqual(usableIndicators("sma", OFFERS), []);
});

test("values stand at their own candles, also where answer and candles differ at the ends or in a gap", () => {
  const window = hourly([1, 2, 5, 6]);
  const values = onWindow(window, [0, 1, 2, 3, 5, 6, 7].map(at), [10, 11, 12, 13, NaN, 16, 17]);
  assert.deepEqual([...values], [11, 12, NaN, 16]);
  assert.ok([...onWindow(window, [], [])].every(Number.isNaN));
});

test("indicators beside each other have different colours", () => {
  assert.equal(new Set([0, 1, 2, 3, 4, 5, 6, 7].map((place) => lineColour(place, 0))).size, 8);
  assert.equal(new Set([0, 1, 2].map((line) => lineColour(2, line))).size, 3);
});
