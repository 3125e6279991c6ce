// The tables of figures: what a head reached, and what needs no model beside it. Pure; no DOM.

import { numberText } from "./format.js";
import { coefficient, count, interval, loss, percent } from "./format-metrics.js";

/** @typedef {import("./events.js").SplitFigures} SplitFigures */
/** @typedef {import("./events.js").HeadFigures} HeadFigures */
/** @typedef {import("./headline.js").FiguresByTarget} FiguresByTarget */

/** @typedef {{title: string, cells: string[], kind?: "baseline"}} FigureRow */

const HEAD_ORDER = ["candle", "trend", "range", "label"];
const BASELINES = [
  ["majority", "Majority"],
  ["persistence", "Persistence"],
  ["momentum", "Momentum, 12"],
  ["logistic", "Logistic regr."],
];

/**
 * Give the heads that have figures, in a fixed order.
 * @param {SplitFigures} split
 * @returns {string[]}
 */
export function headsOf(split) {
  const known = Object.keys({ ...split.heads, ...split.baselines });
  return HEAD_ORDER.filter((head) => known.includes(head));
}

/**
 * Give the rows of an epoch's table: one column a head, the baselines below the model.
 * @param {SplitFigures} split
 * @returns {FigureRow[]}
 */
export function epochRows(split) {
  const heads = headsOf(split);
  /** @type {(title: string, read: (figures: HeadFigures | undefined) => string) => FigureRow} */
  const row = (title, read) => ({ title, cells: heads.map((head) => read(split.heads?.[head])) });
  const model = [
    row("Accuracy", (figures) => percent(figures?.accuracy, 1)),
    row("95% interval", (figures) => interval(figures?.interval)),
    row("Balanced acc.", (figures) => percent(figures?.balanced_accuracy, 1)),
    row("MCC", (figures) => coefficient(figures?.mcc)),
    row("F1", (figures) => percent(figures?.f1, 1)),
    row("NLL", (figures) => loss(figures?.nll)),
    row("by uncertainty", (figures) => uncertaintyText(figures?.uncertainty)),
    row("95% ±", (figures) => doubtText(figures?.uncertainty)),
    row("n", (figures) => count(figures?.n)),
  ].filter((each) => each.cells.some((cell) => cell !== "–"));
  return [...model, ...BASELINES.flatMap(([name, title]) => baselineRows(split, heads, name, title))];
}

/**
 * @param {SplitFigures} split
 * @param {string[]} heads
 * @param {string} name
 * @param {string} title
 * @returns {FigureRow[]} accuracy; of the majority also F1, beside which the label head's F1 is read
 */
function baselineRows(split, heads, name, title) {
  const known = heads.map((head) => split.baselines[head]?.[name]);
  /** @type {FigureRow[]} */
  const rows = [{ title, cells: known.map((figures) => percent(figures?.accuracy, 1)), kind: "baseline" }];
  if (name === "majority")
    rows.push({ title: `${title} F1`, cells: known.map((figures) => percent(figures?.f1, 1)), kind: "baseline" });
  return rows.filter((row) => row.cells.some((cell) => cell !== "–"));
}

/**
 * The model's loss less a rival's, with its 95% interval: below 0 the model is better.
 * @param {[number, number] | null | undefined} gap
 * @returns {string} `−.08 ±.04`
 */
function gapText(gap) {
  return gap ? `${signed((gap[0] + gap[1]) / 2, 2)} ±${short((gap[1] - gap[0]) / 2, 2)}` : "–";
}

/**
 * What doubting some candles more than others adds to the loss: below 0 it helps.
 * @param {HeadFigures["uncertainty"]} found
 * @returns {string} `−.003`
 */
function uncertaintyText(found) {
  return found ? signed(found.difference, 3) : "–";
}

/** @param {HeadFigures["uncertainty"]} found */
function doubtText(found) {
  return found?.interval ? short((found.interval[1] - found.interval[0]) / 2, 3) : "–";
}

/** @type {(value: number, digits: number) => string} */
const short = (value, digits) => numberText(Math.abs(value), digits).replace(/^0/, "");

/** @type {(value: number, digits: number) => string} */
const signed = (value, digits) => `${numberText(value, digits).startsWith("−") ? "−" : "+"}${short(value, digits)}`;

const BASELINE = /** @type {const} */ ("baseline");
const RIVALS = [["start", "Start model"], ...BASELINES];
const WINDOWS = ["100", "1000", "all"];

/**
 * Give the rows of a live run's table for one target: one column a window of unseen candles.
 * @param {FiguresByTarget} figures
 * @param {"candle" | "trend"} target
 * @returns {{windows: string[], rows: FigureRow[]}} no rows before the first score
 */
export function liveRows(figures, target) {
  const known = figures[target] ?? {};
  // Before the thousand and first candle a column of the last thousand would say what "all" says.
  const windows = WINDOWS.filter((window) => known[window] !== undefined && (window !== "1000" || known[window].n !== known["all"]?.n));
  if (windows.length === 0) return { windows: [], rows: [] };
  const at = windows.map((window) => known[window]);
  const rows = [
    { title: "Accuracy", cells: at.map((figure) => percent(figure.accuracy, 1)) },
    { title: "95% interval", cells: at.map((figure) => interval(figure.interval)) },
    { title: "NLL", cells: at.map((figure) => loss(figure.nll)) },
    { title: "n", cells: at.map((figure) => count(figure.n)) },
    ...(figures.of === "seen" ? [] : [{ title: "Verdict", cells: at.map((figure) => figure.verdict ?? "too few") }]),
  ];
  /** @type {FigureRow[]} */
  const rivals = RIVALS.flatMap(([name, title]) => [
    { title, cells: at.map((figure) => percent(figure.baselines[name]?.accuracy, 1)), kind: BASELINE },
    { title: `${title} by NLL`, cells: at.map((figure) => gapText(figure.baselines[name]?.gap)), kind: BASELINE },
  ]).filter((row) => row.cells.some((cell) => cell !== "–"));
  return { windows: windows.map((window) => (window === "all" ? "all" : `last ${window}`)), rows: [...rows, ...rivals] };
}
