"""Known layouts by name: whose file it is, in which zone its clock runs, what its times mean."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from annotate.importing.columns import plain

BROKER, LIKELY_UTC, NEW_YORK, HISTDATA = "broker", "likely utc", "new york", "histdata"
UNSTATED, STATED_UTC = "unstated", "utc"


@dataclass(frozen=True, slots=True)
class Layout:
    """What is known of a layout beyond its columns.

    `clock` says in which zone times without an offset run: the BROKER's, LIKELY_UTC or NEW_YORK (all asked),
    HISTDATA's fixed EST, STATED_UTC by the vendor, or UNSTATED, which is taken as UTC with a note.
    `ends` marks times that may be the ends of candles, `surely_ends` those that are as the vendor says; prices are
    divided by `scale`. `dots` says that its numbers have decimal dots, whatever parts the cells.
    """

    name: str
    clock: str = UNSTATED
    day_first: bool | None = None
    ends: bool = False
    surely_ends: bool = False
    scale: int = 1
    dots: bool = False


GENERIC = Layout("columns by name")
DATABENTO = Layout("Databento")
SIGNATURES: tuple[tuple[frozenset[str], Layout], ...] = tuple(
    (frozenset(names.split()), layout)
    for names, layout in (
        ("tickvol spread date", Layout("MetaTrader 5 bars", BROKER, dots=True)),
        ("tickvolume spread date", Layout("MetaTrader 5 bars", BROKER, dots=True)),
        ("time tickvolume spread realvolume", Layout("MetaTrader 5 Python", BROKER, dots=True)),
        ("opentime takerbuyvolume quotevolume", Layout("Binance klines with header", STATED_UTC)),
        ("unix symbol date", Layout("CryptoDataDownload", STATED_UTC)),
        ("date symbol open volumeusd", Layout("CryptoDataDownload", STATED_UTC)),
        ("gmttime open", Layout("Dukascopy", STATED_UTC, day_first=True, dots=True)),
        ("localtime open", Layout("Dukascopy, local time", BROKER, day_first=True, dots=True)),
        ("eet open", Layout("Dukascopy, EET", BROKER, day_first=True, dots=True)),
        ("ticker per date time openint", Layout("Stooq bulk")),
        ("date closelast", Layout("Nasdaq")),
        ("date exdividend splitratio", Layout("Quandl WIKI")),
        ("datetime adjclose", Layout("PyAlgoTrade")),
        ("date adjclose", Layout("Yahoo")),
        ("price ticker close", Layout("yfinance")),
        ("date price open change", Layout("Investing.com")),
        ("date price open vol", Layout("Investing.com")),
        ("tsevent instrumentid open", DATABENTO),
        ("timeopen timeclose timehigh timelow", Layout("CoinMarketCap", STATED_UTC, dots=True)),
        ("timestamp lastsize homenotional", Layout("BitMEX", STATED_UTC, ends=True, surely_ends=True)),
        ("date time up down", Layout("TradeStation", NEW_YORK, ends=True, surely_ends=True)),
        ("timestamp open high low close volume", Layout("Alpha Vantage or a plain timestamp table")),
        ("time open high low close", Layout("TradingView or a plain table")),
        ("date time open openinterest", Layout("NinjaTrader or Backtrader with clock")),
    )
)


def layout_by_names(names: Sequence[str]) -> Layout:
    """Name the layout of a header; the columns themselves are found by name either way."""
    reduced = {plain(name).removesuffix("%") for name in names}
    return next((layout for signature, layout in SIGNATURES if signature <= reduced), GENERIC)


def fixed_point(layout: Layout, *, whole: bool) -> Layout:
    """Take the `whole` prices of Databento for what they are: billionths."""
    return replace(layout, name="Databento, billionths", scale=10**9) if layout == DATABENTO and whole else layout


def layout_by_first_cell(layout: Layout, cell: str) -> Layout:
    """Know MetaTrader by dotted dates with the year first, and Dukascopy by day-first ones with milliseconds."""
    if layout.clock != UNSTATED:
        return layout
    if re.match(r"\s*\d{4}\.\d{2}\.\d{2}", cell):
        return Layout("MetaTrader, by its dates", BROKER, dots=True)
    if re.match(r"\s*\d{2}\.\d{2}\.\d{4} \d{2}:\d{2}:\d{2}\.\d{3}\s*$", cell):
        return Layout("Dukascopy", STATED_UTC, day_first=True, dots=True)
    return layout


def layout_by_rows(rows: Sequence[Sequence[str]], delimiter: str, filename: str) -> Layout:
    """Name the layout of rows without a header, by their shape and by vendors' file names."""
    first = [cell.strip() for cell in rows[0]]
    upper = filename.upper()
    silent = _all_zero(rows, -1)
    if len(first) == 12 and first[0].isdigit() and first[6].isdigit():
        return Layout("Binance klines", STATED_UTC)
    if first[0].count(".") == 2 and len(first) in (6, 7) and ":" in first[1]:
        histdata = silent or "DAT_MT" in upper or "HISTDATA" in upper
        return (
            Layout("HistData for MetaTrader", HISTDATA, dots=True)
            if histdata
            else Layout("MetaTrader 4", BROKER, dots=True)
        )
    if delimiter == ";" and len(first[0]) == 15 and first[0][8] == " ":
        histdata = silent or "DAT_ASCII" in upper or "HISTDATA" in upper
        return (
            Layout("HistData ASCII", HISTDATA, dots=True)
            if histdata
            else Layout("NinjaTrader", LIKELY_UTC, ends=True, dots=True)
        )
    if len(first) in (7, 8) and first[0].isdigit() and len(first[0]) == 10 and first[-1].isdigit():
        return Layout("Kraken OHLCVT", STATED_UTC)
    return layout_by_first_cell(Layout("rows without header"), first[0])


def _all_zero(rows: Sequence[Sequence[str]], column: int) -> bool:
    return all(row[column].strip() in ("0", "0.0", "0.00") for row in rows if row)
