// Which candles to ask for: the visible time and one screen of candles on each side, and when that is worth a new call.

import { closeTime, floorTime, stepMs } from "./timeframe.js";

/** @typedef {{from: number, to: number}} TimeRange half open, ms UTC */

/** Most candles that the page holds. */
export const MAX_CANDLES = 4000;

const FIRST_SHOWN = 200; // candles in view when a series opens for the first time
const LEAST_ASKED = 200;
const LEAST_SHOWN = 40; // candles in view after a change of timeframe
const NEAR = 0.4; // of a screen: how close to the loaded edge a call is worth it
const FINER = 2; // how many times narrower the view must be before a finer level is asked for
const WIDER = 1.1; // how many times wider before a coarser one is
const LEAST_CANDLE_PX = 1; // narrower candles than this are drawn as coarser ones
const MOST_BESIDE = 5000; // that the server takes

/**
 * The time that a series covers, or up to where it may be seen.
 * @param {import("./types.js").Series} series
 * @param {number | null} until nothing from this time on is shown
 * @returns {TimeRange | null} null when there is nothing to show
 */
export function seriesBounds(series, until = null) {
  if (series.first === null || series.last === null) return null;
  const end = closeTime(series.last, series.timeframe);
  const to = until === null ? end : Math.min(until, end);
  return to > series.first ? { from: series.first, to } : null;
}

/**
 * A series with one closed candle more, where it has not got it.
 * @param {import("./types.js").Series} series
 * @param {import("./types.js").Candle} candle
 * @returns {import("./types.js").Series}
 */
export function withCandle(series, { time }) {
  if (series.last !== null && time <= series.last) return series;
  return { ...series, first: series.first ?? time, last: time, candles: series.candles + 1 };
}

/**
 * How many candles a series has after the newest one that it had. Its count grows with older ones too, so no more than
 * fit into the time between.
 * @param {import("./types.js").Series} before
 * @param {import("./types.js").Series} now
 * @returns {number}
 */
export function newerCandles(before, now) {
  if (before.id !== now.id || before.last === null || now.last === null) return 0;
  const room = Math.ceil((now.last - before.last) / stepMs(now.timeframe));
  return Math.max(0, Math.min(room, now.candles - before.candles));
}

/**
 * The view with which a series opens for the first time: its last candles.
 * @param {TimeRange} bounds
 * @param {string} timeframe
 * @param {number} [shown] how many; about as many as were in view of the series before, where that has the same timeframe
 * @returns {TimeRange}
 */
export function firstView(bounds, timeframe, shown = FIRST_SHOWN) {
  const step = stepMs(timeframe);
  const to = bounds.to + Math.min(6, shown / 10) * step;
  return { from: Math.max(bounds.from - step, to - Math.min(shown, MAX_CANDLES) * step), to };
}

/**
 * The view after a change of timeframe: the same time, or more of it where it would hold only a few candles.
 * @param {TimeRange} visible
 * @param {TimeRange} bounds
 * @param {string} timeframe
 * @returns {TimeRange}
 */
export function viewInTimeframe(visible, bounds, timeframe) {
  const least = LEAST_SHOWN * stepMs(timeframe);
  if (visible.to - visible.from >= least) return visible;
  if (visible.to >= bounds.to) return lastView(bounds, timeframe, least);
  const middle = (visible.from + visible.to) / 2;
  return { from: middle - least / 2, to: middle + least / 2 };
}

/**
 * A view of a width that ends a little after the newest candle.
 * @param {TimeRange} bounds
 * @param {string} timeframe
 * @param {number} width ms
 * @returns {TimeRange}
 */
export function lastView(bounds, timeframe, width) {
  const to = closeTime(floorTime(bounds.to - 1, timeframe), timeframe) + width * 0.05;
  return { from: to - width, to };
}

/**
 * A view of a width that begins a little before the oldest candle.
 * @param {TimeRange} bounds
 * @param {number} width ms
 * @returns {TimeRange}
 */
export function earliestView(bounds, width) {
  const from = bounds.from - width * 0.05;
  return { from, to: from + width };
}

/**
 * Keep a stored view where the series still is.
 * @param {TimeRange | undefined} view
 * @param {TimeRange} bounds
 * @returns {TimeRange | null}
 */
export function usableView(view, bounds) {
  if (!view || !(view.to > view.from)) return null;
  return view.to > bounds.from && view.from < bounds.to ? view : null;
}

/**
 * The part of a view that the series has; the whole series where the view is beside it.
 * @param {TimeRange} visible
 * @param {TimeRange} bounds
 * @returns {TimeRange}
 */
export function rangeToLoad(visible, bounds) {
  const from = Math.max(bounds.from, Math.floor(visible.from));
  const to = Math.min(bounds.to, Math.ceil(visible.to));
  return to > from ? { from, to } : bounds;
}

/**
 * How many of the series' own candles to ask for on each side of a view, whatever gaps there are: a screen of them.
 * @param {TimeRange} visible
 * @param {{source: string, timeframe: string}} of
 * @param {number} widthPx of the pane
 * @returns {number}
 */
export function candlesBeside(visible, { source, timeframe }, widthPx) {
  const fit = Math.min(Math.ceil((visible.to - visible.from) / stepMs(timeframe)), Math.ceil(widthPx / LEAST_CANDLE_PX));
  return Math.min(MOST_BESIDE, Math.ceil((fit * stepMs(timeframe)) / stepMs(source)));
}

/**
 * The stretch that an answer covers: as much time again as was asked for on each side, over gaps more.
 * @param {TimeRange} asked
 * @param {import("./candle-window.js").CandleWindow} candles
 * @param {TimeRange} bounds as they were when it was asked for
 * @returns {TimeRange}
 */
export function rangeLoaded(asked, candles, bounds) {
  const length = asked.to - asked.from;
  const [from, to] = [asked.from - length, asked.to + length];
  if (candles.length === 0) return { from: Math.max(bounds.from, from), to: Math.min(bounds.to, to) };
  const last = candles.closeOf(candles.length - 1);
  return { from: Math.max(bounds.from, Math.min(from, candles.columns.time[0])), to: Math.min(bounds.to, Math.max(to, last)) };
}

/**
 * What to ask the server for so that a view of a series can be drawn.
 * @param {{series: import("./types.js").Series, timeframe: string, until: number | null}} shown
 * @param {TimeRange} visible
 * @param {number} widthPx of the pane
 * @returns {import("./types.js").CandleRequest | null} null when there is nothing to show
 */
export function candleRequest({ series, timeframe, until }, visible, widthPx) {
  const bounds = seriesBounds(series, until);
  if (!bounds) return null;
  const range = rangeToLoad(visible, bounds);
  const screen = visible.to - visible.from;
  const around = { from: Math.max(bounds.from, visible.from - screen), to: Math.min(bounds.to, visible.to + screen) };
  const most = mostCandles(around, visible, widthPx);
  const of = { source: series.timeframe, timeframe };
  return { seriesId: series.id, ...of, range, beside: candlesBeside(visible, of, widthPx), most, until };
}

/**
 * Most candles to ask for, so that those in view are not narrower than a pixel.
 * @param {TimeRange} around the view and what lies beside it
 * @param {TimeRange} visible
 * @param {number} widthPx of the pane
 * @returns {number}
 */
export function mostCandles(around, visible, widthPx) {
  const screens = (around.to - around.from) / (visible.to - visible.from);
  return Math.max(LEAST_ASKED, Math.min(MAX_CANDLES, Math.ceil((screens * widthPx) / LEAST_CANDLE_PX)));
}

/**
 * Whether the loaded candles no longer do for what is visible.
 * @param {TimeRange} visible
 * @param {TimeRange & {view: TimeRange}} loaded with the view that it was asked for
 * @param {TimeRange} bounds
 * @param {object} drawn
 * @param {boolean} drawn.isCoarser whether a level coarser than the chosen timeframe is drawn
 * @param {number} drawn.candlePx how wide a candle is
 * @param {number} drawn.before how many loaded candles are left of the view
 * @param {number} drawn.shown how many fit in it
 * @param {number} drawn.after how many are right of it
 */
export function needsLoad(visible, loaded, bounds, { isCoarser, candlePx, before, shown, after }) {
  const [screen, loadedScreen] = [visible.to - visible.from, loaded.view.to - loaded.view.from];
  // The same view again would bring the same: only one that has moved on is worth a call.
  const left = loaded.from > bounds.from && before < shown * NEAR && visible.from < loaded.view.from;
  const right = loaded.to < bounds.to && after < shown * NEAR && visible.to > loaded.view.to;
  const finer = isCoarser && screen * FINER < loadedScreen;
  const coarser = candlePx < LEAST_CANDLE_PX && screen > loadedScreen * WIDER;
  return left || right || finer || coarser;
}

/**
 * The range of the same width around a time.
 * @param {TimeRange} range
 * @param {number} time
 * @returns {TimeRange}
 */
export function centredOn(range, time) {
  const half = (range.to - range.from) / 2;
  return { from: time - half, to: time + half };
}
