// What an upload gave, and what it leaves open: the report of an import, and the questions before one.

import { reportRows } from "../model/import-report.js";
import { isFree, likelyAnswer } from "../model/questions.js";
import { element, field } from "./element.js";

/** @typedef {import("../model/questions.js").Question} Question */
/** @typedef {import("./dialog.js").Dialog} Dialog */

/**
 * Show what an import gave.
 * @param {Dialog} dialog
 * @param {string} title
 * @param {Record<string, unknown>} report
 */
export function showReport(dialog, title, report) {
  const rows = reportRows(report).flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]);
  const save = () => {
    saveJson(`${title.replace(/[^\p{L}\p{N}.-]+/gu, "-")}.report.json`, report);
    return false;
  };
  dialog.open({
    title,
    body: [element("dl", { class: "facts report" }, ...rows)],
    actions: [{ text: "Download as JSON", run: save }],
    cancel: "Close",
    wide: true,
  });
}

/**
 * @param {string} name
 * @param {unknown} value
 */
function saveJson(name, value) {
  const address = URL.createObjectURL(new Blob([JSON.stringify(value, null, 1)], { type: "application/json" }));
  element("a", { href: address, download: name }).click();
  URL.revokeObjectURL(address);
}

/**
 * Ask what a file leaves open; the likely answers are filled in.
 * @param {Dialog} dialog
 * @param {string} fileName
 * @param {Question[]} questions
 * @returns {Promise<Record<string, string> | null>} answers by name; null when a person gave up
 */
export async function askQuestions(dialog, fileName, questions) {
  const asked = questions.map((question) => ({ question, control: answerControl(question) }));
  /** @type {Record<string, string> | null} */
  let answers = null;
  const take = () => {
    answers = Object.fromEntries(asked.map(({ question, control }) => [question.name, control.value.trim()]));
  };
  await dialog.open({
    title: `${fileName} leaves something open`,
    body: asked.map(({ question, control }) =>
      element("div", { class: "stack" }, field(question.question, control, question.reason), choiceList(question, control)),
    ),
    actions: [{ text: "Import", tone: "primary", run: take }],
  }).closed;
  return answers;
}

/**
 * @param {Question} question
 * @returns {HTMLInputElement | HTMLSelectElement}
 */
function answerControl(question) {
  const value = likelyAnswer(question);
  if (isFree(question))
    return element("input", { type: "text", name: question.name, value, list: `choices-${question.name}`, autocomplete: "off" });
  const options = question.choices.map((choice) => element("option", { value: choice.value }, choice.label));
  return element("select", { name: question.name, value: "" }, ...options.map((option) => selected(option, value)));
}

/**
 * @param {HTMLOptionElement} option
 * @param {string} value
 */
function selected(option, value) {
  option.selected = option.value === value;
  return option;
}

/**
 * @param {Question} question
 * @param {HTMLElement} control
 */
function choiceList(question, control) {
  if (control.tagName !== "INPUT" || question.choices.length === 0) return null;
  return element(
    "datalist",
    { id: `choices-${question.name}` },
    ...question.choices.map((choice) => element("option", { value: choice.value }, choice.label)),
  );
}
