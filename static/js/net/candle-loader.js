// Asks for candles: waits a moment so that a drag makes one call, gives up calls that a newer one replaces.

import { CandleWindow } from "../model/candle-window.js";
import { isAborted } from "./api.js";

const WAIT_MS = 80;

/**
 * @typedef {object} CandleRequest
 * @property {number} seriesId
 * @property {string} timeframe
 * @property {{from: number | null, to: number}} range `from` null: from the first candle
 * @property {number} most candles; a coarser level comes where there are more
 */

/** Loads one window at a time; only the newest request is answered. */
export class CandleLoader {
  #api;
  #onLoaded;
  #onError;
  #onBusy;
  /** @type {AbortController | null} */
  #running = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #waiting;

  /**
   * @param {import("./api.js").Api} api
   * @param {object} reports
   * @param {(candles: CandleWindow, request: CandleRequest) => void} reports.onLoaded
   * @param {(error: unknown, request: CandleRequest) => void} reports.onError
   * @param {(busy: boolean) => void} reports.onBusy
   */
  constructor(api, { onLoaded, onError, onBusy }) {
    this.#api = api;
    this.#onLoaded = onLoaded;
    this.#onError = onError;
    this.#onBusy = onBusy;
  }

  /**
   * Load soon, unless this is called again before.
   * @param {() => CandleRequest | null} decide says then what is needed, if anything
   */
  soon(decide) {
    clearTimeout(this.#waiting);
    this.#waiting = setTimeout(() => {
      const request = decide();
      if (request) void this.now(request);
    }, WAIT_MS);
  }

  /**
   * Load at once; a call under way is given up.
   * @param {CandleRequest} request
   */
  async now(request) {
    this.cancel();
    const control = new AbortController();
    this.#running = control;
    this.#onBusy(true);
    try {
      const candles = await fetchCandles(this.#api, request, control.signal);
      if (this.#running === control) this.#onLoaded(candles, request);
    } catch (error) {
      if (!isAborted(error) && this.#running === control) this.#onError(error, request);
    } finally {
      if (this.#running === control) this.#done();
    }
  }

  /** Give up what is waiting or under way. */
  cancel() {
    clearTimeout(this.#waiting);
    this.#running?.abort();
    this.#done();
  }

  #done() {
    this.#running = null;
    this.#onBusy(false);
  }
}

/**
 * Ask once for candles.
 * @param {import("./api.js").Api} api
 * @param {CandleRequest} request
 * @param {AbortSignal} [signal]
 * @returns {Promise<CandleWindow>}
 */
export async function fetchCandles(api, { seriesId, timeframe, range, most }, signal) {
  const query = { from: range.from, to: range.to, timeframe, max_points: most };
  return CandleWindow.fromAnswer(await api.get(`/api/series/${seriesId}/candles`, { query, signal }));
}
