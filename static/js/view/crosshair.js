// The crosshair of one chart: led by the mouse or put by keys; a mouse that rests keeps it when other candles come under it.

/** @typedef {import("../../vendor/lightweight-charts.standalone.production.mjs").IChartApiBase<any>} Chart */
/** @typedef {import("../../vendor/lightweight-charts.standalone.production.mjs").ISeriesApi<"Candlestick", any>} Candles */
/** @typedef {{index: number, position: number, price: number | null}} Pointed what the crosshair is on */

/**
 * @typedef {object} Measure where candles and prices stand
 * @property {import("../model/candle-window.js").CandleWindow} window
 * @property {(index: number) => any} timeOf in the library's terms
 * @property {(x: number) => number | null} xToPosition
 * @property {(y: number) => number | null} yToPrice
 */

/** Tells what is pointed at, and puts the crosshair on a candle. */
export class Crosshair {
  #chart;
  #candles;
  #measure;
  /** @type {Set<(pointed: Pointed | null) => void>} */
  #watchers = new Set();
  /** @type {{x: number, y: number} | null} where the mouse is over the candles */
  #mouse = null;
  #lifts = 0;
  #isLifted = false;

  /**
   * @param {Chart} chart
   * @param {Candles} candles
   * @param {Measure} measure
   */
  constructor(chart, candles, measure) {
    this.#chart = chart;
    this.#candles = candles;
    this.#measure = measure;
    chart.subscribeCrosshairMove((at) => {
      // Without a mouse event the library tells what came under a mouse that rests, or what was put.
      if (at.sourceEvent) this.#mouse = (!at.paneIndex && at.point) || null;
      else if (!at.point && !this.#isLifted) this.#mouse = null;
      if (!this.#isLifted) this.#tell(at);
    });
  }

  /** @param {(pointed: Pointed | null) => void} watch */
  watch(watch) {
    this.#watchers.add(watch);
  }

  /**
   * Put it on a candle, for the keyboard.
   * @param {number} index
   * @param {number} price
   */
  put(index, price) {
    this.#isLifted = false;
    this.#mouse = null;
    if (this.#measure.window.length) this.#chart.setCrosshairPosition(price, this.#measure.timeOf(index), this.#candles);
  }

  /** Take it off. */
  clear() {
    this.#chart.clearCrosshairPosition();
  }

  /**
   * Take it off while the candles change: until they are measured the library tells of them by the places of the old ones.
   * @returns {() => void} puts it on the candle that is under the mouse by then
   */
  lift() {
    const mouse = this.#mouse;
    this.clear();
    this.#mouse = mouse;
    this.#isLifted = true;
    const lift = (this.#lifts += 1);
    return () => {
      if (lift === this.#lifts && this.#isLifted) this.#putBack();
    };
  }

  #putBack() {
    this.#isLifted = false;
    const mouse = this.#mouse;
    const [position, price] = mouse ? [this.#measure.xToPosition(mouse.x), this.#measure.yToPrice(mouse.y)] : [null, null];
    const index = position === null ? -1 : Math.round(position);
    if (price === null || index < 0 || index >= this.#measure.window.length) this.clear();
    else this.put(index, price);
    this.#mouse = mouse;
  }

  /** @param {{logical?: unknown, point?: {x: number, y: number}, paneIndex?: number}} at */
  #tell({ logical, point, paneIndex }) {
    const position = point ? this.#measure.xToPosition(point.x) : null;
    const isOn = point && position !== null && logical !== undefined;
    const pointed = isOn ? { index: Number(logical), position, price: paneIndex ? null : this.#measure.yToPrice(point.y) } : null;
    for (const watch of this.#watchers) watch(pointed);
  }
}
