// Questions that a file leaves open, as the server asks them, and what it says of a cell it cannot read. Pure; no DOM.

/** @typedef {{value: string, label: string, likely: boolean}} Choice */

/**
 * One question about an uploaded file.
 * @typedef {object} Question
 * @property {string} name the field of the upload that answers it
 * @property {string} question
 * @property {Choice[]} choices
 * @property {string} reason why it is asked
 */

/** Questions that take answers beyond their choices. */
const FREE = new Set(["zone", "timeframe", "symbol"]);

/**
 * Read the questions of a refusal; a file that names no symbol leaves that one open.
 * @param {{code?: string, details?: Record<string, unknown>}} error
 * @param {string} fileName
 * @returns {Question[]} empty when the error asks nothing
 */
export function questionsOf(error, fileName) {
  const asked = error.details?.["questions"];
  if (error.code === "needs_answer" && Array.isArray(asked)) return asked;
  return error.details?.["field"] === "symbol" ? [symbolQuestion(fileName)] : [];
}

/**
 * @param {string} fileName
 * @returns {Question}
 */
function symbolQuestion(fileName) {
  const guess = (/^[A-Za-z0-9]+/.exec(fileName)?.[0] ?? "").toUpperCase();
  const choices = guess === "" ? [] : [{ value: guess, label: guess, likely: true }];
  return { name: "symbol", question: "Which symbol is it?", choices, reason: "The file names none." };
}

/**
 * @param {Question} question
 * @returns {string} the answer that is filled in
 */
export function likelyAnswer(question) {
  return (question.choices.find((choice) => choice.likely) ?? question.choices[0])?.value ?? "";
}

/**
 * @param {Question} question
 * @returns {boolean} whether an answer may be typed
 */
export function isFree(question) {
  return question.choices.length === 0 || FREE.has(question.name);
}

/**
 * Say where in the file a refusal points: `line 14 · high · 1O1.5`.
 * @param {{details?: Record<string, unknown>}} error
 * @returns {string} "" when it points nowhere
 */
export function placeOf({ details = {} }) {
  const { line, column, value } = details;
  return [
    line !== undefined && `line ${line}`,
    column !== undefined && `column ${column}`,
    line !== undefined && value !== undefined && `“${value}”`,
  ]
    .filter((part) => part !== false)
    .join(" · ");
}
