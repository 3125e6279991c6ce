// How times, prices and volumes read, and the zones behind them.

import assert from "node:assert/strict";
import { test } from "node:test";

import { formatChange, formatPrice, formatShortTime, formatTick, formatTime, formatVolume, parseTime, priceDecimals } from "../../static/js/model/format.js";
import { tickWeight } from "../../static/js/model/tick-weight.js";
import { isZone, Zone, zoneNames } from "../../static/js/model/zone.js";
import { HOUR } from "./chart-builders.js";

const UTC = new Zone("UTC");
const NEW_YORK = new Zone("America/New_York");
const TOKYO = new Zone("Asia/Tokyo");

test("a daily candle keeps its date for every viewer", () => {
  const time = Date.UTC(2019, 5, 18);
  for (const zone of [UTC, NEW_YORK, TOKYO]) {
    assert.equal(formatTime(time, zone, "1d"), "Tue 2019-06-18");
    assert.equal(formatTick(time, "day", zone, "1d"), "18 Jun");
  }
});

test("the hour that clocks show twice reads with its zone's name", () => {
  const hours = [5, 6].map((hour) => Date.UTC(2024, 10, 3, hour));
  assert.deepEqual(hours.map((time) => formatTick(time, "minute", NEW_YORK, "15m")), ["01:00 EDT", "01:00 EST"]);
  assert.match(formatTime(hours[0], NEW_YORK, "15m"), /01:00 EDT$/);
});

test("a day of 24 hourly candles across a change of clocks has 24 times", () => {
  const berlin = new Zone("Europe/Berlin");
  const hours = Array.from({ length: 24 }, (_, hour) => formatTime(Date.UTC(2024, 2, 31, hour), berlin, "1h"));
  assert.equal(new Set(hours).size, 24);
});

test("zones follow the newest rules that the browser knows", () => {
  assert.equal(new Zone("Asia/Tehran").offsetAt(Date.UTC(2023, 2, 25)), 3.5 * HOUR);
  assert.equal(formatShortTime(Date.UTC(2024, 0, 1, 20, 59), TOKYO, "1m"), "2024-01-02 05:59");
});

test("seconds are shown where candles are that short, milliseconds where there are any", () => {
  assert.equal(formatShortTime(Date.UTC(2024, 0, 1, 1, 2, 3), UTC, "1s"), "2024-01-01 01:02:03");
  assert.equal(formatShortTime(Date.UTC(2024, 0, 1, 1, 2, 3, 358), UTC, "1s"), "2024-01-01 01:02:03.358");
  assert.equal(formatShortTime(Date.UTC(2024, 0, 1, 1, 2, 3), UTC, "5m"), "2024-01-01 01:02");
});

test("a typed time is read in the shown zone, or as UTC where it says so", () => {
  assert.equal(parseTime("2024-03-01 09:30", NEW_YORK), Date.UTC(2024, 2, 1, 14, 30));
  assert.equal(parseTime("2024-03-01T09:30:15Z", NEW_YORK), Date.UTC(2024, 2, 1, 9, 30, 15));
  assert.equal(parseTime(" 2024-3-1 ", UTC), Date.UTC(2024, 2, 1));
});

test("what is no time is not guessed", () => {
  for (const text of ["", "yesterday", "2024-02-30", "2024-01-01 25:00", "01/02/2024"]) assert.equal(parseTime(text, UTC), null);
});

test("a local reading goes to UTC and back on both sides of each change of clocks", () => {
  for (const time of [Date.UTC(2024, 2, 10, 6, 59), Date.UTC(2024, 2, 10, 7), Date.UTC(2024, 10, 3, 4, 30), Date.UTC(2024, 10, 3, 7)]) {
    assert.equal(NEW_YORK.toUtc(NEW_YORK.local(time)), time);
  }
});

test("prices read with the decimals that the instrument has", () => {
  assert.equal(priceDecimals([1.07894, 1.079]), 5);
  assert.equal(priceDecimals([101, 102.5]), 1);
  assert.equal(priceDecimals([0.00001234, 0.0000124]), 8);
  assert.equal(priceDecimals([61_000.123456789]), 2, "a simulated price does not show ten decimals");
  assert.equal(formatPrice(1.07894, 5), "1.07894");
});

test("a change in percent needs a start above 0", () => {
  assert.equal(formatChange(100, 101), "+1.00%");
  assert.equal(formatChange(100, 99), "−1.00%");
  assert.equal(formatChange(100, 99.999), "0.00%");
  assert.equal(formatChange(-37.63, 10), "");
});

test("volumes are short, and none is a dash", () => {
  assert.deepEqual([null, 0, 0.00123, 12.5, 999, 1234, 4.89e9].map(formatVolume), ["–", "0", "0.00123", "12.50", "999", "1.23K", "4.89B"]);
});

test("a tick weighs as much as what changes at it", () => {
  const weights = [
    [Date.UTC(2023, 11, 31, 23), Date.UTC(2024, 0, 1)],
    [Date.UTC(2024, 0, 31, 23), Date.UTC(2024, 1, 1)],
    [Date.UTC(2024, 0, 1, 23), Date.UTC(2024, 0, 2)],
    [Date.UTC(2024, 0, 1, 11), Date.UTC(2024, 0, 1, 12)],
    [Date.UTC(2024, 0, 1, 11), Date.UTC(2024, 0, 1, 11, 1)],
  ].map(([before, now]) => tickWeight(before, now));
  assert.deepEqual(weights, [70, 60, 50, 33, 20]);
});

test("zones are known by name", () => {
  assert.equal(zoneNames()[0], "UTC");
  assert.ok(isZone("Europe/Berlin") && isZone("browser"));
  assert.ok(!isZone("Mars/Olympus"));
});
