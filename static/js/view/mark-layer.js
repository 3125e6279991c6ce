// Draws every annotation in view, as one primitive of the chart.

import { CELL_PX } from "../model/line-shapes.js";
import { hitsAt, shapeOf } from "../model/mark-shapes.js";
import { MarkIndex } from "../model/mark-index.js";
import { chartColours } from "./colours.js";
import { paintTags } from "./mark-brush.js";
import { paintBack, paintFront } from "./mark-paint.js";

/** @typedef {import("../model/annotation.js").Annotation} Annotation */
/** @typedef {import("../model/mark-shapes.js").Shape} Shape */

/**
 * @typedef {object} LayerState
 * @property {MarkIndex} index
 * @property {Map<string, string>} colours of the labels, by name
 * @property {readonly string[]} chosen ids of the selected ones
 * @property {string | null} selected the one that has handles
 * @property {Annotation | null} draft the one being drawn or dragged; stands in for the stored one
 * @property {number | null} pendingTime where a span or trade was begun by key
 * @property {boolean} hidden
 * @property {{from: number, to: number}[]} reviewed ranges that were looked through
 * @property {Map<string, string>} worth results of trades by id, in words
 */

const REVIEWED_PX = 3;
const CROWD = 80; // so many in view hide each other's edges and names

/** The annotations' primitive. */
export class MarkLayer {
  #view;
  /** @type {LayerState} */
  #state = { index: new MarkIndex(), colours: new Map(), chosen: [], selected: null, draft: null, pendingTime: null, hidden: false, reviewed: [], worth: new Map() };
  /** @type {Shape[]} as painted last */
  #shapes = [];
  /** @type {ReadonlySet<string>} */
  #chosen = new Set();
  #paints = 0;
  /** @type {Set<MarkLayer>} */
  #mirrors = new Set();
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

  /**
   * Let another pane's layer show the same.
   * @param {MarkLayer} other
   * @returns {() => void} ends it
   */
  mirror(other) {
    this.#mirrors.add(other);
    other.set({ ...this.#state, draft: null });
    return () => void this.#mirrors.delete(other);
  }

  /** @param {Partial<LayerState>} part */
  set(part) {
    this.#state = { ...this.#state, ...part };
    if (part.chosen) this.#chosen = new Set(part.chosen);
    for (const other of this.#mirrors) other.set(part);
    this.#view.repaint();
  }

  /** How many annotations are painted. */
  get painted() {
    return this.#shapes.length;
  }

  /** How often they were painted. */
  get paints() {
    return this.#paints;
  }

  /**
   * @param {number} x
   * @param {number} y
   * @param {number} [reach] px beside a handle that still take it
   */
  hitsAt(x, y, reach) {
    return this.#state.hidden ? [] : hitsAt(this.#shapes, x, y, this.#state.selected, reach);
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {{width: number, height: number}} size
   */
  #paintBack(context, size) {
    this.#shapes = this.#shapesInView(size);
    this.#paintReviewed(context, size);
    for (const shape of this.#shapes) paintBack(context, shape, this.#look(shape), size);
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {{width: number, height: number}} size
   */
  #paintFront(context, size) {
    this.#paints += 1;
    /** @type {import("../model/tag-places.js").Tag[]} */
    const tags = [];
    for (const shape of this.#shapes) paintFront(context, shape, this.#look(shape, tags), size);
    paintTags(context, tags, size);
    const { pendingTime } = this.#state;
    const x = pendingTime === null ? null : this.#view.timeToX(pendingTime);
    if (x === null) return;
    context.setLineDash([4, 4]);
    context.strokeStyle = this.#look(null).colour;
    context.strokeRect(x - this.#view.candleWidth() / 2, -2, 0, size.height + 4);
    context.setLineDash([]);
  }

  /**
   * Looked-through ranges: a line along the top of the pane.
   * @param {CanvasRenderingContext2D} context
   * @param {{width: number, height: number}} size
   */
  #paintReviewed(context, size) {
    const [mapping, range] = [this.#mapping(size), this.#view.visible()];
    if (!mapping || !range || this.#state.hidden) return;
    context.fillStyle = chartColours().ok;
    for (const { from, to } of this.#state.reviewed) {
      if (to <= range.from || from >= range.to) continue;
      const left = Math.max(-1, mapping.x(mapping.window.positionOf(from)));
      context.fillRect(left, 0, Math.min(size.width + 1, mapping.x(mapping.window.positionOf(to))) - left, REVIEWED_PX);
    }
  }

  /**
   * @param {Shape | null} shape
   * @param {import("../model/tag-places.js").Tag[]} [tags]
   */
  #look(shape, tags = []) {
    const { colours, draft, worth } = this.#state;
    const id = shape?.mark.id ?? "";
    const colour = colours.get(shape?.mark.label ?? "") ?? "#8c8c8c";
    return { colour, selected: this.#chosen.has(id) || id === draft?.id, crowded: this.#shapes.length > CROWD, worth: worth.get(id), tags };
  }

  /** @param {{width: number, height: number}} size */
  #shapesInView(size) {
    const range = this.#view.visible();
    const { index, draft, hidden } = this.#state;
    if (!range || (hidden && !draft)) return [];
    const stored = hidden ? [] : index.between(range.from, range.to);
    const placed = draft ? stored.filter(({ mark }) => mark.id !== draft.id) : stored;
    const lane = stored.find(({ mark }) => mark.id === draft?.id)?.lane ?? 0;
    if (draft) placed.push({ mark: draft, lane });
    const mapping = this.#mapping(size);
    return mapping ? placed.map((each) => shapeOf(each, mapping)).filter((shape) => shape !== null) : [];
  }

  /** @param {{width: number, height: number}} size */
  #mapping({ width, height }) {
    const first = this.#view.chart.positionToX(0);
    if (first === null) return null;
    const step = this.#view.candleWidth();
    return {
      window: this.#view.window,
      x: (/** @type {number} */ position) => first + position * step,
      y: (/** @type {number} */ price) => this.#view.priceToY(price),
      width,
      height,
      top: this.#view.headPx,
      floor: this.#state.index.has("candle_class") ? CELL_PX + 1 : 0,
    };
  }
}
