// Panes beside the chart: which timeframes they show, and where each stands so that all show the same time.

/** @typedef {{from: number, to: number}} TimeRange ms UTC */

export const MOST_PANES = 3; // beside the chart itself

/**
 * The timeframes of a kept choice that the series offers, at most three.
 * @param {unknown} kept
 * @param {string[]} offered
 * @returns {string[]}
 */
export function usablePanes(kept, offered) {
  return Array.isArray(kept) ? kept.filter((each) => offered.includes(each)).slice(0, MOST_PANES) : [];
}

/**
 * A timeframe for another pane: the next coarser one than those that are shown, else the next finer.
 * @param {string[]} shown the chart's first
 * @param {string[]} offered from fine to coarse
 * @returns {string}
 */
export function nextPane(shown, offered) {
  const places = shown.map((each) => offered.indexOf(each));
  const coarser = offered.slice(Math.max(...places) + 1)[0];
  return coarser ?? offered.findLast((each) => !shown.includes(each)) ?? shown[0];
}

/**
 * Where a pane stands when another one is moved: it keeps its width and shows the same middle; at the newest candles the same end.
 * @param {TimeRange} own
 * @param {TimeRange} lead
 * @param {number} end of the series
 * @returns {TimeRange}
 */
export function alignedTo(own, lead, end) {
  const width = own.to - own.from;
  if (lead.to >= end) return { from: end + width * 0.05 - width, to: end + width * 0.05 };
  const middle = (lead.from + lead.to) / 2;
  return { from: middle - width / 2, to: middle + width / 2 };
}
