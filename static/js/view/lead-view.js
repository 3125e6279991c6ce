// The page's chart as the lead of others: whatever is opened, fed or hidden here is so in every pane beside it.

import { ChartView } from "./chart-view.js";

/** @typedef {import("../model/types.js").Series} Series */
/** @typedef {import("../model/types.js").Candle} Candle */

/** A chart that hands on what it is told. */
export class LeadView extends ChartView {
  /** @type {Map<ChartView, () => string>} with the timeframe that each shows */
  #others = new Map();

  /**
   * @param {ChartView} other
   * @param {() => string} timeframe
   * @returns {() => void} lets it go
   */
  lead(other, timeframe) {
    this.#others.set(other, timeframe);
    return () => void this.#others.delete(other);
  }

  /**
   * @override
   * @type {ChartView["open"]}
   */
  open(series, timeframe, view) {
    super.open(series, timeframe, view);
    for (const [other, chosen] of this.#others) other.open(series, chosen());
  }

  /** @override */
  close() {
    super.close();
    this.#each((other) => other.close());
  }

  /** @override */
  forget() {
    super.forget();
    this.#each((other) => other.forget());
  }

  /**
   * @override
   * @param {Series} series
   */
  refresh(series) {
    super.refresh(series);
    this.#each((other) => other.refresh(series));
  }

  /**
   * @override
   * @type {ChartView["showUntil"]}
   */
  showUntil(timeMs, came) {
    super.showUntil(timeMs, came);
    this.#each((other) => other.showUntil(timeMs, came));
  }

  /**
   * @override
   * @param {Candle} candle
   */
  appendClosed(candle) {
    super.appendClosed(candle);
    this.#each((other) => other.appendClosed(candle));
  }

  /**
   * @override
   * @param {Candle} candle
   */
  showForming(candle) {
    super.showForming(candle);
    this.#each((other) => other.showForming(candle));
  }

  /**
   * @override
   * @param {boolean} hidden
   */
  setPricesHidden(hidden) {
    super.setPricesHidden(hidden);
    this.#each((other) => other.setPricesHidden(hidden));
  }

  /** @param {(other: ChartView) => void} tell */
  #each(tell) {
    for (const other of this.#others.keys()) tell(other);
  }
}
