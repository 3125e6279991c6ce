// The list of series: open, rename, delete (asked first, undone within the minute).

import { button, element, field } from "./element.js";
import { showReport } from "./report-dialog.js";

/** @typedef {import("./context.js").PageContext} PageContext */
/** @typedef {import("../model/types.js").Series} Series */

const UNDO_MS = 60_000;

/**
 * @param {PageContext} context
 * @param {Series} series
 * @param {boolean} isOpen
 * @returns {HTMLElement}
 */
export function seriesRow(context, series, isOpen) {
  const name = `${series.symbol} ${series.timeframe}`;
  const origin = [`${series.candles.toLocaleString("en-US")} candles`, series.simulated ? "simulated" : series.source].join(
    " · ",
  );
  const range = [series.first, series.last]
    .map((time) => (time === null ? "" : new Date(time).toISOString().slice(0, 10)))
    .join(" – ");
  return element(
    "li",
    { class: `data-row ${isOpen ? "chosen" : ""}` },
    element(
      "button",
      {
        type: "button",
        class: "link-button clip",
        "aria-current": isOpen ? "true" : null,
        onclick: () => context.openSeries(series.id),
        title: `Show ${name} on the chart`,
      },
      name,
    ),
    element("small", { class: "muted" }, element("span", {}, origin), element("span", {}, range)),
    element(
      "span",
      { class: "row actions" },
      series.source === "upload" &&
        button("Report", () => void report(context, series), { class: "quiet small", "aria-label": `Import report of ${name}` }),
      button("Rename", () => rename(context, series), { class: "quiet small", "aria-label": `Rename ${name}` }),
      button("Delete", () => void remove(context, series), { class: "quiet small", "aria-label": `Delete ${name}` }),
    ),
  );
}

/**
 * @param {PageContext} context
 * @param {Series} series
 */
async function report(context, series) {
  try {
    const answer = await context.api.get(`/api/series/${series.id}/report`);
    showReport(context.dialog, `Import of ${series.symbol} ${series.timeframe}`, { ...answer.report, sha256: answer.sha256 });
  } catch (error) {
    context.toast(/** @type {Error} */ (error).message, { tone: "danger" });
  }
}

/**
 * @param {PageContext} context
 * @param {Series} series
 */
function rename(context, series) {
  const input = element("input", { type: "text", value: series.symbol, maxlength: 100, autocomplete: "off" });
  context.dialog.open({
    title: `Rename ${series.symbol}`,
    body: [field("Symbol", input)],
    actions: [
      {
        text: "Rename",
        tone: "primary",
        run: () => attempt(context, () => context.api.patch(`/api/series/${series.id}`, { symbol: input.value.trim() })),
      },
    ],
  });
}

/**
 * @param {PageContext} context
 * @param {Series} series
 */
async function remove(context, series) {
  const name = `${series.symbol} ${series.timeframe}`;
  const text = `${name} with its ${series.candles.toLocaleString("en-US")} candles, annotations and runs will be deleted. You can undo this for a minute.`;
  if (!(await context.dialog.confirm(`Delete ${name}`, text, "Delete"))) return;
  if (!(await attempt(context, () => context.api.delete(`/api/series/${series.id}`)))) return;
  const undo = () => void attempt(context, () => context.api.post(`/api/series/${series.id}/restore`));
  context.toast(`${name} is deleted.`, { action: "Undo", onAction: undo, shownMs: UNDO_MS });
}

/**
 * Ask the server, then read the list again; say what went wrong.
 * @param {PageContext} context
 * @param {() => Promise<unknown>} call
 * @returns {Promise<boolean>} whether it was done
 */
async function attempt(context, call) {
  try {
    await call();
    await context.reloadSeries();
    return true;
  } catch (error) {
    context.toast(/** @type {Error} */ (error).message, { tone: "danger" });
    return false;
  }
}
