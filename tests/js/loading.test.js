// Loading candles: one call for a drag, stale calls given up, errors told once.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Api } from "../../static/js/net/api.js";
import { CandleLoader, fetchCandles } from "../../static/js/net/candle-loader.js";
import { at, HOUR } from "./chart-builders.js";

/** A server whose answers come when they are released. */
function slowServer() {
  /** @type {{url: string, signal: AbortSignal, release: (response?: Response) => void}[]} */
  const calls = [];
  /** @type {typeof fetch} */
  const fetcher = (url, options) =>
    new Promise((resolve, reject) => {
      const signal = /** @type {AbortSignal} */ (options?.signal);
      signal.addEventListener("abort", () => reject(new DOMException("given up", "AbortError")));
      const one = [at(calls.length)];
      const body = { timeframe: "1h", level: "1h", time: one, open: one, high: one, low: one, close: one, volume: one };
      calls.push({ url: String(url), signal, release: (response) => resolve(response ?? new Response(JSON.stringify(body))) });
    });
  return { calls, api: new Api(() => "me", fetcher) };
}

/** @param {import("../../static/js/net/api.js").Api} api */
function loaderOf(api) {
  /** @type {{loaded: number[], errors: string[], busy: boolean[]}} */
  const seen = { loaded: [], errors: [], busy: [] };
  const loader = new CandleLoader(api, {
    onLoaded: (candles) => void seen.loaded.push(candles.columns.time[0]),
    onError: (error) => void seen.errors.push(/** @type {Error} */ (error).message),
    onBusy: (busy) => void seen.busy.push(busy),
  });
  return { loader, seen };
}

/** @param {number} hour */
function request(hour) {
  return { seriesId: 1, source: "1h", timeframe: "1h", range: { from: at(hour), to: at(hour + 1) }, beside: 1, most: 100, until: null };
}

test("a newer request gives up the older one, whose answer is never shown", async () => {
  const { calls, api } = slowServer();
  const { loader, seen } = loaderOf(api);
  const first = loader.now(request(0));
  const second = loader.now(request(1));
  calls[1].release();
  calls[0].release();
  await Promise.all([first, second]);
  assert.ok(calls[0].signal.aborted);
  assert.deepEqual(seen.loaded, [at(1)]);
  assert.deepEqual(seen.errors, []);
  assert.equal(seen.busy.at(-1), false);
});

test("a drag of many steps makes one call, for where it ended", async () => {
  const { calls, api } = slowServer();
  const { loader } = loaderOf(api);
  for (let hour = 0; hour < 20; hour += 1) {
    loader.soon(() => request(hour));
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await new Promise((resolve) => setTimeout(resolve, 150));
  assert.equal(calls.length, 1);
  assert.match(calls[0].url, new RegExp(`from=${at(19)}`));
  loader.cancel();
});

test("what is no longer needed when the moment comes is not asked for", async () => {
  const { calls, api } = slowServer();
  const { loader } = loaderOf(api);
  loader.soon(() => request(0));
  loader.soon(() => null);
  await new Promise((resolve) => setTimeout(resolve, 150));
  assert.equal(calls.length, 0);
});

test("a refusal is told once, with its words", async () => {
  const { calls, api } = slowServer();
  const { loader, seen } = loaderOf(api);
  const done = loader.now(request(0));
  calls[0].release(new Response('{"error": {"code": "not_found", "message": "there is no series 1"}}', { status: 404 }));
  await done;
  assert.deepEqual(seen.errors, ["there is no series 1"]);
});

test("the call says how many candles are wanted beside the view, and leaves a start out that nobody named", async () => {
  const { calls, api } = slowServer();
  const { loader } = loaderOf(api);
  void loader.now({ ...request(3), beside: 77 });
  void fetchCandles(api, { seriesId: 1, timeframe: "1h", range: { from: null, to: at(9) }, most: 100 }, new AbortController().signal);
  const [wide, plain] = calls.map(({ url }) => new URL(url, "http://localhost").searchParams);
  assert.deepEqual([wide.get("from"), wide.get("to"), wide.get("beside")], [String(at(3)), String(at(4)), "77"]);
  assert.deepEqual([plain.get("from"), plain.get("beside")], [null, null]);
  loader.cancel();
});

/**
 * A server with hourly candles 0 to 23, each closing at its hour, drawn as it is asked; at most `most` of the finest.
 * @param {number} most
 */
function hourlyServer(most) {
  /** @type {typeof fetch} */
  const fetcher = async (url) => {
    const query = new URL(String(url), "http://localhost").searchParams;
    const [from, to, timeframe] = [Number(query.get("from") ?? at(0)), Number(query.get("to")), query.get("timeframe")];
    const isTooMuch = timeframe === "1h" && (to - from) / HOUR > most;
    const step = timeframe === "8h" ? 8 : isTooMuch ? 2 : 1;
    const opens = Array.from({ length: 24 / step }, (_, index) => index * step).filter((hour) => at(hour) >= from && at(hour) < to);
    /** @param {(hour: number) => number} value */
    const column = (value) => opens.map(value);
    const body = { timeframe, level: isTooMuch ? "2h" : timeframe, time: column(at), open: column((hour) => hour), high: column((hour) => hour + step), low: column((hour) => -hour - step), close: column((hour) => hour + step - 1), volume: column(() => step) };
    return new Response(JSON.stringify(body));
  };
  return new Api(() => "me", fetcher);
}

test("a coarser candle at the cursor of a replay holds only what came before the cursor", async () => {
  for (const most of [100, 3]) {
    /** @type {import("../../static/js/model/candle-window.js").CandleWindow[]} */
    const loaded = [];
    const loader = new CandleLoader(hourlyServer(most), {
      onLoaded: (candles) => void loaded.push(candles),
      onError: (error) => assert.fail(String(error)),
      onBusy: () => {},
    });
    await loader.now({ seriesId: 1, source: "1h", timeframe: "8h", range: { from: at(0), to: at(13) }, beside: 0, most: 100, until: at(13) });
    assert.equal(loaded[0].length, 2);
    const { time, open, high, close, volume } = loaded[0].candle(1);
    assert.deepEqual({ time, open, high, close, volume }, { time: at(8), open: 8, high: 13, close: 12, volume: 5 }, `${most} at most`);
  }
});
