"""Timeframe rules: names, buckets, closes, which one nests in which. Pure; times are int ms UTC.

A timeframe is written `<count><unit>` with the units s, m, h, d, w, mo. Weeks start on Monday and months follow
the calendar; a month counts as 30 days wherever a length in ms is needed, and nothing else may have such a length.
"""

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from annotate.errors import InvalidInput

Times = npt.NDArray[np.int64]

SECOND = 1_000
DAY = 86_400 * SECOND
WEEK = 7 * DAY
MONTH = 30 * DAY  # a name for the calendar month, not its length
MONDAY = 4 * DAY  # 1970-01-05, the first Monday after the epoch
UNITS = {"mo": MONTH, "w": WEEK, "d": DAY, "h": 3_600 * SECOND, "m": 60 * SECOND, "s": SECOND}
PATTERN = re.compile(r"([1-9]\d{0,5})(mo|[smhdw])")

# What a person may choose on the page, finest first.
USER_TIMEFRAMES = (
    *("1s", "5s", "15s", "30s", "1m", "3m", "5m", "15m", "30m"),
    *("1h", "2h", "4h", "6h", "8h", "12h", "1d", "1w", "1mo"),
)
# Levels that are stored beside the source; each nests in the next, so one is built from the one before it.
PYRAMID = ("5s", "15s", "1m", "5m", "15m", "1h", "4h", "1d")


@lru_cache(maxsize=256)
def parse(text: str) -> int:
    """Give the length of a timeframe in ms; raise InvalidInput for a name that is none."""
    match = PATTERN.fullmatch(text)
    if not match:
        raise InvalidInput(
            f"timeframe {text!r}: write a count and a unit (s, m, h, d, w, mo), such as 1m or 4h", timeframe=text
        )
    length = int(match[1]) * UNITS[match[2]]
    if match[2] != "mo" and length % MONTH == 0:
        raise InvalidInput(f"timeframe {text!r}: 30 days are written as a month, {length // MONTH}mo", timeframe=text)
    return length


@lru_cache(maxsize=256)
def name(length_ms: int) -> str:
    """Give the shortest name of a timeframe, such as 1h for 3,600,000 ms."""
    for unit, unit_ms in UNITS.items():
        if length_ms > 0 and length_ms % unit_ms == 0:
            return f"{length_ms // unit_ms}{unit}"
    raise InvalidInput(
        f"{length_ms} ms is no timeframe; the shortest is 1s, and all are whole seconds", timeframe_ms=length_ms
    )


def floor_all(times: Times, length_ms: int) -> Times:
    """Give for each time the open of the bucket that contains it."""
    if length_ms % MONTH == 0:
        return _months_to_times(_months(times, length_ms // MONTH))
    shift = MONDAY if length_ms % WEEK == 0 else 0
    return (times - shift) // length_ms * length_ms + shift


def closes_all(opens: Times, length_ms: int) -> Times:
    """Give for each candle its close, the first time that is no longer in it."""
    if length_ms % MONTH == 0:
        return _months_to_times(_months(opens, length_ms // MONTH) + length_ms // MONTH)
    return opens + length_ms


def floor(time: int, timeframe: str) -> int:
    """Give the open of the bucket that contains `time`."""
    length = parse(timeframe)
    if length % MONTH == 0:
        return int(floor_all(np.array([time], np.int64), length)[0])
    shift = MONDAY if length % WEEK == 0 else 0
    return int((time - shift) // length * length + shift)


def ceil(time: int, timeframe: str) -> int:
    """Give the first bucket open at or after `time`."""
    opened = floor(time, timeframe)
    return opened if opened == time else close_of(opened, timeframe)


def close_of(open_ms: int, timeframe: str) -> int:
    """Give the close of the candle that opens at `open_ms`; of a month, the start of the next one."""
    length = parse(timeframe)
    return int(closes_all(np.array([open_ms], np.int64), length)[0]) if length % MONTH == 0 else int(open_ms + length)


@lru_cache(maxsize=4096)
def nests(inner: str, outer: str) -> bool:
    """Tell whether each candle of `inner` lies in one candle of `outer`."""
    inner_ms, outer_ms = parse(inner), parse(outer)
    if outer_ms % MONTH == 0:
        return outer_ms % inner_ms == 0 if inner_ms % MONTH == 0 else DAY % inner_ms == 0
    if outer_ms % WEEK == 0:
        return outer_ms % inner_ms == 0 if inner_ms % WEEK == 0 else DAY % inner_ms == 0
    return outer_ms % inner_ms == 0 and inner_ms % WEEK != 0


def offered(source: str) -> list[str]:
    """Name the timeframes that a series may be shown in: its own and the coarser ones that it nests in."""
    return [source, *coarser(source, USER_TIMEFRAMES)]


def coarser(source: str, among: tuple[str, ...]) -> list[str]:
    """Pick those that are coarser than `source` and that it nests in, in their order."""
    return [each for each in among if parse(each) > parse(source) and nests(source, each)]


def _months(times: Times, count: int) -> Times:
    # The one place where a datetime becomes an integer: the unit is in the type, months since 1970-01.
    months: Times = times.astype("datetime64[ms]").astype("datetime64[M]").astype(np.int64)
    return months // count * count


def _months_to_times(months: Times) -> Times:
    return months.astype("datetime64[M]").astype("datetime64[ms]").astype(np.int64)
