// The event list: in order, each once, holes known.
import assert from "node:assert/strict";
import { test } from "node:test";

import { EventList, KEEP_EVENTS, linesOf } from "../../static/js/model/events.js";
import { batchDone, candleLearnt, storedBatches } from "./builders.js";

/** @param {readonly {seq: number}[]} items */
const numbers = (items) => items.map((item) => item.seq);

test("events that come in order are handed on once", () => {
  const list = new EventList();
  const [one, two, three] = /** @type {[any, any, any]} */ (storedBatches(3));
  assert.deepEqual(numbers(list.add([one, two])), [1, 2]);
  assert.deepEqual(numbers(list.add([two, three])), [3]);
  assert.deepEqual(numbers(list.items), [1, 2, 3]);
});

test("an event after a hole waits until the hole is filled", () => {
  const list = new EventList();
  const stored = storedBatches(4);
  list.add(stored.slice(0, 1));
  assert.deepEqual(list.add(stored.slice(2)), []);
  assert.equal(list.hasHole, true);
  assert.deepEqual(numbers(list.add(stored.slice(1, 2))), [2, 3, 4]);
  assert.equal(list.hasHole, false);
});

test("numbers missing in a page of the store were folded away and are no hole", () => {
  const list = new EventList();
  const kept = [batchDone({ seq: 1 }), batchDone({ seq: 40 }), batchDone({ seq: 101 }), batchDone({ seq: 102 })];
  assert.deepEqual(numbers(list.add(kept, 102)), [1, 40, 101, 102]);
  assert.equal(list.hasHole, false);
  assert.equal(list.last, 102);
});

test("of the events of weeks the newest are kept, and the numbers go on", () => {
  const list = new EventList();
  for (let from = 0; from < 3 * KEEP_EVENTS; from += 1000) list.add(storedBatches(from + 1000).slice(from));
  assert.ok(list.items.length <= 1.1 * KEEP_EVENTS);
  assert.equal(list.items.at(-1)?.seq, 3 * KEEP_EVENTS);
  assert.equal(list.last, 3 * KEEP_EVENTS);
  assert.equal(list.hasHole, false);
});

test("any shuffle with doubles gives the stored list", () => {
  const stored = storedBatches(200);
  const list = new EventList();
  let draw = 7;
  const next = () => (draw = (draw * 48271) % 2147483647) / 2147483647;
  const shuffled = [...stored, ...stored.slice(50, 120)].map((item) => ({ item, key: next() })).sort((a, b) => a.key - b.key);
  for (const { item } of shuffled) list.add([item]);
  assert.deepEqual(list.items, stored);
});

test("a learnt candle holds both of its printed lines, a quiet event none", () => {
  assert.deepEqual(linesOf(candleLearnt({ line: "one\ntwo" })), ["one", "two"]);
  assert.deepEqual(linesOf(batchDone({ line: null })), []);
});
