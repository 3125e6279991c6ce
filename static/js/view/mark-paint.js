// Strokes and fills of one annotation: behind the candles what covers an area, before them lines, bands and handles.

import { isDraft, tradeReturn } from "../model/annotation.js";
import { faint, textOn } from "../model/colour.js";
import { BAND_PX } from "../model/mark-shapes.js";
import { gainText, nameText } from "../model/mark-text.js";
import { chartColours } from "./colours.js";
import { addTag, clipped, line, paintHandle } from "./mark-brush.js";
import { paintBar, paintCell, paintLevel, paintLine } from "./mark-paint-lines.js";

/** @typedef {import("../model/mark-shapes.js").Shape} Shape */
/** @typedef {import("../model/mark-shapes.js").SpanShape} SpanShape */
/** @typedef {import("../model/mark-shapes.js").PointShape} PointShape */
/** @typedef {import("../model/mark-shapes.js").TradeShape} TradeShape */
/** @typedef {{colour: string, selected: boolean, crowded: boolean, worth?: string, tags: import("../model/tag-places.js").Tag[]}} Look worth: result of a trade as the server reckons it; tags: names to paint at the end */
/** @typedef {{width: number, height: number}} Size */

const FONT = "11px system-ui, sans-serif";
const DOT_PX = 4;
const LEAST_TEXT_PX = 14;

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Shape} shape
 * @param {Look} look
 * @param {Size} size
 */
export function paintBack(context, shape, { colour, selected, crowded }, { width, height }) {
  if ("left" in shape) {
    const left = Math.max(shape.left, -2);
    context.fillStyle = faint(colour, selected ? 0.24 : crowded ? 0.04 : 0.13);
    context.fillRect(left, 0, Math.min(shape.right, width + 2) - left, height);
  } else if ("entryX" in shape) {
    const gain = tradeReturn(shape.mark);
    const { up, down } = chartColours();
    context.fillStyle = faint(gain !== null && gain < 0 ? down : up, selected ? 0.26 : 0.16);
    context.fillRect(shape.entryX, shape.entryY, shape.exitX - shape.entryX, shape.exitY - shape.entryY);
  }
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Shape} shape
 * @param {Look} look
 * @param {Size} size
 */
export function paintFront(context, shape, look, size) {
  context.font = FONT;
  context.textBaseline = "middle";
  if ("left" in shape) paintSpan(context, shape, look, size);
  else if ("x" in shape) paintPoint(context, shape, look, size);
  else if ("entryX" in shape) paintTrade(context, shape, look, size);
  else if ("startX" in shape) paintLine(context, shape, look, size);
  else if ("fromX" in shape) paintLevel(context, shape, look, size);
  else if ("cellLeft" in shape) paintCell(context, shape, look);
  else paintBar(context, shape, look, size);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {SpanShape} shape
 * @param {Look} look
 * @param {Size} size
 */
function paintSpan(context, { mark, left, right, bandTop }, { colour, selected, crowded }, { width, height }) {
  const shownLeft = Math.max(left, 0);
  const shownRight = Math.min(right, width);
  context.fillStyle = isDraft(mark) ? faint(colour, 0.55) : colour;
  context.fillRect(shownLeft, bandTop, shownRight - shownLeft, BAND_PX);
  const room = shownRight - shownLeft - 8;
  if (room >= LEAST_TEXT_PX) {
    context.fillStyle = isDraft(mark) ? chartColours().strong : textOn(colour);
    context.fillText(clipped(context, nameText(mark), room), shownLeft + 4, bandTop + BAND_PX / 2 + 0.5);
  }
  if (crowded && !selected) return; // hundreds of edges would hide the candles; the bands still tell the spans apart
  context.fillStyle = faint(colour, selected ? 1 : 0.55);
  const thick = selected ? 2 : 1;
  context.fillRect(left, 0, thick, height);
  context.fillRect(right - thick, 0, thick, height);
  if (!selected) return;
  for (const x of [left, right]) paintHandle(context, x, height / 2, colour);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {PointShape} shape
 * @param {Look} look
 * @param {Size} size
 */
function paintPoint(context, { mark, x, y }, look, size) {
  const { colour, selected, crowded } = look;
  const { background, text } = chartColours();
  const radius = selected ? DOT_PX + 2 : DOT_PX;
  context.beginPath();
  context.moveTo(x, y - radius - 1);
  context.lineTo(x + radius + 1, y);
  context.lineTo(x, y + radius + 1);
  context.lineTo(x - radius - 1, y);
  context.closePath();
  context.fillStyle = colour;
  context.fill();
  context.lineWidth = selected ? 2 : 1;
  context.strokeStyle = selected ? text : background;
  context.stroke();
  if (!crowded || selected) addTag(context, nameText(mark), { x, y, gap: radius + 6 }, look, size);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {TradeShape} shape
 * @param {Look} look
 * @param {Size} size
 */
function paintTrade(context, shape, look, size) {
  const { colour, selected, crowded, worth } = look;
  const { mark, entryX, exitX, entryY, exitY, stopY, targetY } = shape;
  const { up, down } = chartColours();
  context.strokeStyle = colour;
  context.lineWidth = selected ? 2 : 1.5;
  context.setLineDash([5, 3]);
  line(context, entryX, entryY, exitX, exitY);
  context.setLineDash([]);
  if (stopY !== null) paintLimit(context, entryX, exitX, stopY, "stop", down);
  if (targetY !== null) paintLimit(context, entryX, exitX, targetY, "target", up);
  paintArrow(context, entryX, entryY, mark.side === "long" ? 1 : -1, colour);
  paintCross(context, exitX, exitY, colour);
  const title = `${nameText(mark)} ${worth ?? gainText(mark)}`.trim();
  if (!crowded || selected) addTag(context, title, { x: exitX, y: exitY, gap: 10 }, look, size);
  if (!selected) return;
  paintHandle(context, entryX, entryY, colour);
  paintHandle(context, exitX, exitY, colour);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} entryX
 * @param {number} exitX
 * @param {number} y
 * @param {string} title
 * @param {string} colour
 */
function paintLimit(context, entryX, exitX, y, title, colour) {
  context.strokeStyle = colour;
  context.lineWidth = 1;
  line(context, entryX, y, Math.max(exitX, entryX + 12), y);
  context.fillStyle = colour;
  context.fillText(title, entryX + 3, y - 7);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {number} y
 * @param {1 | -1} direction 1 points up
 * @param {string} colour
 */
function paintArrow(context, x, y, direction, colour) {
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(x - 6, y + direction * 10);
  context.lineTo(x + 6, y + direction * 10);
  context.closePath();
  context.fillStyle = colour;
  context.fill();
  context.lineWidth = 1;
  context.strokeStyle = chartColours().background;
  context.stroke();
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {number} y
 * @param {string} colour
 */
function paintCross(context, x, y, colour) {
  context.strokeStyle = colour;
  context.lineWidth = 2;
  line(context, x - 4, y - 4, x + 4, y + 4);
  line(context, x - 4, y + 4, x + 4, y - 4);
}
