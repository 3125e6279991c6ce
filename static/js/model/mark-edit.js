// What a drag makes of an annotation: edges and anchors snap to candles, nothing turns around.

import { closeTime } from "./timeframe.js";

/** @typedef {import("./annotation.js").Annotation} Annotation */
/** @typedef {import("./annotation.js").Anchor} Anchor */
/** @typedef {import("./candle-window.js").CandleWindow} CandleWindow */
/** @typedef {"start" | "end" | "entry" | "exit" | "stop" | "target" | "body"} Part what of an annotation was taken hold of */
/** @typedef {{candles: number, price: number}} Moved how far, in candles (fractions count) and in price */

/**
 * The span over the candles between two positions, whichever comes first.
 * @param {CandleWindow} window
 * @param {number} one
 * @param {number} other
 * @returns {{start: number, end: number}}
 */
export function spanBetween(window, one, other) {
  const last = window.openAt(Math.max(one, other));
  return { start: window.openAt(Math.min(one, other)), end: closeTime(last, window.timeframe) };
}

/**
 * Give the annotation as it is after a drag of one of its parts.
 * @template {Annotation} A
 * @param {A} mark
 * @param {Part} part
 * @param {Moved} moved
 * @param {CandleWindow} window
 * @returns {A}
 */
export function edited(mark, part, moved, window) {
  return { ...mark, ...changeOf(mark, part, moved, window) };
}

/**
 * The same with every anchor on the series: the first candle of a coarser timeframe may open before the series does, and
 * what is placed on it stands on the first candle in it.
 * @template {Annotation} A
 * @param {A} mark
 * @param {{from: number} | null} bounds of the series
 * @returns {A}
 */
export function withinSeries(mark, bounds) {
  if (!bounds) return mark;
  const held = (/** @type {number} */ time) => Math.max(time, bounds.from);
  const on = (/** @type {Anchor} */ anchor) => ({ ...anchor, time: held(anchor.time) });
  if (mark.kind === "point") return { ...mark, time: held(mark.time) };
  if (mark.kind === "level") return mark.time === null ? mark : { ...mark, time: held(mark.time) };
  if (mark.kind === "trade") return { ...mark, entry: on(mark.entry), exit: on(mark.exit) };
  return mark.kind === "trend_line" && mark.end.time > bounds.from ? { ...mark, start: on(mark.start) } : mark;
}

/**
 * @param {Annotation} mark
 * @param {Part} part
 * @param {Moved} moved
 * @param {CandleWindow} window
 * @returns {object} the fields that change
 */
function changeOf(mark, part, moved, window) {
  switch (mark.kind) {
    case "point":
      return shifted(mark, moved, window);
    case "trade":
      return editedTrade(mark, part, moved, window);
    case "level":
      return editedLevel(mark, moved, window);
    case "trend_line":
      return editedLine(mark, part, moved, window);
    default: {
      const { start, end } = mark;
      return start === null || end === null ? {} : editedSpan({ start, end }, part, moved.candles, window);
    }
  }
}

/**
 * A level goes up and down with its body; sideways only as a copy does, its length kept.
 * @param {import("./annotation.js").Level} level
 * @param {Moved} moved
 * @param {CandleWindow} window
 */
function editedLevel({ price, time, until }, { candles, price: change }, window) {
  const next = price + change;
  if (time === null) return { price: next };
  const start = shifted({ time, price }, { candles, price: 0 }, window).time;
  return { price: next, time: start, until: until === null ? null : until + start - time };
}

/**
 * @param {import("./annotation.js").TrendLine} line
 * @param {Part} part
 * @param {Moved} moved
 * @param {CandleWindow} window
 */
function editedLine({ start, end }, part, moved, window) {
  const [first, last] = [shifted(start, moved, window), shifted(end, moved, window)];
  if (part === "start") return first.time < end.time ? { start: first } : { start: { ...first, time: start.time } };
  if (part === "end") return last.time > start.time ? { end: last } : { end: { ...last, time: end.time } };
  const together = { ...moved, candles: roomFor([start.time, end.time], moved.candles, window) };
  return { start: shifted(start, together, window), end: shifted(end, together, window) };
}

/**
 * @param {{start: number, end: number}} span
 * @param {Part} part
 * @param {number} candles
 * @param {CandleWindow} window
 */
function editedSpan({ start, end }, part, candles, window) {
  if (part === "start") return { start: Math.min(startNear(window, start, candles), openBefore(window, end)), end };
  if (part === "end") return { start, end: Math.max(endNear(window, end, candles), closeTime(start, window.timeframe)) };
  const [left, right] = [window.positionOf(start), window.positionOf(end)];
  const room = Math.max(Math.min(candles, window.length - 0.5 - right), -0.5 - left);
  const isInside = left >= -0.5 && right <= window.length - 0.5;
  if (isInside) return { start: startNear(window, start, room), end: endNear(window, end, room) };
  const shift = Math.round(candles) * window.stepMs; // an edge that is not loaded goes along by time
  return { start: start + shift, end: end + shift };
}

/**
 * @param {import("./annotation.js").Trade} trade
 * @param {Part} part
 * @param {Moved} moved
 * @param {CandleWindow} window
 * @returns {Partial<import("./annotation.js").Trade>}
 */
function editedTrade({ entry, exit, stop, target }, part, moved, window) {
  if (part === "entry") {
    const next = shifted(entry, moved, window);
    return { entry: { ...next, time: Math.min(next.time, exit.time) } };
  }
  if (part === "exit") {
    const next = shifted(exit, moved, window);
    return { exit: { ...next, time: Math.max(next.time, entry.time) } };
  }
  if (part === "stop") return { stop: (stop ?? entry.price) + moved.price };
  if (part === "target") return { target: (target ?? entry.price) + moved.price };
  const limits = {
    stop: stop === null ? null : stop + moved.price,
    target: target === null ? null : target + moved.price,
  };
  const together = { ...moved, candles: roomFor([entry.time, exit.time], moved.candles, window) };
  return { entry: shifted(entry, together, window), exit: shifted(exit, together, window), ...limits };
}

/**
 * How far two anchors can go together: at either end of the candles both stop, so that their distance stays.
 * @param {number[]} times
 * @param {number} candles
 * @param {CandleWindow} window
 */
function roomFor(times, candles, window) {
  const places = times.map((time) => window.indexAt(time));
  const isLoaded = Math.min(...places) >= 0 && Math.max(...times) < window.closeOf(window.length - 1);
  return isLoaded ? Math.max(-Math.min(...places), Math.min(candles, window.length - 1 - Math.max(...places))) : candles;
}

/**
 * @param {Anchor} anchor
 * @param {Moved} moved
 * @param {CandleWindow} window
 * @returns {Anchor}
 */
function shifted({ time, price }, { candles, price: change }, window) {
  const middle = window.indexAt(time);
  const isLoaded = middle >= 0 && time < window.closeOf(window.length - 1);
  const whole = Math.round(candles);
  const next = isLoaded ? window.openAt(middle + whole) : time + whole * window.stepMs;
  return { time: whole === 0 ? time : next, price: price + change };
}

/**
 * The candle boundary nearest to where a start was moved to: the open of the candle after it.
 * @param {CandleWindow} window
 * @param {number} time
 * @param {number} candles
 */
function startNear(window, time, candles) {
  return window.openAt(window.positionOf(time) + candles + halfCandle(window));
}

/**
 * The same for an end: the close of the candle before it.
 * @param {CandleWindow} window
 * @param {number} time
 * @param {number} candles
 */
function endNear(window, time, candles) {
  const open = window.openAt(window.positionOf(time) + candles - halfCandle(window));
  return closeTime(open, window.timeframe);
}

/**
 * Open of the last candle that opens before a time.
 * @param {CandleWindow} window
 * @param {number} time
 */
function openBefore(window, time) {
  return window.openAt(window.positionOf(time) - halfCandle(window));
}

/**
 * Half a candle of the user's timeframe, in positions of the drawn level.
 * @param {CandleWindow} window
 */
function halfCandle(window) {
  if (window.level === window.timeframe) return 0.5;
  const open = window.columns.time[0];
  return (closeTime(open, window.timeframe) - open) / window.stepMs / 2;
}
