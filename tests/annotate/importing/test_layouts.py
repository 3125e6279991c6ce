"""Every layout, from invented candles: written as its source writes it, read back exactly."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from annotate.importing import preview
from tests.annotate.importing import files, json_writers
from tests.annotate.importing.files import DAY, JUNE, MINUTE, Layout, Row, assert_holds, imported, rows

DAILY = rows(40, step=DAY)
ONE_DAY = rows(24)


def arrow(write: Callable[[pa.Table, io.BytesIO], object], zone: str | None = "UTC") -> Callable[[list[Row]], bytes]:
    def writer(candles: list[Row]) -> bytes:
        columns = files.frame(candles)
        times = pa.array(columns.pop("date"), pa.timestamp("ns"))
        table = pa.table({"date": times.cast(pa.timestamp("ns", zone)), **columns})
        buffer = io.BytesIO()
        write(table, buffer)
        return buffer.getvalue()

    return writer


feather = arrow(lambda table, buffer: pa.feather.write_feather(table, buffer, compression="lz4"))
parquet = arrow(lambda table, buffer: pa.parquet.write_table(table, buffer))
parquet_naive = arrow(lambda table, buffer: pa.parquet.write_table(table, buffer), zone=None)

LAYOUTS = [
    Layout("binance spot, ms", "BTCUSDT-1h-2024-06.csv", files.binance, symbol="BTC/USDT"),
    Layout("binance spot, us", "BTCUSDT-1h-2025-01.csv", lambda c: files.binance(c, 1000), symbol="BTC/USDT"),
    Layout(
        "binance spot, zip",
        "BTCUSDT-1h-2024-06.zip",
        files.zipped(files.binance, "BTCUSDT-1h-2024-06.csv"),
        symbol="BTC/USDT",
    ),
    Layout("binance futures with header", "BTCUSDT-1h-2024-06.csv", files.binance_header, symbol="BTC/USDT"),
    Layout("binance REST", "klines.json", json_writers.binance_rest),
    Layout("freqtrade json", "ETH_BTC-1h.json", json_writers.freqtrade, symbol="ETH/BTC"),
    Layout("freqtrade json.gz", "ETH_BTC-1h.json.gz", files.gzipped(json_writers.freqtrade), symbol="ETH/BTC"),
    Layout("freqtrade feather", "XRP_USDT_USDT-1h-futures.feather", feather, symbol="XRP/USDT:USDT"),
    Layout("parquet", "candles.parquet", parquet),
    Layout("parquet without zone", "candles.parquet", parquet_naive),
    Layout("tradingview", "BINANCE_BTCUSDT, 60.csv", files.tradingview, symbol="BTC/USDT"),
    Layout("metatrader 4", "EURUSD60.csv", files.mt4, answers={"zone": "Europe/Athens"}, symbol="EUR/USD"),
    Layout("metatrader 5", "EURUSD_H1.csv", files.mt5, answers={"zone": "New York+7"}, symbol="EUR/USD"),
    Layout("metatrader 5 python", "EURUSD_H1.csv", files.mt5_python, answers={"zone": "UTC"}, symbol="EUR/USD"),
    Layout("histdata", "DAT_ASCII_EURUSD_M1_2024.csv", files.histdata, volume=False, symbol="EUR/USD"),
    Layout("ninjatrader", "SPY.Last.txt", files.ninjatrader, answers={"zone": "UTC", "stamp": "close"}),
    Layout(
        "cryptodatadownload", "Binance_ADAUSDT_1h.csv", files.cryptodatadownload, symbol="ADA/USDT", order="descending"
    ),
    Layout("kraken", "XBTUSD_60.csv", files.kraken, symbol="XBT/USD"),
    Layout("dukascopy", "EURUSD_Candlestick_1_Hour_BID.csv", files.dukascopy, symbol="EUR/USD"),
    Layout("dukascopy with offset", "EURUSD_Candlestick_1_Hour_BID.csv", files.dukascopy_offset, symbol="EUR/USD"),
    Layout("stooq bulk", "abc.us.txt", files.stooq_bulk, symbol="ABC.US"),
    Layout("stooq web", "abc_us_d.csv", files.dated("Date,Open,High,Low,Close,Volume"), DAILY, timeframe="1d"),
    Layout("yahoo", "KO.csv", files.yahoo, DAILY, timeframe="1d"),
    Layout("yahoo, old", "KO.csv", files.yahoo_old, DAILY, timeframe="1d"),
    Layout("yfinance", "spy.csv", files.yfinance, symbol="SPY"),
    Layout(
        "alpha vantage", "daily_IBM.csv", files.dated("timestamp,open,high,low,close,volume"), DAILY, timeframe="1d"
    ),
    Layout(
        "alpha vantage json",
        "query.json",
        json_writers.alphavantage_json,
        DAILY,
        timeframe="1d",
        symbol="IBM",
        order="descending",
    ),
    Layout("quandl", "WIKI-AAPL.csv", files.quandl, DAILY, timeframe="1d", order="descending"),
    Layout(
        "google finance", "orcl.csv", files.dated("Date,Open,High,Low,Close,Volume", "%d-%b-%y"), DAILY, timeframe="1d"
    ),
    Layout("nasdaq", "HistoricalData_1.csv", files.nasdaq, DAILY, timeframe="1d", order="descending"),
    Layout("coinbase", "candles.json", json_writers.coinbase, order="descending"),
    Layout("okx", "candles.json", json_writers.okx, order="descending"),
    Layout("bybit", "kline.json", json_writers.bybit, symbol="BTC/USDT", order="descending"),
    Layout("kraken REST", "OHLC.json", json_writers.kraken_rest, symbol="XBT/USD"),
    Layout("yahoo chart", "AAPL.json", json_writers.yahoo_chart, symbol="AAPL"),
    Layout("columns of letters", "udf.json", json_writers.columns_json),
    Layout("oanda", "candles.json", json_writers.oanda, symbol="EUR/USD"),
    Layout("end-stamped json", "series.json", json_writers.end_stamped, symbol="ETH/USD"),
    Layout("QuantConnect LEAN", "20240603_trade.zip", files.lean, ONE_DAY, answers={"zone": "UTC"}),
]


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.id)
def test_a_layout_reads_back_exactly(layout: Layout, tmp_path: Path) -> None:
    found = imported(tmp_path, layout.file, layout.write(layout.rows), layout.answers)
    if layout.volume:
        assert_holds(found, layout.rows)
    else:
        assert_holds(found, [Row(*(row.time, *row.prices), "0") for row in layout.rows])
    assert (found.timeframe, found.symbol) == (layout.timeframe, layout.symbol)
    assert found.report["order"] == layout.order
    assert found.report["rows_kept"] == found.report["rows_read"] == len(layout.rows)


def test_investing_com_gives_close_as_price_with_thousands_and_suffixes(tmp_path: Path) -> None:
    daily = files.rounded(rows(40, step=DAY, price=33_000), 1, scale=1000)
    plain = [Row(row.time, *row.prices, row.volume.removesuffix("e3")) for row in daily]
    assert_holds(imported(tmp_path, "Bitcoin.csv", files.investing(plain)), daily)


def test_investing_com_in_german_has_decimal_commas_and_dots_between_thousands(tmp_path: Path) -> None:
    daily = files.rounded(rows(40, step=DAY, price=33_000), 2, scale=1000)
    plain = [Row(row.time, *row.prices, row.volume.removesuffix("e3")) for row in daily]
    assert_holds(imported(tmp_path, "Bitcoin.csv", files.investing_german(plain)), daily)


def test_marketwatch_has_thousands_commas_in_quotes(tmp_path: Path) -> None:
    daily = files.rounded(rows(40, step=DAY, price=5_000), 2, volume=0)
    assert_holds(imported(tmp_path, "SPX.csv", files.marketwatch(daily)), daily)


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.id)
def test_a_preview_shows_what_the_import_gives(layout: Layout, tmp_path: Path) -> None:
    path = tmp_path / "upload"
    path.write_bytes(layout.write(layout.rows))
    shown = preview(path, layout.file, layout.answers)
    assert shown["ready"]
    assert shown["series"][0]["first"][0]["open"] == float(layout.rows[0].open)
    assert shown["series"][0]["last"][-1]["time"] == layout.rows[-1].time


def test_two_months_with_another_unit_join_without_a_gap(tmp_path: Path) -> None:
    candles = rows(60, step=MINUTE, start=JUNE)
    data = files.binance(candles[:30]) + files.binance(candles[30:], 1000)
    found = imported(tmp_path, "BTCUSDT-1m.csv", data)
    assert_holds(found, candles)
    assert found.report["gaps"]["count"] == 0
    assert [(each["unit"], each["first_line"], each["rows"]) for each in found.report["units"]] == [
        ("ms", 1, 30),
        ("us", 31, 30),
    ]


def test_a_zip_of_two_months_is_one_series(tmp_path: Path) -> None:
    candles = rows(48)
    members = {
        "BTCUSDT-1h-2024-07.csv": files.binance(candles[24:]),
        "BTCUSDT-1h-2024-06.csv": files.binance(candles[:24]),
        "BTCUSDT-1h-2024-06.csv.CHECKSUM": b"0000",
    }
    found = imported(tmp_path, "months.zip", files.packed(members))
    assert_holds(found, candles)
    assert found.report["skipped_files"] == ["BTCUSDT-1h-2024-06.csv.CHECKSUM"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_encodings_and_line_ends_change_nothing(encoding: str, end: str, tmp_path: Path) -> None:
    candles = rows(30)
    cells = [(row.clock("%Y-%m-%d %H:%M"), *row.prices, row.volume, "für") for row in candles]
    text = files.lines("time,open,high,low,close,volume,Größe", cells, end=end).decode()
    assert_holds(imported(tmp_path, "a.csv", text.encode(encoding)), candles)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("quote", ["", '"'])
def test_delimiters_and_quotes_change_nothing(delimiter: str, quote: str, tmp_path: Path) -> None:
    candles = rows(30)
    cells = [[f"{quote}{cell}{quote}" for cell in (row.time, *row.prices, row.volume)] for row in candles]
    names = delimiter.join(f"{quote}{name}{quote}" for name in ("time", "open", "high", "low", "close", "volume"))
    assert_holds(imported(tmp_path, "a.csv", files.lines(names, cells, delimiter)), candles)


def test_float32_prices_of_parquet_widen_exactly(tmp_path: Path) -> None:
    columns = files.frame(rows(30))
    single = {name: np.asarray(values, np.float32) for name, values in columns.items() if name != "date"}
    buffer = io.BytesIO()
    letters = {name[0]: pa.array(values) for name, values in single.items()}
    pa.parquet.write_table(pa.table({"t": pa.array(columns["date"]), **letters}), buffer)
    found = imported(tmp_path, "a.parquet", buffer.getvalue())
    assert found.candles.close.tolist() == single["close"].astype(np.float64).tolist()
