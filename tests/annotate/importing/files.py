"""Invented candles, and writers that put them down the way exchanges, brokers and charting sites do."""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np

from annotate.importing import Imported, read_file

MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
JUNE = 1_717_372_800_000  # Monday, 2024-06-03 00:00 UTC


@dataclass(frozen=True, slots=True)
class Row:
    """One invented candle: open time in ms UTC, prices and volume as their text."""

    time: int
    open: str
    high: str
    low: str
    close: str
    volume: str

    @property
    def prices(self) -> tuple[str, str, str, str]:
        return (self.open, self.high, self.low, self.close)

    def at(self, zone: str = "UTC") -> datetime:
        return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=self.time)).astimezone(ZoneInfo(zone))

    def clock(self, layout: str, zone: str = "UTC") -> str:
        return self.at(zone).strftime(layout)


def rows(count: int = 40, *, start: int = JUNE, step: int = HOUR, decimals: int = 4, price: float = 20.0) -> list[Row]:
    """Invent candles that keep the high/low rule, from a seeded walk."""
    source = np.random.default_rng(count)
    closes = price + np.cumsum(source.normal(0, price / 200, count))
    opens = np.append(price, closes[:-1])
    highs = np.maximum(opens, closes) + source.uniform(0.01, price / 100, count)
    lows = np.minimum(opens, closes) - source.uniform(0.01, price / 100, count)
    volumes = source.uniform(1, 900, count)
    texts = [[f"{value:.{decimals}f}" for value in column] for column in (opens, highs, lows, closes)]
    times = range(start, start + count * step, step)
    return [Row(*cells) for cells in zip(times, *texts, [f"{volume:.3f}" for volume in volumes], strict=True)]


def lines(header: str | None, cells: Sequence[Sequence[object]], delimiter: str = ",", end: str = "\n") -> bytes:
    """Join cells to delimited text with a final line end."""
    body = [delimiter.join(str(cell) for cell in line) for line in cells]
    return (end.join(([header] if header is not None else []) + body) + end).encode()


def packed(members: Mapping[str, bytes]) -> bytes:
    """Zip named members."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def imported(folder: Path, name: str, data: bytes, answers: Mapping[str, Any] | None = None) -> Imported:
    """Write a file, read it, and give its one series."""
    series = all_imported(folder, name, data, answers)
    assert len(series) == 1
    return series[0]


def all_imported(folder: Path, name: str, data: bytes, answers: Mapping[str, Any] | None = None) -> list[Imported]:
    """Write a file under a neutral name, as uploads are kept, and read it under its own."""
    path = folder / "upload"
    path.write_bytes(data)
    return read_file(path, name, answers or {})


def assert_holds(found: Imported, expected: Sequence[Row], *, volume: bool = True) -> None:
    """Check that a series is exactly these candles: `float(text) == stored`, in order of time."""
    candles = found.candles
    assert candles.time.tolist() == [row.time for row in expected]
    for name in ("open", "high", "low", "close"):
        assert getattr(candles, name).tolist() == [float(getattr(row, name)) for row in expected], name
    if volume:
        assert candles.volume.tolist() == [float(row.volume) for row in expected]
    else:
        assert np.isnan(candles.volume).all()


@dataclass(frozen=True, slots=True)
class Layout:
    """A layout under test: how it writes candles, and which candles, answers and name go with it."""

    id: str
    file: str
    write: Callable[[list[Row]], bytes]
    rows: list[Row] = field(default_factory=rows)
    answers: Mapping[str, Any] = field(default_factory=dict)
    timeframe: str = "1h"
    symbol: str | None = None
    volume: bool = True
    order: str = "ascending"


def binance(candles: list[Row], unit: int = 1) -> bytes:
    tail = ("51.5", 15, "2.5", "23.5", 0)
    ends = [(row.time + HOUR) * unit - 1 for row in candles]
    cells = [(row.time * unit, *row.prices, row.volume, end, *tail) for row, end in zip(candles, ends, strict=True)]
    return lines(None, cells)


BINANCE_HEADER = (
    "open_time,open,high,low,close,volume,close_time,quote_volume,count,taker_buy_volume,taker_buy_quote_volume,ignore"
)


def binance_header(candles: list[Row]) -> bytes:
    return f"{BINANCE_HEADER}\n".encode() + binance(candles)


def frame(candles: list[Row], name: str = "date") -> dict[str, Any]:
    times = np.array([row.time for row in candles]).astype("datetime64[ms]")
    columns = {
        role: [float(getattr(row, role)) for row in candles] for role in ("open", "high", "low", "close", "volume")
    }
    return {name: times, **columns}


def tradingview(candles: list[Row]) -> bytes:
    cells = [
        (row.clock("%Y-%m-%dT%H:%M:%S+09:00", "Asia/Tokyo"), *row.prices, "1.5", "NaN", "", row.volume)
        for row in candles
    ]
    return lines("time,open,high,low,close,Plot,Plot,数值1,Volume", cells)


def mt4(candles: list[Row]) -> bytes:
    cells = [(row.clock("%Y.%m.%d,%H:%M", "Europe/Athens"), *row.prices, row.volume) for row in candles]
    return lines(None, cells, end="\r\n")


def mt5(candles: list[Row]) -> bytes:
    header = "<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>\t<VOL>\t<SPREAD>"
    shifted = [(row.at("America/New_York") + timedelta(hours=7), row) for row in candles]
    cells = [(f"{clock:%Y.%m.%d}", f"{clock:%H:%M:%S}", *row.prices, row.volume, 0, 3) for clock, row in shifted]
    return lines(header, cells, "\t", "\r\n")


def mt5_python(candles: list[Row]) -> bytes:
    cells = [(row.clock("%Y-%m-%d %H:%M:%S"), *row.prices, row.volume, 2, 0) for row in candles]
    return lines("time,open,high,low,close,tick_volume,spread,real_volume", cells)


def histdata(candles: list[Row]) -> bytes:
    cells = [(row.clock("%Y%m%d %H%M%S", "Etc/GMT+5"), *row.prices, 0) for row in candles]
    return lines(None, cells, ";")


def ninjatrader(candles: list[Row]) -> bytes:
    ends = [(row.at() + timedelta(hours=1), row) for row in candles]
    return lines(None, [(f"{end:%Y%m%d %H%M%S}", *row.prices, row.volume) for end, row in ends], ";")


def cryptodatadownload(candles: list[Row]) -> bytes:
    cells = [
        # Older rows of these files are in seconds.
        (
            row.time if at % 2 else row.time // 1000,
            row.clock("%Y-%m-%d %H:%M:%S"),
            "ADA/USDT",
            *row.prices,
            row.volume,
            "9.9",
            7,
        )
        for at, row in enumerate(reversed(candles))
    ]
    body = lines("unix,date,symbol,open,high,low,close,Volume ADA,Volume USDT,tradecount", cells)
    return b"https://www.CryptoDataDownload.com\n" + body


def kraken(candles: list[Row]) -> bytes:
    return lines(None, [(row.time // 1000, *row.prices, row.volume, 12) for row in candles])


def dukascopy(candles: list[Row]) -> bytes:
    cells = [(row.clock("%d.%m.%Y %H:%M:%S.000"), *row.prices, row.volume) for row in candles]
    return lines("Gmt time,Open,High,Low,Close,Volume", cells, end="\r\n")


def dukascopy_offset(candles: list[Row]) -> bytes:
    cells = [(row.clock("%d.%m.%Y %H:%M:%S.000 GMT+0200", "Etc/GMT-2"), *row.prices, row.volume) for row in candles]
    return lines("Local time,Open,High,Low,Close,Volume", cells)


def stooq_bulk(candles: list[Row]) -> bytes:
    header = "<TICKER>,<PER>,<DATE>,<TIME>,<OPEN>,<HIGH>,<LOW>,<CLOSE>,<VOL>,<OPENINT>"
    # A spreadsheet has taken the leading zeros of the clock.
    cells = [
        ("ABC.US", 60, row.clock("%Y%m%d"), int(row.clock("%H%M%S")), *row.prices, row.volume, 0) for row in candles
    ]
    return lines(header, cells)


def dated(header: str, layout: str = "%Y-%m-%d") -> Callable[[list[Row]], bytes]:
    return lambda candles: lines(header, [(row.clock(layout), *row.prices, row.volume) for row in candles])


def yahoo(candles: list[Row]) -> bytes:
    cells = [(row.clock("%Y-%m-%d"), *row.prices, "3.25", row.volume) for row in candles]
    return lines("Date,Open,High,Low,Close,Adj Close,Volume", cells)


def yahoo_old(candles: list[Row]) -> bytes:
    cells = [(row.clock("%Y-%m-%d"), *row.prices, row.volume, "3.25") for row in candles]
    return lines("Date,Open,High,Low,Close,Volume,Adj Close", cells)


def yfinance(candles: list[Row]) -> bytes:
    cells = [
        (row.clock("%Y-%m-%d %H:%M:%S%:z", "America/New_York"), row.close, row.high, row.low, row.open, row.volume)
        for row in candles
    ]
    text = lines("Price,Close,High,Low,Open,Volume", cells).decode()
    text = text.replace("%:z", "-04:00")
    head, rest = text.split("\n", 1)
    return f"{head}\nTicker,SPY,SPY,SPY,SPY,SPY\nDatetime,,,,,\n{rest}".encode()


def investing(candles: list[Row]) -> bytes:
    cells = [
        (
            row.clock('"%b %d, %Y"'),
            *(f'"{float(price):,.1f}"' for price in (row.close, row.open, row.high, row.low)),
            f'"{row.volume}K"',
            '"1.0%"',
        )
        for row in reversed(candles)
    ]
    head = '"Date","Price","Open","High","Low","Vol.","Change %"'
    return b"\xef\xbb\xbf" + lines(head, cells, end="\r\n").removesuffix(b"\r\n")


def investing_german(candles: list[Row]) -> bytes:
    def german(price: str) -> str:
        return f'"{float(price):,.2f}"'.translate(str.maketrans(",.", ".,"))

    cells = [
        (
            row.clock('"%d.%m.%Y"'),
            *(german(price) for price in (row.close, row.open, row.high, row.low)),
            f'"{row.volume.replace(".", ",")}K"',
            '"1,0%"',
        )
        for row in reversed(candles)
    ]
    return lines('"Datum","Zuletzt","Eröffn.","Hoch","Tief","Vol.","+/- %"', cells)


def quandl(candles: list[Row]) -> bytes:
    cells = [
        (row.clock("%Y-%m-%d"), *row.prices, row.volume, "0.0", "1.0", "5.1", "5.2", "5.0", "5.1", "9")
        for row in reversed(candles)
    ]
    header = (
        "Date,Open,High,Low,Close,Volume,Ex-Dividend,Split Ratio,Adj. Open,Adj. High,Adj. Low,Adj. Close,Adj. Volume"
    )
    return lines(header, cells)


def nasdaq(candles: list[Row]) -> bytes:
    cells = [
        (row.clock("%m/%d/%Y"), f"${row.close}", row.volume, f"${row.open}", f"${row.high}", f"${row.low}")
        for row in reversed(candles)
    ]
    return lines("Date,Close/Last,Volume,Open,High,Low", cells)


def marketwatch(candles: list[Row]) -> bytes:
    cells = [
        (row.clock("%m/%d/%Y"), *(f'"{float(price):,.2f}"' for price in row.prices), f'"{float(row.volume):,.0f}"')
        for row in reversed(candles)
    ]
    return lines("Date,Open,High,Low,Close,Volume", cells)


def rounded(candles: list[Row], decimals: int, volume: int | None = None, scale: int = 1) -> list[Row]:
    """Give the candles as a layout with fewer decimals holds them."""

    def text(volume_text: str) -> str:
        return f"{volume_text}e{len(str(scale)) - 1}" if volume is None else f"{float(volume_text):.{volume}f}"

    def price(price_text: str) -> str:
        return f"{float(price_text):.{decimals}f}"

    return [
        Row(row.time, price(row.open), price(row.high), price(row.low), price(row.close), text(row.volume))
        for row in candles
    ]


def lean(candles: list[Row]) -> bytes:
    cells = [(row.time % DAY, *(price.replace(".", "") for price in row.prices), row.volume) for row in candles]
    return packed({"20240603_spy_hour_trade.csv": lines(None, cells)})


def zipped(write: Callable[[list[Row]], bytes], name: str) -> Callable[[list[Row]], bytes]:
    return lambda candles: packed({name: write(candles)})


def gzipped(write: Callable[[list[Row]], bytes]) -> Callable[[list[Row]], bytes]:
    return lambda candles: gzip.compress(write(candles))
