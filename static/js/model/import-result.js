// What an import came to, in lines that a person reads at once; the report holds the rest. Pure; no DOM.

import { count, duration } from "./format-metrics.js";

/** @typedef {import("./types.js").Series} Series */
/** @typedef {{series: Series, report: Record<string, any>}} Made */
/** @typedef {{text: string, isWarning: boolean}} Line */

/**
 * A mark that stands on candles which a file contradicts or lacks.
 * @typedef {object} FlaggedMark
 * @property {string} id
 * @property {string} label
 * @property {string} kind
 * @property {number} start ms UTC
 * @property {string} why
 */

const MOST_LINES = 5;
const MOST_MARKS = 50;

/**
 * Say what became of a file's series.
 * @param {Made} made
 * @returns {Line[]} the first one says what is stored
 */
export function resultLines({ series, report }) {
  if (report["identical"] === true) return [said("The same bytes were uploaded before; this is the series they made.")];
  const head = report["added_to_series"] === true ? additionText(report) : `${count(series.candles)} candles are stored.`;
  return [said(head), ...changeLines(report), ...lossLines(report), ...gapLines(report), ...(report["notes"] ?? []).map(said)];
}

/**
 * List the marks that a person should look at after candles were added.
 * @param {Record<string, any>} report
 * @returns {FlaggedMark[]}
 */
export function flaggedMarks(report) {
  const changed = (report["annotations_on_changed"] ?? []).map((/** @type {FlaggedMark} */ mark) => ({ ...mark, why: "its candles differ in the file" }));
  const orphans = (report["orphan_annotations"] ?? []).map((/** @type {FlaggedMark} */ mark) => ({ ...mark, why: "its candles are no longer in the file" }));
  return [...changed, ...orphans].slice(0, MOST_MARKS);
}

/** @param {Record<string, any>} report */
function additionText(report) {
  const parts = [
    [report["added"], "added"],
    [report["same"], "as they were"],
    [report["changed"], "changed in the file"],
    [report["vanished"], "no longer in the file"],
  ];
  return `Candles: ${parts.filter(([number], at) => at === 0 || number > 0).map(([number, word]) => `${count(number)} ${word}`).join(", ")}.`;
}

/** @param {Record<string, any>} report */
function changeLines(report) {
  const lines = [];
  if (report["changed"] > 0) lines.push(warned("Stored candles are final and stay; the report lists what the file says of the changed ones."));
  if (report["vanished"] > 0) lines.push(warned("Candles that the file no longer has stay stored; the report lists them."));
  return lines;
}

/** @param {Record<string, any>} report */
function lossLines(report) {
  return Object.entries(report["dropped"] ?? {}).map(([reason, { count: number, lines }]) => {
    const shown = lines.slice(0, MOST_LINES).join(", ");
    const rest = number > MOST_LINES ? " …" : "";
    const text = `${count(number)} ${number === 1 ? "row was" : "rows were"} left out, ${reason}: ${number === 1 ? "line" : "lines"} ${shown}${rest}.`;
    return { text, isWarning: reason !== "exact duplicate" };
  });
}

/** @param {Record<string, any>} report */
function gapLines(report) {
  const { count: gaps = 0, missing_candles: missing = 0, longest_ms: longest = 0 } = report["gaps"] ?? {};
  if (gaps === 0) return [];
  return [said(`${count(gaps)} ${gaps === 1 ? "gap" : "gaps"} with ${count(missing)} missing candles; the longest is ${duration(longest / 1000)}.`)];
}

/**
 * @param {string} text
 * @returns {Line}
 */
function said(text) {
  return { text, isWarning: false };
}

/**
 * @param {string} text
 * @returns {Line}
 */
function warned(text) {
  return { text, isWarning: true };
}
