// The dialog that adds, renames, recolours and archives labels, and gives them keys.

import { LABEL_KEYS } from "../model/keys.js";
import { layersOf, newLabel, problemOf } from "../model/label-set.js";
import { button, element, fill } from "./element.js";

/** @typedef {import("../model/label-set.js").Label} Label */

const MAX_NAME = 100;

/**
 * Open the editor on the label set of the series.
 * @param {import("./dialog.js").Dialog} dialog
 * @param {import("../net/label-book.js").LabelBook} book
 */
export function openLabelEditor(dialog, book) {
  const set = book.set.get();
  if (!set) return;
  const labels = set.labels.map((label) => ({ ...label }));
  const rows = element("div", { class: "label-rows" });
  const problem = element("p", { class: "problem", role: "alert" });

  const exclusive = new Set(set.exclusive ?? []);
  const layers = element("fieldset", { class: "stack" });
  const drawLayers = () => fill(layers, element("legend", {}, "Layers"), ...layersOf(labels).map((layer) => layerRow(layer, exclusive)));
  const draw = () => {
    fill(rows, ...labels.map((label, index) => labelRow(label, index, labels, draw, drawLayers)));
    drawLayers();
  };
  const add = () => {
    labels.push(newLabel(labels));
    draw();
    /** @type {HTMLInputElement | null} */ (rows.querySelector(".label-row:last-child .label-name"))?.focus();
  };
  const save = async () => {
    for (const label of labels) Object.assign(label, { name: label.name.trim(), layer: label.layer.trim() || "default" });
    problem.textContent = problemOf(labels) ?? "";
    if (problem.textContent) return false;
    try {
      await book.save(set, labels, layersOf(labels).filter((layer) => exclusive.has(layer)));
      return true;
    } catch (error) {
      problem.textContent = error instanceof Error ? error.message : String(error);
      return false;
    }
  };
  draw();
  const shared = set.used_by.length > 1 ? `Shared by ${set.used_by.length} series. ` : "";
  dialog.open({
    title: `Labels: ${set.name}`,
    body: [
      element("p", { class: "muted" }, `${shared}A rename keeps the annotations. An archived label stays on the annotations that have it, and is offered no more.`),
      rows,
      button("+ Add a label", add),
      layers,
      problem,
    ],
    actions: [{ text: "Save", tone: "primary", run: save }],
    wide: true,
  });
}

/**
 * @param {Label} label
 * @param {number} index
 * @param {Label[]} labels changed in place: the dialog's own copy
 * @param {() => void} draw
 * @param {() => void} drawLayers
 */
function labelRow(label, index, labels, draw, drawLayers) {
  const title = label.name || "the new label";
  const name = element("input", { class: "label-name", value: label.name, maxlength: MAX_NAME, required: true, placeholder: "Name", "aria-label": `Name of ${title}` });
  name.addEventListener("input", () => (label.name = name.value));
  const colour = element("input", { type: "color", value: label.colour, "aria-label": `Colour of ${title}` });
  colour.addEventListener("input", () => (label.colour = colour.value));
  const key = element(
    "select",
    { "aria-label": `Key of ${title}`, title: "Key" },
    element("option", { value: "" }, "no key"),
    ...[...LABEL_KEYS].map((digit) => element("option", { value: digit }, digit)),
  );
  key.value = label.key ?? "";
  key.disabled = label.archived;
  key.addEventListener("change", () => (label.key = key.value || null));
  const layer = element("input", { class: "label-layer", value: label.layer, maxlength: MAX_NAME, placeholder: "default", title: "Layer", "aria-label": `Layer of ${title}` });
  layer.addEventListener("input", () => {
    label.layer = layer.value;
    drawLayers();
  });
  const archive = () => {
    if (label.id === null) labels.splice(index, 1);
    else Object.assign(label, { archived: !label.archived, key: label.archived ? label.key : null });
    draw();
  };
  const archiveText = label.id === null ? "Remove" : label.archived ? "Bring back" : "Archive";
  return element(
    "div",
    { class: label.archived ? "label-row archived" : "label-row" },
    colour,
    name,
    key,
    layer,
    button("↑", () => swap(labels, index, draw), { class: "quiet icon", "aria-label": `Move ${title} up`, disabled: index === 0 }),
    button(archiveText, archive, { class: "quiet" }),
  );
}

/**
 * @param {Label[]} labels
 * @param {number} index
 * @param {() => void} draw
 */
function swap(labels, index, draw) {
  [labels[index - 1], labels[index]] = [labels[index], labels[index - 1]];
  draw();
}

/**
 * @param {string} layer
 * @param {Set<string>} exclusive changed in place
 */
function layerRow(layer, exclusive) {
  const box = element("input", { type: "checkbox", checked: exclusive.has(layer) });
  box.addEventListener("change", () => (box.checked ? exclusive.add(layer) : exclusive.delete(layer)));
  return element("label", { class: "row" }, box, `${layer}: one class a candle; a new span cuts those that it covers`);
}
