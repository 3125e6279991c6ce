"""What the exchanges' streams say of candles: Binance, Bybit and OKX, each with its own word for "closed". Pure.

The unified form of ccxt leaves that word out, so the messages are read here as they come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from annotate.feeds.arrivals import Candle

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Update:
    """What a stream said of one candle; `closed` is the exchange's own word that it is final."""

    candle: Candle
    closed: bool

    def to_json(self) -> Json:
        """Give a line for the pipe."""
        return {**self.candle.to_json(), "closed": self.closed}


def updates_of(exchange: str, message: object) -> list[Update]:
    """Give the candle updates in a message of an exchange's stream; none in one about anything else.

    Raises ValueError, KeyError, TypeError or IndexError for a candle message that does not hold what it should.
    """
    return list(READERS[exchange](message)) if isinstance(message, Mapping) else []


def _binance(message: Mapping[str, Any]) -> Iterator[Update]:
    """`{"e": "kline", "k": {t, o, h, l, c, v, x}}`, also wrapped in `{"stream", "data"}`; x says closed."""
    event = message.get("data", message)
    if isinstance(event, Mapping) and event.get("e") == "kline":
        k = event["k"]
        yield Update(_candle(k["t"], k["o"], k["h"], k["l"], k["c"], k["v"]), k["x"] is True)


def _bybit(message: Mapping[str, Any]) -> Iterator[Update]:
    """`{"topic": "kline.5.BTCUSDT", "data": [{start, …, confirm}]}`; `timestamp` is the message's time, not its own."""
    if str(message.get("topic", "")).startswith("kline."):
        for k in message["data"]:
            values = (k["start"], k["open"], k["high"], k["low"], k["close"], k["volume"])
            yield Update(_candle(*values), k["confirm"] is True)


def _okx(message: Mapping[str, Any]) -> Iterator[Update]:
    """`{"arg": {"channel": "candle1m"}, "data": [[ts, o, h, l, c, vol, …, confirm]]}`; confirm is "1" once closed."""
    argument = message.get("arg")
    if isinstance(argument, Mapping) and str(argument.get("channel", "")).startswith("candle"):
        for row in message.get("data", ()):
            yield Update(_candle(*row[:6]), row[-1] == "1")


READERS: Mapping[str, Callable[[Mapping[str, Any]], Iterable[Update]]] = {
    "binance": _binance,
    "bybit": _bybit,
    "okx": _okx,
}


def _candle(time: object, *values: object) -> Candle:
    open_, high, low, close, volume = (float(str(value)) for value in values)
    return Candle(int(str(time)), open_, high, low, close, volume)
