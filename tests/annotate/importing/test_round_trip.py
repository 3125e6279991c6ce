"""Random candles in random layouts, zones, units and orders come back equal."""

from __future__ import annotations

import random
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotate.importing import read_file

MINUTE, DAY = 60_000, 86_400_000
ZONES = (
    "UTC",
    "+05:30",
    "-03:00",
    "Europe/Athens",
    "America/New_York",
    "Asia/Tokyo",
    "Australia/Lord_Howe",
    "New York+7",
)
UNITS = {"s": 1_000, "ms": 1, "us": -1_000, "ns": -1_000_000}
TEXTS = {
    "iso": "%Y-%m-%d %H:%M:%S",
    "iso T": "%Y-%m-%dT%H:%M:%S",
    "dotted": "%d.%m.%Y %H:%M:%S",
    "compact": "%Y%m%d %H%M%S",
    "named": "%d-%b-%Y %H:%M:%S",
}
STEPS = (1_000, MINUTE, 5 * MINUTE, 60 * MINUTE, 4 * 60 * MINUTE)
PRICES = st.floats(min_value=1e-9, max_value=1e12, allow_nan=False, allow_infinity=False)


@dataclass(frozen=True)
class Candle:
    time: int
    cells: tuple[float, float, float, float, float]  # open, high, low, close, volume


@st.composite
def candle_lists(draw: st.DrawFn) -> list[Candle]:
    """Draw 3 to 25 candles on a grid, perhaps with gaps, of any day from 1990 to 2060."""
    step = draw(st.sampled_from(STEPS))
    count = draw(st.integers(3, 25))
    start = draw(st.integers(631_152_000_000 // DAY, 2_840_140_800_000 // DAY)) * DAY
    first = start + draw(st.integers(0, DAY // step - 1)) * step
    places = list(range(count)) + ([count + draw(st.integers(2, 40))] if draw(st.booleans()) else [])
    return [Candle(first + place * step, _cells(draw)) for place in places]


def _cells(draw: st.DrawFn) -> tuple[float, float, float, float, float]:
    four = sorted(draw(st.lists(PRICES, min_size=4, max_size=4)))
    opened, closed = (four[1], four[2]) if draw(st.booleans()) else (four[2], four[1])
    return opened, four[3], four[0], closed, draw(st.floats(min_value=0, max_value=1e15, allow_nan=False))


def local_clock(time: int, zone: str) -> datetime | None:
    """Give the clock that a zone shows at a time, or None where it shows it twice that night."""
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=time)
    if zone[0] in "+-":
        hours, minutes = zone[1:].split(":")
        offset = timedelta(hours=int(hours), minutes=int(minutes))
        return (moment + (offset if zone[0] == "+" else -offset)).replace(tzinfo=None)
    shift = timedelta(hours=7) if zone == "New York+7" else timedelta(0)
    there = moment.astimezone(ZoneInfo("America/New_York" if shift else zone))
    if there.utcoffset() != there.replace(fold=1 - there.fold).utcoffset():
        return None
    return there.replace(tzinfo=None, fold=0) + shift


def write(candles: list[Candle], times: list[str], delimiter: str, *, comma: bool) -> bytes:
    def cell(value: float) -> str:
        text = repr(value)
        return text.replace(".", ",") if comma else text

    lines = [delimiter.join(["time", "open", "high", "low", "close", "volume"])]
    lines += [
        delimiter.join([time, *(cell(value) for value in candle.cells)])
        for candle, time in zip(candles, times, strict=True)
    ]
    return ("\n".join(lines) + "\n").encode()


def assert_reads_back(candles: list[Candle], data: bytes, zone: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "upload"
        path.write_bytes(data)
        # The answer to the comma is needed where a drawn number happens to have three digits after it.
        answers = {"zone": zone, "decimal_comma": "decimal", "timeframe": "1s", "ticks_since": "1970"}
        found = read_file(path, "drawn.csv", answers)[0].candles
    expected = sorted(candles, key=lambda candle: candle.time)
    assert found.time.tolist() == [candle.time for candle in expected]
    columns = (found.open, found.high, found.low, found.close, found.volume)
    assert [tuple(cells) for cells in np.column_stack(columns).tolist()] == [candle.cells for candle in expected]


def ordered(candles: list[Candle], order: str, seed: int) -> list[Candle]:
    if order == "newest first":
        return candles[::-1]
    if order == "shuffled":
        return random.Random(seed).sample(candles, len(candles))
    return candles


ORDERS = st.sampled_from(["oldest first", "newest first", "shuffled"])
QUIET = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@QUIET
@given(candle_lists(), st.sampled_from(sorted(UNITS)), ORDERS, st.sampled_from(",;\t|"), st.integers(0, 9))
def test_epochs_of_any_unit_and_order_come_back(
    candles: list[Candle], unit: str, order: str, delimiter: str, seed: int
) -> None:
    rows = ordered(candles, order, seed)
    factor = UNITS[unit]
    times = [str(row.time // factor if factor > 0 else row.time * -factor) for row in rows]
    assert_reads_back(rows, write(rows, times, delimiter, comma=delimiter == ";"), "UTC")


@QUIET
@given(candle_lists(), st.sampled_from(ZONES), st.sampled_from(sorted(TEXTS)), ORDERS, st.integers(0, 9))
def test_clocks_of_any_zone_and_writing_come_back(
    candles: list[Candle], zone: str, text: str, order: str, seed: int
) -> None:
    clocks = {candle.time: local_clock(candle.time, zone) for candle in candles}
    once = [candle for candle in candles if clocks[candle.time] is not None]
    if len(once) < 2:
        return
    rows = ordered(once, order, seed)
    times = [f"{clocks[row.time]:{TEXTS[text]}}" for row in rows]
    assert_reads_back(rows, write(rows, times, ",", comma=False), zone)
