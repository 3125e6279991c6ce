// Indicators on the chart: asked for with the candles that are drawn, painted over them or in panes below.

import { decodeColumn } from "../model/candle-window.js";
import { lineColour, MOST_INDICATORS, onWindow, usableIndicators, usual, writtenAs } from "../model/indicators.js";
import { viewOf, withLook } from "../model/settings.js";
import { createStore } from "../model/store.js";
import { isAborted } from "../net/api.js";
import { button, element, fill } from "./element.js";

/** @typedef {import("../model/indicators.js").Indicator} Indicator */
/** @typedef {import("../model/indicators.js").Offer} Offer */
/** @typedef {import("./chart-lines.js").Line} Line */
/** @typedef {{name: string, kind: string, pane: "price" | "own", lines: Record<string, any>}} Item one indicator as the server gives it */

const WAIT_MS = 150;

/** The indicators of the open series. */
export class Indicators {
  #context;
  #view;
  /** What the server computes; empty until it has said so. */
  #offers = createStore(/** @type {Offer[]} */ ([]));
  /** @type {Indicator[]} */
  #chosen = [];
  /** @type {Map<string, Line>} by indicator and line */
  #lines = new Map();
  /** @type {unknown} the window that the lines were drawn for */
  #drawnFor = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #waiting;
  /** @type {AbortController | null} */
  #running = null;

  /**
   * @param {import("./context.js").PageContext} context
   * @param {import("./chart-view.js").ChartView} view
   */
  constructor(context, view) {
    this.#context = context;
    this.#view = view;
    view.state.subscribe(() => this.#soon());
    view.onVisibleRange(() => this.#soon());
    context.series.subscribe((now, before) => now.current?.id !== before.current?.id && this.#restore());
    void this.#readOffers();
  }

  /** The section of the View dialog that adds, sets and removes them. */
  section() {
    const rows = element("div", { class: "stack" });
    const add = element("select", { "aria-label": "Add an indicator" });
    const draw = () => {
      fill(rows, ...this.#chosen.map((each, place) => this.#row(each, place, draw)));
      fill(add, element("option", { value: "" }, "Add an indicator …"), ...this.#offers.get().map(({ name, title }) => element("option", { value: name }, title)));
      add.disabled = this.#chosen.length >= MOST_INDICATORS;
    };
    add.addEventListener("change", () => {
      const offer = this.#offers.get().find(({ name }) => name === add.value);
      if (offer) this.#choose([...this.#chosen, usual(offer)]);
      draw();
    });
    this.#offers.subscribe(draw);
    draw();
    return element("section", { class: "stack" }, element("h3", {}, "Indicators"), rows, add);
  }

  async #readOffers() {
    try {
      this.#offers.set((await this.#context.api.get("/api/indicators")).items);
      this.#restore();
    } catch (error) {
      this.#context.toast(`The indicators could not be loaded: ${error instanceof Error ? error.message : error}`, { tone: "danger" });
    }
  }

  #restore() {
    const { current } = this.#context.series.get();
    const kept = current && viewOf(this.#context.settings.get(), current.id)?.indicators;
    this.#set(usableIndicators(kept, this.#offers.get()));
  }

  /** @param {Indicator[]} chosen */
  #choose(chosen) {
    this.#set(chosen);
    const id = this.#context.series.get().current?.id;
    if (id !== undefined) this.#context.settings.update((now) => withLook(now, id, { indicators: chosen }));
  }

  /** @param {Indicator[]} chosen */
  #set(chosen) {
    this.#chosen = chosen;
    for (const line of this.#lines.values()) line.remove();
    this.#lines.clear();
    this.#drawnFor = null;
    this.#soon();
  }

  /** Ask again where other candles are drawn than those that the lines belong to. */
  #soon() {
    if (this.#waiting !== undefined || this.#chosen.length === 0 || this.#view.window === this.#drawnFor) return;
    this.#waiting = setTimeout(() => {
      this.#waiting = undefined;
      void this.#load();
    }, WAIT_MS);
  }

  async #load() {
    const window = this.#view.window;
    const { current } = this.#context.series.get();
    if (!current || window.length === 0 || this.#chosen.length === 0) return;
    this.#running?.abort();
    const control = new AbortController();
    this.#running = control;
    this.#drawnFor = window;
    const range = { from: window.columns.time[0], to: window.closeOf(window.length - 1) };
    const query = { names: this.#chosen.map(writtenAs).join(), ...range, timeframe: window.timeframe, max_points: window.length + 1 };
    try {
      const answer = await this.#context.api.get(`/api/series/${current.id}/indicators`, { query, signal: control.signal });
      if (this.#running === control) this.#draw(window, decodeColumn(answer.time), answer.items);
    } catch (error) {
      if (!isAborted(error)) this.#context.toast(error instanceof Error ? error.message : String(error), { tone: "danger" });
    }
  }

  /**
   * @param {import("../model/candle-window.js").CandleWindow} window
   * @param {Float64Array} times
   * @param {Item[]} items
   */
  #draw(window, times, items) {
    items.forEach((item, place) => {
      Object.entries(item.lines).forEach(([name, column], index) => {
        const key = `${item.name} ${name}`;
        const line = this.#lines.get(key) ?? this.#add(item, name, lineColour(place, index));
        this.#lines.set(key, line);
        line.draw(window, onWindow(window, times, decodeColumn(column)));
      });
    });
    if (this.#view.window !== window) this.#soon();
  }

  /**
   * @param {Item} item
   * @param {string} name
   * @param {string} colour
   */
  #add({ name: title, pane }, name, colour) {
    const shape = name === "histogram" ? /** @type {const} */ ("columns") : /** @type {const} */ ("line");
    const own = { format: (/** @type {number} */ value) => value.toPrecision(4), title: name === "value" || name === "macd" ? title : "" };
    return this.#view.chart.lines.add({ shape, colour, ...(pane === "own" ? own : {}) }, pane === "own" ? title : null);
  }

  /**
   * @param {Indicator} indicator
   * @param {number} place
   * @param {() => void} draw
   */
  #row(indicator, place, draw) {
    const offer = this.#offers.get().find(({ name }) => name === indicator.name);
    const change = (/** @type {number} */ index, /** @type {number} */ value) => {
      const values = indicator.values.map((each, at) => (at === index ? value : each));
      this.#choose(this.#chosen.map((each, at) => (at === place ? { ...each, values } : each)));
    };
    const inputs = (offer?.parameters ?? []).map(({ name, least, most }, index) => {
      const input = element("input", { type: "number", value: indicator.values[index], min: least, max: most, step: Number.isInteger(least) ? 1 : 0.1, "aria-label": `${name} of ${offer?.title}`, title: name, class: "short" });
      input.addEventListener("change", () => input.reportValidity() && change(index, Number(input.value)));
      return input;
    });
    const remove = () => {
      this.#choose(this.#chosen.filter((_, at) => at !== place));
      draw();
    };
    const swatch = element("span", { class: "swatch", "aria-hidden": "true" });
    swatch.style.background = lineColour(place, 0);
    return element("div", { class: "row" }, swatch, element("span", { class: "grow" }, offer?.title ?? indicator.name), ...inputs, button("×", remove, { class: "quiet icon", "aria-label": `Remove ${offer?.title ?? indicator.name}` }));
  }
}
