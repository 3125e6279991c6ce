// The words of a feed: its name in the run bar, its state, and what a change of kind keeps.

import assert from "node:assert/strict";
import test from "node:test";

import { feedFacts, feedText, isReplay, withKind } from "../../static/js/model/feed.js";

/**
 * @param {object} feed
 * @param {object} [summary]
 * @returns {any}
 */
const runWith = (feed, summary = {}) => ({ config: { feed }, summary });
const STATE = { state: "connected", since: 1_700_000_000_000, last_candle: 1_699_999_999_000, message: "candles come", no_trade: 0, conflicts: 0 };

test("a feed is named by where its candles come from", () => {
  assert.equal(feedText(runWith({ kind: "replay", speed: "max" })), "replay max");
  assert.equal(feedText(runWith({ kind: "replay", speed: 10 })), "replay 10×");
  assert.equal(feedText(runWith({ kind: "push" })), "posted candles");
  assert.equal(feedText(runWith({ kind: "exchange", exchange: "binance", symbol: "BTC/USDT" })), "binance BTC/USDT");
  assert.equal(feedText(runWith({ kind: "exchange", exchange: "okx", symbol: null })), "okx");
  assert.deepEqual(["push", "replay"].map((kind) => isReplay(runWith({ kind }))), [false, true]);
});

test("a stale feed says since when, with the last candle", () => {
  assert.deepEqual(feedFacts(runWith({ kind: "replay" })), []);
  const [connected] = feedFacts(runWith({ kind: "push" }, { feed: STATE }));
  assert.equal(connected?.value, "connected");
  assert.equal(connected?.tone, undefined);
  const [stale] = feedFacts(runWith({ kind: "push" }, { feed: { ...STATE, state: "stale", no_trade: 3, conflicts: 1 } }));
  assert.equal(stale?.value, "stale since 2023-11-14 22:13:20 UTC");
  assert.equal(stale?.tone, "warning");
  assert.match(stale?.title ?? "", /last candle 2023-11-14 22:13:19 UTC · 3 periods without trades · 1 candles came again/);
});

test("a change of kind keeps what the new kind has and leaves out the rest", () => {
  const replay = { kind: "replay", from: 5, speed: 60 };
  assert.deepEqual(withKind(replay, "push"), { kind: "push", from: null });
  const exchange = withKind(replay, "exchange");
  assert.deepEqual(exchange, { kind: "exchange", from: null, exchange: "binance", symbol: null });
  assert.deepEqual(withKind({ ...exchange, symbol: "ETH/USDT" }, "exchange").symbol, "ETH/USDT");
  assert.deepEqual(withKind(exchange, "replay"), { kind: "replay", from: null, speed: 1 });
});
