// What the model said of a candle, in words. Pure; no DOM.

import { percent } from "./format-metrics.js";
import { CLASS_NAMES, likeliest, outcomeOf, suggestionOf } from "./predictions.js";

/** @typedef {import("./predictions.js").Told} Told */
/** @typedef {import("./events.js").CandlePredicted} CandlePredicted */

/**
 * Say what the model expects of the next candle.
 * @param {CandlePredicted} predicted
 * @returns {string} `rise 42% · trend ▲ 62%`
 */
export function expectation(predicted) {
  const best = likeliest(predicted.candle_probabilities);
  return `${CLASS_NAMES[best]} ${percent(predicted.candle_probabilities[best])} · trend ${trendText(predicted.trend_up)}`;
}

/**
 * @param {number} up P(up)
 * @returns {string} the likelier direction with its probability
 */
export function trendText(up) {
  return up >= 0.5 ? `▲ ${percent(up)}` : `▼ ${percent(1 - up)}`;
}

/**
 * Say everything known of one candle.
 * @param {Told} told
 * @returns {string[]} parts of one line
 */
export function tellings(told) {
  const { predicted, scored } = told;
  const parts = [];
  if (predicted !== null) parts.push(`predicted ${classesText(predicted.candle_probabilities)}`);
  if (scored !== null) parts.push(outcomeText(told));
  if (told.trendUp !== null) parts.push(`trend told here ${trendText(told.trendUp)}${trendOutcome(told.trendCorrect)}`);
  const suggested = suggestionOf(told);
  if (suggested !== null) parts.push(`suggests ${suggested.label} ${percent(suggested.probability)}`);
  if (predicted !== null) parts.push(`snapshot ${predicted.snapshot}`);
  if (scored?.seen ?? predicted?.seen) parts.push("seen in training");
  return parts;
}

/** @param {readonly number[]} probabilities */
function classesText(probabilities) {
  const order = probabilities.map((value, index) => ({ value, index })).sort((a, b) => b.value - a.value);
  return order
    .slice(0, 2)
    .map(({ value, index }) => `${CLASS_NAMES[index]} ${percent(value)}`)
    .join(", ");
}

/** @param {Told} told */
function outcomeText(told) {
  const { scored } = told;
  if (scored === null || scored.outcome === null) return `no score: ${scored?.skipped ?? "not known"}`;
  const mark = { hit: " ✓", miss: " ✗", waiting: "", skipped: "" }[outcomeOf(told)];
  const before = scored.after_no_trade ? " after a time without trades" : "";
  return `was ${CLASS_NAMES[scored.outcome]}${before}${mark}`;
}

/** @param {boolean | null} correct */
function trendOutcome(correct) {
  if (correct === null) return "";
  return correct ? " ✓" : " ✗";
}
