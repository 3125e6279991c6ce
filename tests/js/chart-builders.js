// Builders for the tests of chart and annotation: candles, marks, a browser storage.

import { CandleWindow } from "../../static/js/model/candle-window.js";
import { stepMs } from "../../static/js/model/timeframe.js";

/** @typedef {import("../../static/js/model/annotation.js").Span} Span */
/** @typedef {import("../../static/js/model/annotation.js").Point} Point */
/** @typedef {import("../../static/js/model/annotation.js").Trade} Trade */

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;
export const MONDAY = Date.UTC(2024, 0, 1);

/**
 * Hourly candles from Monday, or those at the given hours; each closes at 100 plus its place.
 * @param {number[]} hours
 * @param {{timeframe?: string, level?: string}} [drawn]
 */
export function hourly(hours, { timeframe = "1h", level = "1h" } = {}) {
  const time = Float64Array.from(hours, (hour) => MONDAY + hour * HOUR);
  const close = time.map((_, index) => 100 + index);
  const columns = { time, open: close, high: close.map((price) => price + 1), low: close.map((price) => price - 1), close };
  return new CandleWindow({ timeframe, level, ...columns, volume: time.map(() => 5) });
}

/**
 * Candles without a gap.
 * @param {number} count
 * @param {string} [level]
 * @param {string} [timeframe]
 */
export function steady(count, level = "1h", timeframe = level) {
  const step = stepMs(level) / HOUR;
  return hourly(Array.from({ length: count }, (_, index) => index * step), { level, timeframe });
}

/** @param {number} hour since Monday */
export function at(hour) {
  return MONDAY + hour * HOUR;
}

/**
 * @param {Partial<Span>} [fields]
 * @returns {Span}
 */
export function span(fields = {}) {
  return { id: "a", kind: "span", label: "Long", start: at(0), end: at(1), comment: "", confidence: null, revision: 0, ...fields };
}

/**
 * @param {Partial<Point>} [fields]
 * @returns {Point}
 */
export function point(fields = {}) {
  return { id: "p", kind: "point", label: "Long", time: at(0), price: 100, comment: "", confidence: null, revision: 0, ...fields };
}

/**
 * @param {Partial<Trade>} [fields]
 * @returns {Trade}
 */
export function trade(fields = {}) {
  const ends = { entry: { time: at(1), price: 100 }, exit: { time: at(3), price: 103 } };
  return { id: "t", kind: "trade", label: "Long", side: "long", ...ends, stop: null, target: null, comment: "", confidence: null, revision: 0, ...fields };
}

/**
 * @param {Partial<import("../../static/js/model/annotation.js").Level>} [fields]
 * @returns {import("../../static/js/model/annotation.js").Level}
 */
export function priceLevel(fields = {}) {
  return { id: "v", kind: "level", label: "Long", price: 110, time: at(2), until: null, comment: "", confidence: null, revision: 0, ...fields };
}

/**
 * @param {Partial<import("../../static/js/model/annotation.js").TrendLine>} [fields]
 * @returns {import("../../static/js/model/annotation.js").TrendLine}
 */
export function trendLine(fields = {}) {
  const ends = { start: { time: at(2), price: 102 }, end: { time: at(10), price: 110 } };
  return { id: "l", kind: "trend_line", label: "Long", ...ends, extend: "none", comment: "", confidence: null, revision: 0, ...fields };
}

/**
 * @param {Partial<import("../../static/js/model/annotation.js").CandleClass>} [fields]
 * @returns {import("../../static/js/model/annotation.js").CandleClass}
 */
export function candleClass(fields = {}) {
  return { id: "c", kind: "candle_class", label: "Long", start: at(0), end: at(1), comment: "", confidence: null, revision: 0, ...fields };
}

/**
 * @param {Partial<import("../../static/js/model/annotation.js").ChartClass>} [fields]
 * @returns {import("../../static/js/model/annotation.js").ChartClass}
 */
export function chartClass(fields = {}) {
  return { id: "h", kind: "chart_class", label: "Range", start: null, end: null, comment: "", confidence: null, revision: 0, ...fields };
}

/** A browser storage that can be full. */
export class FakeStorage {
  /** @type {Map<string, string>} */
  #items = new Map();
  isFull = false;

  get length() {
    return this.#items.size;
  }

  /** @param {number} index */
  key(index) {
    return [...this.#items.keys()][index] ?? null;
  }

  /** @param {string} key */
  getItem(key) {
    return this.#items.get(key) ?? null;
  }

  /**
   * @param {string} key
   * @param {string} text
   */
  setItem(key, text) {
    if (this.isFull) throw new Error("QuotaExceededError");
    this.#items.set(key, text);
  }

  /** @param {string} key */
  removeItem(key) {
    this.#items.delete(key);
  }
}
