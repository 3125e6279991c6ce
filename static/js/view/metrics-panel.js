// Metrics: loss and accuracies of the shown run as the server draws them, each beside its baselines, kept up to date.

import { dressed } from "../model/figures.js";
import { smoothed } from "../model/smoothing.js";
import { card } from "./card.js";
import { chartColours } from "./colours.js";
import { element, fill } from "./element.js";
import { saveFigures } from "./figures-image.js";
import { learningOf } from "./learning.js";
import { MetricsHead } from "./metrics-head.js";
import { loadPlotly } from "./plotly.js";

/** @typedef {import("./context.js").PageContext} PageContext */
/** @typedef {import("../model/run.js").Run} Run */
/** @typedef {import("../model/figures.js").NamedFigure} NamedFigure */

const REFRESH_MS = 1000;
const CONFIG = {
  displaylogo: false,
  modeBarButtonsToRemove: ["lasso2d", "select2d"],
  toImageButtonOptions: { format: "png", scale: 2 },
};

/**
 * Fill the Metrics panel.
 * @param {HTMLElement} root
 * @param {PageContext} context
 */
export function mountMetrics(root, context) {
  new MetricsPanel(root, context);
}

class MetricsPanel {
  #context;
  #desk;
  #root;
  #head = new MetricsHead(
    () => {
      this.#shown = ""; // a slider that is moved answers at once
      this.#redraw();
    },
    () => void this.#save(),
  );
  #grid = element("div", { class: "figure-grid" });
  #state = element("div", { class: "metrics-state" });
  /** @type {Map<string, HTMLElement>} */
  #plots = new Map();
  #drawn = "";
  #redraws = 0; // asked for by other than news, such as a new width
  #shown = "";
  #busy = false;
  #readyAt = 0;

  /**
   * @param {HTMLElement} root
   * @param {PageContext} context
   */
  constructor(root, context) {
    this.#root = root;
    this.#context = context;
    this.#desk = learningOf(context).desk;
    root.classList.add("metrics-panel");
    root.append(this.#head.root, this.#state, this.#grid, this.#head.tables);
    new ResizeObserver(() => this.#redraw()).observe(root);
    context.settings.subscribe(() => this.#redraw());
    this.#desk.onPaint(() => void this.#refresh());
    this.#desk.replay.onRest(() => this.#forget());
  }

  /** Other figures may be told now, or none: nothing of before stays meanwhile. */
  #forget() {
    this.#clear();
    this.#readyAt = 0;
    this.#redraw();
  }

  #redraw() {
    this.#redraws += 1;
    this.#desk.repaint();
  }

  /** Read and draw the figures when they are looked at and something new came, at most once a second. */
  async #refresh() {
    const run = this.#desk.focus;
    const wanted = this.#wanted(run);
    if (this.#busy || this.#root.clientHeight === 0 || wanted === this.#drawn) return;
    const chosen = this.#chosen(run);
    const wait = chosen === this.#shown ? this.#readyAt - performance.now() : 0; // what a person picked waits for nothing
    if (wait > 0) {
      setTimeout(() => this.#desk.repaint(), wait);
      return;
    }
    this.#busy = true;
    this.#shown = chosen;
    const began = performance.now();
    try {
      await this.#show(run);
    } catch (error) {
      this.#failed(/** @type {Error} */ (error));
    } finally {
      this.#busy = false;
      this.#drawn = wanted;
      // Drawing takes at most a fifth of the time, so that candles keep coming on a slow machine.
      this.#readyAt = performance.now() + Math.max(REFRESH_MS, 4 * (performance.now() - began));
      if (this.#wanted(this.#desk.focus) !== this.#drawn) this.#desk.repaint();
    }
  }

  /**
   * Which runs a person wants to see, and how smooth.
   * @param {Run | undefined} run
   */
  #chosen(run) {
    return JSON.stringify([this.#desk.compared.get(), run?.id ?? null, this.#head.smoothing]);
  }

  /**
   * What the drawn figures depend on.
   * @param {Run | undefined} run
   */
  #wanted(run) {
    const progress = run === undefined ? undefined : this.#desk.progressOf(run.id);
    const { batch, epochs, tested, scored, learnt } = progress ?? {};
    const newest = [batch, epochs?.at(-1), tested, scored, learnt].map((event) => event?.seq ?? 0);
    return JSON.stringify([this.#chosen(run), this.#redraws, run?.mode === "skill" && run.state, ...newest]);
  }

  /** @param {Run | undefined} run */
  async #show(run) {
    if (this.#desk.compared.get().length > 1) {
      await this.#showCompared();
      return;
    }
    if (run === undefined) {
      this.#empty("No run on this series yet. Start a batch or live run, and its loss and accuracies appear here.");
      return;
    }
    if (this.#plots.size === 0) fill(this.#state, element("p", { class: "muted" }, "Loading the figures …"));
    const [plotly, { items }] = await Promise.all([loadPlotly(), this.#context.api.get(`/api/runs/${run.id}/figures`)]);
    const shown = /** @type {NamedFigure[]} */ (items).filter((item) => item.figure.data.length > 0);
    if (shown.length === 0) {
      this.#empty(run.mode === "leaks" ? "A leak check has no figures; the Train tab tells what it found." : `Run ${run.id} has no figure yet.`);
      return;
    }
    this.#head.showRun(run);
    await this.#draw(plotly, `run-${run.id}`, shown);
  }

  async #showCompared() {
    const ids = this.#desk.compared.get().join(",");
    const [plotly, found] = await Promise.all([loadPlotly(), this.#context.api.get(`/api/runs/compare?ids=${ids}`)]);
    this.#head.showComparison(found, () => this.#desk.compared.set([]));
    await this.#draw(plotly, `runs-${ids}`, found.items);
  }

  /** @param {string} words */
  #empty(words) {
    this.#clear();
    fill(this.#state, element("p", { class: "muted" }, words));
  }

  /**
   * @param {import("./plotly.js").Plotly} plotly
   * @param {string} revision while it stays the same, zoom and hidden traces stay
   * @param {NamedFigure[]} items
   */
  async #draw(plotly, revision, items) {
    fill(this.#state);
    const names = new Set(items.map((item) => item.name));
    for (const [name, plot] of this.#plots) {
      if (names.has(name)) continue;
      plotly.purge(plot);
      plot.remove();
      this.#plots.delete(name);
    }
    const colours = figureColours();
    const plots = items.map((item) => this.#plot(item)); // all of them first: their number decides how wide each is
    for (const [index, item] of items.entries()) {
      const { data, layout } = dressed(item, colours, revision);
      await new Promise((resolve) => requestAnimationFrame(resolve)); // the chart gets its frame in between
      await plotly.react(plots[index], smoothed(data, this.#head.smoothing), { ...layout, width: plots[index].clientWidth }, CONFIG);
    }
  }

  /**
   * @param {NamedFigure} item
   * @returns {HTMLElement}
   */
  #plot({ name, title }) {
    const known = this.#plots.get(name);
    if (known !== undefined) return known;
    const made = element("div", { class: "figure", role: "figure", "aria-label": title, "data-figure": name });
    this.#plots.set(name, made);
    this.#grid.append(made);
    return made;
  }

  async #save() {
    const { text, panel } = figureColours();
    const of = this.#desk.compared.get().length > 1 ? `runs-${this.#desk.compared.get().join("-")}` : `run-${this.#desk.focus?.id}`;
    try {
      const look = { name: `${of}.png`, words: this.#head.words, text, background: panel ?? "#fff" };
      await saveFigures(await loadPlotly(), [...this.#plots.values()], look);
    } catch (error) {
      const { message } = /** @type {Error} */ (error);
      fill(this.#state, card({ title: "The picture cannot be made", text: message, tone: "danger" }));
    }
  }

  #clear() {
    for (const plot of this.#plots.values()) plot.remove();
    this.#plots.clear();
    this.#head.clear();
  }

  /** @param {Error} error */
  #failed(error) {
    this.#clear();
    const retry = { text: "Try again", run: () => this.#redraw() };
    fill(this.#state, card({ title: "The figures cannot be shown", text: error.message, tone: "danger", actions: [retry] }));
  }
}

/** @returns {import("../model/figures.js").FigureColours} */
function figureColours() {
  const { text, muted, grid, line, accent, up, down } = chartColours();
  const warning = getComputedStyle(document.documentElement).getPropertyValue("--warning").trim();
  const panel = getComputedStyle(document.documentElement).getPropertyValue("--surface").trim();
  return { text, muted, grid, line, panel, series: [accent, warning, up, down] };
}
