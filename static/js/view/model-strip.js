// The strip under the chart: P(up), what was predicted, what came true, hit or miss; one column a candle.

import { outcomeOf, likeliest, suggestionOf } from "../model/predictions.js";
import { chartColours } from "./colours.js";
import { classColour, classShape } from "./class-colours.js";
import { button, element } from "./element.js";

/** @typedef {import("./context.js").ChartAdapter} ChartAdapter */
/** @typedef {import("../model/predictions.js").Predictions} Predictions */
/** @typedef {import("../model/predictions.js").Told} Told */

const ROWS = {
  up: { top: 16, height: 22 },
  predicted: { top: 41, height: 12 },
  outcome: { top: 54, height: 12 },
  mark: { top: 67, height: 12 },
  label: { top: 80, height: 10 },
};
const HEIGHT = 80;
const HEIGHT_WITH_LABELS = 94;
const SHAPE_WIDTH = 7;
const SEEN_ALPHA = 0.45;

/** A canvas that follows the chart's view. */
export class ModelStrip {
  root = element("div", { class: "model-strip", "aria-label": "Model strip: predictions and outcomes", hidden: true });
  #canvas = element("canvas", { "aria-hidden": "true" });
  #words = element("div", { class: "clip number" });
  #labelName = element("span", { hidden: true }, "label");
  #height = HEIGHT;
  /** @type {Map<string, string>} colours of the series' labels, by name */
  labels = new Map();
  #chart;

  /**
   * @param {ChartAdapter} chart
   * @param {{goTo: () => void, hide: () => void}} actions
   */
  constructor(chart, { goTo, hide }) {
    this.#chart = chart;
    const buttons = [
      button("Go there", goTo, { class: "quiet small", title: "Bring the newest prediction into view" }),
      button("×", hide, { class: "quiet small", "aria-label": "Hide the model strip" }),
    ];
    const names = ["P(up)", "told", "true", "hit"].map((name) => element("span", {}, name));
    this.root.append(
      this.#canvas,
      element("div", { class: "model-rows muted", "aria-hidden": "true" }, ...names, this.#labelName),
      element("div", { class: "model-words" }, this.#words, ...buttons),
    );
    this.root.style.height = `${HEIGHT}px`;
  }

  /** @param {string} text what is said of the candle under the pointer, or of the next one */
  say(text) {
    if (this.#words.textContent !== text) this.#words.textContent = text;
  }

  /** @param {Predictions} predictions */
  draw(predictions) {
    this.#makeRoom(predictions.hasLabels);
    const context = this.#prepared();
    if (context === null) return;
    const width = this.root.clientWidth;
    const column = Math.max(1, this.#chart.candleWidth() * 0.8);
    for (const [time, told] of predictions.entries()) {
      const x = this.#chart.timeToX(time);
      if (x === null || x < -column || x > width + column) continue;
      context.globalAlpha = (told.scored?.seen ?? told.predicted?.seen) ? SEEN_ALPHA : 1;
      drawColumn(context, told, x, column);
      this.#drawLabel(context, told, x, column);
    }
    context.globalAlpha = 1;
  }

  /** @param {boolean} hasLabels whether the model suggests labels */
  #makeRoom(hasLabels) {
    const height = hasLabels ? HEIGHT_WITH_LABELS : HEIGHT;
    if (height === this.#height) return;
    this.#height = height;
    this.#labelName.hidden = !hasLabels;
    this.root.style.height = `${height}px`;
  }

  /**
   * A suggested label: a bar in its colour, the fainter the less sure the model is.
   * @param {CanvasRenderingContext2D} context
   * @param {Told} told
   * @param {number} x middle of the column
   * @param {number} width
   */
  #drawLabel(context, told, x, width) {
    const suggested = suggestionOf(told);
    if (suggested === null) return;
    const alpha = context.globalAlpha;
    context.globalAlpha = alpha * Math.max(0.15, suggested.probability);
    context.fillStyle = this.labels.get(suggested.label) ?? chartColours().text;
    context.fillRect(x - width / 2, ROWS.label.top, width, ROWS.label.height);
    context.globalAlpha = alpha;
  }

  /** @returns {CanvasRenderingContext2D | null} cleared, in CSS pixels; null while the strip is not shown */
  #prepared() {
    const width = this.root.clientWidth;
    if (width === 0) return null;
    const ratio = window.devicePixelRatio;
    this.#canvas.width = Math.round(width * ratio);
    this.#canvas.height = Math.round(this.#height * ratio);
    const context = this.#canvas.getContext("2d");
    if (context === null) return null;
    context.scale(ratio, ratio);
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.strokeStyle = chartColours().line;
    const middle = ROWS.up.top + ROWS.up.height / 2 + 0.5;
    context.beginPath();
    context.moveTo(0, middle);
    context.lineTo(width, middle);
    context.stroke();
    return context;
  }
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Told} told
 * @param {number} x middle of the column
 * @param {number} width
 */
function drawColumn(context, told, x, width) {
  if (told.trendUp !== null) drawUp(context, told.trendUp, x, width);
  if (told.predicted !== null) drawClass(context, likeliest(told.predicted.candle_probabilities), ROWS.predicted, x, width);
  if (told.scored !== null && told.scored.outcome !== null) drawClass(context, told.scored.outcome, ROWS.outcome, x, width);
  drawMark(context, told, x, width);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} up
 * @param {number} x
 * @param {number} width
 */
function drawUp(context, up, x, width) {
  const middle = ROWS.up.top + ROWS.up.height / 2;
  const height = (up - 0.5) * ROWS.up.height;
  context.fillStyle = up >= 0.5 ? chartColours().up : chartColours().down;
  context.fillRect(x - width / 2, height >= 0 ? middle - height : middle, width, Math.max(1, Math.abs(height)));
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} index
 * @param {{top: number, height: number}} row
 * @param {number} x
 * @param {number} width
 */
function drawClass(context, index, row, x, width) {
  context.fillStyle = classColour(index);
  if (width < SHAPE_WIDTH) {
    context.fillRect(x - width / 2, row.top, width, row.height);
    return;
  }
  context.font = "11px system-ui, sans-serif";
  context.fillText(classShape(index), x, row.top + row.height / 2 + 1);
}

/**
 * A hit is a full disc, a miss a cross, no score a dash; where columns are thin, a hit is a full bar and a miss a low one.
 * @param {CanvasRenderingContext2D} context
 * @param {Told} told
 * @param {number} x
 * @param {number} width
 */
function drawMark(context, told, x, width) {
  const outcome = outcomeOf(told);
  if (outcome === "waiting") return;
  const { top, height } = ROWS.mark;
  const colours = chartColours();
  context.fillStyle = outcome === "hit" ? colours.accent : colours.muted;
  if (width >= SHAPE_WIDTH) {
    context.font = "11px system-ui, sans-serif";
    context.fillText({ hit: "●", miss: "×", skipped: "–" }[outcome], x, top + height / 2);
  } else if (outcome === "hit") context.fillRect(x - width / 2, top, width, height - 2);
  else context.fillRect(x - width / 2, top + height - 4, width, 2);
}
