// A series without candles, for a feed to fill: symbol and timeframe are all it needs.

import { offeredTimeframes } from "../model/timeframe.js";
import { button, element, field } from "./element.js";

/** @typedef {import("./context.js").PageContext} PageContext */

/**
 * Make the folded form.
 * @param {PageContext} context
 * @returns {HTMLElement}
 */
export function newSeriesForm(context) {
  const symbol = element("input", { type: "text", id: "new-series-symbol", maxlength: 100, autocomplete: "off", placeholder: "BTC/USDT" });
  const timeframe = element("select", { id: "new-series-timeframe" }, ...offeredTimeframes("1s").map((each) => element("option", { value: each }, each)));
  timeframe.value = "1m";
  const make = async () => {
    try {
      const made = await context.api.post("/api/series", { symbol: symbol.value.trim(), timeframe: timeframe.value });
      symbol.value = "";
      await context.reloadSeries();
      context.openSeries(made.series.id);
      context.toast("The series is empty. Fill it from an exchange: Train, Live training, Candles come from. Or post candles to it.", { tone: "ok" });
    } catch (error) {
      context.toast(/** @type {Error} */ (error).message, { tone: "danger" });
    }
  };
  return element(
    "details",
    {},
    element("summary", {}, "New series for a live feed"),
    element("div", { class: "stack" }, field("Symbol", symbol), field("Timeframe", timeframe), button("Make series", () => void make())),
  );
}
