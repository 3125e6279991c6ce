// The `?` overlay: every key that does something, from the same table that the handler reads; a click gives another key.

import { KEY_TABLE, keyName, keyTitle, LABEL_KEYS, withKey } from "../model/keys.js";
import { element, fill } from "./element.js";

/** @typedef {import("../model/keys.js").KeyAction} KeyAction */
/** @typedef {import("../model/store.js").Store<import("../model/settings.js").Settings>} SettingsStore */

const POINTER = [
  ["Wheel, pinch", "Zoom"],
  ["Drag the chart", "Pan"],
  ["Drag the price axis", "Stretch prices; double-click fits them again"],
  ["Drag with a tool", "Draw a span, a trade, a line"],
  ["Drag the selected one", "Move it, or its edges"],
  ["Shift+click", "Add to the selection"],
];
const FIXED = /^(label-|escape$|help$)/; // digits belong to the label set; the way out and the way here stay
const MODIFIERS = ["Shift", "Control", "Alt", "Meta", "AltGraph"];

/**
 * Open the overlay.
 * @param {import("./dialog.js").Dialog} dialog
 * @param {import("./keyboard.js").Keyboard} keyboard
 * @param {SettingsStore} settings
 */
export function openHelp(dialog, keyboard, settings) {
  const columns = element("div", { class: "help-columns" });
  const problem = element("p", { class: "problem", role: "alert" });
  const draw = () => fill(columns, ...sections(keyboard, (action) => void askKey(action)));

  /** @param {string} action */
  async function askKey(action) {
    problem.textContent = "";
    const key = await nextKey(columns, action);
    if (key !== null) {
      const { chosen, taken } = withKey(settings.get().keys, action, key);
      if (chosen) settings.update((now) => ({ ...now, keys: chosen }));
      else problem.textContent = `${keyTitle(key)} already means: ${taken.title}. Give that another key first.`;
    }
    draw();
    /** @type {HTMLElement | null} */ (columns.querySelector(`[data-action="${action}"]`))?.focus();
  }

  const reset = () => {
    settings.update((now) => ({ ...now, keys: {} }));
    problem.textContent = "";
    draw();
    return false;
  };
  draw();
  const hint = element("p", { class: "muted" }, "Click a key to give the action another one. They are kept in this browser.");
  dialog.open({ title: "Keys", body: [hint, problem, columns], actions: [{ text: "Keys as they were", run: reset }], cancel: "Close", wide: true });
}

/**
 * Wait for a key press at the action's button; null when it is given up.
 * @param {HTMLElement} root
 * @param {string} action
 * @returns {Promise<string | null>}
 */
function nextKey(root, action) {
  const shown = /** @type {HTMLElement} */ (root.querySelector(`[data-action="${action}"]`));
  fill(shown, element("kbd", { class: "asked" }, "press a key"));
  return new Promise((resolve) => {
    /** @param {string | null} key */
    const end = (key) => {
      shown.removeEventListener("keydown", press, true);
      shown.removeEventListener("blur", giveUp);
      resolve(key);
    };
    const giveUp = () => end(null);
    /** @param {KeyboardEvent} event */
    const press = (event) => {
      if (event.key === "Tab") return;
      event.preventDefault();
      event.stopPropagation();
      if (MODIFIERS.includes(event.key)) return;
      const { key, code, ctrlKey, metaKey, altKey, shiftKey } = event;
      end(key === "Escape" ? null : keyName({ key, code, ctrlKey, metaKey, altKey, shiftKey, altGraph: event.getModifierState("AltGraph") }));
    };
    shown.addEventListener("keydown", press, true);
    shown.addEventListener("blur", giveUp);
    shown.focus();
  });
}

/**
 * @param {import("./keyboard.js").Keyboard} keyboard
 * @param {(action: string) => void} onAsk
 */
function sections(keyboard, onAsk) {
  const shown = keyboard.table.filter(({ action }) => keyboard.has(action) && !isLaterLabel(action));
  const groups = [...new Set(KEY_TABLE.map(({ group }) => group))];
  const lists = groups.map((group) => ({ group, rows: shown.filter((each) => each.group === group) })).filter(({ rows }) => rows.length);
  const mouse = section("Mouse and touch", POINTER.map(([what, does]) => row(element("span", {}, what), does)));
  const about = section("Annotate", [row(element("a", { href: "/about" }, "About"), "Version, licences, attribution")]);
  return [...lists.map(({ group, rows }) => section(group, rows.map((entry) => rowOf(entry, onAsk)))), mouse, about];
}

/** @param {string} action */
function isLaterLabel(action) {
  return action.startsWith("label-") && !action.endsWith(LABEL_KEYS[0]);
}

/**
 * @param {KeyAction} entry
 * @param {(action: string) => void} onAsk
 */
function rowOf({ action, keys, title }, onAsk) {
  const names = action.startsWith("label-") ? [`${LABEL_KEYS[0]} – ${LABEL_KEYS.at(-1)}`] : keys.map(keyTitle);
  const shown = names.map((name) => element("kbd", {}, name));
  if (FIXED.test(action)) return row(element("span", { class: "row" }, ...shown), title);
  const ask = element("button", { type: "button", class: "key-button", "data-action": action, onclick: () => onAsk(action), "aria-label": `${names.join(", ")}: ${title}; press to change`, title: "Give it another key" }, ...shown);
  return row(ask, title);
}

/**
 * @param {HTMLElement} what
 * @param {string} does
 */
function row(what, does) {
  return element("div", { class: "help-row" }, element("dt", {}, what), element("dd", {}, does));
}

/**
 * @param {string} title
 * @param {HTMLElement[]} rows
 */
function section(title, rows) {
  return element("section", {}, element("h3", {}, title), element("dl", {}, ...rows));
}
