"""Makes the feed of a live run: where it begins, the history before it, and the thread that hands over its candles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from annotate.feeds.feed import Feed
from annotate.feeds.replay import Clock, ReplayFeed
from annotate.feeds.thread import FeedThread, OnCandle, OnEnd
from annotate.live_plan import first_candle

if TYPE_CHECKING:
    from annotate.run_data import RunData

Json = dict[str, Any]

AHEAD = 1000  # candles of a paced feed that may wait in the worker; one at full speed sends one at a time

OnPrepared = Callable[[int, int], None]
"""(dataset of the history, open time of the first candle): the model may be made ready."""


@dataclass(frozen=True, slots=True)
class Begin:
    """Where a feed begins: at a time that was asked for, else after the data cut, else after the first full window."""

    asked: int | None
    data_cut: int | None
    window: int


def begin_of(config: Json, data_cut: int | None, *, recorded: Json, first_time: int | None) -> Begin:
    """Say where a live run begins; one that goes on does so after the last candle it learnt, else where it began."""
    if recorded.get("learnt") is not None:
        return Begin(None, recorded["learnt"], config["sequence_length"])
    asked = config["feed"]["from"] if first_time is None else first_time
    return Begin(asked, data_cut, config["sequence_length"])


def check_begin(data: RunData, series_id: int, begin: Begin) -> int:
    """Give the open time of the first candle; raise InvalidInput where there is none."""
    times = data.candles(series_id).time
    return first_candle(times, asked=begin.asked, data_cut=begin.data_cut, window=begin.window)


def replay_thread(
    data: RunData,
    series_id: int,
    begin: Begin,
    speed: float | str,
    clock: Clock,
    *,
    on_prepared: OnPrepared,
    on_candle: OnCandle,
    on_end: OnEnd,
) -> FeedThread:
    """Make the thread that replays a series, `speed` candles a second or at `max`."""
    pace = None if isinstance(speed, str) else float(speed)

    def prepare() -> Feed:
        first = check_begin(data, series_id, begin)
        on_prepared(data.make(series_id, before=first), first)
        return ReplayFeed(data.candles(series_id, first), pace, clock)

    return FeedThread(prepare, on_candle, on_end, ahead=1 if pace is None else AHEAD)
