// The volume of the candles as columns in a pane of its own, which is there only where some candle has a volume.

import { formatVolume } from "../model/format.js";
import { chartColours } from "./colours.js";

/** @typedef {import("../model/candle-window.js").CandleWindow} CandleWindow */

const SHARE = 0.22; // of the price pane

/** Draws volume through a chart's lines. */
export class VolumePane {
  #lines;
  /** @type {import("./chart-lines.js").Line | null} */
  #line = null;

  /** @param {import("./chart-lines.js").ChartLines} lines */
  constructor(lines) {
    this.#lines = lines;
  }

  /** @param {CandleWindow} window */
  draw(window) {
    const { volume } = window.columns;
    const isTraded = volume.some((amount) => !Number.isNaN(amount));
    if (!isTraded) {
      this.#line?.remove();
      this.#line = null;
      return;
    }
    this.#line ??= this.#lines.add({ shape: "columns", colour: chartColours().upFaint, format: formatVolume, share: SHARE }, "volume");
    this.#line.draw(window, volume, (index) => colourOf(window, index));
  }

  /** @param {CandleWindow} window whose last candle changed */
  update(window) {
    const last = window.length - 1;
    this.#line?.update(window, window.columns.volume[last], colourOf(window, last));
  }
}

/**
 * @param {CandleWindow} window
 * @param {number} index
 */
function colourOf({ columns }, index) {
  const { upFaint, downFaint } = chartColours();
  return columns.close[index] >= columns.open[index] ? upFaint : downFaint;
}
