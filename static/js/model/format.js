// How times, prices and volumes read; times are formatted nowhere else in the page.

import { stepMs } from "./timeframe.js";

/** @typedef {import("./zone.js").Zone} Zone */

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const MAX_DECIMALS = 10;

/**
 * A candle's time in full, such as `Wed 2017-03-01 14:00 UTC`; dates alone for days and longer.
 * @param {number} time ms UTC
 * @param {Zone} zone
 * @param {string} timeframe
 */
export function formatTime(time, zone, timeframe) {
  const step = stepMs(timeframe);
  if (step >= DAY_MS) return `${DAYS[new Date(time).getUTCDay()]} ${isoDate(time)}`;
  const local = zone.local(time);
  return `${DAYS[new Date(local).getUTCDay()]} ${isoDate(local)} ${clock(local, step)} ${zone.shortName(time)}`;
}

/**
 * The same without weekday and zone, for lists.
 * @param {number} time ms UTC
 * @param {Zone} zone
 * @param {string} timeframe
 */
export function formatShortTime(time, zone, timeframe) {
  const step = stepMs(timeframe);
  if (step >= DAY_MS) return isoDate(time);
  const local = zone.local(time);
  return `${isoDate(local)} ${clock(local, step)}`;
}

/**
 * The text of a tick on the time axis.
 * @param {number} time ms UTC
 * @param {"year" | "month" | "day" | "minute" | "second"} kind what changes at this tick
 * @param {Zone} zone
 * @param {string} timeframe days and longer keep their UTC date for every viewer
 */
export function formatTick(time, kind, zone, timeframe) {
  const local = stepMs(timeframe) >= DAY_MS ? time : zone.local(time);
  const date = new Date(local);
  if (kind === "year") return String(date.getUTCFullYear());
  if (kind === "month") return MONTHS[date.getUTCMonth()];
  if (kind === "day") return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}`;
  const turning = zone.offsetAt(time - HOUR_MS) !== zone.offsetAt(time + HOUR_MS);
  const name = turning ? ` ${zone.shortName(time)}` : "";
  return clock(local, kind === "second" ? 1000 : 60_000) + name;
}

/**
 * The zone that times of a timeframe are told in; empty for days and longer, which are dates.
 * @param {Zone} zone
 * @param {string} timeframe
 */
export function zoneText(zone, timeframe) {
  return stepMs(timeframe) >= DAY_MS ? "" : zone.name;
}

/**
 * Read a time that a person typed: `2017-03-01`, `2017-03-01 14:30[:15]`, with `Z` for UTC.
 * @param {string} text
 * @param {Zone} zone in which it is meant when it does not say
 * @returns {number | null} ms UTC; null when it is not a time
 */
export function parseTime(text, zone) {
  const found = /^\s*(\d{4})-(\d{1,2})-(\d{1,2})(?:[T ]+(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,3}))?)?)?\s*(Z|UTC)?\s*$/i.exec(text);
  if (!found) return null;
  const [year, month, day, hour, minute, second] = found.slice(1, 7).map((part) => Number(part ?? 0));
  const reading = Date.UTC(year, month - 1, day, hour, minute, second, Number((found[7] ?? "").padEnd(3, "0")));
  const date = new Date(reading);
  const real = date.getUTCMonth() === month - 1 && date.getUTCDate() === day && hour < 24 && minute < 60 && second < 60;
  if (!real) return null;
  return found[8] ? reading : zone.toUtc(reading);
}

/**
 * Decimals that an instrument's prices need: the fewest that show every given price as it is.
 * @param {ArrayLike<number>} prices
 * @returns {number} 0 to 10
 */
export function priceDecimals(prices) {
  let decimals = 0;
  for (let index = 0; index < prices.length && decimals < MAX_DECIMALS; index += 1) {
    const price = prices[index];
    while (decimals < MAX_DECIMALS && !isWritten(price, decimals)) decimals += 1;
  }
  return Math.min(decimals, mostUseful(prices));
}

/**
 * @param {number} price
 * @param {number} decimals
 */
export function formatPrice(price, decimals) {
  return price.toFixed(decimals);
}

/**
 * A volume, shortened: `1.23M`; a dash where there is none.
 * @param {number | null} volume
 */
export function formatVolume(volume) {
  if (volume === null || Number.isNaN(volume)) return "–";
  const size = Math.abs(volume);
  for (const [unit, letter] of /** @type {const} */ ([[1e9, "B"], [1e6, "M"], [1e3, "K"]])) {
    if (size >= unit) return `${(volume / unit).toFixed(2)}${letter}`;
  }
  return size >= 1 || size === 0 ? volume.toFixed(Number.isInteger(volume) ? 0 : 2) : volume.toPrecision(3);
}

/**
 * A change in percent with its sign, none where it rounds to nothing; nothing where the start is not above 0.
 * @param {number} from
 * @param {number} to
 */
export function formatChange(from, to) {
  if (!(from > 0)) return "";
  return percentText(to / from - 1);
}

/**
 * A share with its sign: `+2.79%`; one that rounds to nothing has none.
 * @param {number} share
 * @param {number} [decimals]
 */
export function percentText(share, decimals = 2) {
  return `${signedText(share * 100, decimals)}%`;
}

/**
 * A number with its sign: `+1.50`; one that rounds to nothing has none.
 * @param {number} value
 * @param {number} decimals
 */
export function signedText(value, decimals) {
  const text = numberText(value, decimals);
  return /[1-9]/.test(text) && value > 0 ? `+${text}` : text;
}

/**
 * A number with a true minus sign where it is below 0 as it is written.
 * @param {number} value
 * @param {number} decimals
 */
export function numberText(value, decimals) {
  const text = Math.abs(value).toFixed(decimals);
  return /[1-9]/.test(text) && value < 0 ? `−${text}` : text;
}

/** @param {number} local */
function isoDate(local) {
  const text = new Date(local).toISOString();
  return text.slice(0, text.indexOf("T"));
}

/**
 * @param {number} local
 * @param {number} step ms; seconds and ms are shown where candles are that short
 */
function clock(local, step) {
  const text = new Date(local).toISOString();
  const start = text.indexOf("T") + 1;
  if (step % 60_000 === 0 && step > 0) return text.slice(start, start + 5);
  const ms = new Date(local).getUTCMilliseconds();
  return text.slice(start, start + (ms ? 12 : 8));
}

/**
 * @param {number} price
 * @param {number} decimals
 */
function isWritten(price, decimals) {
  const rounded = Number(price.toFixed(decimals));
  return Math.abs(rounded - price) <= Math.abs(price) * 1e-12;
}

/**
 * Seven figures of the typical price at most, so that a simulated price does not show ten decimals.
 * @param {ArrayLike<number>} prices
 */
function mostUseful(prices) {
  if (prices.length === 0) return 2;
  const typical = Math.abs(prices[prices.length >> 1]) || 1;
  return Math.min(MAX_DECIMALS, Math.max(2, 6 - Math.floor(Math.log10(typical))));
}
