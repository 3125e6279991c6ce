// What an annotation is and where it stands, in words: for the list, the panel, and the card of a conflict.

import { endOf, isDraft, kindOf, startOf, tradeReturn } from "./annotation.js";
import { percentText } from "./format.js";

/** @typedef {import("./annotation.js").Annotation} Annotation */
/** @typedef {{time: (ms: number) => string, price: (amount: number) => string}} Wording how times and prices read */

/**
 * Where it stands, such as `2017-03-01 14:00 to 2017-03-01 18:00`.
 * @param {Annotation} mark
 * @param {Wording} wording
 */
export function placeText(mark, { time, price }) {
  switch (mark.kind) {
    case "point":
      return `${time(mark.time)} at ${price(mark.price)}`;
    case "trade":
      return `${time(mark.entry.time)} at ${price(mark.entry.price)} to ${time(mark.exit.time)} at ${price(mark.exit.price)}`;
    case "trend_line":
      return `${time(mark.start.time)} at ${price(mark.start.price)} to ${time(mark.end.time)} at ${price(mark.end.price)}`;
    case "level":
      return levelText(mark, { time, price });
    default:
      return mark.start === null || mark.end === null ? "the whole chart" : `${time(mark.start)} to ${time(mark.end)}`;
  }
}

/**
 * When it is, for a list; a span and a trade with both ends.
 * @param {Annotation} mark
 * @param {(ms: number) => string} time
 */
export function timeText(mark, time) {
  const [start, end] = [startOf(mark), endOf(mark)];
  if (!Number.isFinite(start)) return mark.kind === "level" ? "always" : "whole chart";
  return mark.kind === "point" || mark.kind === "level" || mark.kind === "candle_class" ? time(start) : `${time(start)} – ${time(end)}`;
}

/**
 * Kind, label, place and comment in one line.
 * @param {Annotation} mark
 * @param {Wording} wording
 */
export function summaryText(mark, wording) {
  const side = mark.kind === "trade" ? `${mark.side}, ` : "";
  return `${kindOf(mark).title} ${mark.label}, ${side}${placeText(mark, wording)}${mark.comment ? `, “${mark.comment}”` : ""}`;
}

/**
 * A mark's name on the chart, with a sign for a comment and a word for a draft.
 * @param {Annotation} mark
 */
export function nameText(mark) {
  return `${mark.label}${mark.comment ? " ✎" : ""}${isDraft(mark) ? " · draft" : ""}`;
}

/**
 * What a trade gained between its two prices, before any cost: `+1.20%`.
 * @param {import("./annotation.js").Trade} trade
 */
export function gainText(trade) {
  const gain = tradeReturn(trade);
  return gain === null ? "" : percentText(gain);
}

/**
 * @param {import("./annotation.js").Level} level
 * @param {Wording} wording
 */
function levelText(level, { time, price }) {
  if (level.time === null) return `${price(level.price)}, always`;
  const until = level.until === null ? "on" : `to ${time(level.until)}`;
  return `${price(level.price)} from ${time(level.time)} ${until}`;
}
