// Replay: whole candles are due by speed and time, the cursor is the server's, candles between two cursors come in order.

import assert from "node:assert/strict";
import { test } from "node:test";

import { dueSteps } from "../../static/js/model/replay.js";
import { createStore } from "../../static/js/model/store.js";
import { Api } from "../../static/js/net/api.js";
import { ReplayDesk } from "../../static/js/net/replay-desk.js";
import { at, HOUR } from "./chart-builders.js";

test("parts of a candle are kept for the next tick, and a long pause is not made up for", () => {
  assert.deepEqual(dueSteps(1, 200, 0), { steps: 0, left: 0.2 });
  assert.equal(dueSteps(1, 200, 0.9).steps, 1);
  assert.equal(dueSteps(1000, 200, 0).steps, 200);
  assert.equal(dueSteps(10, 60_000, 0).steps, 10);
});

test("over any ticks as many candles come as the speed says", () => {
  let [total, left] = [0, 0];
  for (const elapsed of Array.from({ length: 100 }, (_, index) => 150 + (index % 7) * 20)) {
    const due = dueSteps(7, elapsed, left);
    [total, left] = [total + due.steps, due.left];
  }
  const seconds = Array.from({ length: 100 }, (_, index) => 150 + (index % 7) * 20).reduce((sum, ms) => sum + ms, 0) / 1000;
  assert.equal(total, Math.floor(seconds * 7 + 1e-9));
});

/** A server that keeps a cursor over hourly candles. */
function desk() {
  const calls = /** @type {string[]} */ ([]);
  let cursor = at(10);
  const reply = (/** @type {unknown} */ body) => new Response(JSON.stringify(body));
  const replay = () => ({ cursor, random: false, hide_price: false, candles: (cursor - at(0)) / HOUR, at_end: false });
  /** @type {typeof fetch} */
  const answer = async (url, { method = "GET", body } = {}) => {
    calls.push(`${method} ${String(url).split("?")[0]}`);
    if (String(url).includes("/candles")) {
      const time = Array.from({ length: 30 }, (_, hour) => at(hour)).filter((open) => open >= at(10) && open < cursor);
      const prices = time.map(() => 100);
      return reply({ timeframe: "1h", level: "1h", time, open: prices, high: prices, low: prices, close: prices, volume: time.map(() => null) });
    }
    if (method === "PATCH") cursor += JSON.parse(String(body)).step * HOUR;
    if (method === "DELETE") return reply({ replay: null });
    return reply({ replay: replay() });
  };
  const series = createStore(/** @type {any} */ ({ items: [], current: { id: 7, timeframe: "1h" }, isLoaded: true }));
  return { calls, desk: new ReplayDesk(new Api(() => "me", answer), series) };
}

test("steps go to the server one after the other, and its cursor is the one that counts", async () => {
  const { desk: replay, calls } = desk();
  await replay.read();
  assert.equal(replay.state.get()?.cursor, at(10));
  await Promise.all([replay.change({ step: 1, timeframe: "1h" }), replay.change({ step: 2, timeframe: "1h" })]);
  assert.equal(replay.state.get()?.cursor, at(13));
  assert.deepEqual((await replay.candlesBetween(at(10), at(13)))?.map(({ time }) => time), [at(10), at(11), at(12)]);
  await replay.end();
  assert.equal(replay.state.get(), null);
  assert.ok(calls.every((call) => call.includes("/api/series/7/")));
});
