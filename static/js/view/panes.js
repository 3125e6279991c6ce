// Two to four panes of one series in different timeframes: one crosshair, one time, one set of marks.

import { alignedTo, MOST_PANES, nextPane, usablePanes } from "../model/panes.js";
import { viewOf, withLook } from "../model/settings.js";
import { offeredTimeframes } from "../model/timeframe.js";
import { Zone } from "../model/zone.js";
import { ChartView } from "./chart-view.js";
import { button, element } from "./element.js";
import { MarkLayer } from "./mark-layer.js";
import { MarkPointer } from "./mark-pointer.js";
import { shadeSessions } from "./session-layer.js";

/** @typedef {import("./context.js").PageContext} PageContext */
/** @typedef {{view: ChartView, layer: MarkLayer, root: HTMLElement, timeframe: string, close: () => void}} Pane */

/**
 * @typedef {object} PaneParts
 * @property {import("./lead-view.js").LeadView} view
 * @property {HTMLElement} canvas the chart's own container
 * @property {import("./annotator.js").Annotator} annotator
 * @property {MarkLayer} layer
 * @property {import("./cursor.js").Cursor} cursor
 */

/** The panes beside the chart. */
export class Panes {
  #root;
  #context;
  #parts;
  /** @type {Pane[]} */
  #panes = [];
  /** @type {ChartView} the one that is moved by hand; the others follow it and never answer */
  #leader;

  /**
   * @param {HTMLElement} root holds the chart's container
   * @param {PageContext} context
   * @param {PaneParts} parts
   */
  constructor(root, context, parts) {
    this.#root = root;
    this.#context = context;
    this.#parts = parts;
    this.#leader = parts.view;
    this.#link(parts.view, parts.canvas);
    context.series.subscribe((now, before) => now.current?.id !== before.current?.id && this.#restore());
    context.settings.subscribe((now, before) => this.#followSettings(now, before));
    parts.view.state.subscribe((now, before) => now.isEmpty !== before.isEmpty && this.#alignAll());
    this.#restore();
  }

  /** Timeframes of the panes beside the chart. */
  get shown() {
    return this.#panes.map(({ timeframe }) => timeframe);
  }

  /** @param {number} count of panes beside the chart */
  setCount(count) {
    const wanted = this.shown.slice(0, count);
    while (wanted.length < Math.min(count, MOST_PANES)) wanted.push(nextPane([this.#parts.view.timeframe, ...wanted], this.#offered()));
    this.show(wanted);
  }

  /**
   * Show panes of these timeframes, and keep them with the series' view.
   * @param {string[]} timeframes
   */
  show(timeframes) {
    this.#set(timeframes);
    const id = this.#context.series.get().current?.id;
    if (id !== undefined) this.#context.settings.update((now) => withLook(now, id, { panes: timeframes }));
  }

  #restore() {
    const { current } = this.#context.series.get();
    const kept = current && viewOf(this.#context.settings.get(), current.id);
    this.#set(usablePanes(kept?.panes, this.#offered()));
  }

  #offered() {
    const { current } = this.#context.series.get();
    return current ? offeredTimeframes(current.timeframe) : [];
  }

  /** @param {string[]} timeframes */
  #set(timeframes) {
    while (this.#panes.length > timeframes.length) this.#panes.pop()?.close();
    timeframes.forEach((timeframe, index) => {
      if (this.#panes[index]) this.#setTimeframe(this.#panes[index], timeframe);
      else this.#panes.push(this.#open(timeframe));
    });
    this.#root.dataset.panes = String(this.#panes.length + 1);
  }

  /**
   * @param {string} timeframe
   * @returns {Pane}
   */
  #open(timeframe) {
    const { api, settings, series } = this.#context;
    const holder = element("div", { class: "chart-canvas" });
    const menu = element("select", { "aria-label": "Timeframe of this pane" }, ...this.#offered().map((each) => element("option", { value: each }, each)));
    const root = element("div", { class: "chart-pane" }, holder);
    this.#root.append(root);
    const view = new ChartView(holder, api);
    const layer = new MarkLayer(view);
    new MarkPointer(holder, view, this.#parts.annotator, layer);
    view.chart.setZone(new Zone(settings.get().zone));
    const unshade = shadeSessions(view, settings);
    const unmirror = this.#parts.layer.mirror(layer);
    const unlink = this.#link(view, root);
    const unlead = this.#parts.view.lead(view, () => pane.timeframe);
    const close = () => {
      for (const undo of [unshade, unmirror, unlink, unlead]) undo();
      if (this.#leader === view) this.#leader = this.#parts.view;
      view.remove();
      root.remove();
    };
    /** @type {Pane} */
    const pane = { view, layer, root, timeframe, close };
    const shut = button("×", () => this.show(this.shown.filter((_, index) => this.#panes[index] !== pane)), { class: "quiet icon", "aria-label": "Close this pane" });
    menu.value = timeframe;
    menu.addEventListener("change", () => this.show(this.#panes.map((each) => (each === pane ? menu.value : each.timeframe))));
    root.append(element("div", { class: "pane-head" }, menu, shut));
    const { current } = series.get();
    if (current) view.open(this.#parts.view.series ?? current, timeframe);
    const { until, pricesHidden } = this.#parts.view.state.get();
    if (until !== null) view.showUntil(until);
    view.setPricesHidden(pricesHidden);
    view.state.subscribe((now, before) => {
      if (now.busy === before.busy || now.busy) return;
      this.#alignAll();
      scaleAs(view, settings.get());
    });
    return pane;
  }

  /**
   * @param {Pane} pane
   * @param {string} timeframe
   */
  #setTimeframe(pane, timeframe) {
    if (pane.timeframe === timeframe) return;
    pane.timeframe = timeframe;
    /** @type {HTMLSelectElement} */ (pane.root.querySelector("select")).value = timeframe;
    pane.view.setTimeframe(timeframe);
  }

  get #views() {
    return [this.#parts.view, ...this.#panes.map(({ view }) => view)];
  }

  /**
   * Whoever is pointed at leads: its time and its crosshair are the others'.
   * @param {ChartView} view
   * @param {HTMLElement} root
   * @returns {() => void} ends it
   */
  #link(view, root) {
    const lead = () => {
      this.#leader = view;
      this.#parts.annotator.workOn(view);
    };
    for (const name of ["pointerenter", "pointerdown", "wheel"]) root.addEventListener(name, lead, { capture: true, passive: true });
    const unwatch = view.onVisibleRange(() => view === this.#leader && this.#alignAll());
    view.chart.crosshair.watch((at) => view === this.#leader && this.#point(view, at));
    return unwatch;
  }

  #alignAll() {
    const lead = this.#leader.visible();
    if (!lead || this.#panes.length === 0) return;
    for (const view of this.#views) {
      const [own, bounds] = [view.visible(), view.bounds()];
      if (view !== this.#leader && own && bounds) view.showRange(alignedTo(own, lead, bounds.to));
    }
  }

  /**
   * @param {ChartView} view
   * @param {import("./crosshair.js").Pointed | null} at
   */
  #point(view, at) {
    const time = at && view.window.length ? view.window.openAt(at.position) : null;
    for (const other of this.#views) {
      if (other === view || !other.window.length) continue;
      const index = time === null ? -1 : other.window.indexAt(time);
      if (index < 0) other.chart.crosshair.clear();
      else other.chart.crosshair.put(index, at?.price ?? other.window.columns.close[index]);
    }
    if (time !== null) this.#parts.cursor.aim(time, at?.price ?? null);
  }

  /**
   * @param {import("../model/settings.js").Settings} now
   * @param {import("../model/settings.js").Settings} before
   */
  #followSettings(now, before) {
    for (const { view } of this.#panes) {
      if (now.zone !== before.zone) view.chart.setZone(new Zone(now.zone));
      if (now.scale !== before.scale) scaleAs(view, now);
      if (now.theme !== before.theme || now.palette !== before.palette) view.chart.recolour();
    }
  }
}

/**
 * Scale prices as chosen, where they can be.
 * @param {ChartView} view
 * @param {import("../model/settings.js").Settings} settings
 */
function scaleAs(view, { scale }) {
  view.chart.setScale(view.window.isPositive ? scale : "normal");
}
