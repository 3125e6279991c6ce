"""Splits by time and stretches without a gap: which candles train or judge, where a window may lie. No torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

Times = npt.NDArray[np.int64]
Indices = npt.NDArray[np.int64]

DAY_MS = 86_400_000
WEEK_MS = 7 * DAY_MS
TIMETABLE_WEEKS = 4  # a shorter series cannot show a weekly timetable
RARE = 0.05  # a slot of the week with candles in fewer of the weeks is one in which the market is closed
LONGEST_CLOSURE_MS = 5 * DAY_MS


@dataclass(frozen=True, slots=True)
class Calendar:
    """Tells a closure of the market from a gap in the data.

    In a market that trades round the clock every missing candle is a gap. A market has a timetable when its series
    spans at least 4 weeks and some slots of the week (one a candle; for candles of a day and more the weekday) hold
    candles in fewer than 5% of the weeks. There a break of at most 5 days is a closure when it touches such a slot, or
    when the candles are of a day or more; windows run across closures.
    """

    timeframe_ms: int
    closed: npt.NDArray[np.bool_]  # (slots of a week,); empty: trades round the clock

    def is_gap(self, before: npt.ArrayLike, after: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Say for pairs of open times of neighbouring candles whether data are missing between them."""
        first, second = np.asarray(before, np.int64), np.asarray(after, np.int64)
        missing = second - first - self.timeframe_ms
        if not self.closed.any():
            return np.asarray(missing > 0)
        return np.asarray((missing > LONGEST_CLOSURE_MS) | ((missing > 0) & ~self._is_closure(first, second)))

    def _is_closure(self, before: Times, after: Times) -> npt.NDArray[np.bool_]:
        if self.timeframe_ms >= DAY_MS:
            return np.ones(np.shape(before), np.bool_)
        slots = len(self.closed)
        count: Indices = np.concatenate(
            [[0], np.cumsum(np.tile(self.closed, 2))]
        )  # a break of at most 5 days ends in the next week
        start = _slot(before, self.timeframe_ms) + 1
        length = np.clip((after - before) // self.timeframe_ms - 1, 0, slots)
        return np.asarray(count[np.minimum(start + length, 2 * slots)] > count[start])


@dataclass(frozen=True, slots=True)
class Part:
    """Rows [start, end) of one part of a split; targets of rows outside [first, last) do not count."""

    start: int
    end: int
    first: int  # `start` plus the embargo
    last: int  # `end` less the rows whose targets would reach the next part


@dataclass(frozen=True, slots=True)
class Split:
    """Train, validation and test as rows in order of time; an empty part is None."""

    train: Part
    validation: Part | None
    test: Part | None
    purged: int  # rows dropped before each border
    embargo: int  # rows dropped after each border


def calendar_of(time: Times, timeframe_ms: int) -> Calendar:
    """Learn the timetable of a market from the open times of its candles."""
    weeks = (int(time[-1]) - int(time[0]) + timeframe_ms) / WEEK_MS if len(time) else 0.0
    if weeks < TIMETABLE_WEEKS:
        return Calendar(timeframe_ms, np.zeros(0, np.bool_))
    slots = 7 if timeframe_ms >= DAY_MS else -(-WEEK_MS // timeframe_ms)
    held: Indices = np.bincount(_slot(time, timeframe_ms), minlength=slots)
    return Calendar(timeframe_ms, held < RARE * weeks)


def segment_ids(time: Times, timeframe_ms: int, calendar: Calendar | None = None) -> Indices:
    """Number the stretches without a gap, one number a candle, from 0."""
    if not len(time):
        return np.empty(0, np.int64)
    gaps = (calendar or calendar_of(time, timeframe_ms)).is_gap(time[:-1], time[1:])
    return np.concatenate([[0], np.cumsum(gaps)]).astype(np.int64)


def segments(time: Times, timeframe_ms: int) -> list[tuple[int, int]]:
    """Give the stretches [start, end) of rows that no window may cross."""
    ids = segment_ids(time, timeframe_ms)
    borders = [0, *(np.flatnonzero(np.diff(ids)) + 1).tolist(), len(ids)]
    return [(a, b) for a, b in pairwise(borders) if b > a]


def window_starts(segment: Indices, start: int, end: int, length: int) -> Indices:
    """Give the first row of every window of `length` rows inside [start, end) and one segment: N − T + 1 of N rows."""
    if end - start < length:
        return np.empty(0, np.int64)
    starts: Indices = np.arange(start, end - length + 1, dtype=np.int64)
    whole: Indices = starts[segment[starts] == segment[starts + length - 1]]
    return whole


def split_rows(n: int, shares: Sequence[float], horizon: int) -> Split:
    """Divide n rows by shares in order of time; purge and embargo by the longest horizon.

    A train row goes when its target reaches validation: the last `horizon` rows of a part do not count when another
    part follows, nor the first `horizon` rows after a border.
    """
    total = float(sum(shares))
    a = round(n * shares[0] / total)
    b = round(n * (shares[0] + shares[1]) / total)
    parts = [_part(0, a, n, horizon), _part(a, b, n, horizon), _part(b, n, n, horizon)]
    train = parts[0] or Part(0, a, 0, 0)
    return Split(train, parts[1], parts[2], purged=horizon, embargo=horizon)


def _part(start: int, end: int, n: int, horizon: int) -> Part | None:
    first = start + horizon if start else 0
    last = end - horizon if end < n else end
    return Part(start, end, first, last) if last > first else None


def _slot(time: Times, timeframe_ms: int) -> Indices:
    into_week = (time + 3 * DAY_MS) % WEEK_MS  # 1970-01-01 was a Thursday; weeks start on Monday
    return np.asarray(into_week // (DAY_MS if timeframe_ms >= DAY_MS else timeframe_ms))
