// Make a dataset with a preview of what it holds, or change what an old one is called.

import { factRows, splitShares } from "../model/dataset.js";
import { element, field, fill } from "./element.js";

/** @typedef {import("./context.js").PageContext} PageContext */
/** @typedef {import("../model/types.js").Series} Series */
/** @typedef {import("./dataset-section.js").Dataset} Dataset */

const PREVIEW_MS = 300;

/**
 * Ask for split, horizon and note, and show what they give before anything is stored.
 * @param {PageContext} context
 * @param {Series} series
 * @param {(recipe: Record<string, unknown>) => Promise<unknown>} make
 */
export function makeDataset(context, series, make) {
  const split = element("input", { type: "text", value: "70/15/15", autocomplete: "off" });
  const horizon = element("input", { type: "number", value: 5, min: 1, max: 1000 });
  const hindsight = element("input", { type: "checkbox", id: "without-hindsight" });
  const note = element("textarea", { rows: 2, maxlength: 10_000 });
  const shown = element("div", { class: "stack", role: "status" });
  const recipe = () => ({ split: splitShares(split.value) ?? split.value, horizon: Number(horizon.value), without_hindsight: hindsight.checked });
  const preview = () => void showPreview(context, series, recipe(), shown);
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let waiting;
  for (const control of [split, horizon, hindsight])
    control.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(preview, PREVIEW_MS);
    });
  preview();
  context.dialog.open({
    title: `New dataset of ${series.symbol} ${series.timeframe}`,
    wide: true,
    body: [
      field("Split", split, "Shares of train, validation and test, in order of time."),
      field("Horizon", horizon, "Candles that the longest target looks ahead; so many are left out at each border."),
      element("label", { class: "row", for: hindsight.id }, hindsight, "Leave out marks made in hindsight"),
      field("Note", note),
      shown,
    ],
    actions: [{ text: "Make dataset", tone: "primary", run: () => made(context, () => make({ ...recipe(), note: note.value })) }],
  });
}

/**
 * Change name and note.
 * @param {PageContext} context
 * @param {Dataset} dataset
 * @param {() => Promise<void>} reread
 */
export function editDataset(context, dataset, reread) {
  const name = element("input", { type: "text", value: dataset.name, maxlength: 200, autocomplete: "off" });
  const note = element("textarea", { rows: 3, maxlength: 10_000, value: dataset.note });
  const save = async () => {
    await context.api.patch(`/api/datasets/${dataset.id}`, { name: name.value, note: note.value });
    await reread();
  };
  context.dialog.open({
    title: `Edit ${dataset.name}`,
    body: [field("Name", name), field("Note", note)],
    actions: [{ text: "Save", tone: "primary", run: () => made(context, save) }],
  });
}

/**
 * @param {PageContext} context
 * @param {Series} series
 * @param {Record<string, unknown>} recipe
 * @param {HTMLElement} shown
 */
async function showPreview(context, series, recipe, shown) {
  try {
    const { facts, warnings } = await context.api.post("/api/datasets/preview", { series_id: series.id, ...recipe });
    const rows = factRows(facts).flatMap(([title, text]) => [element("dt", {}, title), element("dd", {}, text)]);
    const list = warnings.map((/** @type {string} */ line) => element("li", {}, line));
    fill(shown, element("dl", { class: "facts" }, ...rows), list.length > 0 && element("ul", { "aria-label": "Warnings" }, ...list));
  } catch (error) {
    fill(shown, element("p", { class: "card danger", role: "alert" }, /** @type {Error} */ (error).message));
  }
}

/**
 * @param {PageContext} context
 * @param {() => Promise<unknown>} call
 * @returns {Promise<boolean>} false keeps the dialog open
 */
async function made(context, call) {
  try {
    await call();
    return true;
  } catch (error) {
    context.toast(/** @type {Error} */ (error).message, { tone: "danger" });
    return false;
  }
}
