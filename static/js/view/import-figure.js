// The first and last rows of a file as candles and as a table, before it is imported.

import { placeCandles } from "../model/candle-figure.js";
import { count } from "../model/format-metrics.js";
import { element } from "./element.js";

/** @typedef {import("../model/import-plan.js").Shown} Shown */
/** @typedef {import("../model/types.js").Candle} Candle */

const SIZE = { width: 640, height: 120 };
const TABLE_ROWS = 3;
const SVG = "http://www.w3.org/2000/svg";

/**
 * Draw the first and last candles of a series.
 * @param {Shown} shown
 * @returns {HTMLElement}
 */
export function candleFigure({ first, last, candles }) {
  const { parts, step } = placeCandles(first, last, candles, SIZE);
  const svg = shape("svg", { viewBox: `-4 -4 ${SIZE.width + 8} ${SIZE.height + 8}`, role: "img", preserveAspectRatio: "none" });
  svg.setAttribute("aria-label", `The first and last of ${count(candles)} candles`);
  const width = Math.max(1, step * 0.6);
  for (const { x, top, bottom, bodyTop, bodyHeight, isUp } of parts.flatMap(({ figures }) => figures)) {
    const wick = shape("line", { x1: x, x2: x, y1: top, y2: bottom, "vector-effect": "non-scaling-stroke" });
    const body = shape("rect", { x: x - width / 2, y: bodyTop, width, height: bodyHeight });
    const group = shape("g", { class: isUp ? "up" : "down" });
    group.append(wick, body);
    svg.append(group);
  }
  const cuts = parts.slice(1).map(({ x }) => x - step / 2);
  for (const x of cuts) svg.append(shape("line", { class: "cut", x1: x, x2: x, y1: 0, y2: SIZE.height, "vector-effect": "non-scaling-stroke" }));
  const labels = parts.map(({ high, low }) => element("span", { class: "muted number" }, `${low} – ${high}`));
  return element("div", { class: "import-figure" }, svg, element("div", { class: "row spread" }, ...labels));
}

/**
 * List the first and last rows of a series.
 * @param {Shown} shown
 * @returns {HTMLElement}
 */
export function candleTable({ first, last, candles }) {
  const top = first.slice(0, TABLE_ROWS);
  const bottom = last.filter(({ time }) => time > (top.at(-1)?.time ?? -Infinity)).slice(-TABLE_ROWS);
  const between = candles - top.length - bottom.length;
  const gap = between > 0 && element("tr", {}, element("td", { colspan: 6, class: "muted" }, `${count(between)} more`));
  const names = ["Opens (UTC)", "Open", "High", "Low", "Close", "Volume"];
  return element(
    "div",
    { class: "import-rows" },
    element(
      "table",
      {},
      element("thead", {}, element("tr", {}, ...names.map((name) => element("th", { scope: "col" }, name)))),
      element("tbody", {}, ...top.map(row), gap, ...bottom.map(row)),
    ),
  );
}

/** @param {Candle} candle */
function row({ time, open, high, low, close, volume }) {
  const cells = [new Date(time).toISOString().replace("T", " ").replace(/(:00)?\.000Z$/, ""), open, high, low, close, volume ?? "–"];
  return element("tr", {}, ...cells.map((cell) => element("td", {}, String(cell))));
}

/**
 * @param {string} tag
 * @param {Record<string, string | number>} attributes
 */
function shape(tag, attributes) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  return made;
}
