// One line for work in the background: a bar, the share done and a button that calls it off.

import { followTask } from "../net/tasks.js";
import { button, element, fill } from "./element.js";
import { saveFrom } from "./save-text.js";

/** @typedef {import("./context.js").PageContext} PageContext */
/** @typedef {import("../net/tasks.js").Task} Task */

const EXPORTS = "/api/exports";

/** The line; `root` stays empty while nothing is under way. */
export class TaskRow {
  root = element("div", { class: "row", role: "status" });
  #context;

  /** @param {PageContext} context */
  constructor(context) {
    this.#context = context;
  }

  /**
   * Build an export and hand it to the browser.
   * @param {string} path of the call that begins it
   * @param {unknown} body
   * @param {() => boolean} [isWanted] false calls it off
   * @returns {Promise<boolean>} whether it was saved
   */
  async export(path, body, isWanted) {
    const { export: begun } = await this.#context.api.post(path, body);
    const ended = await this.follow(EXPORTS, "export", begun, isWanted);
    if (ended.state === "finished") saveFrom("", `${EXPORTS}/${ended.id}/download`);
    return ended.state === "finished";
  }

  /**
   * Show work until it is over.
   * @param {string} path
   * @param {string} name
   * @param {Task} begun
   * @param {() => boolean} [isWanted]
   * @returns {Promise<Task>}
   */
  async follow(path, name, begun, isWanted = () => true) {
    const { api } = this.#context;
    const bar = element("progress", { max: 1, value: begun.progress, "aria-label": `Progress of the ${name}` });
    const share = element("span", { class: "number muted" }, "0%");
    const cancel = () => void api.delete(`${path}/${begun.id}`);
    fill(this.root, bar, share, button(`Cancel ${name}`, cancel, { class: "small" }));
    try {
      const ended = await followTask(api, path, name, begun, (done) => {
        bar.value = done;
        share.textContent = `${Math.floor(done * 100)}%`;
        if (!isWanted()) cancel();
      });
      fill(this.root, ended.state === "cancelled" && element("span", { class: "muted" }, `The ${name} was called off.`));
      return ended;
    } catch (error) {
      fill(this.root);
      throw error;
    }
  }
}
