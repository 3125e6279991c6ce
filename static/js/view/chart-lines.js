// Lines and columns over the candles or in panes of their own: volume, indicators. The chart library's parts are handed in.

import { seconds } from "./chart-options.js";

/** @typedef {import("../model/candle-window.js").CandleWindow} CandleWindow */
/** @typedef {import("../../vendor/lightweight-charts.standalone.production.mjs").IChartApiBase<any>} Chart */
/** @typedef {import("../../vendor/lightweight-charts.standalone.production.mjs").IPaneApi<any>} Pane */

/**
 * @typedef {object} LineLook
 * @property {"line" | "columns"} shape
 * @property {string} colour
 * @property {string} [title] beside the last value on the axis
 * @property {(value: number) => string} [format] of its axis; the prices' own without it
 * @property {number} [share] of the price pane's height, for a pane of its own
 */

/**
 * @typedef {object} Line
 * @property {(window: CandleWindow, values: ArrayLike<number>, colourOf?: (index: number) => string) => void} draw one value a candle; NaN leaves a gap
 * @property {(window: CandleWindow, value: number, colour?: string) => void} update the last candle's value
 * @property {(look: Partial<LineLook>) => void} restyle
 * @property {() => void} remove
 */

const PRICE_SHARE = 10; // stretch factor of the candles' pane

/** Adds lines to one chart. */
export class ChartLines {
  #chart;
  #types;
  /** @type {Map<string, Pane>} panes of their own, by name */
  #panes = new Map();
  /** @type {Map<string, number>} lines in each */
  #counts = new Map();

  /**
   * @param {Chart} chart
   * @param {{line: any, columns: any}} types the library's definitions of series
   */
  constructor(chart, types) {
    this.#chart = chart;
    this.#types = types;
  }

  /**
   * @param {LineLook} look
   * @param {string | null} pane name of a pane of its own, shared by the lines of that name; null: over the candles
   * @returns {Line}
   */
  add(look, pane) {
    const home = pane === null ? this.#chart.panes()[0] : this.#paneOf(pane, look.share ?? 0.25);
    const series = home.addSeries(this.#types[look.shape], optionsOf(look));
    if (look.shape === "columns") series.priceScale().applyOptions({ scaleMargins: { top: 0.1, bottom: 0 } });
    return {
      draw: (window, values, colourOf) => series.setData(Array.from({ length: window.length }, (_, index) => pointOf(window, index, values[index], colourOf?.(index)))),
      update: (window, value, colour) => series.update(pointOf(window, window.length - 1, value, colour)),
      restyle: (changed) => series.applyOptions(optionsOf({ ...look, ...changed })),
      remove: () => {
        this.#chart.removeSeries(series);
        if (pane !== null) this.#leave(pane);
      },
    };
  }

  /**
   * @param {string} name
   * @param {number} share
   */
  #paneOf(name, share) {
    const known = this.#panes.get(name);
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
    if (known) return known;
    const made = this.#chart.addPane(true);
    this.#chart.panes()[0].setStretchFactor(PRICE_SHARE);
    made.setStretchFactor(PRICE_SHARE * share);
    this.#panes.set(name, made);
    return made;
  }

  /** @param {string} name */
  #leave(name) {
    const left = (this.#counts.get(name) ?? 1) - 1;
    this.#counts.set(name, left);
    const pane = this.#panes.get(name);
    if (left > 0 || !pane) return;
    this.#chart.removePane(pane.paneIndex());
    this.#panes.delete(name);
  }
}

/**
 * @param {CandleWindow} window
 * @param {number} index
 * @param {number} value
 * @param {string} [color]
 */
function pointOf(window, index, value, color) {
  const time = seconds(window, index);
  if (value === undefined || Number.isNaN(value)) return { time };
  return color ? { time, value, color } : { time, value };
}

/**
 * @param {LineLook} look
 * @returns {any} options of either type of series
 */
function optionsOf({ colour, title = "", format }) {
  const priceFormat = format ? { priceFormat: { type: "custom", minMove: 1e-8, formatter: format } } : {};
  return { ...priceFormat, color: colour, lineWidth: 1, title, lastValueVisible: false, priceLineVisible: false, crosshairMarkerVisible: false };
}
