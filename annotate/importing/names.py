"""Hints from a file's name: symbol and timeframe, as exchanges, charting sites and tools name their files."""

from __future__ import annotations

import re
from dataclasses import dataclass

from annotate import timeframe

QUOTES = ("FDUSD", "USDT", "USDC", "BUSD", "TUSD", "USD", "EUR", "GBP", "TRY", "BTC", "ETH", "BNB")
CURRENCIES = frozenset(
    (
        *("USD", "EUR", "GBP", "JPY", "CHF", "AUD", "NZD", "CAD", "SEK", "NOK", "DKK", "PLN", "CZK", "HUF", "TRY"),
        *("ZAR", "MXN", "SGD", "HKD", "CNH", "CNY", "INR", "RUB", "ILS", "THB", "XAU", "XAG", "XPT", "XPD"),
    )
)
UNIT_NAMES = {"s": "s", "m": "m", "min": "m", "h": "h", "hour": "h", "d": "d", "day": "d", "w": "w", "week": "w"}
UNIT_NAMES |= {"mo": "mo", "mon": "mo", "month": "mo", "minute": "m", "t": "m"}
MT_UNITS = {"M": "m", "H": "h", "D": "d", "W": "w", "MN": "mo"}
MT_PERIODS = frozenset(
    (
        *("M1", "M2", "M3", "M4", "M5", "M6", "M10", "M12", "M15", "M20", "M30"),
        *("H1", "H2", "H3", "H4", "H6", "H8", "H12", "D1", "W1", "MN1"),
    )
)
WORDS = {"daily": "1d", "weekly": "1w", "monthly": "1mo", "hourly": "1h", "minute": "1m", "second": "1s", "hour": "1h"}
# Minutes in names such as XBTUSD_60 (Kraken), BTCUSDT, 15 (TradingView) and CADJPY1 (MetaTrader 4).
MINUTES = {1: "1m", 2: "2m", 3: "3m", 5: "5m", 10: "10m", 15: "15m", 30: "30m", 45: "45m", 60: "1h", 120: "2h"}
MINUTES |= {180: "3h", 240: "4h", 360: "6h", 480: "8h", 720: "12h", 1440: "1d", 10080: "1w", 43200: "1mo"}
EXTENSIONS = re.compile(
    r"(\.(csv|tsv|txt|json|parquet|feather|arrow|gz|zip|prn|asc|last|jsongz|ndjson|jsonl))+$", re.IGNORECASE
)


# Words of file names that are no symbol: vendors, kinds of data, sides.
_OTHER_WORDS = """
    historical historicaldata data history prices price quotes candles candle candlestick ohlc ohlcv klines kline bars
    export download chart stock stocks etf index series table query last ask bid mid spot futures investing com
    tradingview metatrader mt4 mt5 mt5py ninjatrader yahoo yfinance stooq nasdaq alphavantage vantage alpha quandl wiki
    kraken binance coinbase bitstamp bybit okx dukascopy histdata freqtrade ccxt oanda polygon csv json txt file test
    the of and for from to new copy final report hour hours minute minutes min
"""
NO_SYMBOL = frozenset(_OTHER_WORDS.split())


@dataclass(frozen=True, slots=True)
class NameHint:
    """What a file name suggests; None where it says nothing."""

    symbol: str | None
    timeframe: str | None
    zone: str | None = None


def read_name(filename: str) -> NameHint:
    """Take the symbol and the timeframe from a file name; both are hints and never decide against the data."""
    stem = EXTENSIONS.sub("", filename)
    words = [word for word in re.split(r"[-_,.\s]+", stem) if word]
    length = next((found for word in words if (found := _timeframe(word))), None)
    symbol = _pair_of_parts(stem) or next((found for word in words if (found := _symbol(word))), None)
    for word in words:
        attached = re.fullmatch(r"([A-Z]{6,10}?)(\d{1,5})", word)
        if attached and int(attached[2]) in MINUTES and (len(words) == 1 or "/" in split_pair(attached[1])):
            return NameHint(split_pair(attached[1]), MINUTES[int(attached[2])])
    return NameHint(symbol, length or _minutes_after(words, symbol))


def likely_symbol(filename: str) -> str:
    """Guess the symbol of a file that names none: the first word of its name that can be one."""
    words = [word for word in re.split(r"[\W_]+", EXTENSIONS.sub("", filename)) if re.search(r"[^\W\d]", word)]
    fitting = [word for word in words if word.lower() not in NO_SYMBOL and _timeframe(word) is None]
    return ([*fitting, *words, "series"])[0].upper()


def read_words(text: str, *, interval: bool) -> NameHint:
    """Take hints from a field of a file, such as `kline.5.BTCUSDT`, `candle1D` or, for an interval, `5`."""
    if interval:
        return NameHint(None, MINUTES.get(int(text)) if text.isdigit() and len(text) < 6 else _timeframe(text))
    if match := re.search(r"([A-Z0-9]{2,10})/([A-Z]{3,5})", text):
        rest = read_name(text.replace(match[0], "").replace("@", "_"))
        return NameHint(match[0], rest.timeframe)
    found = read_name(text.removeprefix("candle"))
    plain = text if re.fullmatch(r"[A-Z][A-Z0-9.:-]{0,19}", text) else None
    return NameHint(found.symbol or plain, found.timeframe)


def _timeframe(word: str) -> str | None:
    if word in MT_PERIODS:
        unit = word.rstrip("0123456789")
        return _named(int(word[len(unit) :]), MT_UNITS[unit])
    if match := re.fullmatch(r"(\d{1,3})([A-Za-z]+)", word):
        # Binance writes months as 1mo or 1M; 1m is a minute.
        name = "mo" if match[2] == "M" else UNIT_NAMES.get(match[2].lower())
        return _named(int(match[1]), name) if name else None
    if match := re.fullmatch(r"PT?(\d{1,3})([SMHDW])", word):
        return _named(int(match[1]), match[2].lower())
    return WORDS.get(word.lower())


def _named(count: int, unit: str) -> str | None:
    """Give the usual name of a timeframe; `30d` and the like say how much a file holds, not how long a candle is."""
    if count == 0 or (unit == "d" and count > 7) or (unit in ("w", "mo") and count > 12):
        return None
    return timeframe.name(timeframe.parse(f"{count}{unit}"))


def _minutes_after(words: list[str], symbol: str | None) -> str | None:
    if symbol is None:
        return None
    return next((MINUTES[int(word)] for word in words[1:] if word.isdigit() and int(word) in MINUTES), None)


def _pair_of_parts(stem: str) -> str | None:
    """Read `BTC_USDT-5m` and `XRP_USDT_USDT-5m-futures`, the way freqtrade names files, and BTC-USDT."""
    match = re.search(r"(?:^|[^A-Za-z0-9])([A-Z0-9]{2,10})[_-]([A-Z]{3,5})(?:[_:]([A-Z]{3,5}))?(?![A-Za-z0-9])", stem)
    if not match or match[2] not in QUOTES or match[1].isdigit():
        return None
    settle = f":{match[3]}" if match[3] in QUOTES else ""
    return f"{match[1]}/{match[2]}{settle}"


def _symbol(word: str) -> str | None:
    """Take a word in capitals that can be a symbol: a pair of known parts, else nothing."""
    if not re.fullmatch(r"[A-Z0-9]{5,14}", word) or word in MT_PERIODS:
        return None
    pair = split_pair(word)
    return pair if "/" in pair else None


def split_pair(text: str) -> str:
    """Write a joined pair with a slash where the parts are known: BTCUSDT is BTC/USDT; else give it back."""
    if match := re.fullmatch(r"X([A-Z]{3})[XZ]([A-Z]{3})", text):  # Kraken's own names, such as XXBTZUSD
        return f"{match[1]}/{match[2]}"
    if len(text) == 6 and text[:3] in CURRENCIES and text[3:] in CURRENCIES:
        return f"{text[:3]}/{text[3:]}"
    if len(text) == 6 and text[3:] in QUOTES:
        return f"{text[:3]}/{text[3:]}"
    for quote in QUOTES:
        base = text.removesuffix(quote)
        if base != text and 2 <= len(base) <= 10 and base.isalnum():
            return f"{base}/{quote}"
    return text
