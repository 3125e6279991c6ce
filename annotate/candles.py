"""Candle rules: aggregate, gaps, checks, precision. Pure; no database, no files."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annotate.errors import InvalidInput
from annotate.timeframe import MONTH, closes_all, floor_all, parse

Times = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

COLUMNS = ("time", "open", "high", "low", "close", "volume")
MAX_DECIMALS = 10
# How far a price may lie from its decimals, as a share: by a float64's last bits, or by half a float32's last bit.
EXACT, SINGLE = 1e-14, 2.0**-24
MOST_OF_SINGLE = 7  # decimals; with more of them a price is either exact or noise
BLOCK_ROWS = 2**17
PRECISION_ROWS = 20_000  # rows looked at to learn a price's decimals


@dataclass(frozen=True, slots=True)
class Candles:
    """Columns of candles in order of time: `time` int64 ms UTC (n,), the rest float64 (n,); NaN is a null volume."""

    time: Times
    open: Floats
    high: Floats
    low: Floats
    close: Floats
    volume: Floats

    def __len__(self) -> int:
        return len(self.time)

    def slice(self, start: int, end: int) -> Candles:
        """Give rows [start, end) as views."""
        return Candles(*(getattr(self, name)[start:end] for name in COLUMNS))

    def take(self, rows: npt.NDArray[np.int64] | npt.NDArray[np.bool_]) -> Candles:
        """Give the chosen rows, by number or by mask, as copies."""
        return Candles(*(getattr(self, name)[rows] for name in COLUMNS))

    def between(self, start: int | None, end: int | None) -> Candles:
        """Give the candles whose open time is in [start, end), as views; None is without a bound."""
        first = 0 if start is None else int(np.searchsorted(self.time, start))
        last = len(self) if end is None else int(np.searchsorted(self.time, end))
        return self.slice(first, max(first, last))

    @staticmethod
    def concat(parts: Iterable[Candles]) -> Candles:
        """Join candles end to end; a single part comes back as it is, without a copy."""
        filled = [part for part in parts if len(part)]
        if len(filled) == 1:
            return filled[0]
        if not filled:
            return Candles.empty()
        return Candles(*(np.concatenate([getattr(part, name) for part in filled]) for name in COLUMNS))

    @staticmethod
    def empty() -> Candles:
        """Give no candles."""
        return Candles(np.empty(0, np.int64), *(np.empty(0, np.float64) for _ in COLUMNS[1:]))


MEAN_MONTH = 2_629_746_000  # ms of the Gregorian calendar's mean month


@dataclass(frozen=True, slots=True)
class Gap:
    """A stretch [start, end) in which candles are missing, ms UTC."""

    start: int  # close of the candle before
    end: int  # open of the candle after
    missing: int  # whole candles that would fit


def aggregate(candles: Candles, timeframe: str) -> Candles:
    """Build coarser candles: first open, highest high, lowest low, last close, sum of the volumes.

    A candle belongs to the bucket that contains its open time. A null volume adds nothing; a bucket without any other
    is null. A bucket that the candles do not fill, at an end or by a gap, is kept; an empty one does not appear.
    """
    if not len(candles):
        return candles
    buckets = floor_all(candles.time, parse(timeframe))
    starts = np.flatnonzero(np.concatenate([[True], buckets[1:] != buckets[:-1]]))
    ends = np.append(starts[1:], len(candles)) - 1
    return Candles(
        buckets[starts],
        candles.open[starts],
        np.maximum.reduceat(candles.high, starts),
        np.minimum.reduceat(candles.low, starts),
        candles.close[ends],
        _sum_volumes(candles.volume, starts),
    )


def _sum_volumes(volume: Floats, starts: npt.NDArray[np.intp]) -> Floats:
    null = np.isnan(volume)
    if not null.any():
        return np.add.reduceat(volume, starts)
    sums = np.add.reduceat(np.where(null, 0.0, volume), starts)
    return np.where(np.logical_and.reduceat(null, starts), np.nan, sums)


def rows_where(count: int, test: Callable[[slice], npt.NDArray[np.bool_]]) -> npt.NDArray[np.int64]:
    """Give the rows of `count` (numbers from 0) that pass a test of a range of rows, a block at a time.

    A block's columns stay in the processor's cache, and no passing array is as large as a large series.
    """
    blocks = (slice(start, min(start + BLOCK_ROWS, count)) for start in range(0, count, BLOCK_ROWS))
    found = [rows.start + np.flatnonzero(test(rows)) for rows in blocks]
    return np.concatenate(found) if found else np.empty(0, np.int64)


def find_gaps(candles: Candles, timeframe_ms: int) -> list[Gap]:
    """List where at least one whole candle is missing between two neighbours."""
    before, after = candles.time[:-1], candles.time[1:]
    if timeframe_ms % MONTH == 0:  # months differ in length, and their candles may be stamped with any of their days
        closes = closes_all(before, timeframe_ms)
        months = (floor_all(after, timeframe_ms) - closes) / MEAN_MONTH
        missing = np.rint(months / (timeframe_ms // MONTH)).astype(np.int64)
    else:
        apart = rows_where(len(before), lambda rows: after[rows] - before[rows] > timeframe_ms)
        before, after = before[apart], after[apart]
        closes = closes_all(before, timeframe_ms)
        missing = (after - closes) // timeframe_ms
    return [Gap(int(closes[row]), int(after[row]), int(missing[row])) for row in np.flatnonzero(missing > 0)]


def violations(candles: Candles) -> npt.NDArray[np.int64]:
    """Give the rows (numbers from 0) whose high or low does not enclose the open and the close."""

    def broken(rows: slice) -> npt.NDArray[np.bool_]:
        opened, high, low, close = (getattr(candles, name)[rows] for name in COLUMNS[1:5])
        found = high < np.maximum(np.maximum(opened, close), low)
        return np.asarray(found | (low > np.minimum(opened, close)))

    return rows_where(len(candles), broken)


def not_positive(candles: Candles) -> npt.NDArray[np.int64]:
    """Give the rows (numbers from 0) with a price of 0 or less."""
    return rows_where(
        len(candles),
        lambda rows: np.logical_or.reduce([~(getattr(candles, name)[rows] > 0) for name in COLUMNS[1:5]]),
    )


def check_storable(candles: Candles) -> None:
    """Raise InvalidInput unless times rise strictly and every price is finite; names the first row that is wrong."""
    falling = np.flatnonzero(candles.time[1:] <= candles.time[:-1])
    if len(falling):
        row = int(falling[0]) + 1
        raise InvalidInput(
            f"candle {row}: its time {candles.time[row]} is not after {candles.time[row - 1]}; "
            "sort by time, one candle a time",
            row=row,
        )
    for name in COLUMNS[1:5]:
        values = getattr(candles, name)
        wrong = np.flatnonzero(~np.isfinite(values))
        if len(wrong):
            row = int(wrong[0])
            raise InvalidInput(f"candle {row}: {name} is {values[row]}; a price is a finite number", row=row)


def price_decimals(candles: Candles) -> int:
    """Give the decimals that the prices are written with, 0 to 10, from up to 20,000 rows spread over them.

    Prices that went through float32 somewhere, such as 757.9400024414062 of 757.94, count as they were before.
    """
    step = max(1, len(candles) // PRECISION_ROWS)
    prices = np.concatenate([getattr(candles, name)[::step] for name in COLUMNS[1:5]])
    with np.errstate(over="ignore", invalid="ignore"):  # a price that overflows here has no decimals to speak of
        decimals = _decimals(prices, EXACT)
        was_single = decimals > MOST_OF_SINGLE and np.allclose(prices, prices.astype(np.float32), rtol=1e-13, atol=0)
        return _decimals(prices, SINGLE) if was_single else decimals


def _decimals(prices: Floats, tolerance: float) -> int:
    for decimals in range(MAX_DECIMALS):
        scaled = prices * 10.0**decimals
        if np.all(np.abs(scaled - np.rint(scaled)) <= tolerance * np.abs(scaled) + EXACT):
            return decimals
    return MAX_DECIMALS
