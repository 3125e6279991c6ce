// Strokes of levels, trend lines, candle classes and chart classes.

import { isDraft } from "../model/annotation.js";
import { faint, textOn } from "../model/colour.js";
import { BAR_PX, CELL_PX, lineYAt } from "../model/line-shapes.js";
import { nameText } from "../model/mark-text.js";
import { chartColours } from "./colours.js";
import { addTag, clipped, line, paintHandle } from "./mark-brush.js";

/** @typedef {import("./mark-paint.js").Look} Look */
/** @typedef {import("./mark-paint.js").Size} Size */

const LEAST_TEXT_PX = 14;

/**
 * @param {CanvasRenderingContext2D} context
 * @param {import("../model/line-shapes.js").LevelShape} shape
 * @param {Look} look
 * @param {Size} size
 */
export function paintLevel(context, { mark, fromX, toX, y }, look, size) {
  const { colour, selected, crowded } = look;
  pen(context, mark, colour, selected);
  line(context, Math.max(fromX, -2), y, Math.min(toX, size.width + 2), y);
  context.setLineDash([]);
  if (!crowded || selected) addTag(context, nameText(mark), { x: Math.min(toX, size.width) - 4, y: y - 10, gap: 0 }, look, { ...size, width: Math.min(toX, size.width) });
  if (selected) paintHandle(context, Math.min(size.width - 12, Math.max(12, (fromX + toX) / 2)), y, colour);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {import("../model/line-shapes.js").LineShape} shape
 * @param {Look} look
 * @param {Size} size
 */
export function paintLine(context, shape, look, size) {
  const { colour, selected, crowded } = look;
  const { mark, startX, startY, endX, endY, fromX, toX } = shape;
  pen(context, mark, colour, selected);
  if (fromX < startX || toX > endX) line(context, fromX, lineYAt(shape, fromX), toX, lineYAt(shape, toX));
  else line(context, startX, startY, endX, endY);
  context.setLineDash([]);
  if (!crowded || selected) addTag(context, nameText(mark), { x: endX, y: endY, gap: 8 }, look, size);
  if (!selected) return;
  paintHandle(context, startX, startY, colour);
  paintHandle(context, endX, endY, colour);
}

/**
 * A class of candles: a cell at the foot of the pane.
 * @param {CanvasRenderingContext2D} context
 * @param {import("../model/line-shapes.js").CellShape} shape
 * @param {Look} look
 */
export function paintCell(context, { mark, cellLeft, cellRight, cellTop }, { colour, selected }) {
  const gap = cellRight - cellLeft > 4 ? 1 : 0;
  context.fillStyle = isDraft(mark) ? faint(colour, 0.5) : colour;
  context.fillRect(cellLeft, cellTop, cellRight - cellLeft - gap, CELL_PX - 1);
  if (!selected) return;
  context.strokeStyle = chartColours().strong;
  context.lineWidth = 2;
  context.strokeRect(cellLeft, cellTop - 1, cellRight - cellLeft - gap, CELL_PX);
}

/**
 * A class of the chart or of a stretch of it: a bar with its name near the top.
 * @param {CanvasRenderingContext2D} context
 * @param {import("../model/line-shapes.js").BarShape} shape
 * @param {Look} look
 * @param {Size} size
 */
export function paintBar(context, { mark, barLeft, barRight, barTop }, { colour, selected }, { width }) {
  const [left, right] = [Math.max(barLeft, 0), Math.min(barRight, width)];
  if (right - left < 1) return;
  context.fillStyle = faint(colour, isDraft(mark) ? 0.4 : 0.8);
  context.fillRect(left, barTop + BAR_PX - 3, right - left, 3);
  const name = clipped(context, mark.start === null ? `Chart: ${nameText(mark)}` : nameText(mark), right - left - 8);
  if (right - left - 8 >= LEAST_TEXT_PX) {
    context.fillStyle = colour;
    context.fillRect(left, barTop, context.measureText(name).width + 8, BAR_PX);
    context.fillStyle = textOn(colour);
    context.fillText(name, left + 4, barTop + BAR_PX / 2 + 0.5);
  }
  if (!selected) return;
  context.strokeStyle = colour;
  context.lineWidth = 2;
  context.strokeRect(left, barTop, right - left, BAR_PX);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {import("../model/annotation.js").Annotation} mark
 * @param {string} colour
 * @param {boolean} selected
 */
function pen(context, mark, colour, selected) {
  context.strokeStyle = colour;
  context.lineWidth = selected ? 2.5 : 1.5;
  context.setLineDash(isDraft(mark) ? [6, 4] : []);
}
