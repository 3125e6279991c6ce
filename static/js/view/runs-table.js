// Past and present runs of the open series: state, cause, settings that were changed; look at one, or let it go on.

import { configValue } from "../model/format-metrics.js";
import { stateText } from "../model/headline.js";
import { canResume } from "../model/run.js";
import { button, element } from "./element.js";

/** @typedef {import("../model/run.js").Run} Run */

/**
 * @typedef {object} RunActions
 * @property {(run: Run) => void} show
 * @property {(run: Run) => void} resume
 * @property {(run: Run) => void} explain
 * @property {(run: Run) => void} note
 * @property {readonly number[]} compared runs that are ticked
 * @property {(run: Run, isTicked: boolean) => void} compare
 */

const RUNS_SHOWN = 50;

/**
 * @param {readonly Run[]} runs of the open series, newest first
 * @param {number | undefined} shown the run whose figures are shown
 * @param {RunActions} actions
 * @returns {HTMLElement}
 */
export function runsTable(runs, shown, actions) {
  if (runs.length === 0) return element("p", { class: "muted" }, "No run yet on this series.");
  const rows = runs.slice(0, RUNS_SHOWN).map((run) => runRow(run, runs, run.id === shown, actions));
  const more = runs.length - RUNS_SHOWN;
  return element(
    "div",
    { class: "stack" },
    element(
      "table",
      { class: "figures runs" },
      element(
        "thead",
        {},
        element("tr", {}, ...["", "Run", "Began", "State", ""].map((title) => element("th", { scope: "col" }, title))),
      ),
      element("tbody", {}, ...rows),
    ),
    more > 0 && element("p", { class: "muted" }, `${more} older runs are not shown.`),
  );
}

/**
 * @param {Run} run
 * @param {RunActions} actions
 */
function tick(run, actions) {
  const box = element("input", {
    type: "checkbox",
    "aria-label": `Compare run ${run.id}`,
    title: "Tick two or more to lay their curves over each other in Metrics",
  });
  box.checked = actions.compared.includes(run.id);
  box.addEventListener("change", () => actions.compare(run, box.checked));
  return box;
}

/**
 * @param {Run} run
 * @param {readonly Run[]} runs
 * @param {boolean} isShown
 * @param {RunActions} actions
 */
function runRow(run, runs, isShown, actions) {
  const name = `${run.id} ${run.mode}`;
  const pick = element(
    "button",
    {
      type: "button",
      class: "link-button",
      "aria-pressed": String(isShown),
      onclick: () => actions.show(run),
      title: "Show its figures, metrics and log",
    },
    name,
  );
  const state = stateText(run, runs);
  return element(
    "tr",
    { class: isShown ? "chosen" : "", title: configValue(run.config) },
    element("td", {}, run.mode === "batch" && tick(run, actions)),
    element(
      "td",
      {},
      run.mode === "load" ? name : pick,
      element("small", { class: "muted" }, ` ${configValue(run.config["model"])}`),
      run.note && element("div", { class: "run-note" }, run.note),
    ),
    element("td", { title: `${new Date(run.created).toISOString().slice(0, 19).replace("T", " ")} UTC` }, new Date(run.created).toISOString().slice(5, 16).replace("T", " ")),
    element("td", { class: `state ${run.state}` }, state),
    element(
      "td",
      {},
      canResume(run) && button("Resume", () => actions.resume(run), { class: "small", "aria-label": `Resume run ${run.id}` }),
      run.mode !== "load" &&
        button("Note", () => actions.note(run), { class: "quiet small", "aria-label": `Note on run ${run.id}` }),
      run.cause !== null &&
        button("Why?", () => actions.explain(run), { class: "quiet small", "aria-label": `Why run ${run.id} ended` }),
    ),
  );
}
