// Live on the chart: candles up to the replay clock, the next one ahead of them, the strip of hits and misses below.

import { isReplay } from "../model/feed.js";
import { formatShortTime } from "../model/format.js";
import { expectation, tellings } from "../model/prediction-text.js";
import { Predictions } from "../model/predictions.js";
import { closeTime, stepMs } from "../model/timeframe.js";
import { Zone } from "../model/zone.js";
import { Ghost } from "./ghost.js";
import { learningOf } from "./learning.js";
import { LiveMarks } from "./live-marks.js";
import { ModelStrip } from "./model-strip.js";

/** @typedef {import("./context.js").PageContext} PageContext */
/** @typedef {import("../model/types.js").Candle} Candle */
/** @typedef {import("../model/run.js").Run} Run */
/** @typedef {import("../model/events.js").RunEvent} RunEvent */

/** More new candles than this in one frame are a jump, not a step. */
const MOST_STEPS = 200;
/** A run that began longer ago was under way before the page came, which keeps the view as it is. */
const JUST_BEGUN_MS = 15_000;

/**
 * Show what live runs say on the chart.
 * @param {HTMLElement} column holds the chart; the strip goes below the candles
 * @param {HTMLElement} chartRoot
 * @param {PageContext} context
 * @returns {{setHidden: (hidden: boolean) => void}} hides or shows all of it; candles stay
 */
export function mountPredictions(column, chartRoot, context) {
  return new LiveChart(column, chartRoot, context);
}

class LiveChart {
  #context;
  #desk;
  #ghost;
  #marks;
  #strip;
  #predictions = new Predictions();
  #runId = 0;
  /** @type {Candle[]} closed candles that the chart has not got */
  #closed = [];
  /** @type {number | null} open time of the last candle that the chart has got */
  #shown = null;
  #hidden = false;
  #dismissed = false;
  #changed = false;
  /** @type {number | null} */
  #pointed = null;

  /**
   * @param {HTMLElement} column
   * @param {HTMLElement} chartRoot
   * @param {PageContext} context
   */
  constructor(column, chartRoot, context) {
    this.#context = context;
    this.#desk = learningOf(context).desk;
    this.#ghost = new Ghost(context.chart);
    this.#strip = new ModelStrip(context.chart, { goTo: () => this.#goToNewest(), hide: () => this.#dismiss() });
    chartRoot.after(this.#strip.root);
    this.#marks = new LiveMarks(context.chart);
    context.chart.addPrimitive(this.#ghost);
    context.chart.addPrimitive(this.#marks);
    context.chart.onVisibleRange(() => this.#draw());
    context.series.subscribe((now, before) => now.current?.id !== before.current?.id && this.#open());
    this.#desk.onEvents((run, events) => this.#take(run, events));
    this.#desk.replay.onRest(() => this.#forget());
    this.#desk.onPaint(() => this.#paint());
    void this.#readLabels();
    new ResizeObserver(() => this.#draw()).observe(column);
    column.addEventListener("pointermove", (event) => this.#point(event.clientX - column.getBoundingClientRect().left));
    column.addEventListener("pointerleave", () => this.#point(null));
  }

  /** @param {boolean} hidden */
  setHidden(hidden) {
    if (hidden === this.#hidden) return;
    this.#hidden = hidden;
    this.#changed = true;
    this.#desk.repaint();
  }

  /** Put the strip away until the next run. */
  #dismiss() {
    this.#dismissed = true;
    this.#changed = true;
    this.#desk.repaint();
  }

  #goToNewest() {
    const { latest } = this.#predictions;
    if (latest !== null) this.#context.chart.goTo(latest.as_of ?? latest.candle_time);
  }

  #open() {
    this.#forget();
    void this.#readLabels();
  }

  /** Suggestions have the colours of the series' labels; without them they are drawn in the colour of text. */
  async #readLabels() {
    const id = this.#context.series.get().current?.label_set_id;
    if (id === undefined || id === null) return;
    try {
      const { labels } = await this.#context.api.get(`/api/label-sets/${id}`);
      this.#strip.labels = new Map(labels.map((/** @type {{name: string, colour: string}} */ label) => [label.name, label.colour]));
    } catch {
      this.#strip.labels = new Map();
    }
  }

  #forget() {
    this.#predictions = new Predictions();
    this.#marks.clear();
    this.#runId = 0;
    this.#dismissed = false;
    this.#closed = [];
    this.#shown = null;
    this.#changed = true;
  }

  /**
   * @param {Run} run
   * @param {RunEvent[]} events
   */
  #take(run, events) {
    if (run.mode !== "live" || run.id < this.#runId) return;
    if (run.id > this.#runId) this.#forget();
    this.#runId = run.id;
    this.#predictions.take(events);
    this.#marks.take(events);
    for (const event of events) if (event.type === "candle_predicted" && event.closed !== null) this.#closed.push(event.closed);
    this.#changed = true;
  }

  #paint() {
    const run = this.#desk.active("live");
    if (run?.id === this.#runId) this.#advance(run);
    else if (this.#shown !== null) this.#release();
    if (!this.#changed) return;
    this.#changed = false;
    this.#ghost.predicted = this.#hidden || run?.id !== this.#runId ? null : this.#predictions.latest;
    this.#marks.hidden = this.#hidden;
    this.#strip.root.hidden = this.#hidden || this.#dismissed || this.#predictions.size === 0;
    this.#context.chart.repaint();
    this.#draw();
  }

  /**
   * Bring the chart to the replay's clock.
   * @param {Run} run
   */
  #advance(run) {
    const closed = this.#closed.splice(0);
    if (!isReplay(run)) return; // what is fed now is on the chart as soon as it is stored
    const last = closed.at(-1);
    const timeframe = this.#context.series.get().current?.timeframe;
    if (last === undefined || timeframe === undefined) return;
    if (this.#shown === null || closed.length > MOST_STEPS) {
      this.#context.chart.showUntil(closeTime(last.time, timeframe), this.#shown === null ? 0 : closed.length);
      if (this.#shown === null && Date.now() - (run.started ?? 0) < JUST_BEGUN_MS) this.#context.chart.goTo(last.time);
    } else {
      for (const candle of closed) if (candle.time > this.#shown) this.#context.chart.appendClosed(candle);
    }
    this.#shown = last.time;
  }

  /** The run is over: every stored candle is there again. */
  #release() {
    this.#shown = null;
    this.#closed = [];
    this.#changed = true;
    this.#context.chart.showUntil(null);
  }

  #draw() {
    if (this.#strip.root.hidden) return;
    this.#strip.draw(this.#predictions);
    this.#say();
  }

  /** @param {number | null} x inside the chart */
  #point(x) {
    this.#pointed = x === null ? null : this.#context.chart.xToTime(x);
    if (!this.#strip.root.hidden) this.#say();
  }

  #say() {
    const length = stepMs(this.#context.chart.drawn().level);
    const found = this.#pointed === null ? null : this.#predictions.within(this.#pointed, length);
    const { latest } = this.#predictions;
    const marked = this.#pointed === null ? [] : this.#marks.textsAt(this.#pointed, length);
    if (found !== null) this.#strip.say([this.#time(found.time), ...marked, ...tellings(found.told)].join(" · "));
    else if (latest !== null)
      this.#strip.say(this.#desk.active("live")?.id === this.#runId ? this.#nextText(latest) : this.#pastText(latest));
  }

  /** @param {import("../model/events.js").CandlePredicted} latest */
  #nextText(latest) {
    return [`next ${this.#time(latest.candle_time)}`, expectation(latest), latest.seen ? "seen in training" : ""]
      .filter(Boolean)
      .join(" · ");
  }

  /** @param {import("../model/events.js").CandlePredicted} latest */
  #pastText(latest) {
    return `run ${this.#runId} has ended; its predictions go up to ${this.#time(latest.candle_time)}`;
  }

  /** @param {number} time */
  #time(time) {
    const timeframe = this.#context.series.get().current?.timeframe ?? "1m";
    return formatShortTime(time, new Zone(this.#context.settings.get().zone), timeframe);
  }
}
