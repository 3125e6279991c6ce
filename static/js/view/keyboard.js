// Turns key presses into actions of the key table; silent in text fields and behind dialogs.

import { actionOf, KEY_TABLE, keyName, keyTitle, mayRepeat } from "../model/keys.js";

const TEXT_FIELDS = "input:not([type=checkbox], [type=radio], [type=range], [type=color], [type=button]), textarea, select, [contenteditable]";
const MOVABLE = "input[type=range], input[type=radio]";
const MOVES = /^(Arrow|Page|Home$|End$)/; // keys by which these are moved
const PRESSABLE = "button, a, summary, input";
const OF_CHART = "#toolbar, #tools, #chart, .label-list"; // somebody who clicked here goes on at the chart

/** The page's keyboard: panels say what an action does. */
export class Keyboard {
  /** @type {Map<string, () => void>} */
  #actions = new Map();
  /** @type {Set<(action: string) => boolean>} */
  #modes = new Set();
  #table;
  #isPointerLast = false;
  #isTabbed = false;

  /**
   * @param {Document} root
   * @param {() => import("../model/keys.js").KeyAction[]} [table] as it is now
   */
  constructor(root, table = () => KEY_TABLE) {
    this.#table = table;
    root.addEventListener("keydown", (event) => this.#press(event));
    root.addEventListener("keydown", ({ key }) => this.#note(false, this.#isTabbed || key === "Tab"), true);
    root.addEventListener("pointerdown", () => this.#note(true, false), true);
    root.addEventListener("change", ({ target }) => this.#leave(target));
  }

  /**
   * Say what happens for an action; the last one to say it counts.
   * @param {string} action
   * @param {() => void} perform
   */
  on(action, perform) {
    this.#actions.set(action, perform);
  }

  /**
   * Let a mode, such as walking over candles, take actions before those who listen for them.
   * @param {(action: string) => boolean} mode answers whether it took the action
   * @returns {() => void} ends the mode
   */
  enter(mode) {
    this.#modes.add(mode);
    return () => void this.#modes.delete(mode);
  }

  /** @returns {import("../model/keys.js").KeyAction[]} the keys as they are now */
  get table() {
    return this.#table();
  }

  /**
   * The first key of an action, as people know it; empty for none.
   * @param {string} action
   */
  keyOf(action) {
    const key = this.#table().find((entry) => entry.action === action)?.keys[0];
    return key ? keyTitle(key) : "";
  }

  /**
   * Do an action as if its key had been pressed.
   * @param {string} action
   */
  perform(action) {
    for (const mode of [...this.#modes].reverse()) if (mode(action)) return;
    this.#actions.get(action)?.();
  }

  /**
   * Whether somebody listens for an action, so that the help shows only what works.
   * @param {string} action
   */
  has(action) {
    return this.#actions.has(action);
  }

  /**
   * @param {boolean} isPointer whether the pointer was used last
   * @param {boolean} isTabbed whether the focus was moved by Tab since then
   */
  #note(isPointer, isTabbed) {
    this.#isPointerLast = isPointer;
    this.#isTabbed = isTabbed;
  }

  /**
   * A menu in which somebody chose by pointer lets the keys go: a letter meant for the chart would choose another entry.
   * @param {EventTarget | null} target
   */
  #leave(target) {
    if (this.#isPointerLast && target instanceof HTMLSelectElement && !target.closest("dialog")) target.blur();
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    const target = event.target instanceof Element ? event.target : null;
    if (event.defaultPrevented || event.isComposing || target?.closest(TEXT_FIELDS) || document.querySelector("dialog[open]")) return;
    const { key, code, ctrlKey, metaKey, altKey, shiftKey } = event;
    if (target?.matches(MOVABLE) && MOVES.test(key)) return;
    const press = { key, code, ctrlKey, metaKey, altKey, shiftKey, altGraph: event.getModifierState("AltGraph") };
    const pressesButton = ["Space", "Enter"].includes(keyName(press)) && target?.closest(PRESSABLE) && (this.#isTabbed || !target.closest(OF_CHART));
    const action = pressesButton ? null : actionOf(press, this.#table());
    const copiesText = action === "copy" && String(getSelection()) !== "";
    if (!action || !this.has(action) || copiesText) return;
    event.preventDefault();
    if (!event.repeat || mayRepeat(action)) this.perform(action);
  }
}
