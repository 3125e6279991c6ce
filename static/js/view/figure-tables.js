// Tables of figures: the epochs of a batch run, one epoch in detail, the running figures of a live run.

import { epochRows, headsOf, liveRows } from "../model/figure-rows.js";
import { count, loss, percent } from "../model/format-metrics.js";
import { element } from "./element.js";

/** @typedef {import("../model/events.js").EpochDone} EpochDone */
/** @typedef {import("../model/figure-rows.js").FigureRow} FigureRow */
/** @typedef {import("../model/headline.js").FiguresByTarget} FiguresByTarget */

const EPOCHS_SHOWN = 200;

/**
 * The epochs, newest first; a click shows one in detail.
 * @param {readonly EpochDone[]} epochs
 * @param {number | undefined} chosen epoch that is shown in detail
 * @param {(epoch: number) => void} choose
 * @returns {HTMLElement}
 */
export function epochTable(epochs, chosen, choose) {
  const rows = epochs
    .slice(-EPOCHS_SHOWN)
    .reverse()
    .map((epoch) => epochRow(epoch, epoch.epoch === chosen, choose));
  return element(
    "table",
    { class: "figures epochs" },
    element("caption", {}, "Epochs: train | validation"),
    element("thead", {}, headRow(["Epoch", "loss", "candle", "trend"])),
    element("tbody", {}, ...rows),
  );
}

/**
 * @param {EpochDone} epoch
 * @param {boolean} isChosen
 * @param {(epoch: number) => void} choose
 */
function epochRow(epoch, isChosen, choose) {
  const { train, validation } = epoch;
  /** @type {(of: number | null, by: number | null | undefined, write: (value: number | null | undefined) => string) => HTMLElement} */
  const pair = (of, by, write) =>
    element("td", {}, element("span", { class: "muted" }, write(of)), element("span", { class: "bar" }, " | "), element("span", {}, validation === null ? "none" : write(by)));
  const pick = element(
    "button",
    {
      type: "button",
      class: "link-button",
      "aria-pressed": String(isChosen),
      onclick: () => choose(epoch.epoch),
      title: "Show this epoch in detail",
    },
    `${epoch.epoch}${epoch.best ? " ★" : ""}`,
  );
  return element(
    "tr",
    { class: isChosen ? "chosen" : "", title: epoch.best ? "Best validation loss so far; these weights are kept" : "" },
    element("td", {}, pick),
    pair(train.loss, validation?.loss, loss),
    pair(train.candle_accuracy, validation?.candle_accuracy, (value) => percent(value, 1)),
    pair(train.trend_accuracy, validation?.trend_accuracy, (value) => percent(value, 1)),
  );
}

/**
 * One epoch in detail: the validation figures and the train figures, with the baselines of the same windows.
 * @param {EpochDone} epoch
 * @returns {HTMLElement}
 */
export function epochDetail(epoch) {
  /** @type {[string, import("../model/events.js").SplitFigures | null][]} */
  const splits = [
    ["Validation", epoch.validation],
    ["Train", epoch.train],
  ];
  return element(
    "div",
    { class: "stack" },
    ...splits.map(([title, split]) =>
      split === null
        ? element("p", { class: "muted" }, `${title}: none. The split leaves no ${title.toLowerCase()} window.`)
        : figureTable(
            `${title}, epoch ${epoch.epoch}, n = ${count(split.n)}`,
            headsOf(split).map(headTitle),
            epochRows(split),
          ),
    ),
  );
}

/**
 * The running figures of a live run, candle and trend.
 * @param {import("../model/run.js").RunProgress} progress
 * @returns {HTMLElement}
 */
export function liveTables(progress) {
  const figures = /** @type {FiguresByTarget} */ (progress.scored?.figures ?? {});
  const note = "No unseen candle was scored yet: these figures are of candles that the model had learnt, and measure memory.";
  return element(
    "div",
    { class: "stack" },
    figures.of === "seen" && element("p", { class: "muted" }, note),
    liveTable(figures, "candle"),
    liveTable(figures, "trend"),
  );
}

/**
 * @param {FiguresByTarget} figures
 * @param {"candle" | "trend"} target
 */
function liveTable(figures, target) {
  const { windows, rows } = liveRows(figures, target);
  const title = figures.of === "seen" ? `Seen in training: ${target}` : `Prequential ${target}, unseen candles`;
  return rows.length === 0 ? element("p", { class: "muted" }, `${title}: no score yet.`) : figureTable(title, windows, rows);
}

/**
 * @param {string} caption
 * @param {string[]} columns
 * @param {FigureRow[]} rows
 */
function figureTable(caption, columns, rows) {
  const body = rows.map((row) =>
    element(
      "tr",
      { class: row.kind ?? "" },
      element("th", { scope: "row" }, row.title),
      ...row.cells.map((cell) => element("td", {}, cell)),
    ),
  );
  return element(
    "table",
    { class: "figures" },
    element("caption", {}, caption),
    element("thead", {}, headRow(["", ...columns])),
    element("tbody", {}, ...body),
  );
}

/** @param {string[]} titles */
function headRow(titles) {
  return element("tr", {}, ...titles.map((title) => element("th", { scope: "col" }, title)));
}

/** @param {string} head */
function headTitle(head) {
  return { candle: "Candle", trend: "Trend", range: "Range", label: "Label" }[head] ?? head;
}
