// The candles of the page: positions, gaps, decoding, live candles.

import assert from "node:assert/strict";
import { test } from "node:test";

import { CandleWindow } from "../../static/js/model/candle-window.js";
import { at, HOUR, hourly, steady } from "./chart-builders.js";

/** @param {number[]} values */
function encoded(values) {
  return { dtype: "f8", bdata: Buffer.from(Float64Array.from(values).buffer).toString("base64") };
}

test("binary columns decode to the same numbers, and a missing volume stays missing", () => {
  const prices = [1.07894, 0.1 + 0.2, 60_000.01];
  const [time, open] = [encoded([at(0), at(1), at(2)]), encoded(prices)];
  const candles = CandleWindow.fromAnswer({ timeframe: "1h", level: "1h", time, open, high: open, low: open, close: open, volume: encoded([1, NaN, 0]) });
  assert.deepEqual([...candles.columns.open], prices);
  assert.deepEqual([0, 1, 2].map((index) => candles.candle(index).volume), [1, null, 0]);
});

test("lists decode too, and an unknown type is refused", () => {
  const list = [1, 2];
  const candles = CandleWindow.fromAnswer({ timeframe: "1h", level: "1h", time: [at(0), at(1)], open: list, high: list, low: list, close: list, volume: [null, 3] });
  assert.equal(candles.candle(0).volume, null);
  const odd = { dtype: "f4", bdata: "" };
  assert.throws(() => CandleWindow.fromAnswer({ timeframe: "1h", level: "1h", time: odd }), /f4/);
});

test("a time inside a candle belongs to it, and one in a gap to the candle before", () => {
  const candles = hourly([0, 1, 5, 6]);
  assert.equal(candles.indexAt(at(0) - 1), -1);
  assert.equal(candles.indexAt(at(1) + HOUR - 1), 1);
  assert.equal(candles.indexAt(at(3)), 1);
  assert.equal(candles.indexAt(at(99)), 3);
});

test("positions fill candles without room for gaps", () => {
  const candles = hourly([0, 1, 5, 6]);
  assert.equal(candles.positionOf(at(0)), -0.5);
  assert.equal(candles.positionOf(at(0.5)), 0);
  assert.equal(candles.positionOf(at(5)), 1.5);
  assert.equal(candles.positionOf(at(2)), 1.5, "the close before a gap and the open after it share an edge");
  assert.equal(candles.positionOf(at(8)), 4.5, "time goes on after the last candle");
  assert.equal(candles.positionOf(at(-2)), -2.5);
});

test("the time at the position of a time is that time, in and outside of the candles", () => {
  const candles = hourly([0, 1, 5, 6]);
  for (const hour of [-3, 0, 0.25, 1.5, 5, 6.75, 12]) assert.equal(candles.timeAt(candles.positionOf(at(hour))), at(hour));
});

test("a press anywhere on a candle means its open time", () => {
  const candles = hourly([0, 1, 5, 6]);
  assert.equal(candles.openAt(1.49), at(1));
  assert.equal(candles.openAt(1.5), at(5));
  assert.equal(candles.openAt(-7), at(0));
  assert.equal(candles.openAt(99), at(6));
});

test("on a coarser level a press still means a candle of the chosen timeframe", () => {
  const candles = steady(4, "4h", "1h");
  assert.equal(candles.openAt(1 - 0.5), at(4));
  assert.equal(candles.openAt(1 + 0.1), at(6));
  assert.equal(candles.openAt(3.4999), at(15));
});

test("nothing at or after a hidden time is left", () => {
  const candles = hourly([0, 1, 5, 6]);
  assert.equal(candles.before(at(5)).length, 2);
  assert.equal(candles.before(at(5) + 1).length, 3);
  assert.equal(candles.before(at(0)).length, 0);
});

test("a live candle is added at the end, and an older one changes nothing", () => {
  const candles = steady(3);
  const fresh = { time: at(3), open: 1, high: 2, low: 0.5, close: 1.5, volume: null };
  const longer = candles.withAppended(fresh, "1h");
  assert.deepEqual(longer.candle(3), fresh);
  assert.equal(candles.length, 3);
  assert.equal(longer.withAppended({ ...fresh, time: at(0.5) }, "1h").length, 4);
});

test("on a coarser timeframe a live candle folds into the last one, or opens the next", () => {
  const candles = steady(2, "4h");
  const fold = candles.withAppended({ time: at(5), open: 90, high: 150, low: 80, close: 95, volume: 2 }, "1h");
  assert.deepEqual(fold.candle(1), { time: at(4), open: 101, high: 150, low: 80, close: 95, volume: 7 });
  const next = candles.withAppended({ time: at(9), open: 90, high: 91, low: 80, close: 95, volume: 2 }, "1h");
  assert.equal(next.candle(2).time, at(8));
});

test("sub-second candles keep their distance", () => {
  const time = Float64Array.from([17_000, 17_500, 18_000]);
  const candles = new CandleWindow({ timeframe: "1s", level: "1s", time, open: time, high: time, low: time, close: time, volume: time });
  assert.deepEqual([17_000, 17_500, 18_000].map((each) => candles.indexAt(each)), [0, 1, 2]);
});
