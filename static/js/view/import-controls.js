// The fields of an import preview: one for each choice, with its reason; a fact has none.

import { element, field } from "./element.js";

/** @typedef {import("../model/import-plan.js").Control} Control */

/**
 * Make the field of a question, in full width.
 * @param {Control} control
 * @param {(name: string, value: string) => void} onChange
 */
export function askedField(control, onChange) {
  const input = inputOf(control, onChange);
  return element("div", { class: "stack asked" }, field(control.label, input, control.reason), listOf(control));
}

/**
 * Make the table of everything else that was decided about a file.
 * @param {Control[]} controls
 * @param {(name: string, value: string) => void} onChange
 */
export function controlTable(controls, onChange) {
  return element("div", { class: "import-choices" }, ...controls.flatMap((control) => choiceRow(control, onChange)));
}

/**
 * @param {Control} control
 * @param {(name: string, value: string) => void} onChange
 */
function choiceRow(control, onChange) {
  const isFact = !control.free && control.choices.length === 0;
  const value = isFact ? element("span", {}, control.value) : inputOf(control, onChange);
  if (!isFact) value.id = `import-${control.name}`;
  const label = isFact ? element("span", { class: "muted" }, control.label) : element("label", { class: "muted", for: value.id }, control.label);
  return [label, element("span", {}, value, isFact ? null : listOf(control)), element("small", { class: "muted" }, control.reason)];
}

/**
 * @param {Control} control
 * @param {(name: string, value: string) => void} onChange
 * @returns {HTMLInputElement | HTMLSelectElement}
 */
function inputOf(control, onChange) {
  const { name, value, choices } = control;
  const made = control.free
    ? element("input", { type: "text", name, value, list: choices.length > 0 ? `choices-${name}` : null, autocomplete: "off", maxlength: 100 })
    : element("select", { name }, ...choices.map((choice) => element("option", { value: choice.value }, choice.label)));
  made.value = value;
  made.addEventListener("change", () => onChange(name, made.value.trim()));
  return made;
}

/** @param {Control} control */
function listOf({ free, name, choices }) {
  if (!free || choices.length === 0) return null;
  return element("datalist", { id: `choices-${name}` }, ...choices.map((choice) => element("option", { value: choice.value }, choice.label)));
}
