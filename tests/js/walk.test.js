// Walking over candles, the ruler, and keys that a person chose.

import assert from "node:assert/strict";
import { test } from "node:test";

import { doubledKeys, tableWith, usableKeys, withKey } from "../../static/js/model/keys.js";
import { durationText, rulerLines } from "../../static/js/model/ruler.js";
import { classed, countClassed, walkLabels } from "../../static/js/model/walk.js";
import { at, candleClass, HOUR, span } from "./chart-builders.js";

test("the arrows give what the labels' names say, then the first others, and a person's own choice before that", () => {
  assert.deepEqual(walkLabels(["Long", "Short", "Range", "Noise"]), { up: "Long", flat: "Range", down: "Short" });
  assert.deepEqual(walkLabels(["Falling", "Calm", "Rising"]), { up: "Rising", flat: "Calm", down: "Falling" });
  assert.deepEqual(walkLabels(["A", "B", "C"]), { up: "A", flat: "C", down: "B" });
  assert.deepEqual(walkLabels(["Long", "Short", "Range", "Noise"], { flat: "Noise", up: "gone" }), { up: "Long", flat: "Noise", down: "Short" });
  assert.deepEqual(walkLabels(["Only"]), { up: "Only", flat: "Only", down: "Only" });
  assert.equal(walkLabels([]), null);
});

test("a candle gets one class: a new mark, another label on the old one, or nothing where it has that label", () => {
  const candle = { start: at(3), end: at(4) };
  const fresh = classed([span({ start: at(0), end: at(9) })], candle, "Long", () => "new");
  assert.deepEqual(fresh, candleClass({ id: "new", start: at(3), end: at(4) }));
  const standing = candleClass({ start: at(3), end: at(4), revision: 2 });
  assert.deepEqual(classed([standing], candle, "Short", () => "new"), { ...standing, label: "Short" });
  assert.equal(classed([standing], candle, "Long", () => "new"), null);
});

test("classed candles are counted one by one, also in longer marks", () => {
  const marks = [candleClass({ start: at(0), end: at(1) }), candleClass({ id: "b", start: at(2), end: at(5) }), span()];
  assert.equal(countClassed(marks, { from: at(0), to: at(10) }, HOUR), 4);
});

test("the ruler tells price, share, candles and time, forward and backward", () => {
  const from = { position: 10, price: 100, time: at(10) };
  assert.deepEqual(rulerLines(from, { position: 36.2, price: 103.5, time: at(36) }, 1), ["+3.5 (+3.50%)", "26 candles, 1 d 2 h"]);
  assert.deepEqual(rulerLines(from, { position: 9, price: 99, time: at(9) }, 1), ["−1.0 (−1.00%)", "-1 candle, −1 h"]);
  assert.deepEqual(rulerLines(from, { position: 9, price: 99, time: at(9) }, null)[0], "−1.00%", "hidden prices stay hidden");
  assert.deepEqual(rulerLines({ ...from, price: -5 }, { ...from, price: 5 }, 0)[0], "+10", "no share of a price below 0");
  assert.equal(durationText(500), "500 ms");
});

test("an action takes another key, unless that one means something else", () => {
  const { chosen } = withKey({}, "magnet", "Z");
  assert.deepEqual(chosen, { magnet: ["Z"] });
  assert.deepEqual(tableWith(chosen ?? {}).find(({ action }) => action === "magnet")?.keys, ["Z"]);
  assert.equal(withKey({}, "magnet", "V").taken?.action, "tool-select");
  assert.deepEqual(withKey({}, "delete", "Ctrl+D").chosen, { delete: ["Ctrl+D", "Backspace"] }, "a second key stays");
});

test("kept keys that no longer fit are left out, so that no key ever means two things", () => {
  const kept = { magnet: ["Z"], gone: ["Q"], ruler: 5, "tool-level": ["V"], hide: [] };
  assert.deepEqual(usableKeys(kept), { magnet: ["Z"] });
  assert.deepEqual(doubledKeys(tableWith(usableKeys(kept))), []);
});
