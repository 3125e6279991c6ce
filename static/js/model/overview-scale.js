// The overview strip's mapping: the whole series, gap-free, over its width; and what a drag of the handle means.

/** @typedef {{from: number, to: number}} TimeRange ms UTC */

/** @typedef {{start: number, end: number, colour: string}} Stripe an annotation on the strip, ms UTC */

const EDGE_PX = 7; // how near to an edge of the handle a drag resizes it
const LEAST_PX = 4;

/** Maps between times and the strip's pixels. */
export class OverviewScale {
  #candles;
  #width;

  /**
   * @param {import("./candle-window.js").CandleWindow} candles of the whole series
   * @param {number} width px
   */
  constructor(candles, width) {
    this.#candles = candles;
    this.#width = width;
  }

  /** @param {number} time */
  timeToX(time) {
    return ((this.#candles.positionOf(time) + 0.5) / Math.max(1, this.#candles.length)) * this.#width;
  }

  /** @param {number} x */
  xToTime(x) {
    return this.#candles.timeAt((x / this.#width) * this.#candles.length - 0.5);
  }

  /**
   * What a press at x takes hold of.
   * @param {number} x
   * @param {TimeRange} visible
   * @returns {"from" | "to" | "both" | "outside"}
   */
  partAt(x, visible) {
    const [left, right] = [this.timeToX(visible.from), this.timeToX(visible.to)];
    const reach = Math.min(EDGE_PX, Math.max(2, (right - left) / 4));
    if (Math.abs(x - left) <= reach) return "from";
    if (Math.abs(x - right) <= reach) return "to";
    return x > left && x < right ? "both" : "outside";
  }

  /**
   * The view after a drag.
   * @param {"from" | "to" | "both"} part
   * @param {TimeRange} start the view when the drag began
   * @param {number} movedPx
   * @returns {TimeRange}
   */
  dragged(part, start, movedPx) {
    const [left, right] = [this.timeToX(start.from), this.timeToX(start.to)];
    const from = part === "to" ? start.from : this.xToTime(part === "from" ? Math.min(left + movedPx, right - LEAST_PX) : left + movedPx);
    const to = part === "from" ? start.to : this.xToTime(part === "to" ? Math.max(right + movedPx, left + LEAST_PX) : right + movedPx);
    return { from, to };
  }
}

/**
 * What annotations come to on a strip of so many pixels: the later one covers the earlier, and however many there are,
 * no more is painted than the strip is wide.
 * @param {readonly Stripe[]} stripes
 * @param {{timeToX: (time: number) => number}} scale
 * @param {number} width px
 * @returns {{from: number, to: number, colour: string}[]} px, from left to right
 */
export function stripeRuns(stripes, scale, width) {
  /** @type {(string | undefined)[]} */
  const colours = new Array(Math.max(0, Math.ceil(width)));
  for (const { start, end, colour } of stripes) {
    const from = Math.floor(scale.timeToX(start));
    const to = Math.max(from + 1, Math.round(scale.timeToX(end)));
    if (to > 0 && from < colours.length) colours.fill(colour, Math.max(0, from), to);
  }
  /** @type {{from: number, to: number, colour: string}[]} */
  const runs = [];
  colours.forEach((colour, x) => {
    const last = runs.at(-1);
    if (last && last.to === x && last.colour === colour) last.to = x + 1;
    else if (colour) runs.push({ from: x, to: x + 1, colour });
  });
  return runs;
}
