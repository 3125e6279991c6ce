// How far two people, or one person twice, agree: the rows of the table.

/** @typedef {{first: number, second: number, matched: number, f1: number | null}} Matched */
/**
 * @typedef {object} Agreement
 * @property {string} first
 * @property {string} second
 * @property {number} tolerance candles
 * @property {number} least_iou
 * @property {Matched} points
 * @property {Matched} spans
 * @property {Matched} trades
 * @property {Record<string, {n: number, agreed: number, kappa: number | null}>} candles by layer
 */

/**
 * What is compared, how many each has, how many match, and the figure.
 * @param {Agreement} agreement
 * @returns {string[][]}
 */
export function agreementRows({ tolerance, least_iou: iou, points, spans, trades, candles }) {
  const near = `±${tolerance} ${tolerance === 1 ? "candle" : "candles"}`;
  const row = (/** @type {string} */ name, /** @type {Matched} */ { first, second, matched, f1 }) => [name, String(first), String(second), String(matched), f1 === null ? "–" : `F1 ${f1.toFixed(2)}`];
  const layers = Object.entries(candles).map(([layer, { n, agreed, kappa }]) => [`Candles, layer ${layer}`, String(n), String(n), String(agreed), kappa === null ? "–" : `kappa ${kappa.toFixed(2)}`]);
  return [row(`Points, ${near}`, points), row(`Spans, IoU ≥ ${iou}`, spans), row(`Trades, side and entry ${near}`, trades), ...layers];
}
