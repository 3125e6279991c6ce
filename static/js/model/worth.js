// What a trade mark came to, as the server reckons it, in words: fills, costs and exits are the server's.

import { numberText, percentText, signedText } from "./format.js";

/**
 * @typedef {object} TradeResult
 * @property {string} id
 * @property {"waiting" | "open" | "closed"} state
 * @property {string | null} reason why it was left: exit, stop, target
 * @property {{time: number, price: number} | null} entry
 * @property {{time: number, price: number} | null} exit
 * @property {number | null} return after costs, a share
 * @property {number | null} r
 * @property {number | null} candles held
 * @property {number | null} mfe
 * @property {number | null} mae
 */

/** @typedef {{name: string, trades: number, closed: number, won: number, sum: number | null, mean: number | null, mean_r: number | null}} Total */
/** @typedef {{costs: {fee_bps: number, slippage_bps: number}, items: TradeResult[], totals: {all: Total, label: Total[], author: Total[], mode: Total[]}}} Worth */

/**
 * The result beside a trade on the chart: `+2.79%`, or that it is not over.
 * @param {TradeResult} result
 */
export function resultText({ state, return: gained }) {
  if (state === "waiting") return "not filled";
  return state === "open" || gained === null ? "open" : percentText(gained);
}

/**
 * The result in full, for the panel.
 * @param {TradeResult} result
 * @param {(price: number) => string} price
 */
export function resultWords(result, price) {
  if (result.state === "waiting" || !result.entry) return "Not filled: there is no candle after the decision yet.";
  const held = [
    result.candles !== null && `${result.candles} ${result.candles === 1 ? "candle" : "candles"} held`,
    result.mfe !== null && `best ${percentText(result.mfe)}`,
    result.mae !== null && `worst ${percentText(result.mae)}`,
  ];
  const filled = `Filled at ${price(result.entry.price)}`;
  if (result.state === "open" || !result.exit) return [`${filled}, still open`, ...held].filter(Boolean).join(" · ");
  const left = `left at ${price(result.exit.price)} (${reasonWords(result)})`;
  const gained = result.return !== null && `${percentText(result.return)} after costs`;
  const r = result.r !== null && `${signedText(result.r, 2)} R`;
  return [`${filled}, ${left}`, gained, r, ...held].filter(Boolean).join(" · ");
}

/** @param {TradeResult} result */
function reasonWords({ reason, r }) {
  // A trade has no R where its stop risks nothing.
  return reason === "stop" && r === null ? "stop, which stands on the winning side of the entry" : reason;
}

/**
 * The rows of the table of totals: all first, then by label, author and mode.
 * @param {Worth["totals"]} totals
 * @returns {{group: string, name: string, cells: string[]}[]}
 */
export function totalRows({ all, label, author, mode }) {
  const row = (/** @type {string} */ group) => (/** @type {Total} */ total) => ({ group, name: total.name, cells: cellsOf(total) });
  return [{ group: "", name: "All trades", cells: cellsOf(all) }, ...label.map(row("Label")), ...author.map(row("Author")), ...mode.map(row("Mode"))];
}

/** @param {Total} total */
function cellsOf({ trades, closed, won, sum, mean, mean_r: meanR }) {
  const share = (/** @type {number | null} */ value) => (value === null ? "–" : percentText(value));
  return [String(trades), String(closed), closed ? `${Math.round((won / closed) * 100)}%` : "–", share(sum), share(mean), meanR === null ? "–" : numberText(meanR, 2)];
}
