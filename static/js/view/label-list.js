// The labels of the series: what is armed, what each key gives, how often each is used.

import { activeLabels } from "../model/label-set.js";
import { card } from "./card.js";
import { button, element, fill, redraw } from "./element.js";
import { onceLoaded } from "./later.js";

/**
 * @param {HTMLElement} root
 * @param {object} parts
 * @param {import("./annotator.js").Annotator} parts.annotator
 * @param {import("../net/label-book.js").LabelBook} parts.labels
 * @param {import("../net/annotation-book.js").AnnotationBook} parts.book
 * @param {import("./dialog.js").Dialog} parts.dialog
 * @param {import("./toast.js").Toast} parts.toast
 */
export function mountLabelList(root, { annotator, labels, book, dialog, toast }) {
  const loadEditor = onceLoaded(() => import("./label-editor.js"), toast);
  const edit = button("Edit labels", async () => (await loadEditor())?.openLabelEditor(dialog, labels), { class: "quiet" });
  const list = element("div", { class: "label-list", role: "group", "aria-label": "Labels" });
  root.append(element("div", { class: "row spread" }, element("h2", {}, "Labels"), edit), list);

  const draw = () => {
    const set = labels.set.get();
    edit.disabled = set === null;
    const error = labels.error.get();
    if (error) return fill(list, failure(error));
    const counts = countByLabel(book.index.all());
    const armed = annotator.labelName();
    redraw(list, () => fill(list, ...activeLabels(set).map((label) => labelButton(label, label.name === armed, counts.get(label.name) ?? 0, annotator))));
  };
  labels.set.subscribe(draw);
  labels.error.subscribe(draw);
  annotator.state.subscribe((now, before) => now.armed !== before.armed && draw());
  book.state.subscribe((now, before) => now.index !== before.index && draw());
  draw();
}

/** @param {unknown} error */
function failure(error) {
  const text = error instanceof Error ? error.message : String(error);
  return card({ title: "The labels could not be loaded", text, tone: "danger", actions: [{ text: "Load the page again", run: () => location.reload() }] });
}

/**
 * @param {import("../model/label-set.js").Label} label
 * @param {boolean} isArmed
 * @param {number} count
 * @param {import("./annotator.js").Annotator} annotator
 */
function labelButton({ name, colour, key }, isArmed, count, annotator) {
  const title = key ? `${name}: key ${key}` : name;
  return element(
    "button",
    { type: "button", class: "button label-button", "data-focus": name, "aria-pressed": String(isArmed), title, onclick: () => annotator.useLabel(name) },
    swatch(colour),
    element("span", { class: "clip grow" }, name),
    count > 0 && element("span", { class: "muted number" }, String(count)),
    key && element("kbd", {}, key),
  );
}

/**
 * A square of a label's colour.
 * @param {string} colour
 */
export function swatch(colour) {
  const made = element("span", { class: "swatch", "aria-hidden": "true" });
  made.style.background = colour;
  return made;
}

/** @param {import("../model/annotation.js").Annotation[]} marks */
function countByLabel(marks) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const { label } of marks) counts.set(label, (counts.get(label) ?? 0) + 1);
  return counts;
}
