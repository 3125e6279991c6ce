// An import report as a person reads it: what is not worth a word is left out, times and lengths are written out. Pure.

import { count, duration } from "./format-metrics.js";

/** Names whose numbers are times, ms UTC. */
const TIMES = new Set(["first", "last", "start", "end"]);

/** What the page says elsewhere, or what no person reads. */
const SILENT = new Set(["sha256", "identical", "added_to_series", "symbol"]);

const MOST_ITEMS = 12;

/**
 * Give the rows of a report.
 * @param {Record<string, unknown>} report
 * @returns {[string, string][]} title and text; a part that says nothing (0, no, none) is left out
 */
export function reportRows(report) {
  return Object.entries(report).flatMap(([name, value]) => {
    const text = SILENT.has(name) ? "" : textOf(name, value);
    return text === "" ? [] : [/** @type {[string, string]} */ ([titleOf(name), text])];
  });
}

/**
 * @param {string} name
 * @param {unknown} value
 * @returns {string}
 */
function textOf(name, value) {
  if (value === null || value === undefined || value === false || value === 0) return "";
  if (value === true) return "yes";
  if (typeof value === "number") return numberText(name, value);
  if (Array.isArray(value)) return listText(name, value);
  return typeof value === "object" ? partsText(/** @type {Record<string, unknown>} */ (value)) : String(value);
}

/**
 * @param {string} name
 * @param {number} value
 */
function numberText(name, value) {
  if (TIMES.has(name)) return `${new Date(value).toISOString().slice(0, 19).replace("T", " ")} UTC`;
  return name.endsWith("_ms") ? duration(value / 1000) : count(value);
}

/**
 * @param {string} name
 * @param {unknown[]} values
 */
function listText(name, values) {
  const shown = values.slice(0, MOST_ITEMS).map((value) => textOf(name, value));
  const rest = values.length - shown.length;
  const isShort = values.every((value) => typeof value !== "object");
  return [...shown, ...(rest > 0 ? [`and ${count(rest)} more`] : [])].join(isShort ? ", " : "\n");
}

/**
 * @param {Record<string, unknown>} parts counts that are all 0 say nothing; `{name, reason}` is a choice and why
 */
function partsText(parts) {
  const counts = Object.values(parts).filter((value) => typeof value === "number");
  if (counts.length > 0 && counts.every((value) => value === 0)) return "";
  if (typeof parts["name"] === "string" && typeof parts["reason"] === "string") return `${parts["name"]} (${parts["reason"]})`;
  const said = Object.entries(parts)
    .map(([name, value]) => [name, textOf(name, value)])
    .filter(([, text]) => text !== "");
  return said.map(([name, text]) => `${titleOf(name)}: ${text}`).join("\n");
}

/** @param {string} name */
function titleOf(name) {
  const words = name.replace(/_ms$/, "").replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
