// Where no annotation is: the stretches of a series that nobody has marked or looked through yet.

import { endOf, endsAtClose, kindOf, startOf } from "./annotation.js";
import { closeTime } from "./timeframe.js";

/** @typedef {import("./annotation.js").Annotation} Annotation */
/** @typedef {{from: number, to: number}} TimeRange half open, ms UTC */

/**
 * Find the stretches without annotations, in order of time.
 * @param {Annotation[]} marks
 * @param {TimeRange} bounds
 * @param {string} timeframe a point or a trade covers the whole candle that it stands on
 * @param {TimeRange[]} [reviewed] ranges that were looked through, with or without marks
 * @returns {TimeRange[]}
 */
export function unlabelledStretches(marks, bounds, timeframe, reviewed = []) {
  const covered = marks
    .filter((mark) => kindOf(mark).ofCandles)
    .map((mark) => ({ from: startOf(mark), to: endsAtClose(mark) ? endOf(mark) : closeTime(endOf(mark), timeframe) }))
    .concat(reviewed)
    .sort((one, other) => one.from - other.from);
  const stretches = [];
  let reached = bounds.from;
  for (const { from, to } of [...covered, { from: bounds.to, to: bounds.to }]) {
    if (from > reached) stretches.push({ from: reached, to: Math.min(from, bounds.to) });
    reached = Math.max(reached, to);
  }
  return stretches;
}

/**
 * The stretch that begins after, or before, a time; none when there is no further one.
 * @param {TimeRange[]} stretches
 * @param {number} time
 * @param {1 | -1} direction
 * @returns {TimeRange | undefined}
 */
export function nextStretch(stretches, time, direction) {
  return direction > 0 ? stretches.find(({ from }) => from > time) : stretches.findLast(({ from }) => from < time);
}

/**
 * Whether ranges cover the whole of another.
 * @param {TimeRange[]} ranges
 * @param {TimeRange} whole
 */
export function covers(ranges, { from, to }) {
  let reached = from;
  for (const range of [...ranges].sort((one, other) => one.from - other.from)) if (range.from <= reached) reached = Math.max(reached, range.to);
  return reached >= to;
}
