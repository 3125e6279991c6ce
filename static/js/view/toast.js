// Short messages at the corner that go away by themselves; an error stays until it is closed.

import { button, element } from "./element.js";

const SHOWN_MS = 5000;

/**
 * @typedef {object} ToastOptions
 * @property {"info" | "ok" | "danger"} [tone]
 * @property {string} [action] text of a button
 * @property {() => void} [onAction]
 * @property {number} [shownMs] how long; Infinity keeps it
 */

/** @typedef {(message: string, options?: ToastOptions) => void} Toast */

/**
 * Make the function that shows a toast in `root`.
 * @param {HTMLElement} root
 * @returns {Toast}
 */
export function createToast(root) {
  return (message, { tone = "info", action, onAction, shownMs } = {}) => {
    const close = () => shown.remove();
    const act = () => {
      close();
      onAction?.();
    };
    const shown = element(
      "div",
      { class: `toast ${tone}` },
      element("span", {}, message),
      element(
        "span",
        { class: "row" },
        action && button(action, act, { class: "quiet" }),
        button("×", close, { class: "quiet icon", "aria-label": "Close this message" }),
      ),
    );
    for (const twin of root.querySelectorAll(".toast")) if (twin.firstChild?.textContent === message) twin.remove();
    root.append(shown);
    const time = shownMs ?? (tone === "danger" ? Infinity : SHOWN_MS);
    if (Number.isFinite(time)) setTimeout(close, time);
  };
}
