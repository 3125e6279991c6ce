"""Writers that put invented candles down as the JSON of exchanges and sites."""

from __future__ import annotations

import json

from tests.annotate.importing.files import HOUR, JUNE, Row


def binance_rest(candles: list[Row]) -> bytes:
    return json.dumps(
        [[row.time, *row.prices, row.volume, row.time + HOUR - 1, "51.5", 15, "2.5", "23.5", "0"] for row in candles]
    ).encode()


def numbers(row: Row) -> list[float]:
    return [float(price) for price in (*row.prices, row.volume)]


def freqtrade(candles: list[Row]) -> bytes:
    return json.dumps([[row.time, *numbers(row)] for row in candles]).encode()


def coinbase(candles: list[Row]) -> bytes:
    cells = [
        [row.time // 1000, *(float(price) for price in (row.low, row.high, row.open, row.close, row.volume))]
        for row in reversed(candles)
    ]
    return json.dumps(cells).encode()


def okx(candles: list[Row]) -> bytes:
    cells = [[str(row.time), *row.prices, row.volume, "1.5", "2.5", "1"] for row in reversed(candles)]
    return json.dumps({"code": "0", "msg": "", "data": cells}).encode()


def bybit(candles: list[Row]) -> bytes:
    cells = [[str(row.time), *row.prices, row.volume, "77.5"] for row in reversed(candles)]
    result = {"symbol": "BTCUSDT", "category": "linear", "list": cells}
    return json.dumps({"retCode": 0, "retMsg": "OK", "result": result, "time": JUNE}).encode()


def kraken_rest(candles: list[Row]) -> bytes:
    cells = [[row.time // 1000, *row.prices, row.open, row.volume, 9] for row in candles]
    return json.dumps({"error": [], "result": {"XXBTZUSD": cells, "last": candles[-1].time // 1000}}).encode()


def alphavantage_json(candles: list[Row]) -> bytes:
    names = ("1. open", "2. high", "3. low", "4. close", "5. volume")
    series = {
        row.clock("%Y-%m-%d"): dict(zip(names, (*row.prices, row.volume), strict=True)) for row in reversed(candles)
    }
    return json.dumps({"Meta Data": {"2. Symbol": "IBM"}, "Time Series (Daily)": series}).encode()


def yahoo_chart(candles: list[Row]) -> bytes:
    quote = {
        role: [float(getattr(row, role)) for row in candles] for role in ("close", "low", "open", "volume", "high")
    }
    result = {
        "meta": {"symbol": "AAPL"},
        "timestamp": [row.time // 1000 for row in candles],
        "indicators": {"quote": [quote]},
    }
    return json.dumps({"chart": {"result": [result], "error": None}}).encode()


def columns_json(candles: list[Row]) -> bytes:
    letters = {"o": "open", "h": "high", "l": "low", "c": "close", "v": "volume"}
    columns = {letter: [float(getattr(row, role)) for row in candles] for letter, role in letters.items()}
    return json.dumps({"s": "ok", "t": [row.time // 1000 for row in candles], **columns}).encode()


def oanda(candles: list[Row]) -> bytes:
    items = [
        {
            "complete": True,
            "volume": float(row.volume),
            "time": row.clock("%Y-%m-%dT%H:%M:%S.000000000Z"),
            "mid": dict(zip("ohlc", row.prices, strict=True)),
        }
        for row in candles
    ]
    return json.dumps({"instrument": "EUR_USD", "granularity": "H1", "candles": items}).encode()


def end_stamped(candles: list[Row]) -> bytes:
    items = [
        {
            "endTime": row.time + HOUR - 1,
            "openPrice": row.open,
            "highPrice": row.high,
            "lowPrice": row.low,
            "closePrice": row.close,
            "volume": row.volume,
        }
        for row in candles
    ]
    return json.dumps({"name": "ETH/USD_PT1H@Somewhere", "ohlc": items}).encode()
