// Datasets as a person reads them: what one holds, what changed since, what an import came to. Pure; no DOM.

import { formatShortTime } from "./format.js";
import { count, percent } from "./format-metrics.js";

/** @typedef {import("./zone.js").Zone} Zone */

/**
 * @typedef {object} DatasetFacts
 * @property {Record<string, number>} counts marks a class
 * @property {Record<string, {candles: number, from: number, to: number} | null>} parts
 * @property {{purge: number, embargo: number, purged: Record<string, string[]>, left_out: number, modes: Record<string, number>}} gate
 * @property {Record<string, {candles: Record<string, number>, majority: number | null, uniform: number}>} chance
 * @property {{count: number, missing: number}} gaps
 * @property {number} reviewed candles that a mark touches
 */

/**
 * @typedef {object} Counted
 * @property {number} count
 * @property {number[]} times the first of them, ms UTC
 */

/**
 * @typedef {object} Changes
 * @property {boolean} same
 * @property {{added: string[], removed: string[], changed: {id: string, fields: Record<string, {before: unknown, after: unknown}>}[]}} marks
 * @property {{added: Counted, removed: Counted, changed: Counted}} candles
 * @property {{added: string[], removed: string[]}} labels
 * @property {string[]} other what else differs
 */

/**
 * @typedef {object} MarkReport
 * @property {string} format
 * @property {number} read
 * @property {number} new
 * @property {number} same
 * @property {{id: string, where: string}[]} conflicts
 * @property {{where: string, stored: boolean}[]} unplaced
 * @property {{where: string, why: string}[]} skipped
 * @property {string[]} labels_added
 * @property {Record<string, string>} mapping
 * @property {string[]} notes
 * @property {import("./questions.js").Question[]} options other readings of the file
 * @property {Record<string, unknown>[]} sample its first new marks, each with its place in the file
 */

const MOST = 20;
const SAMPLED = 5;

/**
 * Give what a dataset holds, row by row.
 * @param {DatasetFacts} facts
 * @returns {[string, string][]} title and text
 */
export function factRows(facts) {
  const classes = Object.entries(facts.counts).map(([name, marks]) => `${name} ${count(marks)}`);
  const parts = Object.entries(facts.parts).map(([name, part]) => `${name} ${part === null ? "none" : `${count(part.candles)} candles`}`);
  const purged = Object.values(facts.gate.purged).flat().length;
  const candles = Object.values(facts.parts).reduce((sum, part) => sum + (part?.candles ?? 0), 0);
  return [
    ["Marks a class", classes.join(", ") || "none"],
    ["Chance level", Object.entries(facts.chance).map(([layer, of]) => `${layer}: ${chanceText(of)}`).join("; ")],
    ["Split", parts.join(", ")],
    ["Leak gate", `passed; ${counted(purged, "mark")} purged, purge ${facts.gate.purge}, embargo ${facts.gate.embargo} candles`],
    ["Made in hindsight", counted(facts.gate.modes["hindsight"] ?? 0, "mark")],
    ["Gaps", facts.gaps.count ? `${count(facts.gaps.count)}, ${counted(facts.gaps.missing, "candle")} missing` : "none"],
    ["Reviewed", `${counted(facts.reviewed, "candle")}${candles ? ` (${percent(Math.min(1, facts.reviewed / candles))})` : ""}`],
  ];
}

/**
 * @param {number} n
 * @param {string} what
 */
function counted(n, what) {
  return `${count(n)} ${what}${n === 1 ? "" : "s"}`;
}

/** @param {{majority: number | null, uniform: number}} of */
function chanceText({ majority, uniform }) {
  const even = `${percent(uniform)} by guessing`;
  return majority === null ? even : `${percent(majority)} by always saying the most frequent class, ${even}`;
}

/**
 * Say what changed, line by line.
 * @param {Changes} changes
 * @returns {string[]} one line where nothing did
 */
export function changeLines({ same, marks, candles, labels, other }) {
  if (same) return ["Nothing changed."];
  const numbers = /** @type {[string, number][]} */ ([
    ["mark added", marks.added.length],
    ["mark removed", marks.removed.length],
    ["candle added", candles.added.count],
    ["candle removed", candles.removed.count],
    ["candle changed", candles.changed.count],
  ]);
  return [
    ...numbers.filter(([, n]) => n > 0).map(([what, n]) => `${count(n)} ${n === 1 ? what : what.replace(" ", "s ")}`),
    ...shortened(marks.changed.map(({ id, fields }) => `mark ${id.slice(0, 8)} changed: ${Object.keys(fields).join(", ")}`)),
    ...labels.added.map((name) => `label ${name} added`),
    ...labels.removed.map((name) => `label ${name} removed`),
    ...other.map((what) => `${what} changed`),
  ];
}

/**
 * Give what an import of marks comes to, row by row; what says nothing is left out.
 * @param {MarkReport} report
 * @returns {[string, string][]}
 */
export function importRows(report) {
  const rows = /** @type {[string, string][]} */ ([
    ["Read as", report.format.replaceAll("_", " ")],
    ["Columns", Object.entries(report.mapping).map(([what, from]) => `${what}: ${from}`).join("\n")],
    ["New marks", count(report.new)],
    ["Known already", report.same ? count(report.same) : ""],
    ["New labels", report.labels_added.join(", ")],
    ["In conflict, the stored one stays", shortened(report.conflicts.map(({ where }) => where)).join("\n")],
    ["Fits no candle", shortened(report.unplaced.map(({ where, stored }) => `${where}${stored ? " (in a gap, kept)" : " (left out)"}`)).join("\n")],
    ["Left aside", shortened([...report.skipped.map(({ where, why }) => `${where}: ${why}`), ...report.notes]).join("\n")],
  ]);
  return rows.filter(([, text]) => text !== "");
}

/**
 * Give the first new marks of a file as rows of a table: place in the file, kind, label, when.
 * @param {MarkReport} report
 * @param {Zone} zone
 * @param {string} timeframe
 * @returns {string[][]}
 */
export function sampleRows({ sample }, zone, timeframe) {
  return sample.slice(0, SAMPLED).map((mark) => {
    const ends = [mark["start"] ?? mark["entry"] ?? mark["time"], mark["end"] ?? mark["exit"]];
    const times = ends.map(momentOf).filter((time) => time !== null);
    const when = times.map((time) => formatShortTime(time, zone, timeframe)).join(" – ");
    return [mark["where"], mark["kind"], mark["label"], when].map(String);
  });
}

/**
 * @param {unknown} end a time, or an anchor with time and price
 * @returns {number | null}
 */
function momentOf(end) {
  if (typeof end === "number") return end;
  const time = /** @type {{time?: unknown} | null | undefined} */ (end)?.time;
  return typeof time === "number" ? time : null;
}

/**
 * @param {string[]} lines
 * @returns {string[]}
 */
function shortened(lines) {
  return lines.length > MOST ? [...lines.slice(0, MOST), `and ${count(lines.length - MOST)} more`] : lines;
}

/**
 * Read shares such as `70/15/15`.
 * @param {string} text
 * @returns {number[] | null} null for what are no three shares
 */
export function splitShares(text) {
  const shares = text.split(/[/,\s]+/).filter(Boolean).map(Number);
  return shares.length === 3 && shares.every((share) => Number.isFinite(share) && share >= 0) && shares[0] > 0 ? shares : null;
}
