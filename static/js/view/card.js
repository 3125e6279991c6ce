// A card says what failed or what is missing, why, and gives the button that helps.

import { button, element } from "./element.js";

/**
 * @typedef {object} CardOptions
 * @property {string} title
 * @property {string} text the cause
 * @property {"info" | "ok" | "warning" | "danger"} [tone]
 * @property {{text: string, run: () => void}[]} [actions]
 */

/**
 * Make a card.
 * @param {CardOptions} options
 * @returns {HTMLElement}
 */
export function card({ title, text, tone = "info", actions = [] }) {
  return element(
    "div",
    { class: `card ${tone}`, role: tone === "danger" ? "alert" : "status" },
    element("h2", {}, title),
    element("p", { class: "muted" }, text),
    actions.length > 0 && element("div", { class: "row" }, ...actions.map((action) => button(action.text, action.run))),
  );
}
