// A small drawing of a few candles: where bodies and wicks stand. Pure; no DOM.

/** @typedef {import("./types.js").Candle} Candle */

/**
 * One candle in the drawing; x is its middle, y grows downwards.
 * @typedef {object} Figure
 * @property {number} x
 * @property {number} top y of the high
 * @property {number} bottom y of the low
 * @property {number} bodyTop
 * @property {number} bodyHeight at least 1
 * @property {boolean} isUp
 */

/**
 * Candles side by side on a scale of their own.
 * @typedef {object} Part
 * @property {Figure[]} figures
 * @property {number} low the lowest price
 * @property {number} high
 * @property {number} x where the part begins
 */

/**
 * Place the first and the last candles of a series; where candles between them are missing, in two parts.
 * @param {readonly Candle[]} first
 * @param {readonly Candle[]} last
 * @param {number} total candles of the series
 * @param {{width: number, height: number}} size
 * @returns {{parts: Part[], step: number}} `step` is the distance between two candles
 */
export function placeCandles(first, last, total, { width, height }) {
  const seen = new Set(first.map(({ time }) => time));
  const rest = last.filter(({ time }) => !seen.has(time));
  const isWhole = first.length + rest.length >= total;
  const groups = isWhole ? [[...first, ...rest]] : [[...first], rest];
  const slots = first.length + rest.length + groups.length - 1; // one slot stays free between two parts
  const step = width / Math.max(slots, 1);
  let slot = 0;
  const parts = groups.map((candles) => {
    const part = placePart(candles, slot, step, height);
    slot += candles.length + 1;
    return part;
  });
  return { parts, step };
}

/**
 * @param {readonly Candle[]} candles
 * @param {number} slot of the first one
 * @param {number} step
 * @param {number} height
 * @returns {Part}
 */
function placePart(candles, slot, step, height) {
  const low = Math.min(...candles.map((candle) => Math.min(candle.low, candle.open, candle.close)));
  const high = Math.max(...candles.map((candle) => Math.max(candle.high, candle.open, candle.close)));
  const y = (/** @type {number} */ price) => (high > low ? ((high - price) / (high - low)) * height : height / 2);
  const figures = candles.map((candle, at) => {
    const [upper, lower] = [y(Math.max(candle.open, candle.close)), y(Math.min(candle.open, candle.close))];
    return {
      x: (slot + at + 0.5) * step,
      top: y(candle.high),
      bottom: y(candle.low),
      bodyTop: upper,
      bodyHeight: Math.max(1, lower - upper),
      isUp: candle.close >= candle.open,
    };
  });
  return { figures, low, high, x: slot * step };
}
