// Looked-through ranges: what is in view counts as reviewed, so that no mark there means that nothing is there.

import { covers } from "../model/unlabelled.js";

/**
 * Say that what is in view was looked through; where all of it was, take that back.
 * @param {import("./chart-view.js").ChartView} view
 * @param {import("../net/annotation-book.js").AnnotationBook} book
 * @param {import("./toast.js").Toast} toast
 */
export async function toggleReviewed(view, book, toast) {
  const [visible, bounds] = [view.visible(), view.bounds()];
  if (!visible || !bounds || view.window.length === 0) return toast("There are no candles in view");
  const range = shownCandles(view.window, { from: Math.max(visible.from, bounds.from), to: Math.min(visible.to, bounds.to) });
  if (!range) return toast("There are no candles in view");
  const wasReviewed = covers(book.reviewed.get(), range);
  try {
    await book.setReviewed(range, !wasReviewed);
    toast(wasReviewed ? "What is in view is not looked through any more" : "What is in view is looked through: no mark means that nothing is there");
  } catch (error) {
    toast(error instanceof Error ? error.message : String(error), { tone: "danger" });
  }
}

/**
 * The candles that are wholly in view.
 * @param {import("../model/candle-window.js").CandleWindow} window
 * @param {{from: number, to: number}} range
 */
function shownCandles(window, { from, to }) {
  const first = Math.max(0, window.indexAt(from - 1) + 1);
  const last = window.closeOf(window.indexAt(to - 1)) <= to ? window.indexAt(to - 1) : window.indexAt(to - 1) - 1;
  return last < first ? null : { from: window.columns.time[first], to: window.closeOf(last) };
}
