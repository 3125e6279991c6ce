// Where the candles of a live run come from, and how that goes, in words for a person. Pure; no DOM.

/** @typedef {import("./run.js").Run} Run */
/** @typedef {import("./headline.js").Fact} Fact */

/**
 * A feed as a run's config holds it.
 * @typedef {object} Feed
 * @property {string} kind replay, push or exchange
 * @property {number | null} [from] first candle, ms UTC
 * @property {number | string} [speed] of a replay
 * @property {string} [exchange]
 * @property {string | null} [symbol] at the exchange; null: that of the series
 * @property {number} [history] candles to fetch first
 */

/**
 * How a feed goes, as the summary of its run holds it.
 * @typedef {object} FeedState
 * @property {string} state waiting, connected, back-filling, reconnecting, limited or stale
 * @property {number} since ms UTC
 * @property {number | null} last_candle open time of the newest stored candle then
 * @property {string} message
 * @property {number} no_trade periods that the exchange left out
 * @property {number} conflicts closed candles that came again with other values
 */

/** The kinds with what they mean, for a form. */
export const FEED_KINDS = [
  { kind: "replay", title: "Replay of stored candles", meaning: "Plays the candles of this series, as if they came now." },
  {
    kind: "push",
    title: "Candles posted to this series",
    meaning: "Waits for POST /api/series/<id>/candles with the access token, from whatever has candles; docs/live.md shows how.",
  },
  {
    kind: "exchange",
    title: "An exchange",
    meaning: "Fetches what is missing, then follows the exchange. No key is needed. The series must be of the same market, or empty.",
  },
];

/**
 * Give a feed of another kind; fields that every kind has stay.
 * @param {Feed} feed
 * @param {string} kind
 * @returns {Feed}
 */
export function withKind(feed, kind) {
  const { from = null } = feed;
  if (kind === "replay") return { kind, from, speed: feed.speed ?? 1 };
  if (kind === "push") return { kind, from: null };
  return { kind, from: null, exchange: feed.exchange ?? "binance", symbol: feed.symbol ?? null };
}

/**
 * Name the feed of a live run.
 * @param {Run} run
 * @returns {string} `replay 10×`, `posted candles`, `binance BTC/USDT`
 */
export function feedText(run) {
  const feed = /** @type {Feed | undefined} */ (run.config["feed"]);
  if (feed?.kind === "push") return "posted candles";
  if (feed?.kind === "exchange") return [feed.exchange, feed.symbol].filter(Boolean).join(" ");
  const speed = feed?.speed ?? 1;
  return `replay ${speed === "max" ? "max" : `${speed}×`}`;
}

/**
 * Whether a run shows stored candles anew, so that those after its clock are to be hidden.
 * @param {Run} run
 * @returns {boolean}
 */
export function isReplay(run) {
  const feed = /** @type {Feed | undefined} */ (run.config["feed"]);
  return (feed?.kind ?? "replay") === "replay";
}

/**
 * Say how a feed goes.
 * @param {Run} run
 * @returns {Fact[]} none for a replay, and before the feed has said anything
 */
export function feedFacts(run) {
  const feed = /** @type {FeedState | undefined} */ (run.summary["feed"]);
  if (feed === undefined) return [];
  const isStale = feed.state === "stale";
  const last = feed.last_candle === null ? "" : `; last candle ${clock(feed.last_candle)}`;
  const counted = [
    feed.no_trade > 0 && `${feed.no_trade} periods without trades`,
    feed.conflicts > 0 && `${feed.conflicts} candles came again with other values; the stored ones stay`,
  ].filter(Boolean);
  const title = [`Since ${clock(feed.since)}: ${feed.message}${last}`, ...counted].join(" · ");
  const tone = feed.state === "connected" ? undefined : feed.state === "waiting" ? "muted" : "warning";
  return [{ label: "feed", value: isStale ? `stale since ${clock(feed.since)}` : feed.state, title, tone }];
}

/** @param {number} time ms UTC */
function clock(time) {
  const text = new Date(time).toISOString();
  const isToday = text.slice(0, 10) === new Date().toISOString().slice(0, 10);
  return `${isToday ? text.slice(11, 19) : text.slice(0, 19).replace("T", " ")} UTC`;
}
