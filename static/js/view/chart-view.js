// The chart with its data: opens a series, loads what comes into view, follows live candles, hides the future.

import { CandleWindow } from "../model/candle-window.js";
import { priceDecimals } from "../model/format.js";
import { closeTime, stepMs } from "../model/timeframe.js";
import { candleRequest, centredOn, firstView, lastView, MAX_CANDLES, needsLoad, newerCandles, rangeLoaded, seriesBounds, usableView, viewInTimeframe, withCandle } from "../model/viewport.js";
import { CandleLoader } from "../net/candle-loader.js";
import { ChartGeometry } from "./chart-geometry.js";

/** @typedef {import("../model/types.js").Series} Series */
/** @typedef {import("../model/types.js").Candle} Candle */
/** @typedef {import("./candle-chart.js").TimeRange} TimeRange */

/** The chart of the page. */
export class ChartView extends ChartGeometry {
  #loader;
  /** @type {Series | null} */
  #series = null;
  /** @type {Series | null} as it was when its newest candle was in view */
  #seen = null;
  #timeframe = "1m";
  /** @type {number | null} */
  #until = null;
  /** @type {(TimeRange & {view: TimeRange}) | null} what the window covers, and the view that it was asked for */
  #loaded = null;
  /** @type {TimeRange | undefined} what to show once it is loaded */
  #wanted;
  #data = CandleWindow.empty("1m");
  /** Of prices, as they are drawn. */
  decimals = 2;
  /** @type {Candle[]} live candles that came while a window was on its way */
  #late = [];
  /** @type {{bounds: TimeRange, view: TimeRange} | null} what may be seen and what was in view when a window was asked for */
  #asked = null;

  /**
   * @param {HTMLElement} container
   * @param {import("../net/api.js").Api} api
   */
  constructor(container, api) {
    super(container);
    this.#loader = new CandleLoader(api, {
      onLoaded: (candles, { range }) => this.#accept(candles, range),
      onError: (error) => this.change({ error }),
      onBusy: (busy) => this.change({ busy }),
    });
    this.chart.onRange(() => this.#rangeChanged());
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
    this.#series = this.#seen = series;
    this.#until = null;
    this.#clear(timeframe);
    const bounds = this.bounds();
    if (bounds) this.#show(usableView(view, bounds) ?? firstView(bounds, timeframe, shown));
    else this.change({ isEmpty: true, busy: false });
  }

  /** Close the series: nothing is drawn. */
  close() {
    this.#series = null;
    this.#clear("1m");
  }

  /** @param {Series} series the open one with new facts: a view of its newest candles goes on with them, another one stays */
  refresh(series) {
    const [before, wasAtEnd] = [this.#series ?? series, this.#isAtEnd()];
    this.#series = series;
    if (this.state.get().isEmpty) return this.open(series, this.#timeframe);
    const newer = newerCandles(before, series);
    if (newer && wasAtEnd && this.#until === null) this.goToEnd();
    else if (newer && this.#until === null) this.#countNewer();
    if (series.candles - before.candles > newer) this.retry(); // older ones came: what is on the chart may lack them
    else this.#loader.soon(() => this.#missing());
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

  /** @param {string} timeframe */
  setTimeframe(timeframe) {
    const [visible, bounds] = [this.chart.visible(), this.bounds()];
    this.#timeframe = timeframe;
    this.change({ timeframe });
    if (bounds) this.#show(visible ? viewInTimeframe(visible, bounds, timeframe) : firstView(bounds, timeframe));
  }

  /** Ask again for what could not be loaded. */
  retry() {
    const bounds = this.bounds();
    if (bounds) this.#show(this.#wanted ?? this.chart.visible() ?? firstView(bounds, this.#timeframe));
  }

  /** @param {number} timeMs */
  goTo(timeMs) {
    const [bounds, width] = [this.bounds(), this.widthInView()];
    if (bounds && width) this.showRange(centredOn({ from: 0, to: width }, timeMs));
  }

  /** Bring the newest candles into view. */
  goToEnd() {
    const [bounds, width] = [this.bounds(), this.#wanted ? this.#wanted.to - this.#wanted.from : this.widthInView()];
    if (bounds && width) this.showRange(lastView(bounds, this.#timeframe, width));
  }

  /** @param {TimeRange} range */
  showRange(range) {
    const loaded = this.#loaded;
    const isNear = loaded && !this.#wanted && range.from < loaded.to && range.to > loaded.from;
    if (!isNear) return this.#show(range);
    this.chart.setVisible(range); // what is missing of it is asked for as after any other move of the view
  }

  /**
   * @param {number | null} timeMs
   * @param {number} [came] how many candles are seen more than before, where a replay jumped ahead
   */
  showUntil(timeMs, came = 0) {
    this.change({ unseen: came && !this.#isAtEnd() ? this.state.get().unseen + came : 0 });
    this.#until = timeMs;
    const bounds = this.bounds();
    if (!bounds) return this.change({ isEmpty: true, until: timeMs });
    const visible = this.chart.visible() ?? firstView(bounds, this.#timeframe);
    const shown = visible.from < bounds.to ? visible : lastView(bounds, this.#timeframe, visible.to - visible.from);
    this.change({ isEmpty: false, until: timeMs });
    if (timeMs !== null && this.#data.length) this.#draw(this.#data.closedBy(timeMs), shown);
    this.#show(shown);
  }

  /** @param {Candle} candle */
  appendClosed(candle) {
    if (!this.#series) return;
    const [reachedEnd, wasAtEnd] = [this.#reachesEnd(), this.#isAtEnd()];
    if (this.#until !== null) this.change({ until: (this.#until = Math.max(this.#until, closeTime(candle.time, this.#series.timeframe))) });
    this.#series = withCandle(this.#series, candle);
    if (this.state.get().busy) this.#late.push(candle);
    if (reachedEnd) this.#append(candle);
    if (reachedEnd && this.chart.showsLast()) this.#drawLast();
    else if (!wasAtEnd) this.#countNewer();
    else if (this.#wanted) this.#wanted = lastView(this.bounds() ?? this.#wanted, this.#timeframe, this.#wanted.to - this.#wanted.from);
  }

  /** @param {Candle} candle that still changes: drawn after the newest one, held nowhere */
  showForming(candle) {
    const isNext = this.#until === null && candle.time >= (this.#loaded?.to ?? Infinity) && this.#reachesEnd();
    if (!isNext || !this.chart.showsLast()) return;
    this.chart.updateLast(this.#data.withAppended(candle, this.#series?.timeframe ?? ""));
    this.tellRange();
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

  /** Whether the newest candle that may be seen is in view, or will be once what was asked for is here. */
  #isAtEnd() {
    if (!this.#wanted && this.#reachesEnd()) return this.chart.showsLast();
    const [bounds, view] = [this.bounds(), this.#wanted ?? this.chart.visible()];
    return Boolean(bounds && view && view.to > bounds.to - stepMs(this.#series?.timeframe ?? "1m"));
  }

  /** Say how many candles came since the newest one was in view; in a replay, of which no count is told, one more. */
  #countNewer() {
    const unseen = this.#until === null && this.#seen && this.#series ? newerCandles(this.#seen, this.#series) : this.state.get().unseen + 1;
    this.change({ unseen });
  }

  /** Count anew from here where the newest candle is in view. */
  #seeNewest() {
    if (!this.#reachesEnd() || !this.chart.showsLast()) return;
    this.#seen = this.#series;
    if (this.state.get().unseen) this.change({ unseen: 0 });
  }

  /** @param {string} timeframe */
  #clear(timeframe) {
    this.#loader.cancel();
    this.#timeframe = timeframe;
    this.#loaded = null;
    this.#wanted = undefined;
    this.#draw(CandleWindow.empty(timeframe));
    this.change({ timeframe, level: timeframe, error: null, unseen: 0, isEmpty: false, until: null });
  }

  /** @param {TimeRange} range */
  #show(range) {
    this.#wanted = range;
    const request = this.#requestFor(range);
    if (request) void this.#loader.now(request);
  }

  /** What is missing of the view, if anything. */
  #missing() {
    const [visible, bounds] = [this.chart.visible(), this.bounds()];
    if (!visible || !bounds || !this.#loaded) return null;
    const drawn = { isCoarser: this.window.level !== this.#timeframe, candlePx: this.candleWidth(), ...this.chart.candlesAround() };
    return needsLoad(visible, this.#loaded, bounds, drawn) ? this.#requestFor(visible) : null;
  }

  /** @param {TimeRange} visible */
  #requestFor(visible) {
    const shown = this.#series && { series: this.#series, timeframe: this.#timeframe, until: this.#until };
    const request = shown && candleRequest(shown, visible, this.chart.paneSize().width);
    if (!request) return null;
    this.#asked = { bounds: this.bounds() ?? visible, view: visible };
    this.#late = [];
    return request;
  }

  /**
   * @param {CandleWindow} candles
   * @param {TimeRange} range that was asked for
   */
  #accept(candles, range) {
    const wanted = this.#wanted;
    this.#wanted = undefined;
    const { bounds, view } = this.#asked ?? { bounds: range, view: range };
    this.#loaded = { ...rangeLoaded(range, candles, bounds), view };
    this.#data = candles;
    const late = this.#late.splice(0);
    if (this.#loaded.to === bounds.to) for (const candle of late) this.#append(candle);
    const start = performance.now();
    this.#draw(this.#data, wanted);
    this.change({ error: null, level: candles.level, isEmpty: candles.length === 0 });
    this.painted(start, () => this.#seeNewest());
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
    this.decimals = this.#series?.precision ?? priceDecimals(candles.columns.close);
    this.chart.setWindow(candles, { decimals: this.decimals, atEnd: this.#reachesEnd(), range });
  }

  #drawLast() {
    this.#seen = this.#series;
    const behind = this.#data.length - this.window.length;
    if (this.#data.length > MAX_CANDLES) this.#keepLatest(MAX_CANDLES * 0.75);
    else if (behind > 1) this.#draw(this.#data);
    else this.chart.updateLast(this.#data);
    this.tellRange(); // the last candle is another one now, though the view may not have moved
  }

  /** @param {number} count of candles; those before them have to be asked for again */
  #keepLatest(count) {
    this.#draw(this.#data.latest(count));
    const [view, loaded] = [this.chart.visible(), this.#loaded];
    if (view && loaded) this.#loaded = { from: this.#data.columns.time[0], to: loaded.to, view };
  }

  #rangeChanged() {
    if (!this.chart.visible()) return;
    if (this.state.get().unseen && this.#reachesEnd() && this.chart.showsLast()) this.#draw(this.#data);
    this.#seeNewest();
    this.#loader.soon(() => this.#missing());
    this.tellRange();
  }
}
