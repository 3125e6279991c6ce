// What the model said of a candle, in words.
import assert from "node:assert/strict";
import { test } from "node:test";

import { expectation, tellings, trendText } from "../../static/js/model/prediction-text.js";
import { Predictions } from "../../static/js/model/predictions.js";
import { candlePredicted, candleScored, START } from "./builders.js";

/** @param {import("../../static/js/model/events.js").RunEvent[]} events */
function toldOf(...events) {
  const predictions = new Predictions();
  predictions.take(events);
  return /** @type {import("../../static/js/model/predictions.js").Told} */ (predictions.at(START));
}

test("the expectation names the likeliest class and the likelier direction", () => {
  const predicted = candlePredicted({ candle_probabilities: [0.05, 0.1, 0.2, 0.42, 0.23], trend_up: 0.38 });
  assert.equal(expectation(predicted), "rise 42% · trend ▼ 62%");
  assert.equal(trendText(0.5), "▲ 50%");
});

test("a candle tells what was predicted, what came true, and from which snapshot", () => {
  const told = toldOf(candlePredicted({ candle_time: START }), candleScored({ candle_time: START, outcome: 1, correct: false }));
  assert.deepEqual(tellings(told), ["predicted flat 40%, fall 20%", "was fall ✗", "snapshot 3"]);
});

test("a candle without a score says why", () => {
  const told = toldOf(candleScored({ candle_time: START, outcome: null, correct: null, skipped: "gap" }));
  assert.deepEqual(tellings(told), ["no score: gap"]);
});

test("a candle that the model had learnt says so, and so does a trend that came true", () => {
  const told = toldOf(
    candlePredicted({ candle_time: START, seen: true, label_probabilities: { Long: 0.1, Short: 0.9 } }), // of the one before
    candlePredicted({ candle_time: START + 1000, as_of: START, trend_up: 0.7, label_probabilities: { Long: 0.7, Short: 0.3 } }),
    candleScored({ candle_time: START + 5000, trend_as_of: START, trend_correct: true }),
  );
  assert.deepEqual(tellings(told).slice(1), ["trend told here ▲ 70% ✓", "suggests Long 70%", "snapshot 3", "seen in training"]);
});
