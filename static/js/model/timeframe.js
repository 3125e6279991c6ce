// Timeframes: what `5m` or `1w` means in ms, where its candles start, which ones a series offers.

const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
const MONTH_MS = 2_629_800_000; // mean length; month candles start by the calendar, see floorTime
const MONDAY_MS = 345_600_000; // 1970-01-05 00:00 UTC, a Monday: weeks start there
const OFFERED = ["1s", "5s", "15s", "30s", "1m", "3m", "5m", "15m", "30m", "1h", "2h", "4h", "6h", "8h", "12h", "1d", "1w", "1mo"];
const RARE = ["30s", "3m", "30m", "2h", "6h", "8h", "12h"]; // found in the menu beside the buttons

/** @typedef {{count: number, unit: "s" | "m" | "h" | "d" | "w" | "mo"}} Timeframe */

/**
 * Read a timeframe such as `15s`, `4h` or `1mo` (month).
 * @param {string} text
 * @returns {Timeframe}
 */
export function parseTimeframe(text) {
  const found = /^([1-9]\d*)(mo|[smhdw])$/.exec(text);
  if (!found) throw new RangeError(`timeframe ${text}: write a count and one of s m h d w mo, such as 5m`);
  return { count: Number(found[1]), unit: /** @type {Timeframe["unit"]} */ (found[2]) };
}

/**
 * Length of a candle in ms; the mean length for months.
 * @param {string} text
 * @returns {number}
 */
export function stepMs(text) {
  const { count, unit } = parseTimeframe(text);
  return count * (unit === "mo" ? MONTH_MS : UNIT_MS[unit]);
}

/**
 * Open time of the candle that holds a time.
 * @param {number} time ms UTC
 * @param {string} text timeframe
 * @returns {number} ms UTC
 */
export function floorTime(time, text) {
  const { count, unit } = parseTimeframe(text);
  if (unit === "mo") return monthStart(Math.floor(monthNumber(time) / count) * count);
  const origin = unit === "w" ? MONDAY_MS : 0;
  const step = count * UNIT_MS[unit];
  return Math.floor((time - origin) / step) * step + origin;
}

/**
 * Open time of the next candle, which is the close of this one.
 * @param {number} open open time of a candle, ms UTC
 * @param {string} text timeframe
 * @returns {number} ms UTC
 */
export function closeTime(open, text) {
  const { count, unit } = parseTimeframe(text);
  return unit === "mo" ? monthStart(monthNumber(open) + count) : open + count * UNIT_MS[unit];
}

/**
 * The timeframes that can be drawn from a source: itself and the usual coarser ones that it divides.
 * @param {string} source
 * @returns {string[]}
 */
export function offeredTimeframes(source) {
  const step = stepMs(source);
  const coarser = OFFERED.filter((text) => stepMs(text) > step && (text === "1mo" || stepMs(text) % step === 0));
  return [source, ...coarser];
}

/**
 * The offered timeframes apart: those that get a button and those that stand in the menu beside them.
 * @param {string} source
 * @returns {{usual: string[], rare: string[]}}
 */
export function timeframeChoice(source) {
  const offered = offeredTimeframes(source);
  const isRare = (/** @type {string} */ text) => text !== source && RARE.includes(text);
  return { usual: offered.filter((text) => !isRare(text)), rare: offered.filter(isRare) };
}

/**
 * A timeframe in words, such as `15 s` or `1 month`.
 * @param {string} text
 * @returns {string}
 */
export function timeframeWords(text) {
  const { count, unit } = parseTimeframe(text);
  const words = { s: "s", m: "min", h: "h", d: "day", w: "week", mo: "month" };
  const plural = count > 1 && ["d", "w", "mo"].includes(unit) ? "s" : "";
  return `${count} ${words[unit]}${plural}`;
}

/** @param {number} time */
function monthNumber(time) {
  const date = new Date(time);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

/** @param {number} months since year 0 */
function monthStart(months) {
  return Date.UTC(Math.floor(months / 12), months % 12, 1);
}
