// How a file is about to be read: every choice with its value, its reason and what else it can be. Pure; no DOM.

import { isFree, likelyAnswer } from "./questions.js";

/** @typedef {import("./questions.js").Question} Question */
/** @typedef {import("./questions.js").Choice} Choice */
/** @typedef {import("./types.js").Candle} Candle */

/**
 * What an import says of itself, as far as the page reads it by name.
 * @typedef {object} Report
 * @property {string} format
 * @property {string} zone
 * @property {string} zone_reason
 * @property {boolean} zone_stated whether the file itself states its zone, so that no other can be chosen
 * @property {string} timeframe
 * @property {string} timeframe_reason
 * @property {string} stamp `open` or `close`
 * @property {string} order
 * @property {string} time_written
 * @property {string[]} header
 * @property {Record<string, {name: string, number: number, reason: string}>} columns
 * @property {{decimal: string, reason: string}} numbers
 * @property {{unit: string, rows: number}[]} units
 * @property {{exact: number, conflicting: number, rule: string}} duplicates
 * @property {{count: number}} violations
 * @property {string[]} notes
 */

/**
 * One series of a file as a preview shows it.
 * @typedef {object} Shown
 * @property {string | null} symbol
 * @property {string} timeframe
 * @property {string} zone
 * @property {number} candles
 * @property {Candle[]} first
 * @property {Candle[]} last
 * @property {Report} report
 */

/**
 * How a file would be read.
 * @typedef {object} Preview
 * @property {Shown[]} series
 * @property {Question[]} questions
 * @property {boolean} ready
 * @property {string | null} problem why there is no series yet
 * @property {number[]} known_series series that the same bytes made before
 */

/**
 * One choice about a file. Without `choices` and not `free` it is a fact.
 * @typedef {object} Control
 * @property {string} name the answer's name
 * @property {string} label
 * @property {string} value
 * @property {string} reason
 * @property {Choice[]} choices
 * @property {boolean} free whether an answer may be typed
 */

/** @typedef {Readonly<Record<string, string>>} Answers */

const TIMEFRAMES = ["1s", "1m", "5m", "15m", "30m", "1h", "4h", "1d", "1w", "1mo"];
const ZONES = ["UTC", "New York+7", "America/New_York", "EST", "Europe/London", "Europe/Berlin", "Europe/Athens", "Asia/Kolkata", "Asia/Tokyo"];
const ROLES = ["time", "open", "high", "low", "close", "volume"];
const UNITS = { auto: "by the size of each number", s: "seconds", ms: "milliseconds", us: "microseconds", ns: "nanoseconds" };
const ORDERS = {
  ascending: "oldest first",
  descending: "newest first; turned round",
  unsorted: "unsorted; sorted by time",
};
const ORDERS_OF_DATES = { day_first: "day first (31/01/2024)", month_first: "month first (01/31/2024)" };
const COMMAS = { decimal: "decimal comma (1,5)", thousands: "comma between thousands (1,500)" };
const STAMPS = { open: "the open of its candle", close: "the end of its candle" };
const DUPLICATES = { last: "keep the last one", first: "keep the first one", larger_volume: "keep the larger volume" };
const VIOLATIONS = { keep: "keep and flag them", leave_out: "leave them out", refuse: "refuse the file" };

/**
 * Give the choices of one series of a preview that were not asked about.
 * @param {Shown} shown
 * @param {Answers} answers what a person changed so far
 * @param {{isOnly: boolean, isNew: boolean, asked: ReadonlySet<string>}} among whether it is the only series of the
 *   file, whether it becomes a new series, and the names that stand among the questions
 * @returns {Control[]}
 */
export function controlsOf(shown, answers, { isOnly, isNew, asked }) {
  const { report } = shown;
  const every = [
    ...(isOnly && isNew ? [free("symbol", "Symbol", shown.symbol ?? "", "as the file or its name says")] : []),
    free("timeframe", "Timeframe", shown.timeframe, report.timeframe_reason, TIMEFRAMES),
    zoneControl(report),
    ...timeControls(report, answers),
    fact("order", "Order", wordOf(ORDERS, report.order), "candles are kept in order of time"),
    ...ROLES.filter((role) => role !== "time" || report.columns["time"]).map((role) => columnControl(role, report)),
    ...ruleControls(report, answers),
  ];
  return every.filter(({ name }) => !asked.has(name)).map((control) => ({ ...control, value: answers[control.name] ?? control.value }));
}

/**
 * Give a question as a choice that a person has to look at.
 * @param {Question} question
 * @param {Answers} answers
 * @returns {Control}
 */
export function askedControl(question, answers) {
  const { name, question: label, reason, choices } = question;
  return { name, label, reason, choices, free: isFree(question), value: answers[name] ?? likelyAnswer(question) };
}

/**
 * Give the answers to send: what was changed, and what stands in the questions' fields.
 * @param {Iterable<Question>} questions
 * @param {Answers} answers
 * @returns {Record<string, string>}
 */
export function answersToSend(questions, answers) {
  const asked = [...questions].map((question) => [question.name, answers[question.name] ?? likelyAnswer(question)]);
  return { ...Object.fromEntries(asked), ...answers };
}

/** @param {Report} report */
function zoneControl(report) {
  if (report.zone_stated) return fact("zone", "Time zone", report.zone, report.zone_reason);
  return free("zone", "Time zone", report.zone, report.zone_reason, ZONES);
}

/**
 * @param {Report} report
 * @param {Answers} answers
 */
function timeControls(report, answers) {
  const units = [...new Set(report.units.map(({ unit }) => unit))].join(" and ");
  const controls = [];
  if (units !== "") controls.push(choice("unit", "Unit of the times", answers["unit"] ?? "auto", `found: ${units}`, UNITS));
  else controls.push(fact("time_written", "Times are written", report.time_written, ""));
  const isShort = report.time_written.includes("two digits a year");
  if (isShort || report.time_written.includes("day and month") || answers["date_order"]) {
    const words = isShort ? { ...ORDERS_OF_DATES, year_first: "year first (24/01/31)" } : ORDERS_OF_DATES;
    const order = Object.keys(words).find((each) => report.time_written.includes(`${each.split("_")[0]} comes first`)) ?? "day_first";
    controls.push(choice("date_order", "Day and month", order, "", words));
  }
  controls.push(choice("stamp", "A time is", report.stamp, "candles are stored by the time at which they open", STAMPS));
  return controls;
}

/**
 * @param {string} role
 * @param {Report} report
 * @returns {Control}
 */
function columnControl(role, report) {
  const column = report.columns[role];
  const label = role === "time" ? "Time column" : `${role[0].toUpperCase()}${role.slice(1)}`;
  const choices = report.header.map((name, at) => ({ value: String(at + 1), label: name, likely: at + 1 === column?.number }));
  if (column === undefined) choices.unshift({ value: "", label: "none", likely: true });
  return {
    name: `column_${role}`,
    label,
    value: column === undefined ? "" : String(column.number),
    reason: column?.reason ?? "no column means it",
    choices,
    free: false,
  };
}

/**
 * @param {Report} report
 * @param {Answers} answers
 */
function ruleControls(report, answers) {
  const { duplicates, violations, numbers } = report;
  const controls = [];
  if (numbers.reason.includes("comma") && !numbers.reason.startsWith("no cell")) {
    controls.push(choice("decimal_comma", "Commas", numbers.decimal === "," ? "decimal" : "thousands", numbers.reason, COMMAS));
  }
  if (duplicates.conflicting > 0) {
    controls.push(choice("duplicates", "Rows that contradict another of their time", duplicates.rule, `${duplicates.conflicting} rows`, DUPLICATES));
  }
  if (violations.count > 0 || answers["violations"]) {
    controls.push(choice("violations", "Candles that break the high/low rule", "keep", `${violations.count} candles`, VIOLATIONS));
  }
  return controls;
}

/**
 * @param {string} name
 * @param {string} label
 * @param {string} value
 * @param {string} reason
 * @param {string[]} [known] values that are offered
 * @returns {Control}
 */
function free(name, label, value, reason, known = []) {
  const choices = known.map((each) => ({ value: each, label: each, likely: each === value }));
  return { name, label, value, reason, choices, free: true };
}

/**
 * @param {string} name
 * @param {string} label
 * @param {string} value
 * @param {string} reason
 * @param {Record<string, string>} words
 * @returns {Control}
 */
function choice(name, label, value, reason, words) {
  const choices = Object.entries(words).map(([each, text]) => ({ value: each, label: text, likely: each === value }));
  return { name, label, value, reason, choices, free: false };
}

/**
 * @param {string} name
 * @param {string} label
 * @param {string} value
 * @param {string} reason
 * @returns {Control}
 */
function fact(name, label, value, reason) {
  return { name, label, value, reason, choices: [], free: false };
}

/**
 * @param {Record<string, string>} words
 * @param {string} key
 */
function wordOf(words, key) {
  return words[key] ?? key;
}
