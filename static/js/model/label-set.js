// Label sets as the page holds them, and the rules of changing one.

import { LABEL_KEYS } from "./keys.js";

/**
 * @typedef {object} Label
 * @property {number | null} id null until it is stored
 * @property {string} name
 * @property {string} colour #rrggbb
 * @property {string | null} key a digit
 * @property {string} layer
 * @property {boolean} archived
 */

/** @typedef {{id: number, name: string, revision: number, labels: Label[], exclusive?: string[], used_by: number[]}} LabelSet exclusive: layers in which a candle has one class */

// Hues that stay apart for colour-blind eyes, after those of the default set.
const NEW_COLOURS = ["#0072b2", "#cc79a7", "#56b4e9", "#f0e442", "#9467bd", "#8c564b", "#17becf", "#7f7f00"];

/**
 * The labels that may be given to annotations.
 * @param {LabelSet | null} set
 * @returns {Label[]}
 */
export function activeLabels(set) {
  return set ? set.labels.filter(({ archived }) => !archived) : [];
}

/**
 * @param {LabelSet | null} set
 * @param {string} key
 * @returns {Label | undefined}
 */
export function labelWithKey(set, key) {
  return activeLabels(set).find((label) => label.key === key);
}

/**
 * Colours by label name, archived ones included, since annotations keep them.
 * @param {LabelSet | null} set
 * @returns {Map<string, string>}
 */
export function coloursOf(set) {
  return new Map((set?.labels ?? []).map(({ name, colour }) => [name, colour]));
}

/**
 * A label to add: the next free key and a colour that is not taken.
 * @param {Label[]} labels
 * @returns {Label}
 */
export function newLabel(labels) {
  const keys = labels.filter(({ archived }) => !archived).map(({ key }) => key);
  const colours = labels.map(({ colour }) => colour);
  return {
    id: null,
    name: "",
    colour: NEW_COLOURS.find((colour) => !colours.includes(colour)) ?? NEW_COLOURS[labels.length % NEW_COLOURS.length],
    key: [...LABEL_KEYS].find((key) => !keys.includes(key)) ?? null,
    layer: labels[0]?.layer ?? "default",
    archived: false,
  };
}

/**
 * What stands against storing these labels.
 * @param {Label[]} labels
 * @returns {string | null}
 */
export function problemOf(labels) {
  const active = labels.filter(({ archived }) => !archived);
  if (active.length === 0) return "A label set needs at least one label that is not archived.";
  if (labels.some(({ name }) => !name.trim())) return "Every label needs a name.";
  const name = doubled(labels.map((label) => label.name.trim()));
  if (name) return `Two labels are called ${name}.`;
  const key = doubled(active.flatMap((label) => label.key ?? []));
  return key ? `Two labels have the key ${key}.` : null;
}

/**
 * The layers of labels that are not archived, in order.
 * @param {Label[]} labels
 */
export function layersOf(labels) {
  return [...new Set(labels.filter(({ archived }) => !archived).map(({ layer }) => layer.trim() || "default"))];
}

/** @param {string[]} values */
function doubled(values) {
  return values.find((value, index) => values.indexOf(value) !== index);
}
