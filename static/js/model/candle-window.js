// The candles that the page holds: columns in time order, and the mapping between time and position.
//
// Position counts candles: i is the middle of candle i, which fills [i - 0.5, i + 0.5). Gaps take no room.

import { closeTime, floorTime, stepMs } from "./timeframe.js";

/** @typedef {import("./types.js").Candle} Candle */

const COLUMNS = /** @type {const} */ (["time", "open", "high", "low", "close", "volume"]);

/**
 * @typedef {object} Columns
 * @property {string} timeframe what the person chose
 * @property {string} level what is drawn; coarser than the timeframe when too many candles are in view
 * @property {Float64Array} time open times, ms UTC
 * @property {Float64Array} open
 * @property {Float64Array} high
 * @property {Float64Array} low
 * @property {Float64Array} close
 * @property {Float64Array} volume NaN where there is none
 * @property {readonly number[]} [partial] open times of coarser candles that the series covers only in part
 */

/** Candles of one level, never changed in place. */
export class CandleWindow {
  /** @param {Columns} columns */
  constructor(columns) {
    this.columns = columns;
    this.timeframe = columns.timeframe;
    this.level = columns.level;
    this.length = columns.time.length;
    this.stepMs = stepMs(columns.level);
    this.partial = columns.partial ?? [];
  }

  /**
   * A window without candles.
   * @param {string} timeframe
   */
  static empty(timeframe) {
    const none = new Float64Array(0);
    return new CandleWindow({ timeframe, level: timeframe, time: none, open: none, high: none, low: none, close: none, volume: none });
  }

  /**
   * Read the server's answer; each column is `{dtype, bdata}` or a plain list.
   * @param {any} answer
   */
  static fromAnswer(answer) {
    const columns = Object.fromEntries(COLUMNS.map((name) => [name, decodeColumn(answer[name])]));
    return new CandleWindow(/** @type {any} */ ({ timeframe: answer.timeframe, level: answer.level, partial: answer.partial, ...columns }));
  }

  /**
   * @param {number} index
   * @returns {Candle}
   */
  candle(index) {
    const { time, open, high, low, close, volume } = this.columns;
    const traded = Number.isNaN(volume[index]) ? null : volume[index];
    return { time: time[index], open: open[index], high: high[index], low: low[index], close: close[index], volume: traded };
  }

  /**
   * Index of the last candle that opens at or before a time; -1 before the first.
   * @param {number} time
   */
  indexAt(time) {
    const times = this.columns.time;
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (times[middle] <= time) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  /**
   * When a candle closes, ms UTC.
   * @param {number} index
   */
  closeOf(index) {
    return closeTime(this.columns.time[index], this.level);
  }

  /**
   * Where a time stands; outside the candles it goes on by the level's length.
   * @param {number} time
   */
  positionOf(time) {
    if (this.length === 0) return 0;
    const index = Math.max(0, this.indexAt(time));
    const within = (time - this.columns.time[index]) / this.stepMs;
    return index - 0.5 + (index < this.length - 1 ? Math.min(within, 1) : within);
  }

  /**
   * The time at a position: the inverse of `positionOf`, but for times inside gaps.
   * @param {number} position
   */
  timeAt(position) {
    if (this.length === 0) return 0;
    const index = Math.min(this.length - 1, Math.max(0, Math.floor(position + 0.5)));
    return this.columns.time[index] + (position + 0.5 - index) * this.stepMs;
  }

  /**
   * Open time of the candle, of the user's timeframe, at a position; the nearest candle outside.
   * @param {number} position
   */
  openAt(position) {
    const index = Math.min(this.length - 1, Math.max(0, Math.floor(position + 0.5)));
    const open = this.columns.time[index];
    if (this.level === this.timeframe) return open;
    const within = Math.min(Math.max(position + 0.5 - index, 0), 1 - 1e-9) * this.stepMs;
    return Math.max(open, floorTime(open + within, this.timeframe));
  }

  /**
   * The candles that open before a time.
   * @param {number} time
   */
  before(time) {
    return this.#cut(0, this.indexAt(time - 1e-3) + 1);
  }

  /**
   * The candles that had closed by a time: a coarser one that reaches past it would tell the future.
   * @param {number} time
   */
  closedBy(time) {
    const past = this.before(time);
    const last = past.length - 1;
    return last >= 0 && past.closeOf(last) > time ? past.before(past.columns.time[last]) : past;
  }

  /**
   * The last `count` candles.
   * @param {number} count
   */
  latest(count) {
    return this.#cut(Math.max(0, this.length - count), this.length);
  }

  /**
   * A range whose ends are moved by candles, over gaps as if there were none.
   * @param {{from: number, to: number}} range
   * @param {(from: number, to: number) => [number, number]} move from positions to positions
   * @returns {{from: number, to: number}}
   */
  moved({ from, to }, move) {
    const [left, right] = move(this.positionOf(from), this.positionOf(to));
    return { from: this.timeAt(left), to: this.timeAt(right) };
  }

  /**
   * A range moved on by a share of its candles.
   * @param {{from: number, to: number}} range
   * @param {number} share below 0 it moves back
   */
  turned(range, share) {
    return this.moved(range, (from, to) => [from + (to - from) * share, to + (to - from) * share]);
  }

  /** Whether every price is above 0, as a logarithm and a share need it. */
  get isPositive() {
    return this.columns.low.every((price) => price > 0);
  }

  /**
   * A window that also holds a newer candle of the source, folded into the last one where it belongs there.
   * @param {Candle} candle
   * @param {string} source timeframe of the candle
   */
  withAppended(candle, source) {
    const opens = this.level === source ? candle.time : floorTime(candle.time, this.level);
    const last = this.length - 1;
    if (last < 0 || opens > this.columns.time[last]) return this.#extended({ ...candle, time: opens });
    return this.level === source ? this.#replaced(candle) : this.#replaced(merged(this.candle(last), candle));
  }

  /** @param {Candle} candle */
  #replaced(candle) {
    const index = this.indexAt(candle.time);
    if (index < 0 || this.columns.time[index] !== candle.time) return this;
    return this.#mapped((column, name) => {
      const copy = column.slice();
      copy[index] = candle[name] ?? NaN;
      return copy;
    });
  }

  /** @param {Candle} candle */
  #extended(candle) {
    return this.#mapped((column, name) => {
      const longer = new Float64Array(column.length + 1);
      longer.set(column);
      longer[column.length] = candle[name] ?? NaN;
      return longer;
    });
  }

  /**
   * @param {number} start
   * @param {number} end
   */
  #cut(start, end) {
    return start === 0 && end === this.length ? this : this.#mapped((column) => column.subarray(start, end));
  }

  /** @param {(column: Float64Array, name: typeof COLUMNS[number]) => Float64Array} change */
  #mapped(change) {
    const columns = Object.fromEntries(COLUMNS.map((name) => [name, change(this.columns[name], name)]));
    return new CandleWindow(/** @type {any} */ ({ timeframe: this.timeframe, level: this.level, partial: this.partial, ...columns }));
  }
}

/**
 * A candle with a later one folded into it.
 * @param {Candle} coarse
 * @param {Candle} fine
 * @returns {Candle}
 */
export function merged(coarse, fine) {
  return {
    time: coarse.time,
    open: coarse.open,
    high: Math.max(coarse.high, fine.high),
    low: Math.min(coarse.low, fine.low),
    close: fine.close,
    volume: coarse.volume === null && fine.volume === null ? null : (coarse.volume ?? 0) + (fine.volume ?? 0),
  };
}

/**
 * Read a column as the server writes it.
 * @param {{dtype: string, bdata: string} | (number | null)[]} column
 * @returns {Float64Array}
 */
export function decodeColumn(column) {
  if (Array.isArray(column)) return Float64Array.from(column, (value) => value ?? NaN);
  const bytes = Uint8Array.from(atob(column.bdata), (letter) => letter.charCodeAt(0));
  if (column.dtype === "f8") return new Float64Array(bytes.buffer);
  if (column.dtype === "i8") return Float64Array.from(new BigInt64Array(bytes.buffer), Number);
  throw new TypeError(`candle column of type ${column.dtype}: f8 or i8 is needed`);
}
