// What the audits of a batch run said: is it skill, does anything leak. Pure; no DOM.

/** @typedef {import("./run.js").Run} Run */
/** @typedef {import("./run.js").RunProgress} RunProgress */
/** @typedef {{check: string, passed: boolean, words: string, marks: string[]}} Finding */

/** Modes whose runs question what a batch run learns; they wait in its queue. */
export const AUDITS = ["skill", "leaks"];

/** @type {Record<string, string | undefined>} */
export const MODE_TITLES = {
  load: "loading",
  batch: "batch training",
  live: "live training",
  skill: "is it skill?",
  leaks: "leak check",
};

/** @type {Record<string, string | undefined>} */
const CHECK_TITLES = {
  inputs: "Inputs",
  answers: "Answers",
  targets: "Targets",
  shifts: "Moved targets",
  overlap: "Train and validation",
  twins: "Repeated candles",
  known: "Annotations known too early",
  late: "Annotations known too late",
  control: "Control",
};

/**
 * Name a check for a person.
 * @param {string} check
 * @returns {string}
 */
export function checkTitle(check) {
  return CHECK_TITLES[check] ?? check;
}

/**
 * Say how an audit stands: its verdict once it has one.
 * @param {Run} run
 * @param {RunProgress} progress
 * @returns {{title: string, text: string, tone: "ok" | "warning" | "danger" | "info"} | null} null before it said anything
 */
export function auditWords(run, progress) {
  return run.mode === "skill" ? skillWords(run, progress) : leakWords(run, progress);
}

/**
 * @param {Run} run
 * @param {RunProgress} progress
 * @returns {{title: string, text: string, tone: "ok" | "warning" | "info"} | null}
 */
function skillWords(run, progress) {
  const found = /** @type {{verdict: string, words: string} | undefined} */ (run.summary["skill"]);
  if (found !== undefined) {
    const isSkill = found.verdict === "skill";
    return { title: isSkill ? "It is skill" : "No skill", text: found.words, tone: isSkill ? "ok" : "warning" };
  }
  const last = progress.control;
  if (last === null) return null;
  const which = last.number === 0 ? "the real targets" : `shuffled targets ${last.number} of ${last.runs}`;
  return { title: "Is it skill?", text: `On ${which}, epoch ${last.epoch} of ${last.epochs}.`, tone: "info" };
}

/**
 * @param {Run} run
 * @param {RunProgress} progress
 * @returns {{title: string, text: string, tone: "ok" | "danger" | "info"} | null}
 */
function leakWords(run, progress) {
  const failed = progress.findings.filter((finding) => !finding.passed).length;
  if (run.summary["leaks"] === undefined)
    return progress.findings.length === 0
      ? null
      : { title: "Leak check", text: `${progress.findings.length} checks done.`, tone: "info" };
  const said = failed === 1 ? "One check failed." : `${failed} checks failed.`;
  return failed === 0
    ? { title: "No leak found", text: `All ${progress.findings.length} checks passed.`, tone: "ok" }
    : { title: "Leaks found", text: said, tone: "danger" };
}

/**
 * Give the share of an audit that is done, for its progress bar.
 * @param {RunProgress} progress
 * @returns {number | null} null where there is nothing to tell
 */
export function auditShare(progress) {
  const last = progress.control;
  return last === null ? null : (last.number * last.epochs + last.epoch) / ((last.runs + 1) * last.epochs);
}
