// Predictions by candle, and their bands of prices.
import assert from "node:assert/strict";
import { test } from "node:test";

import { bandsOf, likeliest, outcomeOf, Predictions } from "../../static/js/model/predictions.js";
import { candlePredicted, candleScored, START } from "./builders.js";

test("a prediction waits, then is a hit or a miss", () => {
  const predictions = new Predictions();
  const outcome = () => outcomeOf(/** @type {any} */ (predictions.at(START)));
  predictions.take([candlePredicted({ candle_time: START })]);
  assert.equal(outcome(), "waiting");
  predictions.take([candleScored({ candle_time: START, correct: false, outcome: 1 })]);
  assert.equal(outcome(), "miss");
  predictions.take([candleScored({ candle_time: START, correct: null, skipped: "gap" })]);
  assert.equal(outcome(), "skipped");
});

test("a trend belongs to the candle at whose close it was told", () => {
  const predictions = new Predictions();
  predictions.take([candlePredicted({ candle_time: START, as_of: START - 1000, trend_up: 0.7 })]);
  predictions.take([candleScored({ candle_time: START + 4000, trend_as_of: START - 1000, trend_correct: true })]);
  const told = predictions.at(START - 1000);
  assert.equal(told?.trendUp, 0.7);
  assert.equal(told?.trendCorrect, true);
});

test("only the newest candles are kept", () => {
  const predictions = new Predictions();
  for (let index = 0; index < 6000; index += 1)
    predictions.take([candlePredicted({ candle_time: START + index * 1000, as_of: null })]);
  assert.equal(predictions.size, 5000);
  assert.equal(predictions.at(START), undefined);
  assert.equal(predictions.latest?.candle_time, START + 5999 * 1000);
});

test("class edges times sigma become prices around the last close", () => {
  const bands = bandsOf(candlePredicted({ candle_edges: [-1, -0.2, 0.2, 1], sigma: 0.01 }));
  assert.equal(bands.length, 5);
  const flat = /** @type {any} */ (bands[2]);
  assert.ok(Math.abs(flat.from - 100 * Math.exp(-0.002)) < 1e-9);
  assert.ok(Math.abs(flat.to - 100 * Math.exp(0.002)) < 1e-9);
  assert.equal(flat.probability, 0.4);
  bands.slice(1).forEach((band, index) => assert.equal(band.from, bands[index]?.to));
});

test("without a closed candle there is no band", () => {
  assert.deepEqual(bandsOf(candlePredicted({ closed: null })), []);
});

test("the likeliest class is the first of the largest", () => {
  assert.equal(likeliest([0.1, 0.4, 0.1, 0.4, 0]), 1);
});

test("a moment belongs to the candle that was open then, and to none in a gap", () => {
  const predictions = new Predictions();
  for (const time of [START, START + 1000, START + 60_000]) predictions.take([candlePredicted({ candle_time: time, as_of: null })]);
  assert.equal(predictions.within(START + 1000, 1000)?.time, START + 1000);
  assert.equal(predictions.within(START + 1999, 1000)?.time, START + 1000);
  assert.equal(predictions.within(START + 5000, 1000), null);
  assert.equal(predictions.within(START - 1, 1000), null);
});
