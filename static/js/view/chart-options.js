// Options of the candle chart that stay the same or come from the colours; plain data for view/candle-chart.js.

import { tickWeight } from "../model/tick-weight.js";

/** @typedef {import("../model/candle-window.js").CandleWindow} CandleWindow */
/** @typedef {import("../../vendor/lightweight-charts.standalone.production.mjs").UTCTimestamp} UTCTimestamp */

export const LAYOUT = {
  autoSize: true,
  layout: { attributionLogo: true, fontFamily: "system-ui, sans-serif", fontSize: 11, panes: { enableResize: false } },
  timeScale: { rightOffset: 6, timeVisible: true, secondsVisible: true, minBarSpacing: 0.25 },
  crosshair: { mode: 0 },
};

/** @param {import("./colours.js").ChartColours} colours */
export function colourOptions(colours) {
  const crosshair = { color: colours.crosshair, labelBackgroundColor: colours.label };
  return {
    layout: { background: { color: colours.background }, textColor: colours.text, panes: { separatorColor: colours.line } },
    grid: { vertLines: { color: colours.grid }, horzLines: { color: colours.grid } },
    crosshair: { vertLine: crosshair, horzLine: crosshair },
    timeScale: { borderColor: colours.line },
    rightPriceScale: { borderColor: colours.line },
  };
}

/** @typedef {{originalTime: unknown, timeWeight: any}} TickPoint */

/**
 * The library's time axis with ticks weighed by local clocks, where it weighs them by UTC.
 * @param {new () => any} axis
 * @param {(time: number) => number} local
 * @returns {new () => any}
 */
export function zonedBehaviour(axis, local) {
  return class extends axis {
    /**
     * @param {TickPoint[]} points
     * @param {number} start
     */
    fillWeightsForPoints(points, start) {
      super.fillWeightsForPoints(points, start);
      for (let index = Math.max(1, start); index < points.length; index += 1) {
        const [before, now] = [points[index - 1], points[index]].map((each) => local(Number(each.originalTime) * 1000));
        points[index].timeWeight = tickWeight(before, now);
      }
    }
  };
}

/**
 * A candle's time as the library counts it.
 * @param {CandleWindow} candles
 * @param {number} index
 */
export function seconds({ columns }, index) {
  return /** @type {UTCTimestamp} */ (columns.time[index] / 1000);
}

/**
 * A candle as the library takes it.
 * @param {CandleWindow} candles
 * @param {number} index
 */
export function candlePoint(candles, index) {
  const { open, high, low, close } = candles.columns;
  return { time: seconds(candles, index), open: open[index], high: high[index], low: low[index], close: close[index] };
}
