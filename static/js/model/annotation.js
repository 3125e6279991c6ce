// Annotations as the page holds them: their shapes, the time they touch, and how they read in lists.

/** @typedef {{time: number, price: number}} Anchor time of a candle, ms UTC */

/**
 * Fields that every annotation has.
 * @typedef {object} Common
 * @property {string} id UUID made by the browser
 * @property {string} label name of its label
 * @property {string} comment
 * @property {number | null} confidence 0 to 1
 * @property {number} revision 0 until it is stored
 * @property {string} [author]
 * @property {number} [created]
 * @property {number} [updated]
 */

/** @typedef {Common & {kind: "span", start: number, end: number}} Span half open */
/** @typedef {Common & {kind: "point", time: number, price: number}} Point */
/** @typedef {Common & {kind: "trade", side: "long" | "short", entry: Anchor, exit: Anchor, stop: number | null, target: number | null}} Trade */
/** @typedef {Span | Point | Trade} Annotation */
/** @typedef {"span" | "point" | "trade"} Kind */

/** @type {Record<Kind, string>} */
export const KIND_TITLES = { span: "Span", point: "Point", trade: "Trade" };

const SENT = {
  span: ["start", "end"],
  point: ["time", "price"],
  trade: ["side", "entry", "exit", "stop", "target"],
};

/**
 * First time that it touches.
 * @param {Annotation} mark
 */
export function startOf(mark) {
  if (mark.kind === "span") return mark.start;
  return mark.kind === "point" ? mark.time : mark.entry.time;
}

/**
 * Where it ends: half open for spans, the last candle's open time for points and trades.
 * @param {Annotation} mark
 */
export function endOf(mark) {
  if (mark.kind === "span") return mark.end;
  return mark.kind === "point" ? mark.time : mark.exit.time;
}

/**
 * What is sent to store it.
 * @param {Annotation} mark
 * @returns {Record<string, unknown>}
 */
export function draftOf(mark) {
  const names = ["kind", "label", ...SENT[mark.kind], "comment", "confidence", "revision"];
  const all = /** @type {Record<string, unknown>} */ (/** @type {unknown} */ (mark));
  return Object.fromEntries(names.map((name) => [name, all[name] ?? null]));
}

/**
 * What a trade gained, as a share of its entry; null where the entry price is not above 0.
 * @param {Trade} trade
 */
export function tradeReturn({ side, entry, exit }) {
  if (!(entry.price > 0)) return null;
  const change = exit.price / entry.price - 1;
  return side === "long" ? change : -change;
}

/**
 * The side that a label's name speaks of; long where it speaks of none.
 * @param {string} label
 * @returns {"long" | "short"}
 */
export function sideOfLabel(label) {
  return /\b(short|sell|bear\w*)\b/i.test(label) ? "short" : "long";
}

/**
 * Whether it passes a filter.
 * @param {Annotation} mark
 * @param {{label: string, kind: string, text: string}} filter empty fields let everything pass
 */
export function passes(mark, { label, kind, text }) {
  if (label && mark.label !== label) return false;
  if (kind && mark.kind !== kind) return false;
  const wanted = text.trim().toLowerCase();
  return !wanted || `${mark.label} ${mark.comment} ${mark.author ?? ""}`.toLowerCase().includes(wanted);
}
