"""The one interface of every feed: closed candles in order of time, one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Event
from typing import Protocol


class FeedError(Exception):
    """A feed broke; the message says why, in words for a person."""


@dataclass(frozen=True, slots=True)
class ClosedCandle:
    """A candle that is final. Times are open times, ms UTC."""

    time: int
    open: float
    high: float
    low: float
    close: float
    volume: float | None
    next_time: int | None  # of the candle after it, where the feed's calendar knows it
    after_no_trade: bool = False  # what is missing before it is no gap: nobody traded
    # A late candle, stored after a newer one was given, comes out of order: its `time` is below that of one before it.


class Feed(Protocol):
    """Closed candles, each exactly once, in order; but for late ones, which are told as they come."""

    def next(self, stopped: Event) -> ClosedCandle | None:
        """Wait for the next candle to close; None when there are no more or `stopped` is set. Raises FeedError."""
        ...

    def restart_clock(self) -> None:
        """Count time anew: a pause is over and its candles are not made up for."""
        ...

    def close(self) -> None:
        """End what the feed started."""
        ...
