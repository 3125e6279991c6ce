// Which candles are asked for, and when; the overview's handle; what is kept of a view.

import assert from "node:assert/strict";
import { test } from "node:test";

import { OverviewScale, stripeRuns } from "../../static/js/model/overview-scale.js";
import { DEFAULTS, loadSettings, saveSettings, viewOf, withView } from "../../static/js/model/settings.js";
import { createStore } from "../../static/js/model/store.js";
import { candleRequest, centredOn, earliestView, firstView, lastView, mostCandles, needsLoad, newerCandles, rangeLoaded, rangeToLoad, seriesBounds, usableView, viewInTimeframe, withCandle } from "../../static/js/model/viewport.js";
import { at, FakeStorage, HOUR, hourly, steady } from "./chart-builders.js";

const BOUNDS = { from: at(0), to: at(10_000) };
const SERIES = { id: 1, symbol: "A", timeframe: "1h", source: "sample", candles: 3, first: at(0), last: at(2), simulated: false, precision: 2, label_set_id: 1, facts: {} };

test("a series covers its first open to its last close, or less while the future is hidden", () => {
  assert.deepEqual(seriesBounds(SERIES), { from: at(0), to: at(3) });
  assert.deepEqual(seriesBounds(SERIES, at(1)), { from: at(0), to: at(1) });
  assert.equal(seriesBounds(SERIES, at(0)), null);
  assert.equal(seriesBounds({ ...SERIES, first: null, last: null }), null);
});

test("candles that came after the newest are counted, older ones that came with them are not", () => {
  const more = (/** @type {number} */ last, /** @type {number} */ candles) => ({ ...SERIES, last: at(last), candles });
  assert.equal(newerCandles(SERIES, more(7, 8)), 5);
  assert.equal(newerCandles(SERIES, more(7, 508)), 5, "500 older ones came too");
  assert.equal(newerCandles(SERIES, more(50, 5)), 2, "a weekend lies between");
  assert.equal(newerCandles(SERIES, more(2, 20)), 0, "only older ones came");
  assert.equal(newerCandles(more(7, 8), SERIES), 0);
  assert.equal(newerCandles(SERIES, { ...more(7, 8), id: 2 }), 0);
  const candle = { time: at(3), open: 1, high: 1, low: 1, close: 1, volume: null };
  assert.deepEqual(withCandle(SERIES, candle), more(3, 4));
  assert.deepEqual(withCandle(withCandle(SERIES, candle), candle), more(3, 4), "the same one counts once");
  assert.deepEqual(withCandle({ ...SERIES, first: null, last: null, candles: 0 }, candle), { ...SERIES, first: at(3), last: at(3), candles: 1 });
});

test("a series opens at its last candles", () => {
  const view = firstView(BOUNDS, "1h");
  assert.ok(view.to > BOUNDS.to && view.from > at(9_700));
  assert.ok(firstView({ from: at(0), to: at(3) }, "1h").from >= at(-1), "a short one is shown whole");
  const zoomed = firstView(BOUNDS, "1h", 40);
  assert.ok(zoomed.to > BOUNDS.to && zoomed.to - zoomed.from === 40 * HOUR, "the next one keeps the zoom");
});

test("the call asks for the view inside the series and a screen of candles beside it, however long the gaps are", () => {
  assert.deepEqual(rangeToLoad({ from: at(100), to: at(200) }, BOUNDS), { from: at(100), to: at(200) });
  assert.deepEqual(rangeToLoad({ from: at(9_950), to: at(10_050) }, BOUNDS), { from: at(9_950), to: at(10_000) });
  assert.deepEqual(rangeToLoad({ from: at(20_000), to: at(20_001) }, BOUNDS), BOUNDS);
  const series = { ...SERIES, candles: 10_000, last: at(9_999) };
  const asked = candleRequest({ series, timeframe: "4h", until: null }, { from: at(100), to: at(200) }, 850);
  assert.deepEqual(asked, { seriesId: 1, source: "1h", timeframe: "4h", range: { from: at(100), to: at(200) }, beside: 100, most: 2550, until: null });
  assert.equal(candleRequest({ series, timeframe: "1h", until: null }, { from: at(0), to: at(9_000) }, 850)?.beside, 850, "never more than there are pixels");
  assert.equal(candleRequest({ series, timeframe: "1h", until: at(0) }, { from: at(0), to: at(9) }, 850), null);
});

test("an answer covers as much time again on each side, and over a gap as far as its candles reach", () => {
  const asked = { from: at(100), to: at(110) };
  assert.deepEqual(rangeLoaded(asked, hourly([95, 104, 115]), BOUNDS), { from: at(90), to: at(120) });
  assert.deepEqual(rangeLoaded(asked, hourly([20, 104, 300]), BOUNDS), { from: at(20), to: at(301) });
  assert.deepEqual(rangeLoaded({ from: at(0), to: at(9_999) }, hourly([-1, 10_050]), BOUNDS), BOUNDS);
  assert.deepEqual(rangeLoaded(asked, hourly([]), BOUNDS), { from: at(90), to: at(120) });
});

const VIEW = { from: at(1100), to: at(1200) };
const LOADED = { from: at(1000), to: at(1300), view: VIEW };
const WIDE = { isCoarser: false, candlePx: 8, before: 100, shown: 100, after: 100 };

/** @param {number} hours by which the view was moved */
function moved(hours) {
  const drawn = { ...WIDE, before: 100 + hours, after: 100 - hours };
  return needsLoad({ from: VIEW.from + hours * HOUR, to: VIEW.to + hours * HOUR }, LOADED, BOUNDS, drawn);
}

test("a pan inside what is loaded asks for nothing, one near its edge does", () => {
  assert.deepEqual([0, 59, -59].map(moved), [false, false, false]);
  assert.deepEqual([70, -70].map(moved), [true, true]);
});

test("it is candles that count beside the view, not the time of the gaps between them", () => {
  const weekend = { from: at(1160), to: at(1264) };
  const loaded = { from: at(1120), to: at(1300), view: weekend };
  assert.equal(needsLoad({ ...weekend, from: at(1159) }, loaded, BOUNDS, { ...WIDE, before: 90 }), false, "few hours, many candles");
  const monday = { from: at(1250), to: at(1270) };
  assert.equal(needsLoad(monday, { from: at(1000), to: at(2000), view: { from: at(1252), to: at(1272) } }, BOUNDS, { ...WIDE, before: 0 }), true, "many hours, no candle");
  assert.equal(needsLoad(monday, { from: at(1000), to: at(2000), view: monday }, BOUNDS, { ...WIDE, before: 0 }), false, "the same view would bring the same");
});

test("the ends of the series are no reason to ask again", () => {
  const first = { from: at(0), to: at(150), view: VIEW };
  assert.equal(needsLoad({ from: at(-50), to: at(50) }, first, BOUNDS, { ...WIDE, before: 0 }), false);
  const last = { from: at(9_800), to: at(10_000), view: VIEW };
  assert.equal(needsLoad({ from: at(9_950), to: at(10_090) }, last, BOUNDS, { ...WIDE, after: 0 }), false);
});

test("zooming in asks for a finer level only while a coarser one is drawn", () => {
  const loaded = { from: at(1000), to: at(4000), view: { from: at(2000), to: at(3000) } };
  assert.equal(needsLoad({ from: at(2000), to: at(2300) }, loaded, BOUNDS, { ...WIDE, isCoarser: true }), true);
  assert.equal(needsLoad({ from: at(2000), to: at(2300) }, loaded, BOUNDS, WIDE), false);
  assert.equal(needsLoad(loaded.view, loaded, BOUNDS, { ...WIDE, isCoarser: true }), false, "a fresh window does not ask for itself again");
});

test("candles narrower than a pixel ask for a coarser level, once for a width of view", () => {
  const loaded = { from: at(0), to: at(10_000), view: { from: at(5000), to: at(7000) } };
  const narrow = { ...WIDE, candlePx: 0.5 };
  assert.equal(needsLoad({ from: at(5000), to: at(8000) }, loaded, BOUNDS, narrow), true);
  assert.equal(needsLoad({ from: at(5000), to: at(7000) }, loaded, BOUNDS, narrow), false);
});

test("no more candles are asked for than there are pixels in view, and never more than the page may hold", () => {
  assert.equal(mostCandles({ from: at(0), to: at(300) }, { from: at(100), to: at(200) }, 850), 2550);
  assert.equal(mostCandles({ from: at(0), to: at(300) }, { from: at(100), to: at(200) }, 3000), 4000);
});

test("a change of timeframe keeps the time in view, or widens it to some candles", () => {
  const wide = { from: at(100), to: at(400) };
  assert.deepEqual(viewInTimeframe(wide, BOUNDS, "4h"), wide);
  assert.deepEqual(viewInTimeframe({ from: at(100), to: at(110) }, BOUNDS, "1h"), { from: at(85), to: at(125) });
  const end = viewInTimeframe({ from: at(9_990), to: at(10_001) }, BOUNDS, "1h");
  assert.deepEqual(end, { from: at(9_962), to: at(10_002) });
});

test("the newest candle is shown whole, also a coarser one that is not over", () => {
  const view = lastView({ from: at(0), to: at(10) }, "4h", at(100) - at(0));
  assert.equal(view.to, at(12) + 5 * HOUR);
});

test("the oldest candle is shown at the left, in a view as wide as before", () => {
  assert.deepEqual(earliestView(BOUNDS, at(100) - at(0)), { from: at(-5), to: at(95) });
});

test("a stored view is used where the series still is", () => {
  assert.deepEqual(usableView({ from: at(5), to: at(9) }, BOUNDS), { from: at(5), to: at(9) });
  for (const view of [undefined, { from: at(9), to: at(5) }, { from: at(-9), to: at(-5) }, { from: NaN, to: at(5) }]) {
    assert.equal(usableView(view, BOUNDS), null);
  }
  assert.deepEqual(centredOn({ from: 0, to: 10 }, 100), { from: 95, to: 105 });
});

test("the overview spreads candles evenly, gaps take no room", () => {
  const scale = new OverviewScale(hourly([0, 1, 50, 51]), 400);
  assert.equal(scale.timeToX(at(0)), 0);
  assert.equal(scale.timeToX(at(50)), 200);
  assert.equal(scale.xToTime(300), at(51));
});

test("the handle is taken at its edges, its middle, or not at all", () => {
  const scale = new OverviewScale(steady(100), 1000);
  const visible = { from: at(20), to: at(40) };
  assert.deepEqual([201, 300, 398, 700].map((x) => scale.partAt(x, visible)), ["from", "both", "to", "outside"]);
});

test("dragging the handle moves the view, dragging an edge changes its width and never turns it around", () => {
  const scale = new OverviewScale(steady(100), 1000);
  const visible = { from: at(20), to: at(40) };
  assert.deepEqual(scale.dragged("both", visible, 100), { from: at(30), to: at(50) });
  assert.deepEqual(scale.dragged("to", visible, 50), { from: at(20), to: at(45) });
  const crossed = scale.dragged("to", visible, -900);
  assert.ok(crossed.to > crossed.from);
});

test("settings come back, and what does not fit falls back to its default", () => {
  const storage = new FakeStorage();
  saveSettings(storage, { ...DEFAULTS, zone: "Asia/Tokyo", seriesId: 4 });
  assert.deepEqual(loadSettings(storage), { ...DEFAULTS, zone: "Asia/Tokyo", seriesId: 4 });
  storage.setItem("annotate.settings", '{"zone": 5, "views": {}, "author": "Ada", "theme": null}');
  assert.deepEqual(loadSettings(storage), { ...DEFAULTS, author: "Ada" });
  storage.setItem("annotate.settings", "{broken");
  assert.deepEqual(loadSettings(storage), DEFAULTS);
});

test("each series keeps its view, the last one opened is remembered, and old views go", () => {
  const storage = new FakeStorage();
  let settings = DEFAULTS;
  for (let id = 1; id <= 60; id += 1) settings = withView(settings, { seriesId: id, timeframe: "1h", from: 0, to: id * HOUR });
  settings = withView(settings, { seriesId: 12, timeframe: "4h", from: 1, to: 2 });
  saveSettings(storage, settings);
  const kept = loadSettings(storage);
  assert.equal(kept.seriesId, 12);
  assert.equal(kept.views.length, 50);
  assert.equal(viewOf(kept, 12)?.timeframe, "4h");
  assert.equal(viewOf(kept, 1), undefined);
});

test("a store tells its watchers of changes, not of the same value, and not after they left", () => {
  const store = createStore(1);
  /** @type {number[][]} */
  const seen = [];
  const leave = store.subscribe((now, before) => void seen.push([now, before]));
  store.set(2);
  store.set(2);
  store.update((now) => now + 1);
  leave();
  store.set(9);
  assert.deepEqual(seen, [[2, 1], [3, 2]]);
});

test("ten thousand annotations paint no more of the overview than it is wide; the later one covers", () => {
  const scale = { timeToX: (/** @type {number} */ time) => time / 100 };
  const many = Array.from({ length: 10_000 }, (_, index) => ({ start: index * 10, end: index * 10 + 20, colour: index % 2 ? "#aaaaaa" : "#bbbbbb" }));
  assert.ok(stripeRuns(many, scale, 1000).length <= 1000);
  const some = [
    { start: -500, end: 300, colour: "red" },
    { start: 200, end: 201, colour: "blue" },
    { start: 900, end: 99_999, colour: "green" },
    { start: 2000, end: 3000, colour: "beyond" },
  ];
  assert.deepEqual(stripeRuns(some, scale, 10), [
    { from: 0, to: 2, colour: "red" },
    { from: 2, to: 3, colour: "blue" },
    { from: 9, to: 10, colour: "green" },
  ]);
});
