// The strip below the chart: the whole series as a line, its annotations, and a handle over what is in view.

import { CandleWindow } from "../model/candle-window.js";
import { OverviewScale, stripeRuns } from "../model/overview-scale.js";
import { isAborted } from "../net/api.js";
import { fetchCandles } from "../net/candle-loader.js";
import { chartColours } from "./colours.js";
import { element } from "./element.js";

/** @typedef {import("./candle-chart.js").TimeRange} TimeRange */
/** @typedef {import("../model/overview-scale.js").Stripe} Stripe */

const POINTS = 800;
const PAD = 5;
const STRIPE_PX = 4;

/** The overview of the open series. */
export class Overview {
  #api;
  #view;
  #canvas;
  #candles = CandleWindow.empty("1m");
  /** @type {Stripe[]} */
  #stripes = [];
  /** @type {AbortController | null} */
  #loading = null;
  #asked = false;
  /** @type {{key: string, candles: CandleWindow, stripes: Stripe[], canvas: HTMLCanvasElement} | null} */
  #painted = null;

  /**
   * @param {HTMLElement} root
   * @param {import("../net/api.js").Api} api
   * @param {import("./chart-view.js").ChartView} view
   */
  constructor(root, api, view) {
    this.#api = api;
    this.#view = view;
    this.#canvas = element("canvas", { tabindex: 0, role: "slider", "aria-label": "Part of the series in view", "aria-valuemin": 0, "aria-valuemax": 100, "aria-valuenow": 0 });
    root.append(this.#canvas);
    new ResizeObserver(() => this.repaint()).observe(root);
    view.onVisibleRange(() => this.repaint());
    view.state.subscribe((now, before) => now.until !== before.until && this.repaint());
    this.#canvas.addEventListener("pointerdown", (event) => this.#drag(event));
    this.#canvas.addEventListener("pointermove", (event) => this.#showCursor(event));
    this.#canvas.addEventListener("keydown", (event) => this.#step(event));
  }

  /**
   * Load the strip of the view's series.
   * @param {import("../model/types.js").Series | null} series
   */
  async open(series) {
    this.#loading?.abort();
    const range = series && this.#view.bounds();
    this.#candles = CandleWindow.empty("1m");
    this.repaint();
    if (!series || !range) return;
    const control = new AbortController();
    this.#loading = control;
    try {
      const request = { seriesId: series.id, timeframe: series.timeframe, range: { from: null, to: range.to }, most: POINTS };
      this.#candles = await fetchCandles(this.#api, request, control.signal);
      this.repaint();
    } catch (error) {
      // The chart itself shows a card for the same cause; the strip stays empty and is asked for at the next opening.
      if (!isAborted(error)) this.#candles = CandleWindow.empty("1m");
    }
  }

  /** @param {Stripe[]} stripes */
  setStripes(stripes) {
    this.#stripes = stripes;
    this.repaint();
  }

  repaint() {
    if (!this.#asked) requestAnimationFrame(() => this.#paint());
    this.#asked = true;
  }

  #scale() {
    return new OverviewScale(this.#candles, this.#canvas.clientWidth);
  }

  #paint() {
    this.#asked = false;
    const { clientWidth: width, clientHeight: height } = this.#canvas;
    const ratio = devicePixelRatio;
    const size = { width: Math.round(width * ratio), height: Math.round(height * ratio) };
    if (this.#canvas.width !== size.width || this.#canvas.height !== size.height) Object.assign(this.#canvas, size);
    const context = this.#canvas.getContext("2d");
    if (!context) return;
    context.resetTransform();
    context.clearRect(0, 0, size.width, size.height);
    if (this.#candles.length === 0) return;
    context.drawImage(this.#ground(size, ratio), 0, 0);
    context.scale(ratio, ratio);
    const visible = this.#view.visible();
    if (visible) this.#paintHandle(context, this.#scale(), visible, { width, height });
  }

  /**
   * The line and the stripes, painted once for all places of the handle.
   * @param {{width: number, height: number}} size device pixels
   * @param {number} ratio
   */
  #ground(size, ratio) {
    const { until } = this.#view.state.get();
    const key = [size.width, size.height, until, chartColours().muted].join();
    if (this.#painted?.key === key && this.#painted.candles === this.#candles && this.#painted.stripes === this.#stripes) return this.#painted.canvas;
    const canvas = Object.assign(document.createElement("canvas"), size);
    const context = canvas.getContext("2d");
    const [width, height] = [size.width / ratio, size.height / ratio];
    if (context) {
      context.scale(ratio, ratio);
      this.#paintLine(context, width, height);
      for (const { from, to, colour } of stripeRuns(this.#stripes, this.#scale(), width)) {
        context.fillStyle = colour;
        context.fillRect(from, height - STRIPE_PX, to - from, STRIPE_PX);
      }
    }
    this.#painted = { key, candles: this.#candles, stripes: this.#stripes, canvas };
    return canvas;
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {number} width
   * @param {number} height
   */
  #paintLine(context, width, height) {
    const { high, low, close } = this.#candles.columns;
    const top = high.reduce((most, price) => Math.max(most, price), -Infinity);
    const bottom = low.reduce((least, price) => Math.min(least, price), Infinity);
    const room = height - 2 * PAD - STRIPE_PX;
    /** @param {number} price */
    const y = (price) => PAD + (top > bottom ? (top - price) / (top - bottom) : 0.5) * room;
    context.beginPath();
    const { until } = this.#view.state.get();
    const shown = until === null ? this.#candles : this.#candles.before(until);
    for (let index = 0; index < shown.length; index += 1) {
      context.lineTo(((index + 0.5) / this.#candles.length) * width, y(close[index]));
    }
    context.strokeStyle = chartColours().muted;
    context.lineWidth = 1.25;
    context.stroke();
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {OverviewScale} scale
   * @param {TimeRange} visible
   * @param {{width: number, height: number}} size
   */
  #paintHandle(context, scale, visible, { width, height }) {
    const { accent, background } = chartColours();
    const left = Math.max(0, scale.timeToX(visible.from));
    const right = Math.max(left + 3, Math.min(width, scale.timeToX(visible.to)));
    context.globalAlpha = 0.35;
    context.fillStyle = background;
    context.fillRect(0, 0, left, height - STRIPE_PX);
    context.fillRect(right, 0, width - right, height - STRIPE_PX);
    context.globalAlpha = 0.14;
    context.fillStyle = accent;
    context.fillRect(left, 0, right - left, height);
    context.globalAlpha = 1;
    context.fillRect(left - 1, 0, 2, height);
    context.fillRect(right - 1, 0, 2, height);
    const percent = Math.round((((left + right) / 2) / width) * 100);
    this.#canvas.setAttribute("aria-valuenow", String(percent));
    this.#canvas.setAttribute("aria-valuetext", `${percent}% of the series`);
  }

  /** @param {PointerEvent} event */
  #drag(event) {
    const visible = this.#view.visible();
    if (!visible || this.#candles.length === 0) return;
    const scale = this.#scale();
    const pressed = scale.partAt(event.offsetX, visible);
    if (pressed === "outside") this.#view.goTo(scale.xToTime(event.offsetX));
    const part = pressed === "outside" ? "both" : pressed;
    const start = this.#view.visible() ?? visible;
    const startX = event.clientX;
    this.#canvas.setPointerCapture(event.pointerId);
    /** @param {{clientX: number}} moved */
    const move = ({ clientX }) => this.#view.showRange(scale.dragged(part, start, clientX - startX));
    this.#canvas.addEventListener("pointermove", move);
    this.#canvas.addEventListener("lostpointercapture", () => this.#canvas.removeEventListener("pointermove", move), { once: true });
  }

  /** @param {PointerEvent} event */
  #showCursor(event) {
    const visible = this.#view.visible();
    const part = visible && this.#candles.length ? this.#scale().partAt(event.offsetX, visible) : "outside";
    this.#canvas.style.cursor = { from: "ew-resize", to: "ew-resize", both: "grab", outside: "pointer" }[part];
  }

  /** @param {KeyboardEvent} event */
  #step(event) {
    const direction = event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0;
    const visible = this.#view.visible();
    if (!direction || !visible) return;
    event.preventDefault();
    event.stopPropagation();
    this.#view.showRange(this.#view.window.turned(visible, direction / 2));
  }
}
