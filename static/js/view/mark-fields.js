// The fields of an annotation as form controls; each tells its change at once.

import { formatPrice } from "../model/format.js";
import { element } from "./element.js";

/** @typedef {import("../model/annotation.js").Annotation} Annotation */

const CONFIDENCES = [["", "not given"], ["0.25", "25%"], ["0.5", "50%"], ["0.75", "75%"], ["1", "100%"]];
const MAX_COMMENT = 10_000;

/**
 * @param {Annotation} mark
 * @param {import("../model/label-set.js").Label[]} active
 * @param {(change: Partial<Annotation>) => void} change
 */
export function labelSelect(mark, active, change) {
  const names = active.map(({ name }) => name);
  const offered = names.includes(mark.label) ? names : [mark.label, ...names];
  return choice(offered.map((name) => [name, names.includes(name) ? name : `${name} (archived)`]), mark.label, (label) => change({ label }), "label");
}

/**
 * @param {Annotation} mark
 * @param {(change: Partial<Annotation>) => void} change
 */
export function confidenceSelect(mark, change) {
  const value = mark.confidence === null ? "" : String(mark.confidence);
  const known = CONFIDENCES.some(([each]) => each === value);
  const options = known ? CONFIDENCES : [...CONFIDENCES, [value, `${Math.round(Number(value) * 100)}%`]];
  return choice(options, value, (text) => change({ confidence: text ? Number(text) : null }), "confidence");
}

/**
 * @param {Annotation} mark
 * @param {(change: Partial<Annotation>) => void} change
 */
export function commentBox(mark, change) {
  const box = element("textarea", { rows: 2, maxlength: MAX_COMMENT, "data-part": "comment", "data-focus": "comment" });
  box.value = mark.comment;
  const keep = () => box.value !== mark.comment && change({ comment: box.value });
  box.addEventListener("change", keep);
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape" || (event.key === "Enter" && (event.ctrlKey || event.metaKey))) box.blur();
  });
  return box;
}

/**
 * A price that may be left out.
 * @param {number | null} value
 * @param {number} decimals
 * @param {(price: number | null) => void} onChange
 */
export function limitInput(value, decimals, onChange) {
  const input = element("input", { type: "number", step: "any", value: value === null ? "" : formatPrice(value, decimals), placeholder: "none" });
  input.addEventListener("change", () => onChange(input.value === "" ? null : Number(input.value)));
  return input;
}

/**
 * A menu.
 * @param {string[][]} options value and text
 * @param {string} chosen
 * @param {(value: string) => void} onChoose
 * @param {string} [part] names it, so that the focus comes back to it
 */
export function choice(options, chosen, onChoose, part) {
  const made = element("select", { "data-focus": part }, ...options.map(([value, text]) => element("option", { value }, text)));
  made.value = chosen;
  made.addEventListener("change", () => onChoose(made.value));
  return made;
}
