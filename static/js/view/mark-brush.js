// The strokes that every kind of annotation is painted with: tags, handles, lines.

import { textOn } from "../model/colour.js";
import { BAND_PX } from "../model/mark-shapes.js";
import { placedTags } from "../model/tag-places.js";
import { chartColours } from "./colours.js";

const HANDLE_PX = 8;
const TAG_PX = 120;
const MOST_PLACED = 80; // so many names cover the pane wherever they stand

/**
 * A square to drag by.
 * @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {number} y
 * @param {string} colour
 */
export function paintHandle(context, x, y, colour) {
  context.fillStyle = chartColours().background;
  context.strokeStyle = colour;
  context.lineWidth = 2;
  context.fillRect(x - HANDLE_PX / 2, y - HANDLE_PX / 2, HANDLE_PX, HANDLE_PX);
  context.strokeRect(x - HANDLE_PX / 2, y - HANDLE_PX / 2, HANDLE_PX, HANDLE_PX);
}

/**
 * Note a name to be painted on its colour once all lines are.
 * @param {CanvasRenderingContext2D} context
 * @param {string} text
 * @param {{x: number, y: number, gap: number}} at the tag stands to the right, or to the left where the pane ends
 * @param {import("./mark-paint.js").Look} look
 * @param {{width: number, height: number}} size
 */
export function addTag(context, text, { x, y, gap }, { colour, selected, tags }, size) {
  const shown = clipped(context, text, TAG_PX);
  const width = context.measureText(shown).width + 6;
  const left = x + gap + width > size.width ? x - gap - width : x + gap - 3;
  tags.push({ text: shown, colour, left, width, middle: y, first: selected });
}

/**
 * Paint the names, each where no other one is.
 * @param {CanvasRenderingContext2D} context
 * @param {readonly import("../model/tag-places.js").Tag[]} tags
 * @param {{width: number, height: number}} size
 */
export function paintTags(context, tags, { height }) {
  const placed = tags.length > MOST_PLACED ? tags : placedTags(tags, BAND_PX + 1, height);
  for (const { text, colour, left, width, middle } of placed) {
    context.fillStyle = colour;
    context.fillRect(left, middle - BAND_PX / 2, width, BAND_PX);
    context.fillStyle = textOn(colour);
    context.fillText(text, left + 3, middle + 0.5);
  }
}

/**
 * One straight line.
 * @param {CanvasRenderingContext2D} context
 * @param {number} fromX
 * @param {number} fromY
 * @param {number} toX
 * @param {number} toY
 */
export function line(context, fromX, fromY, toX, toY) {
  context.beginPath();
  context.moveTo(fromX, fromY);
  context.lineTo(toX, toY);
  context.stroke();
}

/**
 * The longest beginning of a text that fits.
 * @param {CanvasRenderingContext2D} context
 * @param {string} text
 * @param {number} room px
 */
export function clipped(context, text, room) {
  if (context.measureText(text).width <= room) return text;
  const letters = [...text];
  let length = letters.length;
  while (length > 0 && context.measureText(`${letters.slice(0, length).join("")}…`).width > room) length -= 1;
  return length > 0 ? `${letters.slice(0, length).join("")}…` : "";
}
