// What a person chose for suggestions, kept in this browser.

import { createStore } from "./store.js";

/**
 * @typedef {object} SuggestSettings
 * @property {string} source `marks`, `model` or the name of a rule
 * @property {"view" | "series"} reach
 * @property {"history" | "causal"} mode
 * @property {number} least the least probability that is shown and accepted at once
 * @property {number} weight what an accepted mark counts when marks are learnt
 * @property {boolean} byItself after each mark and after training
 * @property {string} order of asking for the next mark; `time` is the next stretch without marks
 * @property {Record<string, Record<string, number>>} parameters of each rule
 * @property {{rising: string, falling: string}} labels that a rule gives; empty: none
 */

const KEY = "annotate.suggestions";

/** @type {SuggestSettings} */
const DEFAULTS = {
  source: "marks",
  reach: "view",
  mode: "history",
  least: 0,
  weight: 0.3,
  byItself: false,
  order: "random", // no order needed clearly fewer marks than chance: docs/training-log.md
  parameters: {},
  labels: { rising: "", falling: "" },
};

const LEARNT = ["marks", "model", "best"];

/**
 * Whether a source learns from marks, other than a rule.
 * @param {string} source
 */
export function isLearnt(source) {
  return LEARNT.includes(source);
}

/**
 * Give the kept settings as a store that keeps itself.
 * @param {import("./settings.js").TextStorage} storage
 */
export function suggestSettings(storage) {
  const store = createStore(loaded(storage));
  store.subscribe((now) => storage.setItem(KEY, JSON.stringify(now)));
  return store;
}

/**
 * @param {import("./settings.js").TextStorage} storage
 * @returns {SuggestSettings}
 */
function loaded(storage) {
  try {
    const kept = JSON.parse(storage.getItem(KEY) ?? "{}");
    const fits = Object.entries(DEFAULTS).filter(([name, usual]) => typeof kept[name] === typeof usual && kept[name] !== null);
    return { ...DEFAULTS, ...Object.fromEntries(fits.map(([name]) => [name, kept[name]])) };
  } catch {
    return DEFAULTS;
  }
}
