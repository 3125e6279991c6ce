// The replay of the open series: the server keeps its cursor and hides what comes after it. No DOM.

import { createStore } from "../model/store.js";
import { CandleWindow } from "../model/candle-window.js";

/** @typedef {import("../model/replay.js").Replay} Replay */
/** @typedef {import("../model/types.js").Candle} Candle */

const MOST_CANDLES = 1000; // more new ones than this are loaded as a view, not one by one

/** Asks for and moves the replay of one series. */
export class ReplayDesk {
  #api;
  #series;
  /** @type {Promise<unknown>} commands go one after the other */
  #last = Promise.resolve();

  /**
   * @param {import("./api.js").Api} api
   * @param {import("../model/store.js").Store<import("../model/types.js").SeriesState>} series
   */
  constructor(api, series) {
    this.#api = api;
    this.#series = series;
    this.state = createStore(/** @type {Replay | null} */ (null));
  }

  get #path() {
    return `/api/series/${this.#series.get().current?.id}/replay`;
  }

  /** Ask whether this author replays the open series. */
  async read() {
    const path = this.#path;
    if (!this.#series.get().current) return this.state.set(null);
    const { replay } = await this.#api.get(path);
    if (path === this.#path) this.#take(replay);
  }

  /**
   * Begin at a time, or at a random one with the prices hidden.
   * @param {{at: number} | {random: true, hide_price: boolean}} start
   */
  async begin(start) {
    this.#take((await this.#api.post(this.#path, start)).replay);
  }

  /**
   * Go on or back by candles, or show or hide the prices.
   * @param {{step: number, timeframe: string} | {at: number} | {hide_price: boolean}} change
   * @returns {Promise<Replay>}
   */
  change(change) {
    const next = this.#last.then(async () => {
      const { replay } = await this.#api.patch(this.#path, change);
      this.#take(replay);
      return /** @type {Replay} */ (replay);
    });
    this.#last = next.catch(() => undefined);
    return next;
  }

  /** End it: everything is told again. */
  async end() {
    await this.#api.delete(this.#path);
    this.state.set(null);
  }

  /**
   * The candles of the source between two cursors; null where they are too many to come one by one.
   * @param {number} from
   * @param {number} to
   * @returns {Promise<Candle[] | null>}
   */
  async candlesBetween(from, to) {
    const { current } = this.#series.get();
    if (!current) return null;
    const query = { from, to, timeframe: current.timeframe, max_points: MOST_CANDLES };
    const window = CandleWindow.fromAnswer(await this.#api.get(`/api/series/${current.id}/candles`, { query }));
    if (window.level !== current.timeframe) return null;
    return Array.from({ length: window.length }, (_, index) => window.candle(index));
  }

  /** @param {Replay | null} replay */
  #take(replay) {
    if (JSON.stringify(replay) !== JSON.stringify(this.state.get())) this.state.set(replay);
  }
}
