// Results of trades and agreement, as the panel and the tables say them.

import assert from "node:assert/strict";
import { test } from "node:test";

import { agreementRows } from "../../static/js/model/agreement.js";
import { resultText, resultWords, totalRows } from "../../static/js/model/worth.js";

/** @type {import("../../static/js/model/worth.js").TradeResult} */
const CLOSED = { id: "t", state: "closed", reason: "exit", entry: { time: 11, price: 100 }, exit: { time: 21, price: 103 }, return: 0.027942, r: 1.5, candles: 10, mfe: 0.04, mae: -0.01 };
const price = (/** @type {number} */ value) => value.toFixed(1);

test("a closed trade reads with its return after costs, R, candles, best and worst", () => {
  assert.equal(resultText(CLOSED), "+2.79%");
  assert.equal(resultWords(CLOSED, price), "Filled at 100.0, left at 103.0 (exit) · +2.79% after costs · +1.50 R · 10 candles held · best +4.00% · worst −1.00%");
});

test("a stop that risks nothing is called what it is", () => {
  const stopped = { ...CLOSED, reason: "stop", return: -0.002, candles: 1, mfe: null, mae: null };
  assert.match(resultWords({ ...stopped, r: -1 }, price), /left at 103\.0 \(stop\) · −0\.20% after costs · −1\.00 R/);
  assert.match(resultWords({ ...stopped, r: null }, price), /\(stop, which stands on the winning side of the entry\) · −0\.20% after costs · 1 candle held/);
});

test("what is not filled or not over says so, and gives no return", () => {
  const none = { reason: null, exit: null, return: null, r: null };
  assert.equal(resultText({ ...CLOSED, ...none, state: "open" }), "open");
  assert.equal(resultWords({ ...CLOSED, ...none, state: "open", mae: null }, price), "Filled at 100.0, still open · 10 candles held · best +4.00%");
  assert.equal(resultText({ ...CLOSED, ...none, state: "waiting", entry: null }), "not filled");
});

test("totals come as all, then by label, author and mode; what is not known is a dash, not a zero", () => {
  const total = { name: "Long", trades: 4, closed: 3, won: 2, sum: 0.05, mean: 0.0166, mean_r: -1.14 };
  const empty = { name: "replay", trades: 1, closed: 0, won: 0, sum: null, mean: null, mean_r: null };
  const rows = totalRows({ all: { ...total, name: "all" }, label: [total], author: [], mode: [empty] });
  assert.deepEqual(rows.map(({ group, name }) => `${group}:${name}`), [":All trades", "Label:Long", "Mode:replay"]);
  assert.deepEqual(rows[1].cells, ["4", "3", "67%", "+5.00%", "+1.66%", "−1.14"]);
  assert.deepEqual(rows[2].cells, ["1", "0", "–", "–", "–", "–"]);
});

test("agreement is told with its rule, its counts and its figure", () => {
  const matched = { first: 3, second: 4, matched: 2, f1: 0.571428 };
  const rows = agreementRows({ first: "a", second: "b", tolerance: 1, least_iou: 0.5, points: matched, spans: matched, trades: { ...matched, f1: null }, candles: { default: { n: 90, agreed: 80, kappa: 0.7 } } });
  assert.deepEqual(rows[0], ["Points, ±1 candle", "3", "4", "2", "F1 0.57"]);
  assert.equal(rows[1][0], "Spans, IoU ≥ 0.5");
  assert.equal(rows[2][4], "–");
  assert.deepEqual(rows[3], ["Candles, layer default", "90", "90", "80", "kappa 0.70"]);
});
