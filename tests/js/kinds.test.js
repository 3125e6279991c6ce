// Levels, trend lines, classes of candles and charts: what they touch, how they are drawn, dragged, sent and told.

import assert from "node:assert/strict";
import { test } from "node:test";

import { draftOf, endOf, KIND_CHOICES, reachOf, startOf } from "../../static/js/model/annotation.js";
import { changedBy, pasted } from "../../static/js/model/bulk.js";
import { nearestPrice, snapped, withMagnet } from "../../static/js/model/magnet.js";
import { edited } from "../../static/js/model/mark-edit.js";
import { MarkIndex } from "../../static/js/model/mark-index.js";
import { hitsAt, shapeOf } from "../../static/js/model/mark-shapes.js";
import { placeText, summaryText, timeText } from "../../static/js/model/mark-text.js";
import { covers, unlabelledStretches } from "../../static/js/model/unlabelled.js";
import { at, candleClass, chartClass, point, priceLevel, span, steady, trade, trendLine } from "./chart-builders.js";

const wording = { time: String, price: (/** @type {number} */ price) => price.toFixed(1) };

/** @param {import("../../static/js/model/candle-window.js").CandleWindow} [window] */
function mapping(window = steady(100)) {
  return { window, x: (/** @type {number} */ p) => 5 + p * 10, y: (/** @type {number} */ price) => 200 - price, width: 800, height: 300, floor: 11 };
}

/**
 * @param {import("../../static/js/model/annotation.js").Annotation} mark
 * @param {import("../../static/js/model/candle-window.js").CandleWindow} [window]
 */
function shape(mark, window = steady(100)) {
  const made = shapeOf({ mark, lane: 0 }, mapping(window));
  assert.ok(made);
  return made;
}

test("every kind is sent with its own fields, and with a status only where it is a draft", () => {
  assert.deepEqual(draftOf(priceLevel()), { kind: "level", label: "Long", price: 110, time: at(2), until: null, comment: "", confidence: null, revision: 0 });
  assert.deepEqual(draftOf(trendLine()).extend, "none");
  assert.deepEqual([draftOf(chartClass()).start, draftOf(chartClass()).end], [null, null]);
  assert.equal(draftOf(span({ status: "draft" })).status, "draft");
  assert.ok(!("status" in draftOf(span({ status: "done" }))), "an unchanged draft is compared byte for byte by the server");
  assert.deepEqual(KIND_CHOICES.map(([kind]) => kind), ["span", "point", "trade", "level", "trend_line", "candle_class", "chart_class"]);
});

test("an open level and an extended line are found in every later view, a closed one only where it holds", () => {
  const index = new MarkIndex([priceLevel(), priceLevel({ id: "closed", until: at(5) }), trendLine({ id: "both", extend: "both" }), trendLine({ id: "line" })]);
  const seen = (/** @type {number} */ from, /** @type {number} */ to) => index.between(at(from), at(to)).map(({ mark }) => mark.id).sort();
  assert.deepEqual(seen(50, 60), ["both", "v"]);
  assert.deepEqual(seen(0, 1), ["both"]);
  assert.deepEqual(seen(3, 4), ["both", "closed", "line", "v"]);
});

test("the class of the whole chart comes first and is in every view", () => {
  const index = new MarkIndex([span(), chartClass()]);
  assert.equal(index.all()[0].kind, "chart_class");
  assert.equal(index.between(at(500), at(600)).length, 1);
  assert.equal(startOf(chartClass()), -Infinity);
  assert.deepEqual(reachOf(chartClass({ start: at(3), end: at(9) })), { from: at(3), to: at(9) });
});

test("a trend line keeps its slope on a coarser timeframe and stands in the candles that hold its ends", () => {
  const line = trendLine({ start: { time: at(3), price: 100 }, end: { time: at(9), price: 120 } });
  const drawn = shape(line, steady(50, "4h"));
  assert.ok("startX" in drawn);
  assert.deepEqual([drawn.startX, drawn.endX], [5, 25], "03:00 is in the first candle, 09:00 in the third");
  assert.notEqual(drawn.startY, drawn.endY);
});

test("a trend line over midnight is drawn inside the candles that hold its ends, in any timeframe, and keeps its anchors", () => {
  const [start, end] = [{ time: at(23.75), price: 100 }, { time: at(25.75), price: 120 }];
  const line = trendLine({ start, end });
  const places = Object.entries({ "5m": [285, 309], "15m": [95, 103], "18m": [79, 85], "1d": [0, 1], "2d": [0, 0], "1w": [0, 0] });
  for (const [timeframe, [from, to]] of places) {
    const drawn = shape(line, steady(400, timeframe));
    assert.ok("startX" in drawn);
    assert.deepEqual([drawn.startX, drawn.endX], [5 + 10 * from, 5 + 10 * to], timeframe);
    assert.deepEqual([drawn.startY, drawn.endY], [100, 80], timeframe);
  }
  assert.deepEqual([line.start, line.end], [start, end]);
});

test("a line goes on past its ends where it is extended, and can be taken there", () => {
  const right = shape(trendLine({ extend: "right" }));
  assert.ok("startX" in right);
  assert.deepEqual([right.fromX, right.toX], [25, 800]);
  const [x, y] = [425, 200 - 102 - (400 / 10) * (8 / 8)];
  assert.equal(hitsAt([right], x, y, null)[0]?.part, "body");
  assert.equal(hitsAt([shape(trendLine())], x, y, null).length, 0, "the same line without extension ends before");
  assert.equal(hitsAt([right], right.endX, right.endY, "l")[0].part, "end");
});

test("a level is hit along its length and nowhere else; a cell only at the foot of the pane", () => {
  const drawn = [shape(priceLevel({ until: at(20) }))];
  assert.equal(hitsAt(drawn, 100, 91, null)[0]?.part, "body");
  assert.equal(hitsAt(drawn, 400, 90, null).length, 0);
  const cell = [shape(candleClass({ start: at(4), end: at(5) }))];
  assert.equal(hitsAt(cell, 45, 295, null).length, 1);
  assert.equal(hitsAt(cell, 45, 200, null).length, 0);
});

test("bands of spans stand above the candle classes", () => {
  const made = shape(span());
  assert.ok("bandTop" in made);
  assert.ok(made.bandTop + 16 <= 300 - 11);
});

test("a level goes up and down and keeps its time; both ends of a line move apart and never pass each other", () => {
  const window = steady(100);
  assert.deepEqual(edited(priceLevel(), "body", { candles: 0.3, price: 2 }, window), priceLevel({ price: 112 }));
  const line = trendLine();
  assert.deepEqual(edited(line, "end", { candles: 3, price: 1 }, window).end, { time: at(13), price: 111 });
  assert.deepEqual(edited(line, "end", { candles: -40, price: 1 }, window).end, { time: at(10), price: 111 });
  const moved = edited(line, "body", { candles: 5, price: -1 }, window);
  assert.deepEqual([moved.start, moved.end], [{ time: at(7), price: 101 }, { time: at(15), price: 109 }]);
});

test("the magnet takes the nearest of the candle's four prices, and leaves what stands on no candle", () => {
  assert.equal(nearestPrice({ open: 10, high: 14, low: 8, close: 12 }, 13.1), 14);
  assert.equal(nearestPrice({ open: 10, high: 14, low: 8, close: 12 }, 11.1), 12);
  const window = steady(10); // candle n closes at 100 + n, high one above, low one below
  assert.deepEqual(snapped({ time: at(3), price: 103.8 }, window), { time: at(3), price: 104 });
  assert.deepEqual(snapped({ time: at(30), price: 103.8 }, window), { time: at(30), price: 103.8 });
  const dragged = withMagnet(trade({ exit: { time: at(3), price: 103.4 } }), "exit", window);
  assert.ok(dragged.kind === "trade");
  assert.deepEqual([dragged.exit.price, dragged.entry.price], [103, 100], "what was not dragged stays");
});

test("a bulk change touches only those that it makes different", () => {
  const marks = [span(), point({ label: "Short" }), trade()];
  assert.deepEqual(changedBy(marks, { label: "Short" }).map(({ id }) => id), ["a", "t"]);
  assert.deepEqual(changedBy(marks, { status: "done" }), []);
  assert.equal(changedBy(marks, { status: "draft" }).length, 3);
});

test("copies begin at the crosshair with their distances kept, and are new annotations", () => {
  let made = 0;
  const marks = [span({ start: at(2), end: at(5), revision: 4, author: "Ada" }), point({ time: at(7), price: 107 }), chartClass()];
  const copies = pasted(marks, at(20), steady(100), () => `new-${(made += 1)}`);
  assert.deepEqual(copies.map(({ id, revision }) => [id, revision]), [["new-1", 0], ["new-2", 0]]);
  assert.deepEqual([startOf(copies[0]), endOf(copies[0]), startOf(copies[1])], [at(20), at(23), at(25)]);
  assert.ok(copies[1].kind === "point");
  assert.equal(copies[1].price, 125, "the price goes along with the candles");
});

test("a reviewed range and a candle class are labelled, a level and a line are not", () => {
  const bounds = { from: at(0), to: at(10) };
  const marks = [priceLevel({ time: at(0) }), trendLine(), candleClass({ start: at(4), end: at(5) })];
  const stretches = unlabelledStretches(marks, bounds, "1h", [{ from: at(0), to: at(2) }]);
  assert.deepEqual(stretches, [{ from: at(2), to: at(4) }, { from: at(5), to: at(10) }]);
});

test("places read as what they are", () => {
  assert.equal(placeText(priceLevel({ time: null }), wording), "110.0, always");
  assert.equal(placeText(priceLevel({ time: 5, until: 9 }), wording), "110.0 from 5 to 9");
  assert.equal(placeText(chartClass(), wording), "the whole chart");
  assert.equal(summaryText(trade({ comment: "late" }), { ...wording, time: () => "t" }), "Trade Long, long, t at 100.0 to t at 103.0, “late”");
  assert.equal(timeText(chartClass(), String), "whole chart");
  assert.equal(timeText(span({ start: 1, end: 2 }), String), "1 – 2");
});

test("ranges cover another one only without a hole", () => {
  const whole = { from: at(0), to: at(10) };
  assert.ok(covers([{ from: at(4), to: at(12) }, { from: at(0), to: at(4) }], whole));
  assert.ok(!covers([{ from: at(0), to: at(4) }, { from: at(5), to: at(12) }], whole));
  assert.ok(!covers([], whole));
});
