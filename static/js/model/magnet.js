// The magnet: prices snap to the open, high, low or close of the candle that they stand on.

/** @typedef {import("./annotation.js").Annotation} Annotation */
/** @typedef {import("./annotation.js").Anchor} Anchor */
/** @typedef {import("./candle-window.js").CandleWindow} CandleWindow */

/**
 * The nearest of a candle's four prices.
 * @param {{open: number, high: number, low: number, close: number}} candle
 * @param {number} price
 */
export function nearestPrice({ open, high, low, close }, price) {
  return [open, high, low, close].reduce((best, each) => (Math.abs(each - price) < Math.abs(best - price) ? each : best));
}

/**
 * An anchor on the nearest price of the drawn candle that holds its time; as it is where none does.
 * @param {Anchor} anchor
 * @param {CandleWindow} window
 * @returns {Anchor}
 */
export function snapped({ time, price }, window) {
  const index = window.indexAt(time);
  const isHeld = index >= 0 && time < window.closeOf(index);
  return { time, price: isHeld ? nearestPrice(window.candle(index), price) : price };
}

/**
 * An annotation after a drag, with what was moved on the nearest price.
 * @param {Annotation} mark
 * @param {import("./mark-edit.js").Part} part
 * @param {CandleWindow} window
 * @returns {Annotation}
 */
export function withMagnet(mark, part, window) {
  if (mark.kind === "point") return { ...mark, ...snapped(mark, window) };
  if (mark.kind === "level" && mark.time !== null) return { ...mark, price: snapped({ time: mark.time, price: mark.price }, window).price };
  if (mark.kind === "trend_line" && (part === "start" || part === "end")) return { ...mark, [part]: snapped(mark[part], window) };
  if (mark.kind === "trade" && (part === "entry" || part === "exit")) return { ...mark, [part]: snapped(mark[part], window) };
  return mark;
}
