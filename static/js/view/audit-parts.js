// Questions to a batch run: is it skill, does anything leak. Their buttons, how they go, and what they found.

import { auditShare, auditWords, checkTitle } from "../model/audit.js";
import { duration, percent } from "../model/format-metrics.js";
import { hasEnded } from "../model/run.js";
import { card } from "./card.js";
import { button, element } from "./element.js";
import { learningOf } from "./learning.js";

/** @typedef {import("./context.js").PageContext} PageContext */
/** @typedef {import("./keyed.js").KeyedPart} KeyedPart */
/** @typedef {import("../model/run.js").Run} Run */
/** @typedef {import("../model/run.js").RunProgress} RunProgress */

const SKILL_TITLE =
  "Trains the same settings on the real targets and 8 times on shuffled ones: only a validation loss below all of those is skill";
const LEAK_TITLE =
  "Changes the future, moves the targets, looks for overlap and for annotations that were known too early or too late";

/**
 * The two questions; they are about the shown batch run, or about the settings of the form where there is none.
 * @param {PageContext} context
 * @param {Run | undefined} run that is shown
 * @returns {KeyedPart[]}
 */
export function questionParts(context, run) {
  const about = run?.mode === "batch" ? run : undefined;
  const make = () =>
    element(
      "div",
      { class: "row wrap" },
      button("Is it skill?", () => void ask(context, "skill", about), { class: "small", title: SKILL_TITLE }),
      button("Check for leaks", () => void ask(context, "leaks", about), { class: "small", title: LEAK_TITLE }),
      element("small", { class: "muted" }, about === undefined ? "with the settings below" : `with the settings and the data of run ${about.id}`),
    );
  return [{ key: `questions ${about?.id ?? "form"}`, make }];
}

/**
 * How an audit goes and what it found.
 * @param {Run} run
 * @param {RunProgress} progress
 * @returns {KeyedPart[]}
 */
export function auditParts(run, progress) {
  const words = auditWords(run, progress);
  const parts = /** @type {KeyedPart[]} */ ([]);
  if (words !== null) parts.push({ key: `audit ${run.id} ${words.title} ${words.text}`, make: () => card(words) });
  const share = auditShare(progress);
  if (share !== null && !hasEnded(run.state)) parts.push(progressPart(run, progress, share));
  for (const [index, finding] of progress.findings.entries())
    parts.push({ key: `finding ${run.id} ${index}`, make: () => findingRow(finding) });
  return parts;
}

/**
 * @param {Run} run
 * @param {RunProgress} progress
 * @param {number} share
 * @returns {KeyedPart}
 */
function progressPart(run, progress, share) {
  const words = `${percent(share)} · ${duration(progress.control?.eta_s ?? 0)} left`;
  const make = () =>
    element(
      "div",
      { class: "progress-row" },
      element("progress", { value: share, max: 1, "aria-label": "Progress of the check" }),
      element("span", { class: "muted number" }, words),
    );
  return { key: `share ${run.id} ${words}`, make };
}

/** @param {import("../model/audit.js").Finding} finding */
function findingRow(finding) {
  return element(
    "div",
    { class: "finding" },
    element("span", { class: `badge ${finding.passed ? "ok" : "danger"}` }, finding.passed ? "passed" : "leak"),
    element("b", {}, checkTitle(finding.check)),
    element("p", { class: "muted" }, finding.words),
  );
}

/**
 * @param {PageContext} context
 * @param {"skill" | "leaks"} mode
 * @param {Run | undefined} run whose settings and dataset it is about
 */
async function ask(context, mode, run) {
  const { desk, settings } = learningOf(context);
  try {
    const { epochs, ...rest } = run?.config ?? settings.batchConfig();
    // A check on skill trains nine times: it has its own, smaller number of epochs.
    const config = mode === "skill" || epochs === undefined ? rest : { ...rest, epochs };
    await desk.begin(mode, config, run?.dataset_id ?? null);
  } catch (error) {
    context.toast(/** @type {Error} */ (error).message, { tone: "danger" });
  }
}
