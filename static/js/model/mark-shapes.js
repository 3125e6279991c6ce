// Where annotations stand on the screen, and which part of which one is under the pointer.

/** @typedef {import("./annotation.js").Annotation} Annotation */
/** @typedef {import("./mark-index.js").Placed} Placed */
/** @typedef {import("./mark-edit.js").Part} Part */

/**
 * How times and prices become pixels.
 * @typedef {object} Mapping
 * @property {import("./candle-window.js").CandleWindow} window
 * @property {(position: number) => number} x
 * @property {(price: number) => number | null} y
 * @property {number} height of the pane, px
 */

/** @typedef {{mark: import("./annotation.js").Span, left: number, right: number, bandTop: number}} SpanShape */
/** @typedef {{mark: import("./annotation.js").Point, x: number, y: number}} PointShape */
/**
 * @typedef {{mark: import("./annotation.js").Trade, entryX: number, exitX: number, entryY: number, exitY: number,
 *   stopY: number | null, targetY: number | null}} TradeShape
 */
/** @typedef {SpanShape | PointShape | TradeShape} Shape */
/** @typedef {{mark: Annotation, part: Part}} Hit */

export const BAND_PX = 16;
const BAND_GAP_PX = 2;
const LEAST_SPAN_PX = 2;
const REACH_PX = 7;

/**
 * @param {Placed} placed
 * @param {Mapping} mapping
 * @returns {Shape | null} null where a price has no place on the scale
 */
export function shapeOf({ mark, lane }, mapping) {
  if (mark.kind === "span") return spanShape(mark, lane, mapping);
  if (mark.kind === "point") {
    const y = mapping.y(mark.price);
    return y === null ? null : { mark, x: candleX(mark.time, mapping), y };
  }
  const [entryY, exitY] = [mapping.y(mark.entry.price), mapping.y(mark.exit.price)];
  if (entryY === null || exitY === null) return null;
  return {
    mark,
    entryX: candleX(mark.entry.time, mapping),
    exitX: candleX(mark.exit.time, mapping),
    entryY,
    exitY,
    stopY: mark.stop === null ? null : mapping.y(mark.stop),
    targetY: mark.target === null ? null : mapping.y(mark.target),
  };
}

/**
 * Everything under a place, the smallest first; only the selected annotation has handles.
 * @param {Shape[]} shapes
 * @param {number} x
 * @param {number} y
 * @param {string | null} selectedId
 * @returns {Hit[]}
 */
export function hitsAt(shapes, x, y, selectedId) {
  const found = [];
  for (const shape of shapes) {
    const selected = shape.mark.id === selectedId;
    const part = (selected && handleAt(shape, x, y)) || (holds(shape, x, y) ? "body" : null);
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
function spanShape(mark, lane, { window, x, height }) {
  const left = x(window.positionOf(mark.start));
  const right = Math.max(x(window.positionOf(mark.end)), left + LEAST_SPAN_PX);
  return { mark, left, right, bandTop: height - (lane + 1) * (BAND_PX + BAND_GAP_PX) - BAND_GAP_PX };
}

/**
 * @param {Shape} shape
 * @param {number} x
 * @param {number} y
 * @returns {Part | null}
 */
function handleAt(shape, x, y) {
  if ("left" in shape) return edgeAt(shape, x);
  if ("x" in shape) return null;
  if (isNear(shape.exitX, shape.exitY, x, y)) return "exit";
  if (isNear(shape.entryX, shape.entryY, x, y)) return "entry";
  const [left, right] = [Math.min(shape.entryX, shape.exitX) - REACH_PX, Math.max(shape.entryX, shape.exitX) + REACH_PX];
  if (x < left || x > right) return null;
  if (shape.stopY !== null && Math.abs(y - shape.stopY) <= REACH_PX / 2) return "stop";
  return shape.targetY !== null && Math.abs(y - shape.targetY) <= REACH_PX / 2 ? "target" : null;
}

/**
 * @param {SpanShape} shape
 * @param {number} x
 * @returns {"start" | "end" | null}
 */
function edgeAt({ left, right }, x) {
  const inside = Math.min(REACH_PX, (right - left) / 3); // a narrow span keeps a middle to be moved by
  const isRight = x >= right - inside && x <= right + REACH_PX;
  if (isRight) return "end";
  return x >= left - REACH_PX && x <= left + inside ? "start" : null;
}

/**
 * @param {Shape} shape
 * @param {number} x
 * @param {number} y
 */
function holds(shape, x, y) {
  if ("left" in shape) return x >= shape.left - 1 && x <= shape.right + 1;
  if ("x" in shape) return isNear(shape.x, shape.y, x, y);
  const { entryX, exitX, entryY, exitY } = shape;
  const inX = x >= Math.min(entryX, exitX) - REACH_PX && x <= Math.max(entryX, exitX) + REACH_PX;
  return inX && y >= Math.min(entryY, exitY) - REACH_PX && y <= Math.max(entryY, exitY) + REACH_PX;
}

/** @param {Shape} shape */
function sizeOf(shape) {
  if ("left" in shape) return 1e6 + shape.right - shape.left;
  return "x" in shape ? 0 : 1 + Math.abs(shape.exitX - shape.entryX);
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
