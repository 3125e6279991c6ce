// The chart with its data: opens a series, loads what comes into view, follows live candles, hides the future.

import { CandleWindow } from "../model/candle-window.js";
import { priceDecimals } from "../model/format.js";
import { createStore } from "../model/store.js";
import { closeTime } from "../model/timeframe.js";
import { centredOn, firstView, lastView, MAX_CANDLES, mostCandles, needsLoad, rangeToLoad, seriesBounds, usableView, viewInTimeframe } from "../model/viewport.js";
import { CandleLoader } from "../net/candle-loader.js";
import { ChartGeometry } from "./chart-geometry.js";
import { OPENING } from "./chart-state.js";

/** @typedef {import("../model/types.js").Series} Series */
/** @typedef {import("../model/types.js").Candle} Candle */
/** @typedef {import("./candle-chart.js").TimeRange} TimeRange */

/** @typedef {import("./chart-state.js").ChartState} ChartState */

/** The chart of the page. */
export class ChartView extends ChartGeometry {
  #loader;
  /** @type {Series | null} */
  #series = null;
  #timeframe = "1m";
  /** @type {number | null} */
  #until = null;
  /** @type {(TimeRange & {screen: number}) | null} what the window was asked for, and for how wide a view */
  #loaded = null;
  /** @type {TimeRange | undefined} what to show once it is loaded */
  #wanted;
  #data = CandleWindow.empty("1m");
  #decimals = 2;
  #lastFrameMs = 0;
  /** @type {Candle[]} live candles that came while a window was on its way */
  #late = [];
  #askedToEnd = false;
  #screen = 0;

  /**
   * @param {HTMLElement} container
   * @param {import("../net/api.js").Api} api
   */
  constructor(container, api) {
    super(container);
    this.state = createStore(OPENING);
    this.#loader = new CandleLoader(api, {
      onLoaded: (candles, { range }) => this.#accept(candles, { from: range.from ?? this.bounds()?.from ?? range.to, to: range.to }),
      onError: (error) => this.#change({ error }),
      onBusy: (busy) => this.#change({ busy }),
    });
    this.chart.onRange(() => this.#rangeChanged());
  }

  get decimals() {
    return this.#decimals;
  }

  get timeframe() {
    return this.#timeframe;
  }

  /**
   * Open a series.
   * @param {Series} series
   * @param {string} timeframe
   * @param {TimeRange} [view] what was in view last time
   */
  open(series, timeframe, view) {
    const shown = timeframe === this.#timeframe ? this.chart.candlesInView() : undefined; // the next chart keeps the zoom
    this.#series = series;
    this.#until = null;
    this.#clear(timeframe);
    const bounds = this.bounds();
    if (bounds) this.#show(usableView(view, bounds) ?? firstView(bounds, timeframe, shown));
    else this.#change({ isEmpty: true, busy: false });
  }

  /** Close the series: nothing is drawn. */
  close() {
    this.#series = null;
    this.#clear("1m");
  }

  /** @param {Series} series the open one with new facts, such as more candles */
  refresh(series) {
    const wasEmpty = this.state.get().isEmpty;
    this.#series = series;
    if (wasEmpty) this.open(series, this.#timeframe);
    else this.#loadSoon();
  }

  /** The open series, with the live candles that came since. */
  get series() {
    return this.#series;
  }

  /** Drop every candle that was loaded. */
  forget() {
    this.#clear(this.#timeframe);
  }

  /** Take the chart off the page; nothing it asked for is drawn any more. */
  remove() {
    this.#loader.cancel();
    this.chart.remove();
  }

  /** @param {boolean} hidden leaves prices out of axis and read-out, so that nobody knows the market by them */
  setPricesHidden(hidden) {
    if (hidden === this.state.get().pricesHidden) return;
    this.#change({ pricesHidden: hidden });
    this.chart.setPricesHidden(hidden);
  }

  /** @param {string} timeframe */
  setTimeframe(timeframe) {
    const visible = this.chart.visible();
    const bounds = this.bounds();
    this.#timeframe = timeframe;
    this.#change({ timeframe });
    if (bounds) this.#show(visible ? viewInTimeframe(visible, bounds, timeframe) : firstView(bounds, timeframe));
  }

  /** Ask again for what could not be loaded. */
  retry() {
    const bounds = this.bounds();
    if (bounds) this.#show(this.#wanted ?? this.chart.visible() ?? firstView(bounds, this.#timeframe));
  }

  /** @param {number} timeMs */
  goTo(timeMs) {
    const [bounds, visible] = [this.bounds(), this.chart.visible()];
    if (bounds && visible) this.showRange(centredOn(visible, timeMs));
  }

  /** Bring the newest candles into view. */
  goToEnd() {
    const [bounds, visible] = [this.bounds(), this.chart.visible()];
    if (bounds && visible) this.showRange(lastView(bounds, this.#timeframe, visible.to - visible.from));
  }

  /** @param {TimeRange} range */
  showRange(range) {
    const loaded = this.#loaded;
    const isNear = loaded && !this.#wanted && range.from < loaded.to && range.to > loaded.from;
    if (!isNear) return this.#show(range);
    this.chart.setVisible(range); // what is missing of it is asked for as after any other move of the view
  }

  /** @param {number | null} timeMs */
  showUntil(timeMs) {
    this.#until = timeMs;
    const bounds = this.bounds();
    if (!bounds) return this.#change({ isEmpty: true, until: timeMs });
    const visible = this.chart.visible() ?? firstView(bounds, this.#timeframe);
    const width = visible.to - visible.from;
    const shown = visible.from < bounds.to ? visible : { from: bounds.to - width * 0.9, to: bounds.to + width * 0.1 };
    this.#change({ isEmpty: false, until: timeMs });
    if (timeMs !== null && this.#data.length) this.#draw(this.#data.closedBy(timeMs), shown);
    this.#show(shown);
  }

  /** @param {Candle} candle */
  appendClosed(candle) {
    if (!this.#series) return;
    const reachedEnd = this.#reachesEnd();
    const closes = closeTime(candle.time, this.#series.timeframe);
    if (this.#until !== null) this.#change({ until: (this.#until = Math.max(this.#until, closes)) });
    const { first, last } = this.#series;
    this.#series = { ...this.#series, first: first ?? candle.time, last: Math.max(last ?? candle.time, candle.time) };
    if (this.state.get().busy) this.#late.push(candle);
    if (reachedEnd) this.#append(candle);
    if (reachedEnd && this.chart.showsLast()) this.#drawLast();
    else this.#change({ unseen: this.state.get().unseen + 1 });
  }

  /** @param {Candle} candle that still changes: drawn after the newest one, held nowhere */
  showForming(candle) {
    const isNext = this.#until === null && candle.time >= (this.#loaded?.to ?? Infinity) && this.#reachesEnd();
    if (isNext && this.chart.showsLast()) this.chart.updateLast(this.#data.withAppended(candle, this.#series?.timeframe ?? ""));
  }

  get lastFrameMs() {
    return this.#lastFrameMs;
  }

  /** The time that may be shown; null without candles. */
  bounds() {
    return this.#series && seriesBounds(this.#series, this.#until);
  }

  /** Whether the window was loaded up to the newest candle that may be seen. */
  #reachesEnd() {
    const bounds = this.bounds();
    return Boolean(bounds && this.#loaded && this.#loaded.to >= bounds.to);
  }

  /** @param {string} timeframe */
  #clear(timeframe) {
    this.#loader.cancel();
    this.#timeframe = timeframe;
    this.#loaded = null;
    this.#wanted = undefined;
    this.#draw(CandleWindow.empty(timeframe));
    this.#change({ timeframe, level: timeframe, error: null, unseen: 0, isEmpty: false, until: null });
  }

  /** @param {TimeRange} range */
  #show(range) {
    this.#wanted = range;
    const request = this.#requestFor(range);
    if (request) void this.#loader.now(request);
  }

  #loadSoon() {
    this.#loader.soon(() => this.#missing());
  }

  /** What is missing of the view, if anything. */
  #missing() {
    const [visible, bounds] = [this.chart.visible(), this.bounds()];
    if (!visible || !bounds || !this.#loaded) return null;
    const drawn = { isCoarser: this.window.level !== this.#timeframe, candlePx: this.candleWidth() };
    return needsLoad(visible, this.#loaded, bounds, drawn) ? this.#requestFor(visible) : null;
  }

  /** @param {TimeRange} visible */
  #requestFor(visible) {
    const bounds = this.bounds();
    if (!this.#series || !bounds) return null;
    const range = rangeToLoad(visible, bounds);
    this.#askedToEnd = range.to === bounds.to;
    this.#late = [];
    this.#screen = visible.to - visible.from;
    const most = mostCandles(range, visible, this.chart.paneSize().width);
    // A coarser candle may open before the series does: at the start the call leaves `from` out, so as not to lose it.
    const from = range.from === bounds.from ? null : range.from;
    const { id: seriesId, timeframe: source } = this.#series;
    return { seriesId, source, timeframe: this.#timeframe, range: { from, to: range.to }, most, until: this.#until };
  }

  /**
   * @param {CandleWindow} candles
   * @param {TimeRange} range
   */
  #accept(candles, range) {
    const wanted = this.#wanted;
    this.#wanted = undefined;
    this.#loaded = { ...range, screen: this.#screen };
    this.#data = candles;
    const late = this.#late.splice(0);
    if (this.#askedToEnd) for (const candle of late) this.#append(candle);
    const start = performance.now();
    this.#draw(this.#data, wanted);
    this.#change({ error: null, level: candles.level, unseen: 0, isEmpty: candles.length === 0 });
    requestAnimationFrame(() => {
      this.#lastFrameMs = performance.now() - start;
      requestAnimationFrame(() => performance.mark("chart-painted"));
    });
  }

  /** @param {Candle} candle */
  #append(candle) {
    if (!this.#loaded || !this.#series || candle.time < this.#loaded.to) return;
    this.#loaded = { ...this.#loaded, to: closeTime(candle.time, this.#series.timeframe) };
    this.#data = this.#data.withAppended(candle, this.#series.timeframe);
  }

  /**
   * @param {CandleWindow} candles
   * @param {TimeRange} [range]
   */
  #draw(candles, range) {
    this.#data = candles;
    this.#decimals = this.#series?.precision ?? priceDecimals(candles.columns.close);
    this.chart.setWindow(candles, { decimals: this.#decimals, atEnd: this.#reachesEnd(), range });
  }

  #drawLast() {
    const behind = this.#data.length - this.window.length;
    if (behind > 1 || this.#data.length > MAX_CANDLES) this.#draw(this.#data.latest(MAX_CANDLES * 0.75));
    else this.chart.updateLast(this.#data);
    this.tellRange(); // the last candle is another one now, though the view may not have moved
  }

  #rangeChanged() {
    const visible = this.chart.visible();
    if (!visible) return;
    if (this.state.get().unseen && this.#reachesEnd() && this.chart.showsLast()) {
      this.#draw(this.#data);
      this.#change({ unseen: 0 });
    }
    this.#loadSoon();
    this.tellRange();
  }

  /** @param {Partial<ChartState>} part */
  #change(part) {
    this.state.update((now) => ({ ...now, ...part }));
  }
}
