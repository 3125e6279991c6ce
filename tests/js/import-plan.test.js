// What a person may change about a file before it is imported, and what is sent then.
import assert from "node:assert/strict";
import { test } from "node:test";

import { answersToSend, askedControl, controlsOf } from "../../static/js/model/import-plan.js";

const CANDLE = { time: 0, open: 1, high: 2, low: 0.5, close: 1.5, volume: null };
const ALONE = { isOnly: true, isNew: true, asked: new Set() };

/**
 * A series of a preview as the server shows it.
 * @param {Record<string, unknown>} [report]
 * @returns {import("../../static/js/model/import-plan.js").Shown}
 */
function shown(report = {}) {
  const base = {
    format: "columns by name", zone: "UTC", zone_reason: "no zone is stated", zone_stated: false, timeframe: "1h",
    timeframe_reason: "the most frequent step", stamp: "open", order: "descending", time_written: "ISO times",
    header: ["time", "open", "high", "low", "close", "adj"], numbers: { decimal: ".", reason: "no cell has a comma" }, units: [],
    columns: { time: { name: "time", number: 1, reason: "named 'time'" }, close: { name: "close", number: 5, reason: "named 'close'" } },
    duplicates: { exact: 0, conflicting: 0, rule: "last" }, violations: { count: 0 }, notes: [],
  };
  return { symbol: "A/B", timeframe: "1h", zone: "UTC", candles: 1, first: [CANDLE], last: [CANDLE], report: { ...base, ...report } };
}

/**
 * @param {ReturnType<typeof controlsOf>} controls
 * @param {string} name
 */
const named = (controls, name) => controls.find((control) => control.name === name);

test("every choice shows its value and its reason, and a column can be any of the file", () => {
  const controls = controlsOf(shown(), {}, ALONE);
  const close = named(controls, "column_close");
  assert.equal(close?.value, "5");
  assert.equal(close?.reason, "named 'close'");
  assert.deepEqual(close?.choices.map(({ label }) => label), ["time", "open", "high", "low", "close", "adj"]);
  assert.equal(named(controls, "order")?.value, "newest first; turned round");
  assert.equal(named(controls, "zone")?.free, true);
  assert.equal(named(controls, "column_volume")?.value, "");
});

test("a zone that the file states is a fact", () => {
  const zone = named(controlsOf(shown({ zone_stated: true }), {}, ALONE), "zone");
  assert.deepEqual([zone?.free, zone?.choices], [false, []]);
});

test("rules are offered only where they have something to decide", () => {
  assert.equal(named(controlsOf(shown(), {}, ALONE), "duplicates"), undefined);
  const torn = shown({ duplicates: { exact: 0, conflicting: 3, rule: "last" }, violations: { count: 1 }, units: [{ unit: "ms", rows: 9 }] });
  const controls = controlsOf(torn, {}, ALONE);
  assert.deepEqual(["duplicates", "violations", "unit"].map((name) => named(controls, name)?.value), ["last", "keep", "auto"]);
});

test("what was changed shows as changed, and what is asked is not shown twice", () => {
  const controls = controlsOf(shown(), { column_close: "6" }, { isOnly: false, isNew: false, asked: new Set(["zone"]) });
  assert.equal(named(controls, "column_close")?.value, "6");
  assert.equal(named(controls, "zone"), undefined);
  assert.equal(named(controls, "symbol"), undefined);
});

test("the likely answers are sent where a person changed nothing", () => {
  const choices = [{ value: "UTC", label: "UTC", likely: false }, { value: "EST", label: "EST", likely: true }];
  const zone = { name: "zone", question: "Which zone?", reason: "none is stated", choices };
  assert.deepEqual(answersToSend([zone], { symbol: "X" }), { zone: "EST", symbol: "X" });
  assert.deepEqual(answersToSend([zone], { zone: "UTC" }), { zone: "UTC" });
  assert.equal(askedControl(zone, {}).value, "EST");
});

test("a year of two digits may come first, one of four may not", () => {
  const short = "dates, day and month, two digits a year (the year comes first: no other order gives dates of a calendar)";
  const orders = ["day_first", "month_first"];
  const control = named(controlsOf(shown({ time_written: short }), {}, ALONE), "date_order");
  assert.equal(control?.value, "year_first");
  assert.deepEqual(control?.choices.map(({ value }) => value), [...orders, "year_first"]);
  const long = named(controlsOf(shown({ time_written: "dates, day and month (the month comes first: …)" }), {}, ALONE), "date_order");
  assert.equal(long?.value, "month_first");
  assert.deepEqual(long?.choices.map(({ value }) => value), orders);
});
