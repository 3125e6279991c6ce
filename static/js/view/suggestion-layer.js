// Draws suggestions: dashed, faint, with class and probability, so that none can be taken for a person's mark.

import { faint } from "../model/colour.js";
import { BAND_PX, hitsAt, shapeOf } from "../model/mark-shapes.js";
import { suggestionText } from "../model/suggestion.js";
import { chartColours } from "./colours.js";

/** @typedef {import("../model/suggestion.js").Suggestion} Suggestion */
/** @typedef {import("../model/mark-shapes.js").Shape} Shape */

/**
 * @typedef {object} GhostState
 * @property {Suggestion[]} items
 * @property {Suggestion | null} draft the selected one as it is being corrected
 * @property {string | null} selected
 * @property {Map<string, string>} colours of the labels, by name
 * @property {boolean} hidden
 */

const FONT = "italic 11px system-ui, sans-serif";
const DASH = [5, 4];
const HANDLE_PX = 8;
const LEAST_TEXT_PX = 18;
const DOT_PX = 5;
const CROWD = 80;

/** The suggestions' primitive. */
export class SuggestionLayer {
  #view;
  /** @type {GhostState} */
  #state = { items: [], draft: null, selected: null, colours: new Map(), hidden: false };
  /** @type {Shape[]} as painted last */
  #shapes = [];

  /** @param {import("./chart-view.js").ChartView} view */
  constructor(view) {
    this.#view = view;
    const renderer = {
      draw: (/** @type {any} */ target) =>
        target.useMediaCoordinateSpace((/** @type {any} */ { context, mediaSize }) => this.#paint(context, mediaSize)),
    };
    const views = [{ zOrder: () => "top", renderer: () => renderer }];
    view.addPrimitive(/** @type {any} */ ({ paneViews: () => views }));
  }

  /** @param {Partial<GhostState>} part */
  set(part) {
    this.#state = { ...this.#state, ...part };
    this.#view.repaint();
  }

  /** How many are painted. */
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
  #paint(context, size) {
    this.#shapes = this.#shapesInView(size);
    context.save();
    context.font = FONT;
    context.textBaseline = "middle";
    const crowded = this.#shapes.length > CROWD;
    for (const shape of this.#shapes) paintShape(context, shape, this.#look(shape, crowded), size);
    context.restore();
  }

  /**
   * @param {Shape} shape
   * @param {boolean} crowded
   */
  #look(shape, crowded) {
    const { colours, selected } = this.#state;
    return { colour: colours.get(shape.mark.label) ?? "#8c8c8c", selected: shape.mark.id === selected, crowded };
  }

  /** @param {{width: number, height: number}} size */
  #shapesInView(size) {
    const range = this.#view.visible();
    const { items, draft, selected, hidden } = this.#state;
    const first = this.#view.chart.positionToX(0);
    if (!range || hidden || first === null) return [];
    const width = this.#view.candleWidth();
    const mapping = {
      window: this.#view.window,
      x: (/** @type {number} */ position) => first + position * width,
      y: (/** @type {number} */ price) => this.#view.priceToY(price),
      ...size,
    };
    const shown = items.map((item) => (draft && item.id === selected ? draft : item));
    const shapes = shown.map((mark) => shapeOf({ mark, lane: 0 }, mapping)).filter((shape) => shape !== null);
    return shapes.filter((shape) => isInView(shape, size.width));
  }
}

/**
 * @param {Shape} shape
 * @param {number} width
 */
function isInView(shape, width) {
  if ("left" in shape) return shape.right >= 0 && shape.left <= width;
  const [from, to] = "entryX" in shape ? [shape.entryX, shape.exitX] : "x" in shape ? [shape.x, shape.x] : [0, width];
  return to >= 0 && from <= width;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Shape} shape
 * @param {{colour: string, selected: boolean, crowded: boolean}} look
 * @param {{width: number, height: number}} size
 */
function paintShape(context, shape, look, size) {
  const text = suggestionText(/** @type {Suggestion} */ (shape.mark));
  context.strokeStyle = look.colour;
  context.lineWidth = look.selected ? 2 : 1;
  context.setLineDash(DASH);
  if ("bandTop" in shape) paintSpan(context, shape, text, look, size);
  else if ("entryX" in shape) paintTrade(context, shape, text, look);
  else if ("x" in shape && "y" in shape) paintPoint(context, shape, text, look);
  context.setLineDash([]);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {import("../model/mark-shapes.js").SpanShape} shape
 * @param {string} text
 * @param {{colour: string, selected: boolean, crowded: boolean}} look
 * @param {{width: number, height: number}} size
 */
function paintSpan(context, { left, right, bandTop }, text, { colour, selected, crowded }, { width, height }) {
  const [from, to] = [Math.max(left, -2), Math.min(right, width + 2)];
  context.fillStyle = faint(colour, selected ? 0.2 : 0.06);
  context.fillRect(from, 0, to - from, height);
  context.fillStyle = chartColours().background;
  context.fillRect(from, bandTop, to - from, BAND_PX);
  context.fillStyle = faint(colour, selected ? 0.5 : 0.18);
  context.fillRect(from, bandTop, to - from, BAND_PX);
  context.strokeRect(from + 0.5, bandTop + 0.5, to - from - 1, BAND_PX - 1);
  if (!crowded || selected) {
    line(context, left, 0, left, bandTop);
    line(context, right, 0, right, bandTop);
  }
  const room = to - Math.max(left, 0) - 8;
  if (room >= LEAST_TEXT_PX) write(context, text, Math.max(left, 0) + 4, bandTop + BAND_PX / 2 + 0.5, room);
  if (!selected) return;
  for (const x of [left, right]) handle(context, x, height / 2, colour);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {import("../model/mark-shapes.js").TradeShape} shape
 * @param {string} text
 * @param {{colour: string, selected: boolean, crowded: boolean}} look
 */
function paintTrade(context, { entryX, entryY, exitX, exitY }, text, { colour, selected, crowded }) {
  context.fillStyle = faint(colour, selected ? 0.2 : 0.07);
  context.fillRect(entryX, entryY, exitX - entryX, exitY - entryY);
  context.strokeRect(entryX, entryY, exitX - entryX, exitY - entryY);
  if (!crowded || selected) write(context, text, exitX + 8, exitY);
  if (!selected) return;
  handle(context, entryX, entryY, colour);
  handle(context, exitX, exitY, colour);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {import("../model/mark-shapes.js").PointShape} shape
 * @param {string} text
 * @param {{colour: string, selected: boolean, crowded: boolean}} look
 */
function paintPoint(context, { x, y }, text, { colour, selected, crowded }) {
  const radius = selected ? DOT_PX + 3 : DOT_PX;
  context.fillStyle = faint(colour, 0.25);
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fill();
  context.setLineDash([2, 2]);
  context.stroke();
  if (!crowded || selected) write(context, text, x + radius + 4, y);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {number} y
 * @param {string} colour
 */
function handle(context, x, y, colour) {
  context.setLineDash([]);
  context.fillStyle = chartColours().background;
  context.strokeStyle = colour;
  context.fillRect(x - HANDLE_PX / 2, y - HANDLE_PX / 2, HANDLE_PX, HANDLE_PX);
  context.strokeRect(x - HANDLE_PX / 2, y - HANDLE_PX / 2, HANDLE_PX, HANDLE_PX);
  context.setLineDash(DASH);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {string} text
 * @param {number} x
 * @param {number} y
 * @param {number} [room] px; the probability goes first where there is too little
 */
function write(context, text, x, y, room = Infinity) {
  context.fillStyle = chartColours().text;
  const short = text.split(" ").at(-1) ?? text;
  if (context.measureText(text).width <= room) context.fillText(text, x, y);
  else if (context.measureText(short).width <= room) context.fillText(short, x, y);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} fromX
 * @param {number} fromY
 * @param {number} toX
 * @param {number} toY
 */
function line(context, fromX, fromY, toX, toY) {
  context.beginPath();
  context.moveTo(fromX, fromY);
  context.lineTo(toX, toY);
  context.stroke();
}
