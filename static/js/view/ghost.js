// Draws the candle that has not come yet: a band of prices a class, as strong as it is likely, and the trend's arrow.

import { percent } from "../model/format-metrics.js";
import { bandsOf, likeliest } from "../model/predictions.js";
import { trendText } from "../model/prediction-text.js";
import { chartColours } from "./colours.js";
import { classColour, classShape } from "./class-colours.js";

/** @typedef {import("./context.js").ChartAdapter} ChartAdapter */
/** @typedef {import("../model/events.js").CandlePredicted} CandlePredicted */

const LEAST_WIDTH = 10;
const FONT = "11px system-ui, sans-serif";
const LINE_PX = 13;

/** A primitive of the candle chart; it draws what `predicted` holds, or nothing. */
export class Ghost {
  /** @type {CandlePredicted | null} */
  predicted = null;
  #chart;
  #views;

  /** @param {ChartAdapter} chart */
  constructor(chart) {
    this.#chart = chart;
    const renderer = {
      draw: (/** @type {any} */ target) =>
        target.useMediaCoordinateSpace((/** @type {{context: CanvasRenderingContext2D, mediaSize: {width: number}}} */ scope) =>
          this.#draw(scope.context, scope.mediaSize.width),
        ),
    };
    this.#views = [{ zOrder: () => /** @type {const} */ ("top"), renderer: () => renderer }];
  }

  paneViews() {
    return this.#views;
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {number} paneWidth
   */
  #draw(context, paneWidth) {
    const { predicted } = this;
    if (predicted === null) return;
    const x = this.#chart.timeToX(predicted.candle_time);
    if (x === null) return;
    context.save();
    context.font = FONT;
    context.textBaseline = "middle";
    const right = this.#bands(context, predicted, x, paneWidth);
    this.#trend(context, predicted, x, right, paneWidth);
    context.restore();
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {CandlePredicted} predicted
   * @param {number} x
   * @param {number} paneWidth
   * @returns {number} where free room begins
   */
  #bands(context, predicted, x, paneWidth) {
    const width = Math.max(LEAST_WIDTH, this.#chart.candleWidth() * 0.8);
    const best = likeliest(predicted.candle_probabilities);
    const most = predicted.candle_probabilities[best];
    for (const band of bandsOf(predicted)) {
      const [top, bottom] = [this.#chart.priceToY(band.to), this.#chart.priceToY(band.from)];
      if (top === null || bottom === null) continue;
      context.globalAlpha = 0.12 + (0.6 * band.probability) / most;
      context.fillStyle = classColour(band.index);
      context.fillRect(x - width / 2, top, width, Math.max(1, bottom - top - 1));
      context.globalAlpha = 1;
      if (band.index === best) this.#frame(context, x - width / 2, top, width, bottom - top);
      if (bottom - top < LINE_PX && band.index !== best) continue;
      const text = `${classShape(band.index)} ${percent(band.probability)}`;
      this.#label(context, text, Math.min(x + width / 2 + 4, paneWidth - context.measureText(text).width - 2), (top + bottom) / 2);
    }
    return x + width / 2 + 4;
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {number} left
   * @param {number} top
   * @param {number} width
   * @param {number} height
   */
  #frame(context, left, top, width, height) {
    context.strokeStyle = chartColours().text;
    context.strokeRect(left + 0.5, top + 0.5, width - 1, Math.max(1, height - 2));
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {string} text
   * @param {number} x
   * @param {number} y
   */
  #label(context, text, x, y) {
    context.fillStyle = chartColours().text;
    context.fillText(text, x, y);
  }

  /**
   * The arrow goes from the last close to the candle at whose close the trend falls due, up or down as it is likelier.
   * @param {CanvasRenderingContext2D} context
   * @param {CandlePredicted} predicted
   * @param {number} x
   * @param {number} room
   * @param {number} paneWidth
   */
  #trend(context, predicted, x, room, paneWidth) {
    if (predicted.closed === null) return;
    const y = this.#chart.priceToY(predicted.closed.close);
    const due = this.#chart.timeToX(predicted.trend_due);
    if (y === null || due === null) return;
    const isUp = predicted.trend_up >= 0.5;
    const strength = Math.abs(predicted.trend_up - 0.5) * 2;
    const text = trendText(predicted.trend_up);
    // Where the time it is due lies outside the pane, the arrow ends before it: its word has to be read.
    const last = paneWidth - context.measureText(text).width - 8;
    const tip = { x: Math.max(x, Math.min(Math.max(due, room + 44), last)), y: y + (isUp ? -1 : 1) * (14 + 40 * strength) };
    context.strokeStyle = context.fillStyle = isUp ? chartColours().up : chartColours().down;
    context.lineWidth = 2;
    context.setLineDash([4, 3]);
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(tip.x, tip.y);
    context.stroke();
    context.setLineDash([]);
    context.fillText(text, tip.x + 4, tip.y);
  }
}
