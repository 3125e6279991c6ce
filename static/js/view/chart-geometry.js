// Where times and prices stand on the chart, and how it is: the part of the chart that panels and primitives measure with.

import { createStore } from "../model/store.js";
import { stepMs } from "../model/timeframe.js";
import { CandleChart } from "./candle-chart.js";
import { LAYOUT } from "./chart-options.js";
import { OPENING } from "./chart-state.js";

/** @typedef {import("./candle-chart.js").TimeRange} TimeRange */

/** Maps between time, price and pixels, and tells when the view moves. */
export class ChartGeometry {
  /** @type {Set<(range: TimeRange) => void>} */
  rangeWatchers = new Set();
  /** @type {number | undefined} px at the top of the chart that words stand in */
  headPx;

  state = createStore(OPENING);
  lastFrameMs = 0;

  /** @param {HTMLElement} container */
  constructor(container) {
    this.chart = new CandleChart(container);
  }

  /** @param {Partial<import("./chart-state.js").ChartState>} part */
  change(part) {
    this.state.update((now) => ({ ...now, ...part }));
  }

  /** @param {boolean} hidden leaves prices out of axis and read-out, so that nobody knows the market by them */
  setPricesHidden(hidden) {
    if (hidden === this.state.get().pricesHidden) return;
    this.change({ pricesHidden: hidden });
    this.chart.setPricesHidden(hidden);
  }

  /**
   * Measure how long the window that was just given to the chart takes to be there.
   * @param {number} start when it was given, by `performance.now()`
   * @param {() => void} then
   */
  painted(start, then) {
    requestAnimationFrame(() => {
      then();
      this.lastFrameMs = performance.now() - start;
      requestAnimationFrame(() => performance.mark("chart-painted"));
    });
  }

  get window() {
    return this.chart.window;
  }

  /**
   * @param {(range: TimeRange) => void} watch
   * @returns {() => void}
   */
  onVisibleRange(watch) {
    this.rangeWatchers.add(watch);
    return () => this.rangeWatchers.delete(watch);
  }

  /** Tell every watcher what is in view. */
  tellRange() {
    const visible = this.visible();
    if (visible) for (const watch of this.rangeWatchers) watch(visible);
  }

  /** @returns {TimeRange | null} */
  visible() {
    return this.chart.visible();
  }

  /** How much time as many candles as are in view take without a gap, ms; 0 without any. */
  widthInView() {
    return (this.chart.candlesInView() ?? 0) * stepMs(this.window.level);
  }

  /** How many candles fit in the view at most. */
  mostInView() {
    return this.chart.paneSize().width / LAYOUT.timeScale.minBarSpacing;
  }

  /** @param {number} timeMs */
  timeToX(timeMs) {
    const position = this.window.positionOf(timeMs);
    return this.chart.positionToX(Math.floor(position + 0.5));
  }

  /** @param {number} x */
  xToTime(x) {
    const position = this.chart.xToPosition(x);
    return position === null ? null : this.window.timeAt(position);
  }

  /** @param {number} price */
  priceToY(price) {
    return this.chart.priceToY(price);
  }

  /** @param {number} y */
  yToPrice(y) {
    return this.chart.yToPrice(y);
  }

  candleWidth() {
    return this.chart.candleWidth();
  }

  /** @param {import("./candle-chart.js").Primitive} primitive */
  addPrimitive(primitive) {
    return this.chart.addPrimitive(primitive);
  }

  repaint() {
    this.chart.repaint();
  }

  drawn() {
    return { timeframe: this.window.timeframe, level: this.window.level };
  }
}
