// Selecting a suggestion by a click, and correcting the selected one by dragging its edges or its body.

import { edited } from "../model/mark-edit.js";

/** @typedef {import("../model/suggestion.js").Suggestion} Suggestion */
/** @typedef {{x: number, y: number, position: number, price: number}} Place */
/** @typedef {{pointerId: number, from: Place, mark: Suggestion, part: import("../model/mark-edit.js").Part}} Drag */

const CLICK_PX = 4;

/** Listens outside of the chart in the capture phase, so that what it takes reaches neither marks nor chart. */
export class SuggestionPointer {
  #root;
  #canvas;
  #view;
  #suggester;
  #annotator;
  #layers;
  /** @type {Drag | null} */
  #drag = null;
  /** @type {Place | null} */
  #pressed = null;

  /**
   * @param {HTMLElement} root around the chart's canvas
   * @param {HTMLElement} canvas
   * @param {object} parts
   * @param {import("./chart-view.js").ChartView} parts.view
   * @param {import("./suggester.js").Suggester} parts.suggester
   * @param {import("./annotator.js").Annotator} parts.annotator
   * @param {{suggestions: import("./suggestion-layer.js").SuggestionLayer, marks: import("./mark-layer.js").MarkLayer}} parts.layers
   */
  constructor(root, canvas, { view, suggester, annotator, layers }) {
    this.#root = root;
    this.#canvas = canvas;
    this.#view = view;
    this.#suggester = suggester;
    this.#annotator = annotator;
    this.#layers = layers;
    const early = { capture: true };
    root.addEventListener("pointerdown", (event) => this.#down(event), early);
    root.addEventListener("pointermove", (event) => this.#move(event), early);
    root.addEventListener("pointerup", (event) => this.#up(event), early);
    root.addEventListener("pointercancel", () => this.#giveUp(), early);
    for (const name of ["mousedown", "touchstart", "touchmove"]) {
      root.addEventListener(name, (event) => this.#keepFromChart(event), { capture: true, passive: false });
    }
  }

  /** @param {PointerEvent} event */
  #down(event) {
    this.#giveUp();
    const place = event.button === 0 && event.isPrimary ? this.#placeOf(event) : null;
    this.#pressed = place;
    const { selected } = this.#suggester.state.get();
    if (!place || selected === null || this.#annotator.state.get().tool !== "select") return;
    const hit = this.#layers.suggestions.hitsAt(place.x, place.y).find(({ mark }) => mark.id === selected);
    if (!hit) return;
    this.#drag = { pointerId: event.pointerId, from: place, mark: /** @type {Suggestion} */ (hit.mark), part: hit.part };
    this.#root.setPointerCapture(event.pointerId);
    event.stopPropagation();
  }

  /** @param {PointerEvent} event */
  #move(event) {
    if (!this.#drag || event.pointerId !== this.#drag.pointerId) return;
    event.stopPropagation();
    const place = this.#placeOf(event, "anywhere");
    if (place && !isClick(this.#drag.from, place)) this.#suggester.state.update((now) => ({ ...now, draft: this.#draftAt(place) }));
  }

  /** @param {PointerEvent} event */
  #up(event) {
    const [drag, pressed] = [this.#drag, this.#pressed];
    const place = this.#placeOf(event, "anywhere");
    if (drag && place && event.pointerId === drag.pointerId) {
      event.stopPropagation();
      const draft = this.#draftAt(place);
      this.#drag = null;
      if (draft && !isClick(drag.from, place)) this.#suggester.correct(draft);
    } else if (pressed && place && isClick(pressed, place)) this.#click(place);
    this.#pressed = null;
  }

  /** @param {Place} place */
  #click({ x, y }) {
    if (this.#annotator.state.get().tool !== "select" || this.#layers.marks.hitsAt(x, y).length) return this.#suggester.select(null);
    this.#suggester.select(this.#layers.suggestions.hitsAt(x, y)[0]?.mark.id ?? null);
  }

  /** @param {Place} place */
  #draftAt(place) {
    if (!this.#drag) return null;
    const { mark, part, from } = this.#drag;
    return edited(mark, part, { candles: place.position - from.position, price: place.price - from.price }, this.#view.window);
  }

  #giveUp() {
    if (this.#drag) this.#suggester.state.update((now) => ({ ...now, draft: null }));
    this.#drag = null;
    this.#pressed = null;
  }

  /** @param {Event} event */
  #keepFromChart(event) {
    if (!this.#drag) return;
    event.stopPropagation();
    if (event.cancelable) event.preventDefault();
  }

  /**
   * @param {PointerEvent} event
   * @param {"anywhere"} [where] also outside of the pane
   * @returns {Place | null}
   */
  #placeOf(event, where) {
    const box = this.#canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const { width, height } = this.#view.chart.paneSize();
    const isInside = x >= 0 && y >= 0 && x < width && y < height;
    if (where !== "anywhere" && !isInside) return null;
    const [position, price] = [this.#view.chart.xToPosition(x), this.#view.yToPrice(Math.min(height, Math.max(0, y)))];
    return position === null || price === null || !this.#view.window.length ? null : { x, y, position, price };
  }
}

/**
 * @param {Place} one
 * @param {Place} other
 */
function isClick(one, other) {
  return Math.hypot(one.x - other.x, one.y - other.y) < CLICK_PX;
}
