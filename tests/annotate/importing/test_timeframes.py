"""The timeframe comes from the steps of the data; names are hints; doubts are asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotate.importing.names import NameHint, read_name
from tests.annotate.importing.asking import asked, refused, table, times_of
from tests.annotate.importing.files import imported

HOUR_S, START_S = 3600, 1_704_067_200


def every(step: int, count: int, start: int = START_S) -> list[int]:
    return list(range(start, start + step * count, step))


@pytest.mark.parametrize(
    ("times", "timeframe"),
    [
        (every(1, 5), "1s"),
        (every(HOUR_S, 5), "1h"),
        (["2024-01-05", "2024-01-08", "2024-01-09", "2024-01-10"], "1d"),
        (["2024-01-01", "2024-01-08", "2024-01-15"], "1w"),
        (["2024-01-01", "2024-02-01", "2024-03-01", "2024-04-01"], "1mo"),
        (["2024-01-01", "2024-04-01", "2024-07-01"], "3mo"),
    ],
)
def test_the_most_frequent_step_is_the_timeframe(times: list[object], timeframe: str, tmp_path: Path) -> None:
    assert imported(tmp_path, "a.csv", table(times)).timeframe == timeframe


def test_the_data_overrule_the_name(tmp_path: Path) -> None:
    found = imported(tmp_path, "BTCUSDT-1h.csv", table(every(60, 30)))
    assert found.timeframe == "1m"
    assert "the file name says 1h" in found.report["timeframe_reason"]


def test_a_sparse_file_takes_the_finer_timeframe_of_its_name(tmp_path: Path) -> None:
    times = [START_S + minute * 60 for minute in (0, 5, 10, 13, 18, 23, 31, 36)]
    assert imported(tmp_path, "XBTUSD_1.csv", table(times)).timeframe == "1m"


def test_a_changing_step_is_asked_about(tmp_path: Path) -> None:
    data = table(every(HOUR_S, 40) + every(60, 60, START_S + 40 * HOUR_S))
    assert asked(tmp_path, data) == {"timeframe": "1m"}
    assert imported(tmp_path, "a.csv", data, {"timeframe": "1m"}).timeframe == "1m"


def test_weekends_are_gaps_and_no_change_of_step(tmp_path: Path) -> None:
    days = [START_S + day * 86_400 for day in range(400) if day % 7 < 5]
    found = imported(tmp_path, "a.csv", table(days))
    assert found.timeframe == "1d"
    assert found.report["gaps"]["count"] == 57


def test_one_candle_asks_how_long_it_is(tmp_path: Path) -> None:
    assert asked(tmp_path, table([START_S])) == {"timeframe": "1d"}
    assert times_of(tmp_path, table([START_S]), timeframe="1m") == [START_S * 1000]


def test_a_timeframe_longer_than_the_steps_is_refused(tmp_path: Path) -> None:
    assert refused(tmp_path, table(every(HOUR_S, 5)), timeframe="4h").details["value"] == "4h"


def test_steps_below_a_second_are_refused_by_their_length(tmp_path: Path) -> None:
    assert "500 ms" in refused(tmp_path, table([1.7e9, 1.7e9 + 0.5, 1.7e9 + 1, 1.7e9 + 1.5])).message


NAMES = {
    "BTC_USDT-5m.json.gz": NameHint("BTC/USDT", "5m"),
    "XRP_USDT_USDT-5m-futures.feather": NameHint("XRP/USDT:USDT", "5m"),
    "BTCUSDT-1mo-2024.zip": NameHint("BTC/USDT", "1mo"),
    "1000PEPEUSDT-15m-2024-01.csv": NameHint("1000PEPE/USDT", "15m"),
    "BINANCE_BTCUSDT, 240.csv": NameHint("BTC/USDT", "4h"),
    "XBTUSD_60.csv": NameHint("XBT/USD", "1h"),
    "CADJPY1.csv": NameHint("CAD/JPY", "1m"),
    "EURUSD_M15.csv": NameHint("EUR/USD", "15m"),
    "EURUSD_Candlestick_1_Hour_BID_01.01.2017-31.12.2017.csv": NameHint("EUR/USD", "1h"),
    "AAPL_30d.csv": NameHint(None, None),
    "EURUSD2024.csv": NameHint(None, None),
    "data.csv": NameHint(None, None),
}


@pytest.mark.parametrize("name", NAMES)
def test_a_file_name_is_read_as_its_source_writes_it(name: str) -> None:
    assert read_name(name) == NAMES[name]
