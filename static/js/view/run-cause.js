// Why a run ended: the cause in full, where the log is, and what can be done now.

import { canResume } from "../model/run.js";
import { element } from "./element.js";
import { learningOf } from "./learning.js";

/** @typedef {import("./context.js").PageContext} PageContext */
/** @typedef {import("../model/run.js").Run} Run */

/**
 * Show the cause of a run's end, with a button that goes on or starts the same again.
 * @param {PageContext} context
 * @param {Run} run with a cause
 */
export function showRunCause(context, run) {
  context.dialog.open({
    title: `Run ${run.id} (${run.mode}): ${run.state}`,
    body: [
      element("pre", { class: "cause-text", tabindex: 0 }, run.cause ?? ""),
      element("p", {}, element("a", { href: "/api/log", download: "annotate.log" }, "Download the server's log")),
    ],
    actions: [nextStep(context, run)],
    cancel: "Close",
    wide: true,
  });
}

/**
 * @param {PageContext} context
 * @param {Run} run
 * @returns {import("./dialog.js").DialogAction}
 */
function nextStep(context, run) {
  const { desk } = learningOf(context);
  const again = () => (run.mode === "load" ? desk.load(run.config) : desk.begin(run.mode, run.config));
  const resumes = canResume(run);
  return {
    text: resumes ? "Resume" : "Start again with the same settings",
    tone: "primary",
    run: async () => {
      try {
        await (resumes ? desk.command(run.id, "resume") : again());
        return true;
      } catch (error) {
        context.toast(/** @type {Error} */ (error).message, { tone: "danger" });
        return false;
      }
    },
  };
}
