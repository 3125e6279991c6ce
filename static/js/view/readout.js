// The line over the chart: what the candle under the crosshair holds, and what is drawn.

import { formatChange, formatPrice, formatTime, formatVolume } from "../model/format.js";
import { timeframeWords } from "../model/timeframe.js";
import { Zone } from "../model/zone.js";
import { element, fill } from "./element.js";

/** @typedef {import("../model/types.js").SeriesState} SeriesState */
/** @typedef {import("../model/settings.js").Settings} Settings */

const LEAST_HEAD_PX = 44; // two lines: one more or less does not move what stands below
const GAP_PX = 2;

/**
 * Show the read-out over the chart.
 * @param {HTMLElement} root
 * @param {object} parts
 * @param {import("./chart-view.js").ChartView} parts.view
 * @param {import("../model/store.js").Store<SeriesState>} parts.series
 * @param {import("../model/store.js").Store<Settings>} parts.settings
 */
export function mountReadout(root, { view, series, settings }) {
  const line = element("div", { class: "readout", "data-part": "readout" });
  root.append(line);
  let zone = new Zone(settings.get().zone);
  /** @type {number | null} index of the candle under the crosshair; null: the last one */
  let pointed = null;
  let asked = false;
  let said = "";

  const draw = () => {
    asked = false;
    const { current } = series.get();
    const candles = view.window;
    const index = pointed !== null && pointed >= 0 && pointed < candles.length ? pointed : candles.length - 1;
    const shown = [current?.id, pointed === null, view.series?.last, index >= 0 && candles.columns.time[index], index >= 0 && candles.columns.close[index], index >= 0 && candles.columns.volume[index], zone.name, JSON.stringify(view.state.get())].join();
    if (shown === said) return; // most frames of a moved view change nothing here
    said = shown;
    fill(line, ...(current ? headOf(current, view) : []), ...(index >= 0 ? [pointed === null && standing(view, index), ...valuesOf(view, index, zone)] : []));
  };
  const soon = () => {
    if (!asked) requestAnimationFrame(draw);
    asked = true;
  };
  view.chart.crosshair.watch((at) => {
    pointed = at?.index ?? null;
    soon();
  });
  view.state.subscribe(soon);
  view.onVisibleRange(soon);
  series.subscribe(soon);
  settings.subscribe((now) => {
    zone = new Zone(now.zone);
    soon();
  });
  // It takes more lines on a narrow screen: what else stands at the top goes below it.
  new ResizeObserver(() => {
    view.headPx = Math.max(LEAST_HEAD_PX, line.offsetTop + line.offsetHeight + GAP_PX);
    root.style.setProperty("--head", `${view.headPx}px`);
    view.repaint();
  }).observe(line);
  draw();
}

/**
 * @param {import("../model/types.js").Series} current
 * @param {import("./chart-view.js").ChartView} view
 */
function headOf(current, view) {
  const { timeframe, level } = view.state.get();
  return [
    element("b", { class: "clip" }, current.symbol),
    element("span", {}, timeframe),
    current.simulated && element("span", { class: "badge warning", title: "Made by the simulator; not a market" }, "simulated"),
    level !== timeframe && element("span", { class: "badge", "data-part": "level" }, `drawn as ${timeframeWords(level)} candles`),
  ];
}

/**
 * What the newest candle is, while nothing is pointed at: clocks of market, server and browser are told apart by it.
 * @param {import("./chart-view.js").ChartView} view
 * @param {number} index
 */
function standing(view, index) {
  const [end, last] = [view.window.closeOf(index), view.series?.last ?? null];
  if (last === null || end <= last || view.state.get().until !== null) return null;
  const isForming = view.window.columns.time[index] > last;
  return element("span", { class: "muted" }, isForming ? "forming" : "last closed");
}

/**
 * @param {import("./chart-view.js").ChartView} view
 * @param {number} index
 * @param {Zone} zone
 */
function valuesOf(view, index, zone) {
  const candle = view.window.candle(index);
  const before = index > 0 ? view.window.candle(index - 1).close : candle.open;
  const tone = candle.close >= before ? "up" : "down";
  const prices = /** @type {const} */ ([["O", candle.open], ["H", candle.high], ["L", candle.low], ["C", candle.close]]);
  return [
    element("span", { class: "muted" }, formatTime(candle.time, zone, view.window.level)),
    ...(view.state.get().pricesHidden ? [] : prices).map(([name, price]) => element("span", {}, element("span", { class: "muted" }, `${name} `), formatPrice(price, view.decimals))),
    element("span", { class: tone }, formatChange(before, candle.close)),
    view.window.partial.includes(candle.time) && element("span", { class: "badge", title: "The series covers only a part of this candle" }, "partial"),
    candle.volume !== null && element("span", {}, element("span", { class: "muted" }, "V "), formatVolume(candle.volume)),
  ];
}
