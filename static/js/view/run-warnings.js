// What a person should know of a run, as cards: its warnings, and where learning was taken back.

import { card } from "./card.js";

/** @typedef {import("./keyed.js").KeyedPart} KeyedPart */
/** @typedef {import("../model/run.js").RunProgress} RunProgress */

/**
 * Make the cards of a run.
 * @param {RunProgress} progress
 * @returns {KeyedPart[]}
 */
export function warningParts(progress) {
  // The verdict, which stands with the epochs, says `not_better` already.
  const shown = progress.warnings.filter((warning) => warning.code !== "not_better" || progress.verdict === null);
  const cards = shown.map(({ run_id: run, seq, code, message }) => ({ run, seq, title: WARNING_TITLES[code] ?? "Warning", message }));
  for (const { run_id: run, seq, message, asked } of progress.rollbacks.slice(-ROLLBACKS_SHOWN))
    cards.push({ run, seq, title: asked ? "Went back, as asked" : "Rolled back by itself", message });
  return cards.map(({ run, seq, title, message }) => ({
    key: `warning ${run} ${seq}`,
    make: () => card({ title, text: message, tone: "warning" }),
  }));
}

/** Of many the newest say enough; all of them stand on the chart. */
const ROLLBACKS_SHOWN = 3;

/** @type {Record<string, string | undefined>} */
const WARNING_TITLES = {
  loss_zero: "The loss is 0",
  loss_stuck: "The loss does not move",
  one_class: "Only one class is predicted",
  not_better: "Not better than the baselines",
  non_finite: "A step was skipped",
  no_validation: "No validation set",
  new_label: "A label that the model does not know",
  not_forgotten: "Nothing was forgotten",
  not_saved: "The disk takes no checkpoint",
  feed: "The feed has a problem",
};
