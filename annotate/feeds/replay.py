"""Replays stored candles at so many a second, or as fast as they are asked for."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from threading import Event
from typing import Protocol

from annotate.candles import COLUMNS, Candles
from annotate.feeds.feed import ClosedCandle

CHUNK = 1000  # candles made into Python objects at a time
SLACK_S = 1.0  # how much of a delay is made up for by hurrying


class Clock(Protocol):
    """Tells seconds and waits; a test drives its own by hand."""

    def now(self) -> float:
        """Give seconds since any fixed moment."""
        ...

    def wait_until(self, due: float, stopped: Event) -> None:
        """Wait until `now()` reaches `due` or `stopped` is set."""
        ...


class SystemClock:
    """The clock on the wall."""

    def now(self) -> float:
        """Give seconds since some moment before the start."""
        return time.monotonic()

    def wait_until(self, due: float, stopped: Event) -> None:
        """Sleep until `due`, or until `stopped` is set."""
        stopped.wait(max(0.0, due - self.now()))


class ReplayFeed:
    """The given candles, `speed` a second; None is as fast as they are asked for."""

    def __init__(self, candles: Candles, speed: float | None, clock: Clock) -> None:
        self._candles = _one_by_one(candles)
        self._interval = None if speed is None else 1.0 / speed
        self._clock = clock
        self._last_due: float | None = None

    def next(self, stopped: Event) -> ClosedCandle | None:
        """Wait until the next candle is due and give it; None at the end, or when stopped."""
        candle = next(self._candles, None)
        if candle is None or self._interval is None:
            return None if stopped.is_set() else candle
        self._clock.wait_until(self._due(self._interval), stopped)
        return None if stopped.is_set() else candle

    def restart_clock(self) -> None:
        """Let the next candle come one interval from now."""
        self._last_due = None

    def close(self) -> None:
        """End nothing: stored candles stay."""

    def _due(self, interval: float) -> float:
        now = self._clock.now()
        last = now if self._last_due is None else max(self._last_due, now - SLACK_S)
        self._last_due = last + interval
        return self._last_due


def _one_by_one(candles: Candles) -> Iterator[ClosedCandle]:
    """Give candles as objects; the columns may be maps of a large file, so only a piece is read at a time."""
    for start in range(0, len(candles), CHUNK):
        piece = candles.slice(start, start + CHUNK)
        next_times = [*candles.time[start + 1 : start + CHUNK + 1].tolist(), None]
        columns = [getattr(piece, name).tolist() for name in COLUMNS]
        for time_, open_, high, low, close, volume, next_time in zip(*columns, next_times, strict=False):
            yield ClosedCandle(time_, open_, high, low, close, None if math.isnan(volume) else volume, next_time)
