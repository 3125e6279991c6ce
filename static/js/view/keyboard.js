// Turns key presses into actions of the key table; silent in text fields and behind dialogs.

import { actionOf, keyName } from "../model/keys.js";

const TEXT_FIELDS = "input:not([type=checkbox], [type=radio], [type=range], [type=color], [type=button]), textarea, select, [contenteditable]";
const PRESSABLE = "button, a, summary, input";

/** The page's keyboard: panels say what an action does. */
export class Keyboard {
  /** @type {Map<string, () => void>} */
  #actions = new Map();

  /** @param {Document} root */
  constructor(root) {
    root.addEventListener("keydown", (event) => this.#press(event));
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
   * Do an action as if its key had been pressed.
   * @param {string} action
   */
  perform(action) {
    this.#actions.get(action)?.();
  }

  /**
   * Whether somebody listens for an action, so that the help shows only what works.
   * @param {string} action
   */
  has(action) {
    return this.#actions.has(action);
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    const target = event.target instanceof Element ? event.target : null;
    if (event.defaultPrevented || event.isComposing || target?.closest(TEXT_FIELDS) || document.querySelector("dialog[open]")) return;
    const { key, ctrlKey, metaKey, altKey, shiftKey } = event;
    const press = { key, ctrlKey, metaKey, altKey, shiftKey, altGraph: event.getModifierState("AltGraph") };
    const pressesButton = ["Space", "Enter"].includes(keyName(press)) && target?.closest(PRESSABLE);
    const action = pressesButton ? null : actionOf(press);
    if (!action || !this.has(action)) return;
    event.preventDefault();
    this.perform(action);
  }
}
