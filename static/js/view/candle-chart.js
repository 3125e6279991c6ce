// The candle chart: the only module that knows lightweight-charts.

import {
  CandlestickSeries,
  createChartEx,
  defaultHorzScaleBehavior,
  HistogramSeries,
  LineSeries,
  PriceScaleMode,
  TickMarkType,
} from "../../vendor/lightweight-charts.standalone.production.mjs";
import { CandleWindow } from "../model/candle-window.js";
import { formatPrice, formatTick, formatTime } from "../model/format.js";
import { stepMs } from "../model/timeframe.js";
import { Zone } from "../model/zone.js";
import { ChartLines } from "./chart-lines.js";
import { candlePoint, colourOptions, LAYOUT, seconds, zonedBehaviour } from "./chart-options.js";
import { chartColours } from "./colours.js";
import { Crosshair } from "./crosshair.js";
import { VolumePane } from "./volume-pane.js";

/** @typedef {import("../../vendor/lightweight-charts.standalone.production.mjs").ISeriesPrimitive} Primitive */
/** @typedef {{from: number, to: number}} TimeRange ms UTC */

const DAY_MS = 86_400_000;
const FEW = 40;
const SCALES = { normal: PriceScaleMode.Normal, log: PriceScaleMode.Logarithmic, percent: PriceScaleMode.Percentage };
const TICK_KINDS = {
  [TickMarkType.Year]: /** @type {const} */ ("year"),
  [TickMarkType.Month]: /** @type {const} */ ("month"),
  [TickMarkType.DayOfMonth]: /** @type {const} */ ("day"),
  [TickMarkType.Time]: /** @type {const} */ ("minute"),
  [TickMarkType.TimeWithSeconds]: /** @type {const} */ ("second"),
};

/** Draws one window of candles; times are ms UTC, positions count candles as in `CandleWindow`. */
export class CandleChart {
  #chart;
  #candles;
  #volume;
  #zone = new Zone("UTC");
  #decimals = 2;
  #window = CandleWindow.empty("1m");
  /** @type {TimeRange | null} what was set; the library applies it in its next frame and answers with the old one until then */
  #awaited = null;

  /** @param {HTMLElement} container */
  constructor(container) {
    const local = (/** @type {number} */ time) => (this.#isDaily() ? time : this.#zone.local(time));
    /** @type {ReturnType<typeof defaultHorzScaleBehavior>} */
    const behaviour = zonedBehaviour(defaultHorzScaleBehavior(), local);
    this.#chart = createChartEx(container, new behaviour(), LAYOUT);
    /** Lines over the candles and in panes below. */
    this.lines = new ChartLines(/** @type {any} */ (this.#chart), { line: LineSeries, columns: HistogramSeries });
    this.#volume = new VolumePane(this.lines);
    this.#setFormatters();
    this.#candles = this.#chart.addSeries(CandlestickSeries, { borderVisible: false });
    this.crosshair = new Crosshair(/** @type {any} */ (this.#chart), this.#candles, this);
    this.recolour();
  }

  get window() {
    return this.#window;
  }

  get decimals() {
    return this.#decimals;
  }

  /** Take the colours from the style sheet again, after the theme changed. */
  recolour() {
    const colours = chartColours();
    this.#chart.applyOptions(colourOptions(colours));
    const { up, down } = colours;
    this.#candles.applyOptions({ upColor: up, downColor: down, wickUpColor: up, wickDownColor: down });
    this.#volume.draw(this.#window);
  }

  /**
   * Show a window; with `range` that time range, else what was in view.
   * @param {CandleWindow} candles
   * @param {{decimals: number, atEnd: boolean, range?: TimeRange}} options `atEnd`: the window holds the newest candle
   */
  setWindow(candles, { decimals, atEnd, range }) {
    const kept = range ?? this.visible();
    this.#awaited = kept;
    this.#window = candles;
    this.#decimals = decimals;
    this.#candles.applyOptions({
      lastValueVisible: atEnd,
      priceLineVisible: atEnd,
      priceFormat: { type: "price", precision: decimals, minMove: 10 ** -decimals },
    });
    // Between the two the library has volumes of candles that are gone; a crosshair on one of them would make it throw.
    const putBack = this.crosshair.lift();
    this.#candles.setData(Array.from({ length: candles.length }, (_, index) => candlePoint(candles, index)));
    this.#volume.draw(candles);
    if (kept && candles.length) this.setVisible(kept);
    else this.#awaited = null;
    requestAnimationFrame(putBack); // the library has measured the new candles by then
  }

  /**
   * Draw the window's new last candle, which opens or changes it; only while the right edge is in view.
   * @param {CandleWindow} candles
   */
  updateLast(candles) {
    if (lastTime(candles) < lastTime(this.#window)) {
      // A forming candle is shown, and one before it came late: the library takes no older candle by itself.
      return this.setWindow(candles, { decimals: this.#decimals, atEnd: true });
    }
    this.#window = candles;
    const index = candles.length - 1;
    this.#candles.update(candlePoint(candles, index));
    this.#volume.update(candles);
  }

  /** @returns {TimeRange | null} the times at the left and right edge; null without candles */
  visible() {
    if (this.#awaited) return this.#awaited;
    const range = this.#chart.timeScale().getVisibleLogicalRange();
    if (!range || !this.#window.length) return null;
    return { from: this.#window.timeAt(range.from - 0.5), to: this.#window.timeAt(range.to + 0.5) };
  }

  /** How many candles fit in the view; undefined without any. */
  candlesInView() {
    const range = this.visible();
    return range ? this.#window.positionOf(range.to) - this.#window.positionOf(range.from) : undefined;
  }

  /** How many candles fit in the view, and how many of the window are left and right of it. */
  candlesAround() {
    const range = this.#chart.timeScale().getVisibleLogicalRange() ?? { from: 0, to: -1 };
    return { before: Math.max(0, range.from), shown: range.to - range.from + 1, after: Math.max(0, this.#window.length - 1 - range.to) };
  }

  /** @param {TimeRange} range */
  setVisible(range) {
    const [left, right] = [this.#window.positionOf(range.from) + 0.5, this.#window.positionOf(range.to) - 0.5];
    if (!Number.isFinite(right - left)) return;
    // A range inside of a gap holds no candle: those on both sides of it are shown.
    const room = right > left ? 0 : (this.candlesInView() ?? FEW) / 2;
    this.#chart.timeScale().setVisibleLogicalRange({ from: left - room, to: right + room });
    this.#awaited = range;
    requestAnimationFrame(() => {
      if (this.#awaited === range) this.#awaited = null;
    });
  }

  /** Whether the last candle is in view, so that new ones may be drawn at once. */
  showsLast() {
    const range = this.#chart.timeScale().getVisibleLogicalRange();
    return Boolean(range && range.to >= this.#window.length - 1);
  }

  /** @param {number} index */
  timeOf(index) {
    return seconds(this.#window, index);
  }

  /**
   * x of a position; positions outside of the candles go on at the same distance.
   * @param {number} position
   * @returns {number | null}
   */
  positionToX(position) {
    const first = this.#coordinate(0);
    return first === null ? null : first + position * this.candleWidth();
  }

  /**
   * @param {number} x
   * @returns {number | null}
   */
  xToPosition(x) {
    const first = this.#coordinate(0);
    return first === null ? null : (x - first) / this.candleWidth();
  }

  candleWidth() {
    return this.#chart.timeScale().options().barSpacing;
  }

  /**
   * @param {number} price
   * @returns {number | null}
   */
  priceToY(price) {
    return this.#window.length ? this.#candles.priceToCoordinate(price) : null;
  }

  /**
   * @param {number} y
   * @returns {number | null} rounded to the instrument's decimals
   */
  yToPrice(y) {
    const price = this.#window.length ? this.#candles.coordinateToPrice(y) : null;
    return price === null ? null : Number(formatPrice(price, this.#decimals));
  }

  /** Size of the pane that holds the candles, px. */
  paneSize() {
    return { width: this.#chart.timeScale().width(), height: this.#chart.panes()[0].getHeight() };
  }

  /** @param {keyof typeof SCALES} scale */
  setScale(scale) {
    this.#candles.priceScale().applyOptions({ mode: SCALES[scale] });
  }

  /** @param {boolean} hidden */
  setPricesHidden(hidden) {
    // The axes of all panes at once: with one shown and another still missing the library throws.
    this.#chart.applyOptions({ rightPriceScale: { visible: !hidden }, crosshair: { horzLine: { labelVisible: !hidden } } });
  }

  /** @param {Zone} zone */
  setZone(zone) {
    this.#zone = zone;
    const range = this.visible();
    this.#setFormatters();
    this.#candles.setData(Array.from({ length: this.#window.length }, (_, index) => candlePoint(this.#window, index)));
    if (range) this.setVisible(range);
  }

  /**
   * Scroll by candles, to newer ones for positive counts.
   * @param {number} count
   */
  scrollBy(count) {
    const scale = this.#chart.timeScale();
    scale.scrollToPosition(scale.scrollPosition() + count, false);
  }

  /** @param {() => void} watch */
  onRange(watch) {
    this.#chart.timeScale().subscribeVisibleLogicalRangeChange(watch);
  }

  /**
   * @param {Primitive} primitive
   * @returns {() => void} takes it off again
   */
  addPrimitive(primitive) {
    const plain = /** @type {any} */ (primitive);
    this.#candles.attachPrimitive(plain);
    return () => this.#candles.detachPrimitive(plain);
  }

  /** Take the chart off the page. */
  remove() {
    this.#chart.remove();
  }

  /** Ask for one frame. */
  repaint() {
    this.#candles.applyOptions({});
  }

  #setFormatters() {
    /** @type {(time: any, type: TickMarkType) => string} */
    const tickMarkFormatter = (time, type) => formatTick(Number(time) * 1000, TICK_KINDS[type], this.#zone, this.#window.level);
    /** @type {(time: any) => string} */
    const timeFormatter = (time) => formatTime(Number(time) * 1000, this.#zone, this.#window.level);
    this.#chart.applyOptions(/** @type {any} */ ({ timeScale: { tickMarkFormatter }, localization: { timeFormatter } }));
  }

  #isDaily() {
    return stepMs(this.#window.level) >= DAY_MS;
  }

  /** @param {number} index */
  #coordinate(index) {
    const logical = /** @type {import("../../vendor/lightweight-charts.standalone.production.mjs").Logical} */ (index);
    return this.#window.length ? this.#chart.timeScale().logicalToCoordinate(logical) : null;
  }
}

/** @param {CandleWindow} candles */
function lastTime(candles) {
  return candles.length ? candles.columns.time[candles.length - 1] : -Infinity;
}
