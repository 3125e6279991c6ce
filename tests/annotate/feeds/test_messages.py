"""The messages of the exchanges' streams, as they are published: values, and the word for closed."""

from __future__ import annotations

import json

import pytest

from annotate.feeds.arrivals import Candle
from annotate.feeds.assembler import Assembler
from annotate.feeds.messages import Update, updates_of
from annotate.timeframe import floor
from tests.conftest import CANDLE_FACTS

KLINE = {"t": 1672515780000, "o": "0.0010", "c": "0.0020", "h": "0.0025", "l": "0.0015", "v": "1000", "x": False}


def test_binance_says_x() -> None:
    told = Candle(1672515780000, 0.001, 0.0025, 0.0015, 0.002, 1000.0)
    assert updates_of("binance", {"e": "kline", "k": KLINE}) == [Update(told, closed=False)]
    wrapped = {"stream": "bnbbtc@kline_1m", "data": {"e": "kline", "k": {**KLINE, "x": True}}}
    assert updates_of("binance", wrapped) == [Update(told, closed=True)]


def test_bybit_says_confirm_and_its_timestamp_is_the_messages() -> None:
    kline = {"start": 1672324800000, "open": "16649.5", "close": "16677", "high": "16677", "low": "16608",
             "volume": "2.081", "confirm": False, "timestamp": 1672324988882}  # fmt: skip
    told = Candle(1672324800000, 16649.5, 16677.0, 16608.0, 16677.0, 2.081)
    message = {"topic": "kline.5.BTCUSDT", "data": [kline, {**kline, "confirm": True}]}
    assert updates_of("bybit", message) == [Update(told, closed=False), Update(told, closed=True)]


def test_okx_says_it_in_the_last_place() -> None:
    row = ["1597017600000", "8533.02", "8553.74", "8527.17", "8548.26", "45247", "529.58", "5529.58", "0"]
    told = Candle(1597017600000, 8533.02, 8553.74, 8527.17, 8548.26, 45247.0)
    message = {"arg": {"channel": "candle1D", "instId": "BTC-USDT"}, "data": [row, [*row[:-1], "1"]]}
    assert updates_of("okx", message) == [Update(told, closed=False), Update(told, closed=True)]


@pytest.mark.parametrize(
    ("exchange", "message"),
    [
        ("binance", {"result": None, "id": 1}),
        ("binance", [1, 2]),
        ("bybit", {"op": "pong"}),
        ("okx", {"event": "subscribe", "arg": {"channel": "candle1m", "instId": "BTC-USDT"}}),
    ],
)
def test_what_is_about_something_else_holds_no_candle(exchange: str, message: object) -> None:
    assert updates_of(exchange, message) == []


def test_a_candle_message_without_its_values_is_an_error() -> None:
    with pytest.raises((KeyError, ValueError)):
        updates_of("binance", {"e": "kline", "k": {"t": 1}})


def test_the_published_samples_are_right_as_kinds() -> None:
    folder = CANDLE_FACTS / "live"
    if not folder.is_dir():
        return  # beside a clone without the facts there is nothing to compare with
    for fact in json.loads((folder / "manifest.json").read_text()):
        name = fact["file"].removeprefix("live/")
        expected = fact["expected"]
        (update,) = updates_of(name.partition("_")[0], json.loads((folder / name).read_text()))
        values = [float(expected[field]) for field in "ohlcv"]
        assert update == Update(Candle(expected["t_ms"], *values), expected["closed"])
        timeframe = expected["timeframe"].lower()
        assembler = Assembler(timeframe, floor(expected["t_ms"], timeframe))
        assert [assembler.update(update).final for _ in range(3)] == [[], [], []]  # it forms, or opens no candle
        is_aligned = expected["t_ms"] == floor(expected["t_ms"], timeframe)
        assert (assembler.forming, assembler.misaligned) == ((update.candle, 0) if is_aligned else (None, 3))
