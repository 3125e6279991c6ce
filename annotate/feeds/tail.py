"""Follows a series as its candles are stored: what is there at once, what comes as soon as it is on the disk."""

from __future__ import annotations

from collections import deque
from threading import Event
from typing import Protocol

from annotate.candles import Candles
from annotate.feeds.arrivals import Candle, row_of
from annotate.feeds.feed import ClosedCandle
from annotate.timeframe import close_of

CHUNK = 1000  # candles read at a time
LOOK_S = 0.2  # how often a feed that waits looks whether it was stopped


class Stored(Protocol):
    """The stored candles of one series, and word of new ones."""

    def read(self, start: int) -> Candles:
        """Give the stored candles that open at or after a time."""
        ...

    def count(self) -> int:
        """Give a number that grows whenever candles were stored."""
        ...

    def wait(self, count: int, timeout_s: float) -> None:
        """Wait until the number is no longer `count`, at most so long."""
        ...

    def is_no_trade(self, start: int, end: int) -> bool:
        """Tell whether nobody traded between two candles, the first closing at `start`, the second opening at `end`."""
        ...

    def late(self) -> Candles:
        """Give the candles that were stored after a newer one since this was asked last."""
        ...

    def close(self) -> None:
        """Listen no longer."""
        ...


class Watch(Protocol):
    """Looks after a feed while it waits: notices silence, tells its state, ends what it started."""

    def look(self, last: int | None, /) -> None:
        """Look how the feed is doing; `last` is the newest candle handed over. Raises FeedError where it is over."""
        ...

    def close(self) -> None:
        """End what belongs to the feed."""
        ...


class TailFeed:
    """Gives the stored candles from `start` on, each once, in order of time.

    A candle that is stored after a newer one was handed over comes out of order, so that the run can say that it is too
    late: a model cannot go back in time. Of a run that goes on, `began` is the first candle and `last` the newest that
    it dealt with.
    """

    def __init__(
        self,
        stored: Stored,
        timeframe: str,
        start: int,
        watch: Watch,
        began: int | None = None,
        last: int | None = None,
    ) -> None:
        self._stored = stored
        self._timeframe = timeframe
        self._start = start if began is None else began  # where the run began
        self._next = start  # open time from which nothing has been read
        self._last = last
        self._watch = watch
        self._ready: deque[ClosedCandle] = deque()

    def next(self, stopped: Event) -> ClosedCandle | None:
        """Wait for the next candle; None once `stopped` is set. Raises FeedError where no more can come."""
        while not stopped.is_set():
            self._watch.look(self._last)
            count = self._stored.count()  # before reading, so that nothing is stored unheard in between
            self._take_late()
            if self._ready or self._read():
                candle = self._ready.popleft()
                self._last = candle.time if self._last is None else max(self._last, candle.time)
                return candle
            self._stored.wait(count, LOOK_S)
        return None

    def restart_clock(self) -> None:
        """Go on after a pause: nothing came too late, it waits in the store."""

    def close(self) -> None:
        """End what belongs to the feed."""
        self._watch.close()
        self._stored.close()

    def _take_late(self) -> None:
        """Put late candles first; what was read and not yet given is read again where one belongs among it."""
        late = self._stored.late().between(self._start, self._next)
        if not len(late):
            return
        passed = late.between(None, self._start if self._last is None else self._last)
        if len(passed) < len(late):
            self._ready.clear()
            self._next = self._start if self._last is None else close_of(self._last, self._timeframe)
        for row in reversed(range(len(passed))):
            self._ready.appendleft(_closed(row_of(passed, row), None))

    def _read(self) -> bool:
        found = self._stored.read(self._next)
        candles = found.slice(0, CHUNK)
        if not len(candles):
            return False
        following = [*found.time[1 : CHUNK + 1].tolist(), None]
        for row in range(len(candles)):
            candle, is_quiet = row_of(candles, row), self._is_quiet(int(candles.time[row]))
            self._next = close_of(candle.time, self._timeframe)
            # Nobody could know that there would be no trade: the prediction is of the next candle, as if it came alone.
            next_time = None if self._is_quiet(following[row]) else following[row]
            self._ready.append(_closed(candle, next_time, after_no_trade=is_quiet))
        return True

    def _is_quiet(self, time: int | None) -> bool:
        """Tell whether nobody traded from where was read up to a candle."""
        return time is not None and time > self._next and self._stored.is_no_trade(self._next, time)


def _closed(candle: Candle, next_time: int | None, *, after_no_trade: bool = False) -> ClosedCandle:
    values = (candle.open, candle.high, candle.low, candle.close, candle.volume)
    return ClosedCandle(candle.time, *values, next_time=next_time, after_no_trade=after_no_trade)
