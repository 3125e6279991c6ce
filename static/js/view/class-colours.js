// Colours and shapes of the five candle classes on canvases: never told by colour alone.

import { chartColours } from "./colours.js";

const SHAPES = ["▼", "▾", "■", "▴", "▲"];

/**
 * @param {number} index class, 0 (strong fall) to 4 (strong rise)
 * @returns {string}
 */
export function classColour(index) {
  const colours = chartColours();
  return [colours.down, colours.downFaint, colours.muted, colours.upFaint, colours.up][index] ?? colours.muted;
}

/**
 * @param {number} index class, 0 to 4
 * @returns {string}
 */
export function classShape(index) {
  return SHAPES[index] ?? "";
}
