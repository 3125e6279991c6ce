// Where annotations stand on the screen, and which part of which one is under the pointer.

import { BAR_PX, barShape, CELL_PX, cellShape, levelShape, lineDistance, trendShape } from "./line-shapes.js";

/** @typedef {import("./annotation.js").Annotation} Annotation */
/** @typedef {import("./mark-index.js").Placed} Placed */
/** @typedef {import("./mark-edit.js").Part} Part */

/**
 * How times and prices become pixels.
 * @typedef {object} Mapping
 * @property {import("./candle-window.js").CandleWindow} window
 * @property {(position: number) => number} x
 * @property {(price: number) => number | null} y
 * @property {number} width of the pane, px
 * @property {number} height of the pane, px
 * @property {number} [top] px at the top that words stand in; the bars of chart classes stand below
 * @property {number} [floor] px at the bottom that candle classes fill; the spans' bands stand above
 */

/** @typedef {{mark: import("./annotation.js").Span, left: number, right: number, bandTop: number}} SpanShape */
/** @typedef {{mark: import("./annotation.js").Point, x: number, y: number}} PointShape */
/**
 * @typedef {{mark: import("./annotation.js").Trade, entryX: number, exitX: number, entryY: number, exitY: number,
 *   stopY: number | null, targetY: number | null}} TradeShape
 */
/** @typedef {import("./line-shapes.js").LevelShape} LevelShape */
/** @typedef {import("./line-shapes.js").LineShape} LineShape */
/** @typedef {import("./line-shapes.js").CellShape} CellShape */
/** @typedef {import("./line-shapes.js").BarShape} BarShape */
/** @typedef {SpanShape | PointShape | TradeShape | LevelShape | LineShape | CellShape | BarShape} Shape */
/** @typedef {{mark: Annotation, part: Part}} Hit */

export const BAND_PX = 16;
const BAND_GAP_PX = 2;
const LEAST_SPAN_PX = 2;
const REACH_PX = 7;
export const FINGER_PX = 18; // a finger meets a handle that it covers

/**
 * @param {Placed} placed
 * @param {Mapping} mapping
 * @returns {Shape | null} null where a price has no place on the scale
 */
export function shapeOf({ mark, lane }, mapping) {
  /** @param {number} time */
  const at = (time) => candleX(time, mapping);
  switch (mark.kind) {
    case "span":
      return spanShape(mark, lane, mapping);
    case "point": {
      const y = mapping.y(mark.price);
      return y === null ? null : { mark, x: at(mark.time), y };
    }
    case "trade":
      return tradeShape(mark, mapping, at);
    case "level":
      return levelShape(mark, mapping, at);
    case "trend_line":
      return trendShape(mark, mapping, at);
    case "candle_class":
      return cellShape(mark, mapping);
    case "chart_class":
      return barShape(mark, mapping);
  }
}

/**
 * @param {import("./annotation.js").Trade} mark
 * @param {Mapping} mapping
 * @param {(time: number) => number} at
 * @returns {TradeShape | null}
 */
function tradeShape(mark, mapping, at) {
  const [entryY, exitY] = [mapping.y(mark.entry.price), mapping.y(mark.exit.price)];
  if (entryY === null || exitY === null) return null;
  const stopY = mark.stop === null ? null : mapping.y(mark.stop);
  const targetY = mark.target === null ? null : mapping.y(mark.target);
  return { mark, entryX: at(mark.entry.time), exitX: at(mark.exit.time), entryY, exitY, stopY, targetY };
}

/**
 * Everything under a place, the smallest first; only the selected annotation has handles.
 * @param {Shape[]} shapes
 * @param {number} x
 * @param {number} y
 * @param {string | null} selectedId
 * @param {number} [reach] px beside a handle that still take it
 * @returns {Hit[]}
 */
export function hitsAt(shapes, x, y, selectedId, reach = REACH_PX) {
  const found = [];
  for (const shape of shapes) {
    const selected = shape.mark.id === selectedId;
    const part = (selected && handleAt(shape, x, y, reach)) || (holds(shape, x, y) ? "body" : null);
    if (part) found.push({ hit: { mark: shape.mark, part }, size: part === "body" ? sizeOf(shape) : -1 });
  }
  return found.sort((one, other) => one.size - other.size).map(({ hit }) => hit);
}

/**
 * Middle of the candle that holds a time.
 * @param {number} time
 * @param {Mapping} mapping
 */
function candleX(time, { window, x }) {
  const index = Math.floor(window.positionOf(time) + 0.5);
  const inGap = index > 0 && index < window.length && window.columns.time[index] > time;
  return x(inGap ? index - 1 : index);
}

/**
 * @param {import("./annotation.js").Span} mark
 * @param {number} lane
 * @param {Mapping} mapping
 * @returns {SpanShape}
 */
function spanShape(mark, lane, { window, x, height, floor = 0 }) {
  const left = x(window.positionOf(mark.start));
  const right = Math.max(x(window.positionOf(mark.end)), left + LEAST_SPAN_PX);
  return { mark, left, right, bandTop: height - floor - (lane + 1) * (BAND_PX + BAND_GAP_PX) - BAND_GAP_PX };
}

/**
 * @param {Shape} shape
 * @param {number} x
 * @param {number} y
 * @param {number} reach
 * @returns {Part | null}
 */
function handleAt(shape, x, y, reach) {
  const isAt = (/** @type {number} */ toX, /** @type {number} */ toY) => Math.hypot(toX - x, toY - y) <= reach + 2;
  if ("left" in shape) return edgeAt(shape, x, reach);
  if ("startX" in shape) return isAt(shape.endX, shape.endY) ? "end" : isAt(shape.startX, shape.startY) ? "start" : null;
  if ("barLeft" in shape) return isOnBar(shape, x, y) && shape.mark.start !== null ? edgeAt({ left: shape.barLeft, right: shape.barRight }, x, reach) : null;
  if (!("entryX" in shape)) return null;
  if (isAt(shape.exitX, shape.exitY)) return "exit";
  if (isAt(shape.entryX, shape.entryY)) return "entry";
  const [left, right] = [Math.min(shape.entryX, shape.exitX) - reach, Math.max(shape.entryX, shape.exitX) + reach];
  if (x < left || x > right) return null;
  if (shape.stopY !== null && Math.abs(y - shape.stopY) <= reach / 2) return "stop";
  return shape.targetY !== null && Math.abs(y - shape.targetY) <= reach / 2 ? "target" : null;
}

/**
 * @param {{left: number, right: number}} shape
 * @param {number} x
 * @param {number} reach
 * @returns {"start" | "end" | null}
 */
function edgeAt({ left, right }, x, reach) {
  const inside = Math.min(reach, (right - left) / 3); // a narrow span keeps a middle to be moved by
  const isRight = x >= right - inside && x <= right + reach;
  if (isRight) return "end";
  return x >= left - reach && x <= left + inside ? "start" : null;
}

/**
 * @param {Shape} shape
 * @param {number} x
 * @param {number} y
 */
function holds(shape, x, y) {
  if ("left" in shape) return x >= shape.left - 1 && x <= shape.right + 1;
  if ("x" in shape) return isNear(shape.x, shape.y, x, y);
  if ("startX" in shape) return lineDistance(shape, x, y) <= REACH_PX;
  if ("fromX" in shape) return Math.abs(y - shape.y) <= REACH_PX - 1 && x >= shape.fromX - REACH_PX && x <= shape.toX + REACH_PX;
  if ("cellLeft" in shape) return x >= shape.cellLeft && x < shape.cellRight && y >= shape.cellTop && y <= shape.cellTop + CELL_PX;
  if ("barLeft" in shape) return isOnBar(shape, x, y);
  const { entryX, exitX, entryY, exitY } = shape;
  const inX = x >= Math.min(entryX, exitX) - REACH_PX && x <= Math.max(entryX, exitX) + REACH_PX;
  return inX && y >= Math.min(entryY, exitY) - REACH_PX && y <= Math.max(entryY, exitY) + REACH_PX;
}

/**
 * @param {BarShape} shape
 * @param {number} x
 * @param {number} y
 */
function isOnBar({ barLeft, barRight, barTop }, x, y) {
  return x >= barLeft - 1 && x <= barRight + 1 && y >= barTop && y <= barTop + BAR_PX;
}

/** @param {Shape} shape what is smaller lies above: points, cells, lines and levels, trades, then what covers time */
function sizeOf(shape) {
  if ("left" in shape) return 1e6 + shape.right - shape.left;
  if ("barLeft" in shape) return 5e5 + shape.barRight - shape.barLeft;
  if ("entryX" in shape) return 10 + Math.abs(shape.exitX - shape.entryX);
  return "x" in shape ? 0 : "cellLeft" in shape ? 1 : 2;
}

/**
 * @param {number} toX
 * @param {number} toY
 * @param {number} x
 * @param {number} y
 */
function isNear(toX, toY, x, y) {
  return Math.hypot(toX - x, toY - y) <= REACH_PX + 2;
}
