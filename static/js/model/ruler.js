// What a ruler says of two places on the chart: candles, time and price between them.

import { percentText, signedText } from "./format.js";

/** @typedef {{position: number, price: number, time: number}} Place */

const UNITS = /** @type {const} */ ([[86_400_000, "d"], [3_600_000, "h"], [60_000, "min"], [1000, "s"]]);

/**
 * @param {Place} from
 * @param {Place} to
 * @param {number | null} decimals null where prices are hidden
 * @returns {string[]} lines
 */
export function rulerLines(from, to, decimals) {
  const candles = Math.floor(to.position + 0.5) - Math.floor(from.position + 0.5);
  const change = to.price - from.price;
  const share = from.price > 0 ? percentText(change / from.price) : "";
  const inPrice = decimals === null ? share : `${signedText(change, decimals)}${share && ` (${share})`}`;
  return [inPrice, `${candles} ${Math.abs(candles) === 1 ? "candle" : "candles"}, ${durationText(to.time - from.time)}`];
}

/**
 * A length of time in its two largest units: `2 d 4 h`.
 * @param {number} ms
 */
export function durationText(ms) {
  let left = Math.abs(ms);
  const parts = [];
  for (const [length, unit] of UNITS) {
    const count = Math.floor(left / length);
    left -= count * length;
    if (count > 0) parts.push(`${count} ${unit}`);
  }
  const text = parts.slice(0, 2).join(" ") || `${Math.round(left)} ms`;
  return ms < 0 ? `−${text}` : text;
}
