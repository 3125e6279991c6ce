// Modal dialogs on the browser's own <dialog>: focus stays inside, Esc closes, focus returns.

import { button, element } from "./element.js";

/**
 * @typedef {object} DialogAction
 * @property {string} text
 * @property {"primary" | "danger" | ""} [tone]
 * @property {() => void | boolean | Promise<void | boolean>} [run] answering false keeps the dialog open
 */

/**
 * @typedef {object} DialogOptions
 * @property {string} title
 * @property {(Node | string)[]} body
 * @property {DialogAction[]} [actions] the first one is what Enter does in a field
 * @property {string} [cancel] text of the button that only closes; "" leaves it out
 * @property {boolean} [wide]
 */

/**
 * @typedef {object} DialogHandle
 * @property {() => void} close
 * @property {Promise<void>} closed
 */

/** @typedef {{open: (options: DialogOptions) => DialogHandle, confirm: (title: string, text: string, yes: string) => Promise<boolean>}} Dialog */

/**
 * Make the two functions that open dialogs in `root`.
 * @param {HTMLElement} root
 * @returns {Dialog}
 */
export function createDialog(root) {
  /** @param {DialogOptions} options */
  const open = (options) => openIn(root, options);

  return {
    open,
    confirm: async (title, text, yes) => {
      let answer = false;
      /** @type {DialogAction} */
      const action = { text: yes, tone: "danger", run: () => void (answer = true) };
      await open({ title, body: [element("p", {}, text)], actions: [action] }).closed;
      return answer;
    },
  };
}

/**
 * @param {HTMLElement} root
 * @param {DialogOptions} options
 * @returns {DialogHandle}
 */
function openIn(root, { title, body, actions = [], cancel = "Cancel", wide = false }) {
  const close = () => dialog.close();
  /** @param {DialogAction} action */
  const perform = async (action) => {
    if ((await action.run?.()) !== false) close();
  };
  const buttons = actions.map((action) => button(action.text, () => void perform(action), { class: action.tone ?? "" }));
  const form = element(
    "form",
    { method: "dialog" },
    element("div", { class: "dialog-head" }, element("h2", {}, title), button("×", close, { class: "quiet icon", "aria-label": "Close" })),
    element("div", { class: "dialog-body" }, ...body),
    element("div", { class: "dialog-foot" }, cancel && button(cancel, close), ...buttons),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (actions[0]) void perform(actions[0]);
  });
  const dialog = element("dialog", { class: wide ? "wide" : "", "aria-label": title }, form);
  root.append(dialog);
  const closed = new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(undefined);
    });
  });
  dialog.showModal();
  // The browser would choose the closing cross, which stands first.
  const first = dialog.querySelector(".dialog-body :is(input, select, textarea, button, a[href]):not(:disabled)") ?? buttons[0];
  if (!form.querySelector("[autofocus]")) /** @type {HTMLElement | undefined} */ (first)?.focus();
  return { close, closed: /** @type {Promise<void>} */ (closed) };
}
