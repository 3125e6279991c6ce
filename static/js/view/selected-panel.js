// The selected annotations: one with all its fields, or many with what can be changed at once.

import { kindOf } from "../model/annotation.js";
import { formatPrice, formatShortTime, zoneText } from "../model/format.js";
import { activeLabels } from "../model/label-set.js";
import { gainText, placeText } from "../model/mark-text.js";
import { resultWords } from "../model/worth.js";
import { Zone } from "../model/zone.js";
import { button, element, field, fill, redraw } from "./element.js";
import { choice, commentBox, confidenceSelect, labelSelect, limitInput } from "./mark-fields.js";
import { reviewRow, reviewWords } from "./review-row.js";

/** @typedef {import("../model/annotation.js").Annotation} Annotation */

const STATUSES = [["done", "Done"], ["draft", "Draft"]];
const EXTENDS = [["none", "Not extended"], ["right", "To the right"], ["left", "To the left"], ["both", "Both ways"]];

/**
 * @param {HTMLElement} root
 * @param {object} parts
 * @param {import("./annotator.js").Annotator} parts.annotator
 * @param {import("../net/annotation-book.js").AnnotationBook} parts.book
 * @param {import("../net/label-book.js").LabelBook} parts.labels
 * @param {import("./chart-view.js").ChartView} parts.view
 * @param {import("../model/store.js").Store<import("../model/settings.js").Settings>} parts.settings
 * @param {import("./keyboard.js").Keyboard} parts.keyboard
 * @param {import("./toast.js").Toast} parts.toast
 * @param {() => void} parts.onClosed takes the focus that the panel had when it closed
 */
export function mountSelectedPanel(root, parts) {
  const { annotator, book, labels, settings, view, onClosed } = parts;
  const draw = () => {
    const [mark, chosen] = [annotator.selected, annotator.chosen];
    const shown = chosen.length > 1 ? "many" : (mark?.id ?? null);
    const hadFocus = root.contains(document.activeElement);
    root.hidden = !mark;
    if (!mark && hadFocus) onClosed();
    // Someone who is typing keeps the field; it is drawn again with the next change.
    const isBusy = root.contains(document.activeElement) && shownId === shown && isTyping();
    if (mark && !isBusy) redraw(root, () => fill(root, ...(chosen.length > 1 ? manyContent(chosen, parts) : contentOf(mark, parts))));
    shownId = shown;
  };
  /** @type {string | null} */
  let shownId = null;
  annotator.state.subscribe((now, before) => now.chosen !== before.chosen && draw());
  book.state.subscribe((now, before) => now.index !== before.index && draw());
  book.worth.subscribe(draw);
  view.state.subscribe((now, before) => now.pricesHidden !== before.pricesHidden && draw());
  labels.set.subscribe(draw);
  settings.subscribe((now, before) => now.zone !== before.zone && draw());
  draw();
}

function isTyping() {
  return document.activeElement instanceof HTMLTextAreaElement || document.activeElement instanceof HTMLInputElement;
}

/**
 * @param {Annotation[]} marks
 * @param {Parameters<typeof mountSelectedPanel>[1]} parts
 */
function manyContent(marks, { annotator, labels, keyboard }) {
  const names = new Set(marks.map(({ label }) => label));
  const [label] = names.size === 1 ? names : [""];
  const statuses = new Set(marks.map(({ status }) => status ?? "done"));
  const [status] = statuses.size === 1 ? statuses : [""];
  const labelOptions = activeLabels(labels.set.get()).map(({ name }) => [name, name]);
  return [
    head(`${marks.length} selected`, annotator, keyboard),
    element(
      "div",
      { class: "two" },
      field("Label of all", choice([["", "different ones"], ...labelOptions], label, (value) => value && annotator.changeAll(annotator.chosen, { label: value }), "label")),
      field("Status of all", choice([["", "both"], ...STATUSES], status, (value) => value && annotator.changeAll(annotator.chosen, { status: /** @type {any} */ (value) }), "status")),
    ),
    element("div", { class: "row" }, button("Copy", () => keyboard.perform("copy"), { title: `Copy (${keyboard.keyOf("copy")})` }), button("Select none", () => annotator.select(null))),
  ];
}

/**
 * @param {Annotation} mark
 * @param {Parameters<typeof mountSelectedPanel>[1]} parts
 */
function contentOf(mark, { annotator, book, labels, view, settings, keyboard, toast }) {
  /** @param {object} part */
  const change = (part) => {
    const now = annotator.selected;
    if (now?.id === mark.id) annotator.put(/** @type {Annotation} */ ({ ...now, ...part }));
  };
  const zone = new Zone(settings.get().zone);
  const { pricesHidden } = view.state.get();
  const wording = {
    time: (/** @type {number} */ time) => formatShortTime(time, zone, view.timeframe),
    price: (/** @type {number} */ amount) => (pricesHidden ? "…" : formatPrice(amount, view.decimals)),
  };
  const gain = mark.kind === "trade" && gainText(mark);
  const result = book.worth.get().get(mark.id);
  const isOthers = mark.revision > 0 && Boolean(mark.author) && mark.author !== settings.get().author;
  return [
    head(`Selected ${kindOf(mark).title.toLowerCase()}`, annotator, keyboard),
    element("p", { class: "muted number" }, `${placeText(mark, wording)} ${zoneText(zone, view.timeframe)}${gain && !result ? ` · ${gain}` : ""}`),
    result && element("p", { class: "number" }, resultWords(result, wording.price)),
    element(
      "div",
      { class: "three" },
      field("Label", labelSelect(mark, activeLabels(labels.set.get()), change)),
      field("Confidence", confidenceSelect(mark, change)),
      field("Status", choice(STATUSES, mark.status ?? "done", (status) => change({ status }), "status")),
    ),
    mark.kind === "trade" && tradeFields(mark, view, change),
    mark.kind === "level" && levelFields(mark, view, change),
    mark.kind === "trend_line" && field("Extended", choice(EXTENDS, mark.extend, (extend) => change({ extend }), "extend")),
    field(commentTitle(mark), commentBox(mark, change)),
    isOthers && reviewRow(mark, annotator, book, toast),
    !isOthers && mark.review && element("p", { class: "muted" }, reviewWords(mark.review)),
  ];
}

/** @param {Annotation} mark */
function commentTitle({ author, updated_by: by, mode }) {
  const who = author ? `Comment · by ${author}` : "Comment";
  const changed = by && by !== author ? `, changed by ${by}` : "";
  return `${who}${changed}${mode ? ` · ${mode}` : ""}`;
}

/**
 * @param {string} title
 * @param {import("./annotator.js").Annotator} annotator
 * @param {import("./keyboard.js").Keyboard} keyboard
 */
function head(title, annotator, keyboard) {
  const remove = button("Delete", () => annotator.deleteSelected(), { class: "quiet", title: `Delete (${keyboard.keyOf("delete")})` });
  return element("div", { class: "row spread" }, element("h2", {}, title), remove);
}

/**
 * @param {import("../model/annotation.js").Trade} trade
 * @param {import("./chart-view.js").ChartView} view
 * @param {(change: object) => void} change
 */
function tradeFields(trade, view, change) {
  const limit = (/** @type {"stop" | "target"} */ name) => limitInput(trade[name], view.decimals, (price) => change({ [name]: price }));
  const { pricesHidden } = view.state.get();
  const side = choice([["long", "Long"], ["short", "Short"]], trade.side, (value) => change({ side: value }), "side");
  return element(
    "div",
    { class: "three" },
    field("Side", side),
    !pricesHidden && field("Stop", limit("stop")),
    !pricesHidden && field("Target", limit("target")),
  );
}

/**
 * @param {import("../model/annotation.js").Level} level
 * @param {import("./chart-view.js").ChartView} view
 * @param {(change: object) => void} change
 */
function levelFields(level, view, change) {
  const price = limitInput(level.price, view.decimals, (value) => value !== null && change({ price: value }));
  const ends = level.until === null ? "Ends where the view ends" : "Holds on";
  const endHere = () => {
    const to = view.visible()?.to ?? 0;
    const until = view.window.closeOf(Math.max(0, view.window.indexAt(to)));
    change({ until: level.until === null && level.time !== null && until > level.time ? until : null });
  };
  return element("div", { class: "two" }, !view.state.get().pricesHidden && field("Price", price), level.time !== null && field("End", button(ends, endHere)));
}
