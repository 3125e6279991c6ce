// Puts training together: the run bar, predictions on the chart, and the panels that a person opens. The first view
// does without all of it, so it comes by `import()`, each panel with the first look at it.

import { mountFedChart } from "./fed-chart.js";
import { learningOf } from "./learning.js";
import { mountPredictions } from "./predictions.js";
import { mountRunBar } from "./run-bar.js";

/** @typedef {import("./context.js").PageContext} PageContext */

/**
 * @param {object} places
 * @param {HTMLElement} places.runBar
 * @param {HTMLElement} places.column
 * @param {HTMLElement} places.chart
 * @param {PageContext} context
 * @returns {{link: import("../net/link.js").Link, predictions: ReturnType<typeof mountPredictions>}}
 */
export function mountTraining({ runBar, column, chart }, context) {
  const { link } = learningOf(context);
  mountRunBar(runBar, context);
  mountFedChart(context, link);
  return { link, predictions: mountPredictions(column, chart, context) };
}
