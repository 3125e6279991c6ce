"""Where the candles of a live run come from: the kinds of feed, their fields, defaults and limits. Plain data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]
Problem = tuple[str, object, str]
"""(field, value, what is allowed)"""

FEEDS: dict[str, Json] = {
    "replay": {"from": None, "speed": 1},  # stored candles, `speed` a second or "max"
    "push": {"from": None},  # whatever is posted to the series
    "exchange": {"from": None, "exchange": "binance", "symbol": None, "history": 1000},  # its closed candles
}
"""Kind → its fields and their defaults. An empty `from` of a replay is the model's data cut, else the next candle."""

MOST_HISTORY = 100_000


def filled(given: Mapping[str, Any]) -> Json:
    """Give a feed with the defaults of its kind; one of no known kind as it is."""
    kind = given.get("kind", "replay")
    return {"kind": kind, **(FEEDS.get(kind, {}) if isinstance(kind, str) else {}), **given}


def problem_of(feed: Mapping[str, Any]) -> Problem | None:
    """Say what is wrong with a feed, if anything."""
    kind = feed.get("kind")
    if not isinstance(kind, str) or kind not in FEEDS:
        return "feed.kind", kind, "use " + ", ".join(FEEDS)
    known = ("kind", *FEEDS[kind])
    unknown = sorted(set(feed) - set(known))
    if unknown:
        return f"feed.{unknown[0]}", feed[unknown[0]], f"unknown field of a {kind} feed; known are {', '.join(known)}"
    checks = (_start(feed.get("from")), _speed(feed.get("speed", 1)), *_exchange(feed))
    return next((problem for problem in checks if problem is not None), None)


def _start(start: object) -> Problem | None:
    if start is None or _is_whole(start):
        return None
    return "feed.from", start, "open time of a candle in ms UTC, or empty"


def _speed(speed: object) -> Problem | None:
    if speed == "max" or (isinstance(speed, int | float) and not isinstance(speed, bool) and 0 < speed <= 1000):
        return None
    return "feed.speed", speed, "candles a second, above 0 and up to 1000, or max"


def _exchange(feed: Mapping[str, Any]) -> list[Problem | None]:
    exchange, symbol, history = feed.get("exchange", ""), feed.get("symbol"), feed.get("history", 0)
    return [
        None if isinstance(exchange, str) else ("feed.exchange", exchange, "name an exchange, such as binance"),
        None
        if symbol is None or (isinstance(symbol, str) and symbol.strip())
        else ("feed.symbol", symbol, "a symbol such as BTC/USDT, or empty for that of the series"),
        None
        if _is_whole(history) and 0 <= history <= MOST_HISTORY
        else ("feed.history", history, f"candles to fetch before the run begins, 0 to {MOST_HISTORY}"),
    ]


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
