// The `?` overlay: every key that does something, from the same table that the handler reads.

import { KEY_TABLE, keyTitle, LABEL_KEYS } from "../model/keys.js";
import { element } from "./element.js";

/** @typedef {import("../model/keys.js").KeyAction} KeyAction */

const POINTER = [
  ["Wheel, pinch", "Zoom"],
  ["Drag the chart", "Pan"],
  ["Drag the price axis", "Stretch prices; double-click fits them again"],
  ["Drag with a tool", "Draw a span or a trade"],
  ["Drag the selected annotation", "Move it, or its edges"],
];

/**
 * Open the overlay.
 * @param {import("./dialog.js").Dialog} dialog
 * @param {import("./keyboard.js").Keyboard} keyboard
 */
export function openHelp(dialog, keyboard) {
  const shown = KEY_TABLE.filter(({ action }) => keyboard.has(action) && !isLaterLabel(action));
  const groups = [...new Set(shown.map(({ group }) => group))];
  const lists = groups.map((group) => section(group, shown.filter((each) => each.group === group).map(rowOf)));
  const mouse = section("Mouse and touch", POINTER.map(([what, does]) => row([what], does, "span")));
  const about = section("Annotate", [element("a", { href: "/about" }, "About: version, licences, attribution")]);
  dialog.open({ title: "Keys", body: [element("div", { class: "help-columns" }, ...lists, mouse, about)], cancel: "Close", wide: true });
}

/** @param {string} action */
function isLaterLabel(action) {
  return action.startsWith("label-") && !action.endsWith(LABEL_KEYS[0]);
}

/** @param {KeyAction} entry */
function rowOf({ action, keys, title }) {
  const shown = action.startsWith("label-") ? [`${LABEL_KEYS[0]} – ${LABEL_KEYS.at(-1)}`] : keys.map(keyTitle);
  return row(shown, title, "kbd");
}

/**
 * @param {string[]} keys
 * @param {string} title
 * @param {"kbd" | "span"} tag
 */
function row(keys, title, tag) {
  return element("div", { class: "help-row" }, element("dt", { class: "row" }, ...keys.map((key) => element(tag, {}, key))), element("dd", {}, title));
}

/**
 * @param {string} title
 * @param {HTMLElement[]} rows
 */
function section(title, rows) {
  return element("section", {}, element("h3", {}, title), element("dl", {}, ...rows));
}
