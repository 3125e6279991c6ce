"""The closed candles of a live run in order, with what is known of each; it only grows. No torch.

One thread appends. Rows that stand are never written again, so another thread may read those it was told of.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from nn.dataset_dir import COLUMNS, Candles
from nn.features import FEATURES, Computed, Floats, Rows, compute, move
from nn.split import Calendar, calendar_of, segment_ids
from nn.targets import MASKED, Edges, bucket, trend_class

Indices = npt.NDArray[np.int64]

LEAST_ROOM = 1024
KINDS: dict[str, type[np.generic]] = {
    **dict.fromkeys(("time", "run"), np.int64),
    **dict.fromkeys((*COLUMNS[1:], "sigma", "move", "range"), np.float64),
}


class Tape:
    """Candles with features, σ and, for each, its move and range in units of the σ that stood before it.

    `run` counts the candles without a gap up to each one, itself included. Every price must be finite. Without a
    `calendar` the market's timetable is learnt from these candles.
    """

    def __init__(self, candles: Candles, timeframe_ms: int, calendar: Calendar | None = None) -> None:
        self.timeframe_ms = timeframe_ms
        self.calendar = calendar or calendar_of(candles.time, timeframe_ms)
        self._n = 0
        self._columns: dict[str, npt.NDArray[Any]] = {name: np.empty(0, kind) for name, kind in KINDS.items()}
        self._rows: Rows = np.empty((0, len(FEATURES)), np.float32)
        computed = compute(candles)
        self._state = computed.state
        self._take(candles, computed, _run_lengths(segment_ids(candles.time, timeframe_ms, self.calendar)))

    def __len__(self) -> int:
        return self._n

    def append(self, candle: Candles) -> int:
        """Add one closed candle (a slice of one row, finite, later than the last) and give its row."""
        computed = compute(candle, self._state)
        self._state = computed.state
        run = 1 if not self._n or self.is_gap(int(candle.time[0])) else int(self.run[-1]) + 1
        self._take(candle, computed, np.array([run]))
        return self._n - 1

    def is_gap(self, time: int) -> bool:
        """Tell whether candles are missing between the last one and one that opens at `time`."""
        return bool(self.calendar.is_gap(self.time[-1], time))

    @property
    def time(self) -> Indices:
        """Open times, ms UTC, (n,)."""
        return self._columns["time"][: self._n]

    @property
    def close(self) -> Floats:
        """Closes, (n,)."""
        return self._columns["close"][: self._n]

    @property
    def sigma(self) -> Floats:
        """Expected size of the next candle's log return, seen from each candle, (n,)."""
        return self._columns["sigma"][: self._n]

    @property
    def move(self) -> Floats:
        """Each candle's return in units of the σ before it, (n,); the candle head's outcome is its class."""
        return self._columns["move"][: self._n]

    @property
    def range(self) -> Floats:
        """Each candle's range in units of the σ before it, (n,)."""
        return self._columns["range"][: self._n]

    @property
    def run(self) -> Indices:
        """Candles without a gap up to each one, (n,)."""
        return self._columns["run"][: self._n]

    @property
    def rows(self) -> Rows:
        """Features, (n, F)."""
        return self._rows[: self._n]

    def candle(self, row: int) -> dict[str, Any]:
        """Give one candle as plain data; a null volume is None."""
        values = {name: float(self._columns[name][row]) for name in COLUMNS[1:]}
        volume = values.pop("volume")
        return {"time": int(self.time[row]), **values, "volume": volume if math.isfinite(volume) else None}

    def row_of(self, time: int) -> int | None:
        """Give the row of the candle that opens at `time`; None where there is none."""
        row = int(np.searchsorted(self.time, time))
        return row if row < self._n and self.time[row] == time else None

    def _take(self, candles: Candles, computed: Computed, run: Indices) -> None:
        n = len(candles)
        before_close = np.concatenate([self.close[-1:], candles.close[:-1]]) if self._n else _shifted(candles.close)
        before_sigma = np.concatenate([self.sigma[-1:], computed.sigma[:-1]]) if self._n else _shifted(computed.sigma)
        new: Mapping[str, npt.NDArray[Any]] = {
            **{name: getattr(candles, name) for name in COLUMNS},
            "sigma": computed.sigma,
            "move": move(before_close, candles.close) / before_sigma,
            "range": move(candles.low, candles.high) / before_sigma,
            "run": run,
        }
        self._make_room(n)
        for name, values in new.items():
            self._columns[name][self._n : self._n + n] = values
        self._rows[self._n : self._n + n] = computed.rows
        self._n += n

    def _make_room(self, n: int) -> None:
        """Move to arrays twice as long when these are full; readers keep the old ones, whose rows stay as they are."""
        if self._n + n <= len(self._rows):
            return
        room = 2 * self._n + n + LEAST_ROOM
        for name, kind in KINDS.items():
            self._columns[name] = _grown(self._columns[name], self._n, np.empty(room, kind))
        self._rows = _grown(self._rows, self._n, np.empty((room, self._rows.shape[1]), np.float32))


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
    good = _finite_rows(candles)
    return candles if good.all() else Candles(**{name: getattr(candles, name)[good] for name in COLUMNS})


def is_finite(candle: Candles) -> bool:
    """Tell whether every price of a candle (a slice of one row) is a number."""
    return bool(_finite_rows(candle).all())


def _grown(old: npt.NDArray[Any], n: int, new: npt.NDArray[Any]) -> npt.NDArray[Any]:
    new[:n] = old[:n]
    return new


def _finite_rows(candles: Candles) -> npt.NDArray[np.bool_]:
    return np.asarray(np.all([np.isfinite(getattr(candles, name)) for name in COLUMNS[1:5]], axis=0))


def _run_lengths(segment: Indices) -> Indices:
    if not len(segment):
        return np.empty(0, np.int64)
    starts = np.flatnonzero(np.concatenate([[True], segment[1:] != segment[:-1]]))
    return np.arange(len(segment)) - np.repeat(starts, np.diff([*starts, len(segment)])) + 1


def _shifted(values: Floats) -> Floats:
    """Give each candle its predecessor's value, the first its own."""
    return np.concatenate([values[:1], values[:-1]])
