// The ruler: drag to see candles, time and price between two places; it is never stored.

import { faint } from "../model/colour.js";
import { rulerLines } from "../model/ruler.js";
import { chartColours } from "./colours.js";

/** @typedef {import("../model/ruler.js").Place & {x: number, y: number}} Spot */

const FONT = "12px system-ui, sans-serif";
const LINE_PX = 17;

/** A primitive on the chart and its pointer. */
export class Ruler {
  #view;
  #root;
  #annotator;
  /** @type {{from: Spot, to: Spot} | null} */
  #shown = null;
  #isDragging = false;

  /**
   * @param {HTMLElement} root the chart's container
   * @param {import("./chart-view.js").ChartView} view
   * @param {import("./annotator.js").Annotator} annotator
   */
  constructor(root, view, annotator) {
    this.#root = root;
    this.#view = view;
    this.#annotator = annotator;
    const renderer = { draw: (/** @type {any} */ target) => target.useMediaCoordinateSpace((/** @type {any} */ { context }) => this.#paint(context)) };
    view.addPrimitive(/** @type {any} */ ({ paneViews: () => [{ zOrder: () => "top", renderer: () => renderer }] }));
    root.addEventListener("pointerdown", (event) => this.#down(event), { capture: true });
    root.addEventListener("pointermove", (event) => this.#move(event), { capture: true });
    root.addEventListener("pointerup", () => (this.#isDragging = false), { capture: true });
    for (const name of ["mousedown", "touchstart", "touchmove"]) root.addEventListener(name, (event) => this.#isDragging && event.stopPropagation(), { capture: true });
    annotator.state.subscribe(({ tool }) => tool !== "ruler" && this.#show(null));
  }

  /** @param {PointerEvent} event */
  #down(event) {
    const spot = this.#annotator.state.get().tool === "ruler" && event.button === 0 && event.isPrimary ? this.#spotOf(event) : null;
    if (!spot) return;
    this.#isDragging = true;
    this.#root.setPointerCapture(event.pointerId);
    event.stopPropagation();
    this.#show({ from: spot, to: spot });
  }

  /** @param {PointerEvent} event */
  #move(event) {
    const to = this.#isDragging ? this.#spotOf(event) : null;
    if (to && this.#shown) this.#show({ from: this.#shown.from, to });
  }

  /** @param {{from: Spot, to: Spot} | null} shown */
  #show(shown) {
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.#view.repaint();
  }

  /**
   * @param {PointerEvent} event
   * @returns {Spot | null}
   */
  #spotOf(event) {
    const box = this.#root.getBoundingClientRect();
    const { width, height } = this.#view.chart.paneSize();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    if (!this.#isDragging && (x < 0 || y < 0 || x >= width || y >= height)) return null;
    const [position, price] = [this.#view.chart.xToPosition(x), this.#view.yToPrice(Math.min(height, Math.max(0, y)))];
    if (position === null || price === null || this.#view.window.length === 0) return null;
    const { time, price: at } = this.#annotator.magnetic({ time: this.#view.window.openAt(position), price });
    return { x, y, position, time, price: at };
  }

  /** @param {CanvasRenderingContext2D} context */
  #paint(context) {
    if (!this.#shown) return;
    const { from, to } = this.#shown;
    const { up, down, background, strong } = chartColours();
    const [fromX, toX] = [this.#view.timeToX(from.time), this.#view.timeToX(to.time)];
    const [fromY, toY] = [this.#view.priceToY(from.price), this.#view.priceToY(to.price)];
    if (fromX === null || toX === null || fromY === null || toY === null) return;
    const colour = to.price >= from.price ? up : down;
    context.fillStyle = faint(colour, 0.18);
    context.fillRect(fromX, fromY, toX - fromX, toY - fromY);
    context.strokeStyle = colour;
    context.lineWidth = 1.5;
    context.strokeRect(fromX, fromY, toX - fromX, toY - fromY);
    const lines = rulerLines(from, to, this.#view.state.get().pricesHidden ? null : this.#view.decimals);
    context.font = FONT;
    context.textBaseline = "middle";
    const width = Math.max(...lines.map((line) => context.measureText(line).width)) + 12;
    const left = Math.min(Math.max(4, (fromX + toX) / 2 - width / 2), this.#view.chart.paneSize().width - width - 4);
    const top = to.price >= from.price ? Math.max(4, toY - lines.length * LINE_PX - 10) : Math.min(toY + 6, this.#view.chart.paneSize().height - lines.length * LINE_PX - 8);
    context.fillStyle = background;
    context.fillRect(left, top, width, lines.length * LINE_PX + 6);
    context.strokeRect(left, top, width, lines.length * LINE_PX + 6);
    context.fillStyle = strong;
    lines.forEach((line, index) => context.fillText(line, left + 6, top + 3 + (index + 0.5) * LINE_PX));
  }
}
