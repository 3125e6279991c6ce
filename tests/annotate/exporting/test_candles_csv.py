"""`candles.csv`: known lines, exact prices, one column a layer."""

from __future__ import annotations

import csv
import io

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from annotate.exporting import member
from annotate.exporting.candle_table import CandleTable
from annotate.exporting.candles_csv import write_candles_csv
from annotate.models import Json
from nn.dataset_dir import Candles
from tests.annotate.annotations.builders import START, candles_at, every, point, span, trade

MANIFEST: Json = {"timeframe": "1h", "layers": {"default": ["Long", "=Short"], 'odd, "layer"': ["Wide"]}}
PRICES = st.floats(allow_nan=False, allow_infinity=False)


def candles(count: int = 6) -> Candles:
    made = candles_at(every("1h", count))
    return Candles(made.time, made.open, made.high, made.low, made.close, made.volume)


def written(marks: list[Json], of: Candles | None = None, manifest: Json | None = None) -> str:
    updated = [{"updated": number, **mark} for number, mark in enumerate(marks)]
    table = CandleTable(of or candles(), updated, manifest or MANIFEST)
    return b"".join(write_candles_csv(table)).decode("utf-8")


def test_known_candles_and_marks_give_known_lines() -> None:
    marks = [span(0, 3), span(2, 4, "=Short"), span(1, 2, "Wide"), point(5)]
    assert written(marks) == (
        'time,time_ms,open,high,low,close,volume,label__default,"label__odd, ""layer""",reviewed\n'
        "2024-01-01T00:00:00Z,1704067200000,100,101.25,99,100.1,0.5,Long,,true\n"
        "2024-01-01T01:00:00Z,1704070800000,101,102.25,100,101.1,10.5,Long,Wide,true\n"
        "2024-01-01T02:00:00Z,1704074400000,102,103.25,101,102.1,,'=Short,,true\n"
        "2024-01-01T03:00:00Z,1704078000000,103,104.25,102,103.1,30.5,'=Short,,true\n"
        "2024-01-01T04:00:00Z,1704081600000,104,105.25,103,104.1,40.5,,,false\n"
        "2024-01-01T05:00:00Z,1704085200000,105,106.25,104,105.1,50.5,,,true\n"
    )


def test_milliseconds_are_kept() -> None:
    odd = candles_at([START + 358])
    text = written([], Candles(odd.time, odd.open, odd.high, odd.low, odd.close, odd.volume))
    assert text.splitlines()[1].startswith("2024-01-01T00:00:00.358Z,1704067200358,")


def test_a_trade_reviews_its_candles_and_gives_no_class() -> None:
    rows = list(csv.DictReader(io.StringIO(written([trade(1, 3)]))))
    assert [row["reviewed"] for row in rows] == ["false", "true", "true", "true", "false", "false"]
    assert {row["label__default"] for row in rows} == {""}


@given(st.lists(PRICES, min_size=1, max_size=20))
def test_prices_come_back_to_the_last_bit(prices: list[float]) -> None:
    column = np.array(prices)
    times = np.arange(len(prices)) * 3_600_000
    rows = csv.DictReader(io.StringIO(written([], Candles(times, column, column, column, column, column))))
    assert np.array([float(row["close"]) for row in rows]).tobytes() == column.tobytes()


def test_blocks_join_without_a_seam() -> None:
    count = member.BLOCK_ROWS + 3
    lines = written([span(0, count + 1)], candles(count)).splitlines()
    assert len(lines) == count + 1
    assert {line.split(",")[7] for line in lines[1:]} == {"Long"}
    assert [int(line.split(",")[1]) for line in lines[1:]] == every("1h", count)
