"""The closed candles of a live run in order, with what is known of each. No torch.

One thread appends. Rows that stand are never written again, so another thread may read those it was told of. Rows are
counted from the first candle for ever; the oldest go once learning has let go of them, so that weeks fit in memory.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from nn.dataset_dir import COLUMNS, Candles
from nn.features import FEATURES, Computed, Floats, compute, move
from nn.split import TIMETABLE_WEEKS, WEEK_MS, calendar_of
from nn.targets import MASKED, Edges, bucket, trend_class

Indices = npt.NDArray[np.int64]

LEAST_ROOM = 1024
LEAST_GONE = 16_384  # rows that are let go together, so that the rest is seldom copied
KINDS: dict[str, type[np.generic]] = {
    **dict.fromkeys(("time", "run"), np.int64),
    **dict.fromkeys((*COLUMNS[1:], "sigma", "move", "range"), np.float64),
}


class Column:
    """One number of each candle, or a row of them, by the candle's row; a row that was let go raises IndexError."""

    def __init__(self, values: npt.NDArray[Any], first: int) -> None:
        self.values = values  # of the candles that stand, oldest first
        self.first = first  # row of the oldest

    def __getitem__(self, rows: Any) -> Any:
        if isinstance(rows, slice):
            return self.values[self._place(rows.start) : self._place(rows.stop)]
        places = np.asarray(rows) - self.first
        if np.any(places < 0):
            raise IndexError(f"row {np.min(rows)} was let go; the tape holds rows from {self.first} on")
        return self.values[places]

    def newest(self) -> Any:
        """Give the number of the newest candle."""
        return self.values[-1]

    def _place(self, row: int) -> int:
        if row < self.first:
            raise IndexError(f"row {row} was let go; the tape holds rows from {self.first} on")
        return row - self.first


class Tape:
    """Candles with features, σ and, for each, its move and range in units of the σ that stood before it.

    `run` counts the candles without a gap up to each one, itself included. Every price must be finite. The market's
    timetable is learnt from the candles up to `known_until` (ms UTC; all by default), and where these are too few to
    show one, from all up to the candle that makes four weeks full. What is missing before the candles `after_no_trade`
    (open times) is no gap: nobody traded.
    """

    def __init__(
        self,
        candles: Candles,
        timeframe_ms: int,
        known_until: int | None = None,
        after_no_trade: Collection[int] = (),
    ) -> None:
        self.timeframe_ms = timeframe_ms
        self.after_no_trade = set(after_no_trade)
        known = candles.time if known_until is None else candles.time[candles.time <= known_until]
        self.calendar = calendar_of(known, timeframe_ms)
        self._timetable_at = _timetable_at(known, candles.time, timeframe_ms)
        self._n = self._first = self._needed = 0  # rows so far; the oldest that stands; the oldest that learning needs
        self._columns: dict[str, Column] = {name: Column(np.empty(0, kind), 0) for name, kind in KINDS.items()}
        self._columns["rows"] = Column(np.empty((0, len(FEATURES)), np.float32), 0)
        computed = compute(candles)
        self._state = computed.state
        self._take(candles, computed)

    def __len__(self) -> int:
        return self._n

    def append(self, candle: Candles) -> int:
        """Add one closed candle (a slice of one row, finite, later than the last) and give its row."""
        computed = compute(candle, self._state)
        self._state = computed.state
        self._take(candle, computed)
        return self._n - 1

    def let_go(self, before: int) -> None:
        """Say that nobody asks for rows before this one any more; from the thread that learns."""
        self._needed = max(self._needed, before)

    def is_gap(self, time: int) -> bool:
        """Tell whether candles are missing between the last one and one that opens at `time`."""
        return time not in self.after_no_trade and bool(self.calendar.is_gap(self.time.newest(), time))

    @property
    def time(self) -> Column:
        """Open times, ms UTC."""
        return self._column("time")

    @property
    def close(self) -> Column:
        """Closes."""
        return self._column("close")

    @property
    def sigma(self) -> Column:
        """Expected size of the next candle's log return, seen from each candle."""
        return self._column("sigma")

    @property
    def move(self) -> Column:
        """Each candle's return in units of the σ before it; the candle head's outcome is its class."""
        return self._column("move")

    @property
    def range(self) -> Column:
        """Each candle's range in units of the σ before it."""
        return self._column("range")

    @property
    def run(self) -> Column:
        """Candles without a gap up to each one."""
        return self._column("run")

    @property
    def rows(self) -> Column:
        """Features, F of each candle."""
        return self._column("rows")

    def candle(self, row: int) -> dict[str, Any]:
        """Give one candle as plain data; a null volume is None."""
        values = {name: float(self._column(name)[row]) for name in COLUMNS[1:]}
        volume = values.pop("volume")
        return {"time": int(self.time[row]), **values, "volume": volume if math.isfinite(volume) else None}

    def row_of(self, time: int) -> int | None:
        """Give the row of the candle that opens at `time`; None where none stands."""
        times = self.time
        place = int(np.searchsorted(times.values, time))
        found = place < len(times.values) and times.values[place] == time
        return times.first + place if found else None

    def row_from(self, time: int) -> int:
        """Give the row of the first standing candle that opens at or after `time`, or that of the next to come."""
        times = self.time
        return times.first + int(np.searchsorted(times.values, time))

    def _column(self, name: str) -> Column:
        column = self._columns[name]
        return Column(column.values[: self._n - column.first], column.first)

    def _take(self, candles: Candles, computed: Computed) -> None:
        n = len(candles)
        run = self._runs(candles.time)
        before_close, before_sigma = _shifted(candles.close), _shifted(computed.sigma)
        if self._n and n:
            before_close[0], before_sigma[0] = self.close.newest(), self.sigma.newest()
        new: Mapping[str, npt.NDArray[Any]] = {
            **{name: getattr(candles, name) for name in COLUMNS},
            "sigma": computed.sigma,
            "move": move(before_close, candles.close) / before_sigma,
            "range": move(candles.low, candles.high) / before_sigma,
            "run": run,
            "rows": computed.rows,
        }
        self._make_room(n)
        for name, values in new.items():
            place = self._n - self._first
            self._columns[name].values[place : place + n] = values
        self._n += n

    def _runs(self, times: Indices) -> Indices:
        """Give the candles without a gap up to each of these that follow the standing ones."""
        if self._timetable_at is None or not len(times) or times[-1] < self._timetable_at:
            standing = int(self.run.newest()) if self._n else 0
            return _run_lengths(self._segments(np.append(self.time.values[-1:], times)), standing, len(times))
        k = int(np.searchsorted(times, self._timetable_at))
        every = np.concatenate([self.time.values, times])
        early, self._timetable_at = self._runs(times[:k]), None
        self.calendar = calendar_of(every[: len(every) - len(times) + k + 1], self.timeframe_ms)
        standing = int(self.run.values[0]) if self._n else 0
        late = _run_lengths(self._segments(every), standing, len(every))
        return np.concatenate([early, late[len(late) - len(times) + k :]])

    def _segments(self, times: Indices) -> Indices:
        """Number the stretches without a gap."""
        if not len(times):
            return times
        gaps = self.calendar.is_gap(times[:-1], times[1:])
        for row in np.flatnonzero(gaps).tolist():
            gaps[row] = int(times[row + 1]) not in self.after_no_trade
        return np.append(0, np.cumsum(gaps))

    def _make_room(self, n: int) -> None:
        """Move to other arrays when these are full; readers keep the old ones, whose rows stay as they are."""
        if self._n - self._first + n <= len(self._columns["rows"].values):
            return
        first = self._needed if self._needed - self._first >= LEAST_GONE else self._first
        standing = self._n - first
        room = standing + n + max(LEAST_ROOM, min(standing, 2 * LEAST_GONE))
        for name, column in self._columns.items():
            grown = np.empty((room, *column.values.shape[1:]), column.values.dtype)
            grown[:standing] = column[first : self._n]
            self._columns[name] = Column(grown, first)
        self._first = first


def targets_at(tape: Tape, rows: Indices, now: int, edges: Edges, horizon: int) -> dict[str, Indices]:
    """Give the candle, range and trend targets at rows (any shape), as far as they are known when row `now` has closed.

    The same targets as `targets.targets`; MASKED where the outcome is still to come, lies beyond a gap or is a tie.
    """
    following, due = rows + 1, rows + horizon
    here, after, later = (np.clip(index, 0, now) for index in (rows, following, due))
    whole = (rows >= 0) & (following <= now) & (tape.run[after] > 1)
    known = (rows >= 0) & (due <= now) & (tape.run[later] > horizon)
    return {
        "candle": np.where(whole, bucket(tape.move[after], edges.candle), MASKED),
        "range": np.where(whole, bucket(tape.range[after], edges.range), MASKED),
        "trend": np.where(known, trend_class(tape.close[here], tape.close[later]), MASKED),
    }


def one_candle(time: int, open_: float, high: float, low: float, close: float, volume: float | None) -> Candles:
    """Give a candle as a slice of one row; a volume of None becomes NaN."""
    prices = np.array([open_, high, low, close, np.nan if volume is None else volume], np.float64)[:, None]
    return Candles(np.array([time], np.int64), prices[0], prices[1], prices[2], prices[3], prices[4])


def finite(candles: Candles) -> Candles:
    """Leave out the candles with a price that is not a number, so that each leaves a gap."""
    return _only(candles, _finite_rows(candles))


def without(candles: Candles, times: Sequence[int]) -> Candles:
    """Leave out the candles that open at any of these times."""
    return _only(candles, ~np.isin(candles.time, np.asarray(times, np.int64)))


def is_finite(candle: Candles) -> bool:
    """Tell whether every price of a candle (a slice of one row) is a number."""
    return bool(_finite_rows(candle).all())


def _only(candles: Candles, good: npt.NDArray[np.bool_]) -> Candles:
    return candles if good.all() else Candles(**{name: getattr(candles, name)[good] for name in COLUMNS})


def _finite_rows(candles: Candles) -> npt.NDArray[np.bool_]:
    return np.asarray(np.all([np.isfinite(getattr(candles, name)) for name in COLUMNS[1:5]], axis=0))


def _timetable_at(known: Indices, times: Indices, timeframe_ms: int) -> int | None:
    """Give the open time of the candle by which a timetable can be learnt; None where the known candles show it."""
    first = known[:1] if len(known) else times[:1]
    if not len(first):
        return None
    at = int(first[0]) + TIMETABLE_WEEKS * WEEK_MS - timeframe_ms
    return at if not len(known) or int(known[-1]) < at else None


def _run_lengths(segment: Indices, standing: int, count: int) -> Indices:
    """Give for the last `count` candles how many of their segment (n,) end with each; `standing` end with the first."""
    if not len(segment):
        return np.empty(0, np.int64)
    starts = np.flatnonzero(np.concatenate([[True], segment[1:] != segment[:-1]]))
    lengths = np.arange(len(segment)) - np.repeat(starts, np.diff([*starts, len(segment)])) + 1
    if standing:
        lengths[segment == segment[0]] += standing - 1
    return lengths[len(lengths) - count :]


def _shifted(values: Floats) -> Floats:
    """Give each candle its predecessor's value, the first its own."""
    return np.concatenate([values[:1], values[:-1]])
