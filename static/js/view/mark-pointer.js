// Drawing and dragging by mouse, pen and touch. Presses that belong to an annotation never reach the chart;
// all others do, so that panning, pinching and the wheel work everywhere.

import { FINGER_PX } from "../model/mark-shapes.js";

/** @typedef {import("../model/annotation.js").Annotation} Annotation */
/** @typedef {import("../model/mark-edit.js").Part} Part */
/** @typedef {{x: number, y: number, position: number, price: number}} Place */

/**
 * @typedef {object} Gesture
 * @property {number} pointerId
 * @property {Place} from
 * @property {{mark: Annotation, part: Part} | null} held null while drawing
 * @property {Annotation | null} draft
 */

const CLICK_PX = 4;
const DRAWN = /** @type {const} */ (["span", "trade", "trend_line", "chart_class"]); // by dragging
const CURSORS = { start: "ew-resize", end: "ew-resize", entry: "move", exit: "move", stop: "ns-resize", target: "ns-resize", body: "move" };

/** Listens on the chart's container in the capture phase. */
export class MarkPointer {
  #root;
  #view;
  #annotator;
  #layer;
  /** @type {Gesture | null} */
  #gesture = null;
  /** @type {{x: number, y: number} | null} where a press went to the chart; a click when it comes up there */
  #pressed = null;

  /**
   * @param {HTMLElement} root
   * @param {import("./chart-view.js").ChartView} view
   * @param {import("./annotator.js").Annotator} annotator
   * @param {import("./mark-layer.js").MarkLayer} layer
   */
  constructor(root, view, annotator, layer) {
    this.#root = root;
    this.#view = view;
    this.#annotator = annotator;
    this.#layer = layer;
    const early = { capture: true };
    root.addEventListener("pointerdown", (event) => this.#down(event), early);
    root.addEventListener("pointermove", (event) => this.#move(event), early);
    root.addEventListener("pointerup", (event) => this.#up(event), early);
    root.addEventListener("pointercancel", () => this.cancel(), early);
    for (const name of ["mousedown", "touchstart", "touchmove"]) {
      root.addEventListener(name, (event) => this.#keepFromChart(event), { capture: true, passive: false });
    }
  }

  /**
   * Give up the gesture under way.
   * @returns {boolean} whether there was one
   */
  cancel() {
    const had = this.#gesture !== null;
    this.#gesture = null;
    this.#pressed = null;
    this.#layer.set({ draft: null });
    return had;
  }

  /** @param {PointerEvent} event */
  #down(event) {
    if (this.#gesture) return void this.cancel(); // a second finger: the chart may pinch
    getSelection()?.removeAllRanges(); // of text: what is copied next is an annotation
    const place = event.button === 0 && event.isPrimary ? this.#placeOf(event) : null;
    this.#pressed = place;
    if (!place) return;
    const held = this.#heldAt(place, event.pointerType === "touch" ? FINGER_PX : undefined);
    const { tool } = this.#annotator.state.get();
    const draws = !held && DRAWN.some((each) => each === tool);
    if (!held && !draws) return;
    this.#gesture = { pointerId: event.pointerId, from: place, held, draft: null };
    this.#root.setPointerCapture(event.pointerId);
    event.stopPropagation();
  }

  /** @param {PointerEvent} event */
  #move(event) {
    if (!this.#gesture) return this.#showCursor(event);
    if (event.pointerId !== this.#gesture.pointerId) return;
    if (event.buttons === 0) return void this.cancel(); // it came up where nobody could hear of it, as in another window
    const place = this.#placeOf(event, "anywhere");
    if (!place) return;
    this.#gesture.draft = this.#draftAt(this.#gesture, place);
    this.#layer.set({ draft: this.#gesture.draft }); // the chart paints it in its next frame, however many moves come before
  }

  /** @param {PointerEvent} event */
  #up(event) {
    const [gesture, pressed] = [this.#gesture, this.#pressed];
    this.#pressed = null;
    if (gesture && gesture.pointerId !== event.pointerId) return;
    const place = this.#placeOf(event, "anywhere");
    const from = gesture?.from ?? pressed;
    if (!place || !from) return;
    this.#gesture = null;
    const isClick = Math.hypot(place.x - from.x, place.y - from.y) < CLICK_PX;
    if (isClick) this.#click(place, event.shiftKey || event.ctrlKey || event.metaKey);
    else if (gesture) this.#finish(this.#draftAt(gesture, place), gesture.held !== null);
    this.#layer.set({ draft: null });
  }

  /**
   * @param {Annotation | null} draft
   * @param {boolean} wasHeld
   */
  #finish(draft, wasHeld) {
    if (!wasHeld) this.#annotator.putDrawn(draft);
    else this.#annotator.put(draft);
  }

  /**
   * @param {Place} place
   * @param {boolean} adds to the selection
   */
  #click(place, adds) {
    const { tool, selected } = this.#annotator.state.get();
    if (tool === "point" || tool === "level") {
      const time = this.#view.window.openAt(place.position);
      return this.#annotator.putDrawn(this.#annotator.spotDraft(tool, { time, price: place.price }));
    }
    const ids = this.#layer.hitsAt(place.x, place.y).map(({ mark }) => mark.id);
    if (adds) return void (ids[0] && this.#annotator.toggle(ids[0]));
    const next = ids[(ids.indexOf(selected ?? "") + 1) % ids.length]; // a further click reaches what lies below
    if (next || tool === "select") this.#annotator.select(next ?? null);
  }

  /**
   * What of the selected annotation is under a press.
   * @param {Place} place
   * @param {number} [reach]
   */
  #heldAt({ x, y }, reach) {
    const { tool, selected } = this.#annotator.state.get();
    const hit = this.#layer.hitsAt(x, y, reach).find(({ mark }) => mark.id === selected);
    const isBody = hit?.part === "body";
    return hit && !(isBody && tool !== "select") ? hit : null;
  }

  /**
   * @param {Gesture} gesture
   * @param {Place} place
   * @returns {Annotation | null}
   */
  #draftAt({ held, from, draft }, place) {
    if (held) {
      const moved = { candles: place.position - from.position, price: place.price - from.price };
      return withDecimals(this.#annotator.dragged(held.mark, held.part, moved), this.#view.decimals);
    }
    const drawn = this.#drawn(from, place);
    return drawn && draft ? { ...drawn, id: draft.id } : drawn;
  }

  /**
   * @param {Place} from
   * @param {Place} to
   */
  #drawn(from, to) {
    const { tool } = this.#annotator.state.get();
    const { window } = this.#view;
    if (tool !== "trade" && tool !== "trend_line") return this.#annotator.spanDraft(from.position, to.position, tool === "chart_class" ? tool : "span");
    const [one, other] = [from, to].map(({ position, price }) => ({ time: window.openAt(position), price }));
    if (one.time === other.time) return null; // a drag that slipped; the keys enter and leave a trade on one candle
    return this.#annotator.pairDraft(tool, one, other);
  }

  /** @param {PointerEvent} event */
  #showCursor(event) {
    const place = this.#placeOf(event);
    const { tool, selected } = this.#annotator.state.get();
    const held = place && this.#heldAt(place);
    const isOver = place && tool === "select" && this.#layer.hitsAt(place.x, place.y).some(({ mark }) => mark.id !== selected);
    const cursor = held ? CURSORS[held.part] : !place ? "" : isOver ? "pointer" : tool === "select" ? "" : "crosshair";
    if (this.#root.style.getPropertyValue("--cursor") !== cursor) this.#root.style.setProperty("--cursor", cursor);
    this.#root.classList.toggle("has-cursor", cursor !== "");
  }

  /** @param {Event} event */
  #keepFromChart(event) {
    if (!this.#gesture) return;
    event.stopPropagation();
    if (event.cancelable) event.preventDefault();
  }

  /**
   * @param {PointerEvent} event
   * @param {"inside" | "anywhere"} [where] inside the pane of the candles, or moved into it
   * @returns {Place | null}
   */
  #placeOf(event, where = "inside") {
    const box = this.#root.getBoundingClientRect();
    const size = this.#view.chart.paneSize();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    if (where === "inside" && (x < 0 || y < 0 || x >= size.width || y >= size.height)) return null;
    const [position, price] = [this.#view.chart.xToPosition(x), this.#view.yToPrice(Math.min(size.height, Math.max(0, y)))];
    return position === null || price === null || this.#view.window.length === 0 ? null : { x, y, position, price };
  }
}

/**
 * Prices as the instrument writes them, after sums of floats.
 * @template {Annotation} A
 * @param {A} mark
 * @param {number} decimals
 * @returns {A}
 */
function withDecimals(mark, decimals) {
  /** @param {number} price */
  const rounded = (price) => Number(price.toFixed(decimals));
  /** @param {import("../model/annotation.js").Anchor} anchor */
  const at = ({ time, price }) => ({ time, price: rounded(price) });
  if (mark.kind === "point" || mark.kind === "level") return { ...mark, price: rounded(mark.price) };
  if (mark.kind === "trend_line") return { ...mark, start: at(mark.start), end: at(mark.end) };
  if (mark.kind !== "trade") return mark;
  const { entry, exit, stop, target } = mark;
  return { ...mark, entry: at(entry), exit: at(exit), stop: stop === null ? null : rounded(stop), target: target === null ? null : rounded(target) };
}
