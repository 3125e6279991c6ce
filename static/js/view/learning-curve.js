// Marks drawn → F1 on marks of other blocks of time, with its interval, as a small drawing and in words.

import { element } from "./element.js";

/** @typedef {{marks: number, f1: number, interval: [number, number] | null}} CurvePoint */

const SVG = "http://www.w3.org/2000/svg";
const [WIDTH, HEIGHT, LEFT, BOTTOM] = [270, 120, 28, 18];

/** @param {{points: CurvePoint[], saturated: boolean | null}} curve */
export function learningCurve({ points, saturated }) {
  const verdict =
    saturated === null
      ? "Too few marks to tell; draw ten or more."
      : saturated
        ? "Twice the marks helped by less than 0.02: more of the same help little."
        : "F1 still rises: more marks help.";
  return element("div", { class: "stack" }, /** @type {any} */ (drawing(points)), element("p", {}, verdict), wordsOf(points));
}

/** @param {CurvePoint[]} points */
function wordsOf(points) {
  const rows = points.map(({ marks, f1, interval }) =>
    element("tr", {}, element("td", { class: "number" }, String(marks)), element("td", { class: "number" }, f1.toFixed(2)), element("td", { class: "number muted" }, interval ? `${interval[0].toFixed(2)} to ${interval[1].toFixed(2)}` : "")),
  );
  const head = element("tr", {}, element("th", {}, "Marks"), element("th", {}, "F1"), element("th", {}, "95% interval"));
  return element("table", { class: "figures" }, element("thead", {}, head), element("tbody", {}, ...rows));
}

/** @param {CurvePoint[]} points */
function drawing(points) {
  const svg = part("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "learning-curve", role: "img", "aria-label": "F1 by the number of marks" });
  const most = Math.log(Math.max(...points.map(({ marks }) => marks), 2));
  /** @param {number} marks */
  const x = (marks) => LEFT + (Math.log(Math.max(1, marks)) / most) * (WIDTH - LEFT - 8);
  /** @param {number} f1 */
  const y = (f1) => 6 + (1 - f1) * (HEIGHT - BOTTOM - 6);
  for (const tick of [0, 0.5, 1]) {
    svg.append(part("line", { x1: LEFT, x2: WIDTH, y1: y(tick), y2: y(tick), class: "grid" }), words(0, y(tick) + 4, tick.toFixed(1)));
  }
  svg.append(part("polyline", { points: points.map(({ marks, f1 }) => `${x(marks)},${y(f1)}`).join(" "), class: "curve" }));
  for (const { marks, f1, interval } of points) {
    if (interval) svg.append(part("line", { x1: x(marks), x2: x(marks), y1: y(interval[0]), y2: y(interval[1]), class: "interval" }));
    svg.append(part("circle", { cx: x(marks), cy: y(f1), r: 3, class: "dot" }), words(x(marks) - 6, HEIGHT - 4, String(marks)));
  }
  return svg;
}

/**
 * @param {string} name
 * @param {Record<string, string | number>} attributes
 */
function part(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  return made;
}

/**
 * @param {number} x
 * @param {number} y
 * @param {string} text
 */
function words(x, y, text) {
  const made = part("text", { x, y });
  made.textContent = text;
  return made;
}
