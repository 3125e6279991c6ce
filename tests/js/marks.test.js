// Annotations: order, lanes, edits by drag and key, hits, unlabelled stretches, labels.

import assert from "node:assert/strict";
import { test } from "node:test";

import { draftOf, passes, sideOfLabel, tradeReturn } from "../../static/js/model/annotation.js";
import { contrast, faint, textOn } from "../../static/js/model/colour.js";
import { activeLabels, labelWithKey, newLabel, problemOf } from "../../static/js/model/label-set.js";
import { edited, spanBetween, withinSeries } from "../../static/js/model/mark-edit.js";
import { MarkIndex } from "../../static/js/model/mark-index.js";
import { hitsAt, shapeOf } from "../../static/js/model/mark-shapes.js";
import { placedTags } from "../../static/js/model/tag-places.js";
import { stepMs } from "../../static/js/model/timeframe.js";
import { nextStretch, unlabelledStretches } from "../../static/js/model/unlabelled.js";
import { at, hourly, point, priceLevel, span, steady, trade, trendLine } from "./chart-builders.js";

const still = { candles: 0, price: 0 };

test("a brush over candles 100 to 120 marks exactly those 21", () => {
  const { start, end } = spanBetween(steady(200), 120.3, 99.8);
  assert.deepEqual([start, end], [at(100), at(121)]);
});

test("a span over the last candle ends at its close", () => {
  assert.deepEqual(spanBetween(steady(10), 8, 400), { start: at(8), end: at(10) });
});

test("a span before a gap ends at the close of its last candle, not at the next open", () => {
  assert.deepEqual(spanBetween(hourly([0, 1, 5, 6]), 0, 1), { start: at(0), end: at(2) });
});

test("an edge snaps to the nearest candle boundary and leaves the other edge alone", () => {
  const window = steady(50);
  const mark = span({ start: at(10), end: at(20) });
  assert.deepEqual(edited(mark, "end", { candles: 2.4, price: 0 }, window).end, at(22));
  assert.deepEqual(edited(mark, "end", { candles: 2.6, price: 0 }, window), { ...mark, end: at(23) });
  assert.deepEqual(edited(mark, "start", { candles: -0.6, price: 0 }, window), { ...mark, start: at(9) });
});

test("an edge never passes the other one: one candle stays", () => {
  const mark = span({ start: at(10), end: at(20) });
  assert.equal(edited(mark, "end", { candles: -30, price: 0 }, steady(50)).end, at(11));
  assert.equal(edited(mark, "start", { candles: 30, price: 0 }, steady(50)).start, at(19));
});

test("an edge stops at the last candle and steps over a gap by one candle", () => {
  const gapped = hourly([0, 1, 5, 6]);
  const mark = span({ start: at(0), end: at(2) });
  const further = edited(mark, "end", { candles: 1, price: 0 }, gapped);
  assert.equal(further.end, at(6));
  assert.equal(edited({ ...mark, end: at(7) }, "end", { candles: 1, price: 0 }, gapped).end, at(7));
});

test("an edge moves by one candle whatever its length, and stops at the last one", () => {
  for (const timeframe of ["1s", "18m", "1h", "1d"]) {
    const [window, step] = [steady(50, timeframe), stepMs(timeframe)];
    const mark = span({ start: at(0) + 10 * step, end: at(0) + 20 * step });
    assert.equal(edited(mark, "end", { candles: 1, price: 0 }, window).end, mark.end + step, timeframe);
    assert.equal(edited(mark, "end", { candles: 99, price: 0 }, window).end, at(0) + 50 * step, timeframe);
  }
});

test("a moved span keeps its number of candles, also over a gap and at the ends of the series", () => {
  const gapped = hourly([0, 1, 2, 10, 11, 12]);
  const mark = span({ start: at(1), end: at(3) });
  assert.deepEqual(edited(mark, "body", { candles: 2.2, price: 0 }, gapped), { ...mark, start: at(10), end: at(12) });
  assert.deepEqual(edited(mark, "body", { candles: 40, price: 0 }, gapped), { ...mark, start: at(11), end: at(13) });
  assert.deepEqual(edited(mark, "body", { candles: -40, price: 0 }, gapped), { ...mark, start: at(0), end: at(2) });
});

test("on a coarser timeframe an untouched edge keeps its own time", () => {
  const mark = span({ start: at(10), end: at(15) });
  const changed = edited(mark, "end", { candles: 1, price: 0 }, steady(20, "4h"));
  assert.equal(changed.start, at(10));
  assert.equal(changed.end, at(20));
});

test("on a coarser drawn level an edge still snaps to the chosen timeframe", () => {
  const mark = span({ start: at(10), end: at(15) });
  assert.equal(edited(mark, "end", { candles: 0.5, price: 0 }, steady(20, "4h", "1h")).end, at(17));
});

test("a span whose edge is not loaded moves whole, by time", () => {
  const mark = span({ start: at(-100), end: at(5) });
  const moved = edited(mark, "body", { candles: 3, price: 0 }, steady(50));
  assert.deepEqual([moved.start, moved.end], [at(-97), at(8)]);
});

test("a point goes to the candle and price that it was dragged to", () => {
  const moved = edited(point({ time: at(4), price: 10 }), "body", { candles: 1.7, price: -2.5 }, steady(50));
  assert.deepEqual([moved.time, moved.price], [at(6), 7.5]);
  const inside = point({ time: at(10) });
  assert.equal(edited(inside, "body", still, steady(20, "4h")).time, at(10), "a drag that goes nowhere does not snap");
});

test("a trade's ends move alone, and exit never comes before entry", () => {
  const mark = trade();
  const later = edited(mark, "exit", { candles: 2, price: 1 }, steady(50));
  assert.deepEqual([later.entry, later.exit], [mark.entry, { time: at(5), price: 104 }]);
  assert.equal(edited(mark, "exit", { candles: -9, price: 0 }, steady(50)).exit.time, mark.entry.time);
  assert.equal(edited(mark, "entry", { candles: 9, price: 0 }, steady(50)).entry.time, mark.exit.time);
});

test("a moved trade takes its stop and target along; one it does not have stays away", () => {
  const moved = edited(trade({ stop: 98 }), "body", { candles: 1, price: 2 }, steady(50));
  assert.deepEqual([moved.entry.time, moved.stop, moved.target], [at(2), 100, null]);
  assert.equal(edited(trade({ target: 110 }), "target", { candles: 5, price: 2 }, steady(50)).target, 112);
});

test("a trade or a line that is moved past an end of the candles stops there as long as it was", () => {
  const window = steady(10);
  const moved = edited(trade({ entry: { time: at(5), price: 1 }, exit: { time: at(8), price: 2 } }), "body", { candles: 4, price: 0 }, window);
  assert.deepEqual([moved.entry.time, moved.exit.time], [at(6), at(9)]);
  const line = edited(trendLine({ start: { time: at(2), price: 1 }, end: { time: at(4), price: 2 } }), "body", { candles: -7, price: 1 }, window);
  assert.deepEqual([line.start, line.end], [{ time: at(0), price: 2 }, { time: at(2), price: 3 }]);
});

test("what is placed on a coarser candle that opens before the series stands on the series' first candle", () => {
  const bounds = { from: at(3) };
  assert.equal(withinSeries(point({ time: at(0) }), bounds).time, at(3));
  assert.equal(withinSeries(point({ time: at(4) }), bounds).time, at(4));
  assert.equal(withinSeries(priceLevel({ time: at(0) }), bounds).time, at(3));
  assert.equal(withinSeries(priceLevel({ time: null }), bounds).time, null);
  const held = withinSeries(trade({ entry: { time: at(0), price: 1 }, exit: { time: at(5), price: 2 } }), bounds);
  assert.deepEqual([held.entry, held.exit], [{ time: at(3), price: 1 }, { time: at(5), price: 2 }]);
  assert.equal(withinSeries(trendLine({ start: { time: at(0), price: 1 } }), bounds).start.time, at(3));
  const covering = span({ start: at(0), end: at(6) });
  assert.equal(withinSeries(covering, bounds), covering, "it covers candles, whatever its first one is");
});

test("annotations come in order of time, whatever order they were made in", () => {
  const index = new MarkIndex([span({ id: "c", start: at(9), end: at(10) }), span({ id: "a" }), point({ id: "b", time: at(4) })]);
  assert.deepEqual(index.all().map(({ id }) => id), ["a", "b", "c"]);
  assert.equal(index.neighbour("a", 1)?.id, "b");
  assert.equal(index.neighbour(null, -1)?.id, "c");
  assert.equal(index.neighbour("c", 1), undefined);
});

test("what is in view includes a long span that began long before", () => {
  const long = span({ id: "long", start: at(0), end: at(1000) });
  const short = Array.from({ length: 500 }, (_, hour) => span({ id: `s${hour}`, start: at(hour), end: at(hour + 1) }));
  const found = new MarkIndex([long, ...short]).between(at(700), at(710));
  assert.deepEqual(found.map(({ mark }) => mark.id), ["long"]);
});

test("an index is never changed in place", () => {
  const index = new MarkIndex([span()]);
  const more = index.with(span({ id: "b" }), span({ label: "Short" }));
  assert.deepEqual([index.size, more.size, index.get("a")?.label, more.get("a")?.label], [1, 2, "Long", "Short"]);
  assert.equal(more.without("a").size, 1);
});

test("overlapping spans stand in different rows, touching ones in one", () => {
  const spans = [span({ id: "a", end: at(10) }), span({ id: "b", start: at(5), end: at(12) }), span({ id: "c", start: at(10), end: at(14) })];
  const lanes = new MarkIndex(spans).between(at(0), at(99)).map(({ lane }) => lane);
  assert.deepEqual(lanes, [0, 1, 0]);
});

/**
 * Ten pixels a candle, candle 0 at x 5; price 100 at y 100, one pixel a unit.
 * @param {import("../../static/js/model/candle-window.js").CandleWindow} [window]
 */
function mapping(window = steady(100)) {
  return { window, x: (/** @type {number} */ p) => 5 + p * 10, y: (/** @type {number} */ price) => 200 - price, width: 800, height: 300 };
}

/** @param {import("../../static/js/model/annotation.js").Annotation[]} marks */
function shapes(...marks) {
  const all = new MarkIndex(marks).between(-Infinity, Infinity).map((placed) => shapeOf(placed, mapping()));
  return all.filter((shape) => shape !== null);
}

test("a mark sits in the candle that contains its time, on another timeframe too", () => {
  const shape = shapeOf({ mark: point({ time: at(10) }), lane: 0 }, mapping(steady(20, "4h")));
  assert.ok(shape && "x" in shape);
  assert.equal(shape.x, 25, "10:00 is in the 08:00 candle, the third one");
});

test("a mark in a gap stands on the candle before it", () => {
  const shape = shapeOf({ mark: point({ time: at(3) }), lane: 0 }, mapping(hourly([0, 1, 5, 6])));
  assert.ok(shape && "x" in shape);
  assert.equal(shape.x, 15);
});

test("only the selected span has edges to drag", () => {
  const all = shapes(span({ start: at(10), end: at(20) }));
  assert.equal(hitsAt(all, 100, 50, null)[0].part, "body");
  assert.equal(hitsAt(all, 100, 50, "a")[0].part, "start");
  assert.equal(hitsAt(all, 201, 50, "a")[0].part, "end");
  assert.equal(hitsAt(all, 150, 50, "a")[0].part, "body");
  assert.equal(hitsAt(all, 250, 50, "a").length, 0);
});

test("a span of one candle can still be moved and widened", () => {
  const all = shapes(span({ start: at(10), end: at(11) }));
  assert.deepEqual([98, 105, 112].map((x) => hitsAt(all, x, 50, "a")[0].part), ["start", "body", "end"]);
});

test("under a press the smallest annotation comes first, then what lies below", () => {
  const all = shapes(span({ id: "wide", end: at(50) }), span({ id: "narrow", start: at(5), end: at(9) }), point({ id: "dot", time: at(6), price: 150 }));
  assert.deepEqual(hitsAt(all, 65, 50, null).map(({ mark }) => mark.id), ["dot", "narrow", "wide"]);
});

test("a selected trade is taken at its ends and at its limits", () => {
  const all = shapes(trade({ entry: { time: at(2), price: 100 }, exit: { time: at(20), price: 120 }, stop: 60, target: 160 }));
  const parts = [[25, 100], [205, 80], [100, 140], [100, 40], [100, 90]].map(([x, y]) => hitsAt(all, x, y, "t")[0]?.part);
  assert.deepEqual(parts, ["entry", "exit", "stop", "target", "body"]);
});

test("unlabelled stretches lie between the marks, within the series", () => {
  const marks = [span({ start: at(2), end: at(5) }), span({ id: "b", start: at(4), end: at(6) }), point({ time: at(8) })];
  const stretches = unlabelledStretches(marks, { from: at(0), to: at(10) }, "1h");
  assert.deepEqual(stretches, [{ from: at(0), to: at(2) }, { from: at(6), to: at(8) }, { from: at(9), to: at(10) }]);
  assert.equal(nextStretch(stretches, at(0), 1)?.from, at(6));
  assert.equal(nextStretch(stretches, at(9), -1)?.from, at(6));
  assert.equal(nextStretch(stretches, at(9), 1), undefined);
});

test("a series that is labelled whole has no unlabelled stretch, an empty one is a single stretch", () => {
  const bounds = { from: at(0), to: at(10) };
  assert.deepEqual(unlabelledStretches([span({ start: at(-5), end: at(15) })], bounds, "1h"), []);
  assert.deepEqual(unlabelledStretches([], bounds, "1h"), [bounds]);
});

test("what is sent holds the fields of its kind and nothing else", () => {
  assert.deepEqual(draftOf(span({ author: "Ada" })), { kind: "span", label: "Long", start: at(0), end: at(1), comment: "", confidence: null, revision: 0 });
  assert.equal(draftOf(trade()).stop, null);
});

test("a trade's return counts for its side", () => {
  assert.equal(tradeReturn(trade())?.toFixed(4), "0.0300");
  assert.equal(tradeReturn(trade({ side: "short" }))?.toFixed(4), "-0.0300");
  assert.equal(tradeReturn(trade({ entry: { time: at(1), price: -37.63 } })), null);
});

test("a label speaks of a side by its name", () => {
  assert.deepEqual(["Long", "Short", "sell the rip", "Bearish", "Shorthand"].map(sideOfLabel), ["long", "short", "short", "short", "long"]);
});

test("the list filters by label, kind and text", () => {
  const mark = span({ comment: "False break of the high" });
  assert.ok(passes(mark, { label: "Long", kind: "span", text: " false BREAK " }));
  assert.ok(!passes(mark, { label: "Short", kind: "", text: "" }));
  assert.ok(!passes(mark, { label: "", kind: "trade", text: "" }));
  assert.ok(!passes(mark, { label: "", kind: "", text: "low" }));
});

test("the same mark drawn twice is found, whatever its comment; another label, place or author is another mark", () => {
  const stored = span({ id: "kept", author: "me", comment: "why", status: "draft", revision: 3 });
  const index = new MarkIndex([stored, point({ id: "spot" }), trade()]);
  assert.equal(index.twin(span({ id: "new" }), "me")?.id, "kept");
  assert.equal(index.twin(point({ id: "new" }), "me")?.id, "spot", "one that is not stored yet");
  assert.equal(index.twin(trade({ id: "new" }), "me")?.id, "t");
  for (const other of [span({ label: "Short" }), span({ end: at(2) }), point({ price: 101 }), trade({ stop: 90 })]) assert.equal(index.twin({ ...other, id: "new" }, "me"), undefined);
  assert.equal(index.twin(span({ id: "new" }), "Ada"), undefined);
});

const SET = {
  id: 1,
  name: "Default",
  revision: 1,
  used_by: [1],
  labels: [
    { id: 1, name: "Long", colour: "#009e73", key: "1", layer: "default", archived: false },
    { id: 2, name: "Old", colour: "#8c8c8c", key: null, layer: "default", archived: true },
  ],
};

test("archived labels are offered no more and have no key", () => {
  assert.deepEqual(activeLabels(SET).map(({ name }) => name), ["Long"]);
  assert.equal(labelWithKey(SET, "1")?.name, "Long");
  assert.equal(labelWithKey(SET, "2"), undefined);
});

test("a new label takes the next free key and a colour of its own", () => {
  const made = newLabel(SET.labels);
  assert.equal(made.key, "2");
  assert.ok(!SET.labels.some(({ colour }) => colour === made.colour));
});

test("a label set with a doubled name or key, without a name, or all archived is not stored", () => {
  const [long, old] = SET.labels;
  assert.equal(problemOf(SET.labels), null);
  assert.match(problemOf([long, { ...long, id: 3, key: null }]) ?? "", /Long/);
  assert.match(problemOf([long, { ...long, id: 3, name: "B" }]) ?? "", /key 1/);
  assert.match(problemOf([long, { ...long, id: 3, name: " ", key: null }]) ?? "", /name/);
  assert.match(problemOf([old]) ?? "", /archived/);
});

test("text on any label colour can be read", () => {
  for (const colour of ["#009e73", "#d55e00", "#e69f00", "#8c8c8c", "#000000", "#ffffff", "#0072b2", "#777777"]) {
    assert.ok(contrast(colour, textOn(colour)) >= 4.5, colour);
  }
  assert.equal(contrast("#000000", "#ffffff"), 21);
  assert.equal(faint("#009e73", 0.5), "#009e7380");
});

test("a name that another one would cover stands the nearest free row away, the selected one beside its mark", () => {
  const tag = (/** @type {number} */ left, /** @type {number} */ middle, first = false) => ({ left, width: 40, middle, first });
  const rows = (/** @type {ReturnType<typeof tag>[]} */ ...tags) => placedTags(tags, 16, 100).map(({ left, middle }) => [left, middle]);
  assert.deepEqual(rows(tag(0, 50), tag(60, 50)), [[60, 50], [0, 50]], "side by side both stay");
  assert.deepEqual(rows(tag(0, 50), tag(30, 52)), [[30, 68], [0, 50]]);
  assert.deepEqual(rows(tag(0, 50), tag(30, 52, true)), [[0, 34], [30, 52]]);
  assert.deepEqual(rows(tag(0, 10), tag(0, 10), tag(0, 10)), [[0, 42], [0, 26], [0, 10]], "never out of the pane");
  const piled = placedTags(Array.from({ length: 9 }, () => tag(0, 250)), 16, 500);
  assert.equal(new Set(piled.map(({ middle }) => middle)).size, 7, "where every row is taken it stays");
});
