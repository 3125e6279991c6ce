// Walking over candles: which label each arrow gives, and what a class does to the candle that it is given to.

/** @typedef {import("./annotation.js").Annotation} Annotation */
/** @typedef {{up: string, flat: string, down: string}} WalkLabels names of labels */

const UP = /\b(long|buy|bull\w*|up\w*|rise|rising)\b/i;
const DOWN = /\b(short|sell|bear\w*|down\w*|fall|falling)\b/i;

/**
 * The labels that the arrows give, from their names; the first ones in order where the names do not say.
 * @param {string[]} names of the labels that may be given
 * @param {Partial<WalkLabels>} [chosen] what a person chose before
 * @returns {WalkLabels | null} null without labels
 */
export function walkLabels(names, chosen = {}) {
  if (names.length === 0) return null;
  const kept = (/** @type {keyof WalkLabels} */ arrow) => names.find((name) => name === chosen[arrow]);
  const up = kept("up") ?? names.find((name) => UP.test(name)) ?? names[0];
  const down = kept("down") ?? names.find((name) => DOWN.test(name) && name !== up) ?? names.find((name) => name !== up) ?? names[0];
  const flat = kept("flat") ?? names.find((name) => name !== up && name !== down) ?? names[0];
  return { up, flat, down };
}

/**
 * What storing a class for a candle means: a new mark, or another label on the one that stands on just that candle.
 * @param {Annotation[]} standing marks on the candle
 * @param {{start: number, end: number}} candle
 * @param {string} label
 * @param {() => string} newId
 * @returns {Annotation | null} null where the candle has that class already
 */
export function classed(standing, { start, end }, label, newId) {
  const same = standing.find((mark) => mark.kind === "candle_class" && mark.start === start && mark.end === end);
  if (same?.label === label) return null;
  if (same) return { ...same, label };
  return { id: newId(), kind: "candle_class", label, start, end, comment: "", confidence: null, revision: 0 };
}

/**
 * How many of a stretch's candles have a class.
 * @param {Annotation[]} marks
 * @param {{from: number, to: number}} range
 * @param {number} stepMs
 */
export function countClassed(marks, { from, to }, stepMs) {
  const inside = marks.filter((mark) => mark.kind === "candle_class" && mark.start >= from && mark.end <= to);
  return inside.reduce((sum, mark) => sum + (mark.kind === "candle_class" ? Math.max(1, Math.round((mark.end - mark.start) / stepMs)) : 0), 0);
}

