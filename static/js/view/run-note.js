// A person's note on a run.

import { element } from "./element.js";
import { learningOf } from "./learning.js";

/** @typedef {import("./context.js").PageContext} PageContext */

/**
 * Ask for the note of a run and keep it.
 * @param {PageContext} context
 * @param {import("../model/run.js").Run} run
 */
export function editNote(context, run) {
  const text = element("textarea", { rows: 5, maxlength: 2000, "aria-label": `Note on run ${run.id}` });
  text.value = run.note ?? "";
  const keep = async () => {
    try {
      await context.api.put(`/api/runs/${run.id}/note`, { note: text.value });
      await learningOf(context).desk.refresh();
      return true;
    } catch (error) {
      context.toast(/** @type {Error} */ (error).message, { tone: "danger" });
      return false;
    }
  };
  context.dialog.open({
    title: `Note on run ${run.id}`,
    body: [text],
    actions: [{ text: "Keep", tone: "primary", run: keep }],
  });
}
