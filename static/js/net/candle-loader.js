// Asks for candles: waits a moment so that a drag makes one call, gives up calls that a newer one replaces.

import { CandleWindow, merged } from "../model/candle-window.js";
import { MAX_CANDLES } from "../model/viewport.js";
import { isAborted } from "./api.js";

const WAIT_MS = 80;

/** @typedef {import("../model/types.js").CandleRequest} CandleRequest */

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
      const whole = await fetchCandles(this.#api, request, control.signal);
      const candles = request.until === null ? whole : await upTo(request.until, whole, request, this.#api, control.signal);
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
 * @param {{seriesId: number, timeframe: string, range: {from: number | null, to: number}, beside?: number, most: number}} request `from` null: from the first candle
 * @param {AbortSignal} [signal]
 * @returns {Promise<CandleWindow>}
 */
export async function fetchCandles(api, { seriesId, timeframe, range, beside, most }, signal) {
  const query = { from: range.from, to: range.to, beside, timeframe, max_points: most };
  return CandleWindow.fromAnswer(await api.get(`/api/series/${seriesId}/candles`, { query, signal }));
}

/**
 * Candles up to a time; a coarser one that reaches past it is built anew from finer ones before it.
 * @param {number} until
 * @param {CandleWindow} candles
 * @param {CandleRequest} request
 * @param {import("./api.js").Api} api
 * @param {AbortSignal} signal
 */
async function upTo(until, candles, request, api, signal) {
  const past = candles.before(until);
  const last = past.length - 1;
  if (last < 0 || past.closeOf(last) <= until) return past;
  const open = past.columns.time[last];
  const closed = past.before(open);
  const part = await partOf(open, until, request, api, signal);
  return part ? closed.withAppended({ ...part, time: open }, closed.level) : closed;
}

/**
 * One candle over a stretch, from the finest candles that the server gives for it.
 * @param {number} from
 * @param {number} until
 * @param {CandleRequest} request
 * @param {import("./api.js").Api} api
 * @param {AbortSignal} signal
 */
async function partOf(from, until, { seriesId, source }, api, signal) {
  /** @type {import("../model/types.js").Candle | null} */
  let part = null;
  for (let start = from; start < until; ) {
    const request = { seriesId, timeframe: source, range: { from: start, to: until }, most: MAX_CANDLES };
    const finer = (await fetchCandles(api, request, signal)).before(until);
    const reachesOut = finer.level !== source && finer.length > 0 && finer.closeOf(finer.length - 1) > until;
    const count = reachesOut ? finer.length - 1 : finer.length;
    for (let index = 0; index < count; index += 1) part = part ? merged(part, finer.candle(index)) : finer.candle(index);
    start = reachesOut ? finer.columns.time[count] : until;
  }
  return part;
}
