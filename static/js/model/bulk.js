// Changes of many annotations at once, and copies of them at another place.

import { startOf } from "./annotation.js";
import { edited } from "./mark-edit.js";

/** @typedef {import("./annotation.js").Annotation} Annotation */
/** @typedef {import("./candle-window.js").CandleWindow} CandleWindow */

/**
 * The ones that a change makes different.
 * @param {Annotation[]} marks
 * @param {Partial<Pick<Annotation, "label" | "status" | "confidence">>} change
 * @returns {Annotation[]}
 */
export function changedBy(marks, change) {
  const differs = (/** @type {Annotation} */ mark) => Object.entries(change).some(([name, value]) => valueOf(mark, name) !== value);
  return marks.filter(differs).map((mark) => ({ ...mark, ...change }));
}

/**
 * Copies that begin at a time: the earliest one there, the others as many candles after it as they were.
 * @param {Annotation[]} marks
 * @param {number} time open of a candle
 * @param {CandleWindow} window
 * @param {() => string} newId
 * @returns {Annotation[]}
 */
export function pasted(marks, time, window, newId) {
  const placed = marks.filter((mark) => Number.isFinite(startOf(mark)));
  if (placed.length === 0) return [];
  const first = Math.min(...placed.map(startOf));
  const candles = Math.round(window.positionOf(time) - window.positionOf(first));
  const price = closeAt(window, time) - closeAt(window, first);
  return placed.map((mark) => {
    const moved = edited(mark, "body", { candles, price: Number.isFinite(price) ? price : 0 }, window);
    return { ...moved, id: newId(), revision: 0, author: undefined, updated_by: undefined, review: null };
  });
}

/**
 * @param {CandleWindow} window
 * @param {number} time
 */
function closeAt(window, time) {
  const index = window.indexAt(time);
  return index < 0 ? NaN : window.columns.close[index];
}

/**
 * @param {Annotation} mark
 * @param {string} name
 */
function valueOf(mark, name) {
  const value = /** @type {Record<string, unknown>} */ (/** @type {unknown} */ (mark))[name];
  return name === "status" ? (value ?? "done") : value;
}
