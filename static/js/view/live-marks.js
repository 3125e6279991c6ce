// Marks of a live run on the chart: where the loss rose for good, and where learning was taken back.

import { chartColours } from "./colours.js";

/** @typedef {import("./context.js").ChartAdapter} ChartAdapter */
/** @typedef {import("../model/events.js").RunEvent} RunEvent */
/** @typedef {{time: number, kind: "drift" | "back", text: string}} LiveMark */

const FONT = "11px system-ui, sans-serif";
const BOTTOM = 12; // the top is the read-out's
const KEEP = 500;

/** A primitive of the candle chart: a dashed line through each mark's candle, its sign at the bottom. */
export class LiveMarks {
  /** @type {LiveMark[]} */
  #marks = [];
  hidden = false;
  #chart;
  #views;

  /** @param {ChartAdapter} chart */
  constructor(chart) {
    this.#chart = chart;
    const draw = (/** @type {any} */ target) =>
      target.useMediaCoordinateSpace((/** @type {{context: CanvasRenderingContext2D, mediaSize: {height: number}}} */ scope) =>
        this.#draw(scope.context, scope.mediaSize.height),
      );
    this.#views = [{ zOrder: () => /** @type {const} */ ("top"), renderer: () => ({ draw }) }];
  }

  paneViews() {
    return this.#views;
  }

  /** Forget every mark: another run. */
  clear() {
    this.#marks = [];
  }

  /** @param {readonly RunEvent[]} events */
  take(events) {
    for (const event of events) {
      if (event.type === "drift_alarm") this.#marks.push({ time: event.candle_time, kind: "drift", text: event.message });
      else if (event.type === "rolled_back" && event.candle_time !== null)
        this.#marks.push({ time: event.candle_time, kind: "back", text: event.message });
    }
    if (this.#marks.length > KEEP) this.#marks.splice(0, this.#marks.length - KEEP);
  }

  /**
   * Give what happened at a candle.
   * @param {number} moment ms UTC
   * @param {number} length of a drawn candle, ms
   * @returns {string[]}
   */
  textsAt(moment, length) {
    const here = this.#marks.filter((mark) => mark.time <= moment && moment < mark.time + length);
    return here.map((mark) => `${SIGNS[mark.kind]} ${mark.text}`);
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {number} height
   */
  #draw(context, height) {
    if (this.hidden || this.#marks.length === 0) return;
    context.save();
    context.font = FONT;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.setLineDash([2, 4]);
    for (const mark of this.#marks) {
      const x = this.#chart.timeToX(mark.time);
      if (x === null) continue;
      context.strokeStyle = context.fillStyle = mark.kind === "drift" ? chartColours().warning : chartColours().accent;
      context.beginPath();
      context.moveTo(x, 0);
      context.lineTo(x, height - BOTTOM - 8);
      context.stroke();
      context.fillText(SIGNS[mark.kind], x, height - BOTTOM);
    }
    context.restore();
  }
}

/** Told by shape, not by colour alone. */
const SIGNS = { drift: "⚠", back: "↶" };
