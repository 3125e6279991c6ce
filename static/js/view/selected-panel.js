// The selected annotation: its label, confidence, comment, and a trade's side and limits.

import { endOf, KIND_TITLES, startOf, tradeReturn } from "../model/annotation.js";
import { formatPrice, formatShortTime } from "../model/format.js";
import { activeLabels } from "../model/label-set.js";
import { Zone } from "../model/zone.js";
import { button, element, field, fill } from "./element.js";

/** @typedef {import("../model/annotation.js").Annotation} Annotation */
/** @typedef {import("../model/annotation.js").Trade} Trade */

const CONFIDENCES = [["", "not given"], ["0.25", "25%"], ["0.5", "50%"], ["0.75", "75%"], ["1", "100%"]];
const MAX_COMMENT = 10_000;

/**
 * @param {HTMLElement} root
 * @param {object} parts
 * @param {import("./annotator.js").Annotator} parts.annotator
 * @param {import("../net/annotation-book.js").AnnotationBook} parts.book
 * @param {import("../net/label-book.js").LabelBook} parts.labels
 * @param {import("./chart-view.js").ChartView} parts.view
 * @param {import("../model/store.js").Store<import("../model/settings.js").Settings>} parts.settings
 */
export function mountSelectedPanel(root, parts) {
  const { annotator, book, labels, settings } = parts;
  const draw = () => {
    const mark = annotator.selected;
    root.hidden = !mark;
    // Someone who is typing keeps the field; it is drawn again with the next change.
    if (mark && !(root.contains(document.activeElement) && shownId === mark.id && isTyping())) fill(root, ...contentOf(mark, parts));
    shownId = mark?.id ?? null;
  };
  /** @type {string | null} */
  let shownId = null;
  annotator.state.subscribe((now, before) => now.selected !== before.selected && draw());
  book.state.subscribe((now, before) => now.index !== before.index && draw());
  labels.set.subscribe(draw);
  settings.subscribe((now, before) => now.zone !== before.zone && draw());
  draw();
}

function isTyping() {
  return document.activeElement instanceof HTMLTextAreaElement || document.activeElement instanceof HTMLInputElement;
}

/**
 * @param {Annotation} mark
 * @param {Parameters<typeof mountSelectedPanel>[1]} parts
 */
function contentOf(mark, { annotator, labels, view, settings }) {
  /** @param {Partial<Annotation>} part */
  const change = (part) => {
    const now = annotator.selected;
    if (now?.id === mark.id) annotator.put(/** @type {Annotation} */ ({ ...now, ...part }));
  };
  return [
    element("div", { class: "row spread" }, element("h2", {}, `Selected ${KIND_TITLES[mark.kind].toLowerCase()}`), button("Delete", () => annotator.deleteSelected(), { class: "quiet", title: "Delete (Del)" })),
    element("p", { class: "muted number" }, placeText(mark, view, new Zone(settings.get().zone))),
    element(
      "div",
      { class: "two" },
      field("Label", labelSelect(mark, activeLabels(labels.set.get()), change)),
      field("Confidence", confidenceSelect(mark, change)),
    ),
    mark.kind === "trade" && tradeFields(mark, view.decimals, change),
    field(mark.author ? `Comment by ${mark.author}` : "Comment", commentBox(mark, change)),
  ];
}

/**
 * @param {Annotation} mark
 * @param {import("./chart-view.js").ChartView} view
 * @param {Zone} zone
 */
function placeText(mark, view, zone) {
  /** @param {number} time */
  const at = (time) => formatShortTime(time, zone, view.timeframe);
  /** @param {number} amount */
  const price = (amount) => formatPrice(amount, view.decimals);
  if (mark.kind === "span") return `${at(startOf(mark))} to ${at(endOf(mark))}`;
  if (mark.kind === "point") return `${at(mark.time)} · ${price(mark.price)}`;
  const gain = tradeReturn(mark);
  const result = gain === null ? "" : ` · ${gain >= 0 ? "+" : "−"}${Math.abs(gain * 100).toFixed(2)}%`;
  return `${at(mark.entry.time)} at ${price(mark.entry.price)} to ${at(mark.exit.time)} at ${price(mark.exit.price)}${result}`;
}

/**
 * @param {Annotation} mark
 * @param {import("../model/label-set.js").Label[]} active
 * @param {(change: Partial<Annotation>) => void} change
 */
function labelSelect(mark, active, change) {
  const names = active.map(({ name }) => name);
  const offered = names.includes(mark.label) ? names : [mark.label, ...names];
  return choice(offered.map((name) => [name, names.includes(name) ? name : `${name} (archived)`]), mark.label, (label) => change({ label }));
}

/**
 * @param {Annotation} mark
 * @param {(change: Partial<Annotation>) => void} change
 */
function confidenceSelect(mark, change) {
  const value = mark.confidence === null ? "" : String(mark.confidence);
  const known = CONFIDENCES.some(([each]) => each === value);
  const options = known ? CONFIDENCES : [...CONFIDENCES, [value, `${Math.round(Number(value) * 100)}%`]];
  return choice(options, value, (text) => change({ confidence: text ? Number(text) : null }));
}

/**
 * @param {Annotation} mark
 * @param {(change: Partial<Annotation>) => void} change
 */
function commentBox(mark, change) {
  const box = element("textarea", { rows: 2, maxlength: MAX_COMMENT, "data-part": "comment" });
  box.value = mark.comment;
  const keep = () => box.value !== mark.comment && change({ comment: box.value });
  box.addEventListener("change", keep);
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape" || (event.key === "Enter" && (event.ctrlKey || event.metaKey))) box.blur();
  });
  return box;
}

/**
 * @param {Trade} trade
 * @param {number} decimals
 * @param {(change: Partial<Trade>) => void} change
 */
function tradeFields(trade, decimals, change) {
  /** @param {"stop" | "target"} name */
  const limit = (name) => {
    const value = trade[name];
    const input = element("input", { type: "number", step: "any", value: value === null ? "" : formatPrice(value, decimals), placeholder: "none" });
    input.addEventListener("change", () => change({ [name]: input.value === "" ? null : Number(input.value) }));
    return input;
  };
  const side = choice([["long", "Long"], ["short", "Short"]], trade.side, (value) => change({ side: /** @type {Trade["side"]} */ (value) }));
  return element("div", { class: "three" }, field("Side", side), field("Stop", limit("stop")), field("Target", limit("target")));
}

/**
 * @param {string[][]} options value and text
 * @param {string} chosen
 * @param {(value: string) => void} onChoose
 */
function choice(options, chosen, onChoose) {
  const made = element("select", {}, ...options.map(([value, text]) => element("option", { value }, text)));
  made.value = chosen;
  made.addEventListener("change", () => onChoose(made.value));
  return made;
}
