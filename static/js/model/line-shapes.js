// Levels, trend lines and classes on the screen: what is drawn of each, and how far the pointer is from it.

/** @typedef {import("./mark-shapes.js").Mapping} Mapping */
/** @typedef {{mark: import("./annotation.js").Level, fromX: number, toX: number, y: number}} LevelShape */
/** @typedef {{mark: import("./annotation.js").TrendLine, startX: number, startY: number, endX: number, endY: number, fromX: number, toX: number}} LineShape */
/** @typedef {{mark: import("./annotation.js").CandleClass, cellLeft: number, cellRight: number, cellTop: number}} CellShape */
/** @typedef {{mark: import("./annotation.js").ChartClass, barLeft: number, barRight: number, barTop: number}} BarShape */

export const CELL_PX = 10;
const BAR_TOP_PX = 44; // below the read-out; stretches stand below the class of the whole chart
export const BAR_PX = 16;
const LEAST_PX = 2;

/**
 * @param {import("./annotation.js").Level} mark
 * @param {Mapping} mapping
 * @param {(time: number) => number} candleX
 * @returns {LevelShape | null}
 */
export function levelShape(mark, { window, x, y, width }, candleX) {
  const at = y(mark.price);
  if (at === null) return null;
  const fromX = mark.time === null ? 0 : candleX(mark.time);
  return { mark, fromX, toX: mark.until === null ? width : x(window.positionOf(mark.until)), y: at };
}

/**
 * @param {import("./annotation.js").TrendLine} mark
 * @param {Mapping} mapping
 * @param {(time: number) => number} candleX
 * @returns {LineShape | null}
 */
export function trendShape(mark, { y, width }, candleX) {
  const [startY, endY] = [y(mark.start.price), y(mark.end.price)];
  if (startY === null || endY === null) return null;
  const [startX, endX] = [candleX(mark.start.time), candleX(mark.end.time)];
  const goesOn = endX > startX; // both ends in one coarser candle: there is no slope to follow
  const fromX = goesOn && (mark.extend === "left" || mark.extend === "both") ? Math.min(0, startX) : startX;
  const toX = goesOn && (mark.extend === "right" || mark.extend === "both") ? Math.max(width, endX) : endX;
  return { mark, startX, startY, endX, endY, fromX, toX };
}

/**
 * @param {import("./annotation.js").CandleClass} mark
 * @param {Mapping} mapping
 * @returns {CellShape}
 */
export function cellShape(mark, { window, x, height }) {
  const cellLeft = x(window.positionOf(mark.start));
  return { mark, cellLeft, cellRight: Math.max(x(window.positionOf(mark.end)), cellLeft + LEAST_PX), cellTop: height - CELL_PX };
}

/**
 * @param {import("./annotation.js").ChartClass} mark
 * @param {Mapping} mapping
 * @returns {BarShape}
 */
export function barShape(mark, { window, x, width, top = BAR_TOP_PX }) {
  if (mark.start === null || mark.end === null) return { mark, barLeft: 0, barRight: width, barTop: top };
  const barLeft = x(window.positionOf(mark.start));
  return { mark, barLeft, barRight: Math.max(x(window.positionOf(mark.end)), barLeft + LEAST_PX), barTop: top + BAR_PX + 2 };
}

/**
 * y of a trend line at an x, also past its ends.
 * @param {LineShape} shape
 * @param {number} x
 */
export function lineYAt({ startX, startY, endX, endY }, x) {
  return endX === startX ? startY : startY + ((endY - startY) * (x - startX)) / (endX - startX);
}

/**
 * Distance of a point from the drawn part of a trend line, px.
 * @param {LineShape} shape
 * @param {number} x
 * @param {number} y
 */
export function lineDistance(shape, x, y) {
  const [fromX, toX] = [shape.fromX, shape.toX];
  const [fromY, toY] = shape.startX === shape.endX ? [shape.startY, shape.endY] : [lineYAt(shape, fromX), lineYAt(shape, toX)];
  const [dx, dy] = [toX - fromX, toY - fromY];
  const length = dx * dx + dy * dy;
  const share = length === 0 ? 0 : Math.min(1, Math.max(0, ((x - fromX) * dx + (y - fromY) * dy) / length));
  return Math.hypot(x - fromX - share * dx, y - fromY - share * dy);
}
