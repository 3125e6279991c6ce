// Draws every annotation in view, as one primitive of the chart.

import { hitsAt, shapeOf } from "../model/mark-shapes.js";
import { MarkIndex } from "../model/mark-index.js";
import { paintBack, paintFront } from "./mark-paint.js";

/** @typedef {import("../model/annotation.js").Annotation} Annotation */
/** @typedef {import("../model/mark-shapes.js").Shape} Shape */

/**
 * @typedef {object} LayerState
 * @property {MarkIndex} index
 * @property {Map<string, string>} colours of the labels, by name
 * @property {string | null} selected
 * @property {Annotation | null} draft the one being drawn or dragged; stands in for the stored one
 * @property {number | null} pendingTime where a span or trade was begun by key
 * @property {boolean} hidden
 */

/** The annotations' primitive. */
export class MarkLayer {
  #view;
  /** @type {LayerState} */
  #state = { index: new MarkIndex(), colours: new Map(), selected: null, draft: null, pendingTime: null, hidden: false };
  /** @type {Shape[]} as painted last */
  #shapes = [];
  #views;

  /** @param {import("./chart-view.js").ChartView} view */
  constructor(view) {
    this.#view = view;
    /** @type {(paint: (context: CanvasRenderingContext2D, size: {width: number, height: number}) => void) => any} */
    const renderer = (paint) => ({
      draw: (/** @type {any} */ target) =>
        target.useMediaCoordinateSpace((/** @type {any} */ { context, mediaSize }) => paint(context, mediaSize)),
    });
    const back = renderer((context, size) => this.#paintBack(context, size));
    const front = renderer((context, size) => this.#paintFront(context, size));
    this.#views = [
      { zOrder: () => "bottom", renderer: () => back },
      { zOrder: () => "top", renderer: () => front },
    ];
    view.addPrimitive(/** @type {any} */ ({ paneViews: () => this.#views }));
  }

  /** @param {Partial<LayerState>} part */
  set(part) {
    this.#state = { ...this.#state, ...part };
    this.#view.repaint();
  }

  /** How many annotations are painted. */
  get painted() {
    return this.#shapes.length;
  }

  /**
   * @param {number} x
   * @param {number} y
   */
  hitsAt(x, y) {
    return this.#state.hidden ? [] : hitsAt(this.#shapes, x, y, this.#state.selected);
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {{width: number, height: number}} size
   */
  #paintBack(context, size) {
    this.#shapes = this.#shapesInView(size.height);
    for (const shape of this.#shapes) paintBack(context, shape, this.#look(shape), size);
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {{width: number, height: number}} size
   */
  #paintFront(context, size) {
    for (const shape of this.#shapes) paintFront(context, shape, this.#look(shape), size);
    const { pendingTime } = this.#state;
    const x = pendingTime === null ? null : this.#view.timeToX(pendingTime);
    if (x === null) return;
    context.setLineDash([4, 4]);
    context.strokeStyle = this.#look(null).colour;
    context.strokeRect(x - this.#view.candleWidth() / 2, -2, 0, size.height + 4);
    context.setLineDash([]);
  }

  /** @param {Shape | null} shape */
  #look(shape) {
    const { colours, selected, draft } = this.#state;
    const id = shape?.mark.id ?? null;
    const colour = colours.get(shape?.mark.label ?? "") ?? "#8c8c8c";
    return { colour, selected: id !== null && (id === selected || id === draft?.id), crowded: this.#shapes.length > 80 };
  }

  /** @param {number} height */
  #shapesInView(height) {
    const range = this.#view.visible();
    const { index, draft, hidden } = this.#state;
    if (!range || (hidden && !draft)) return [];
    const stored = hidden ? [] : index.between(range.from, range.to);
    const placed = draft ? stored.filter(({ mark }) => mark.id !== draft.id) : stored;
    const lane = stored.find(({ mark }) => mark.id === draft?.id)?.lane ?? 0;
    if (draft) placed.push({ mark: draft, lane });
    const mapping = this.#mapping(height);
    return mapping ? placed.map((each) => shapeOf(each, mapping)).filter((shape) => shape !== null) : [];
  }

  /** @param {number} height */
  #mapping(height) {
    const first = this.#view.chart.positionToX(0);
    if (first === null) return null;
    const width = this.#view.candleWidth();
    return {
      window: this.#view.window,
      x: (/** @type {number} */ position) => first + position * width,
      y: (/** @type {number} */ price) => this.#view.priceToY(price),
      height,
    };
  }
}
