// Annotations as the page holds them: their shapes, the time they touch, and how they read in lists.

/** @typedef {{time: number, price: number}} Anchor time of a candle, ms UTC */
/** @typedef {"draft" | "done"} Status */
/** @typedef {{verdict: "accept" | "correct" | "reject", by: string, at: number, comment: string, correction: string | null}} Review */

/**
 * Fields that every annotation has.
 * @typedef {object} Common
 * @property {string} id UUID made by the browser
 * @property {string} label name of its label
 * @property {string} comment
 * @property {number | null} confidence 0 to 1
 * @property {number} revision 0 until it is stored
 * @property {Status} [status] `done` where it is left out
 * @property {string} [author]
 * @property {string} [updated_by] who changed it last
 * @property {string} [source]
 * @property {"replay" | "hindsight"} [mode]
 * @property {number} [decided_at]
 * @property {Review | null} [review]
 * @property {number} [created]
 * @property {number} [updated]
 */

/** @typedef {"none" | "left" | "right" | "both"} Extend where a trend line goes on past its ends */
/** @typedef {Common & {kind: "span", start: number, end: number}} Span half open */
/** @typedef {Common & {kind: "point", time: number, price: number}} Point */
/** @typedef {Common & {kind: "trade", side: "long" | "short", entry: Anchor, exit: Anchor, stop: number | null, target: number | null}} Trade */
/** @typedef {Common & {kind: "level", price: number, time: number | null, until: number | null}} Level from its time on, until it no longer holds */
/** @typedef {Common & {kind: "trend_line", start: Anchor, end: Anchor, extend: Extend}} TrendLine */
/** @typedef {Common & {kind: "candle_class", start: number, end: number}} CandleClass half open; one candle where it was walked */
/** @typedef {Common & {kind: "chart_class", start: number | null, end: number | null}} ChartClass without a range: the whole chart */
/** @typedef {Span | Point | Trade | Level | TrendLine | CandleClass | ChartClass} Annotation */
/** @typedef {Annotation["kind"]} Kind */
/** @typedef {{from: number, to: number}} Reach where it is drawn; may be infinite */

/**
 * @typedef {object} KindFacts
 * @property {string} title
 * @property {string} sign in lists
 * @property {string[]} sent its own fields
 * @property {boolean} ofCandles whether it says something of the candles that it touches
 */

/** @type {Record<Kind, KindFacts>} */
const KINDS = {
  span: { title: "Span", sign: "▭", sent: ["start", "end"], ofCandles: true },
  point: { title: "Point", sign: "◆", sent: ["time", "price"], ofCandles: true },
  trade: { title: "Trade", sign: "⇄", sent: ["side", "entry", "exit", "stop", "target"], ofCandles: true },
  level: { title: "Level", sign: "―", sent: ["price", "time", "until"], ofCandles: false },
  trend_line: { title: "Trend line", sign: "╱", sent: ["start", "end", "extend"], ofCandles: false },
  candle_class: { title: "Candle class", sign: "▮", sent: ["start", "end"], ofCandles: true },
  chart_class: { title: "Chart class", sign: "▤", sent: ["start", "end"], ofCandles: false },
};

/** @type {[Kind, string][]} */
export const KIND_CHOICES = /** @type {any} */ (Object.entries(KINDS).map(([kind, { title }]) => [kind, title]));

/** @param {Annotation} mark */
export function kindOf(mark) {
  return KINDS[mark.kind];
}

/**
 * First time that it touches; -Infinity for what has no time of its own, which lists show first.
 * @param {Annotation} mark
 * @returns {number}
 */
export function startOf(mark) {
  if (mark.kind === "trade") return mark.entry.time;
  if (mark.kind === "trend_line") return mark.start.time;
  if (mark.kind === "point" || mark.kind === "level") return mark.time ?? -Infinity;
  return mark.start ?? -Infinity;
}

/**
 * Where it ends: half open for what covers candles, the last candle's open time for what stands on one.
 * @param {Annotation} mark
 * @returns {number}
 */
export function endOf(mark) {
  if (mark.kind === "trade") return mark.exit.time;
  if (mark.kind === "trend_line") return mark.end.time;
  if (mark.kind === "point") return mark.time;
  if (mark.kind === "level") return mark.until ?? mark.time ?? -Infinity;
  return mark.end ?? -Infinity;
}

/** @param {Annotation} mark whether `endOf` is a close, not the open of the last candle */
export function endsAtClose(mark) {
  return mark.kind === "span" || mark.kind === "candle_class" || mark.kind === "chart_class" || (mark.kind === "level" && mark.until !== null);
}

/**
 * The time over which it is drawn: an open level goes on for ever, an extended line both ways.
 * @param {Annotation} mark
 * @returns {Reach}
 */
export function reachOf(mark) {
  if (mark.kind === "level") return { from: mark.time ?? -Infinity, to: mark.until ?? Infinity };
  if (mark.kind === "chart_class" && mark.start === null) return { from: -Infinity, to: Infinity };
  if (mark.kind !== "trend_line") return { from: startOf(mark), to: endOf(mark) };
  const from = mark.extend === "left" || mark.extend === "both" ? -Infinity : mark.start.time;
  return { from, to: mark.extend === "right" || mark.extend === "both" ? Infinity : mark.end.time };
}

/** @param {Annotation} mark */
export function isDraft(mark) {
  return mark.status === "draft";
}

/**
 * What is sent to store it.
 * @param {Annotation} mark
 * @returns {Record<string, unknown>}
 */
export function draftOf(mark) {
  const names = ["kind", "label", ...kindOf(mark).sent, "comment", "confidence", "revision"];
  const all = /** @type {Record<string, unknown>} */ (/** @type {unknown} */ (mark));
  const draft = Object.fromEntries(names.map((name) => [name, all[name] ?? null]));
  return isDraft(mark) ? { ...draft, status: "draft" } : draft;
}

/**
 * Whether two say the same of the same place: kind, label and every field of the kind.
 * @param {Annotation} one
 * @param {Annotation} other
 */
export function isTwin(one, other) {
  const said = (/** @type {Annotation} */ mark) => JSON.stringify({ ...draftOf(mark), comment: "", confidence: null, revision: 0, status: "" });
  return one.kind === other.kind && one.label === other.label && said(one) === said(other);
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
 * @param {{label: string, kind: string, text: string, status?: string}} filter empty fields let everything pass
 */
export function passes(mark, { label, kind, text, status = "" }) {
  if (label && mark.label !== label) return false;
  if (kind && mark.kind !== kind) return false;
  if (status && (mark.status ?? "done") !== status) return false;
  const wanted = text.trim().toLowerCase();
  return !wanted || `${mark.label} ${mark.comment} ${mark.author ?? ""}`.toLowerCase().includes(wanted);
}

/**
 * Whether what is told of an annotation is newer than what is known; a review leaves the revision as it was.
 * @param {Annotation} told
 * @param {Annotation} known
 */
export function isNews(told, known) {
  const isReview = told.revision === known.revision && JSON.stringify(told.review ?? null) !== JSON.stringify(known.review ?? null);
  return told.revision > known.revision || isReview;
}
