"""Makes the feed of a live run: where it begins, the history before it, and the thread that hands over its candles."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from threading import Event
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from sqlalchemy.exc import OperationalError

from annotate.candles import Candles, Times
from annotate.errors import InvalidInput, StorageFailed
from annotate.feeds.arrivals import Candle, candles_of, row_of
from annotate.feeds.collector import Collector
from annotate.feeds.exchanges import check_exchange
from annotate.feeds.feed import Feed, FeedError
from annotate.feeds.gateway import Gateway, GatewayProcess
from annotate.feeds.health import FeedState
from annotate.feeds.push import PushWatch
from annotate.feeds.replay import Clock, ReplayFeed
from annotate.feeds.tail import TailFeed, Watch
from annotate.feeds.thread import FeedThread, OnCandle, OnEnd
from annotate.files import unless_done
from annotate.live_plan import first_candle, next_candle
from annotate.timeframe import close_of

if TYPE_CHECKING:
    from annotate.feeds.intake import Intake
    from annotate.run_data import RunData

Json = dict[str, Any]

AHEAD = 1000  # candles of a paced feed that may wait in the worker; one at full speed sends one at a time
LEAST_CANDLES = 2  # a model looks back, so something has to stand before the first candle

OnPrepared = Callable[[int, int, list[int]], None]
"""The model may be made ready: (dataset of the history, open time of the first candle, those that come late)."""


@dataclass(frozen=True, slots=True)
class Begin:
    """Where a feed begins: at a time that was asked for, else after the data cut, else after the first full window."""

    asked: int | None
    data_cut: int | None
    window: int
    goes_on: bool = False  # an interrupted run: the data cut is the last candle that it has dealt with
    began: int | None = None  # open time of the run's first candle, where it is on record
    told: tuple[int | None, Collection[int]] = (None, ())  # see `RunLedger.told_candles`

    def late_of(self, times: Times) -> Times:
        """Give those of the stored candles that an interrupted run went past before they came."""
        if not self.goes_on or self.began is None or self.data_cut is None:
            return times[:0]
        whole_from, told = self.told
        passed = times[(times >= max(self.began, whole_from or self.began)) & (times < self.data_cut)]
        return passed[np.isin(passed, list(told), invert=True)]


@dataclass(frozen=True, slots=True)
class Heard:
    """Who is told what comes of a feed, from its threads."""

    prepared: OnPrepared
    candle: OnCandle
    state: Callable[[FeedState], None]
    end: OnEnd


class OpenGateway(Protocol):
    """Opens the way to a market: exchange, symbol, timeframe."""

    def __call__(self, exchange: str, symbol: str, timeframe: str) -> Gateway:
        """Give the gateway; nothing is asked yet."""
        ...


def begin_of(
    config: Json,
    data_cut: int | None,
    *,
    recorded: Json,
    first_time: int | None,
    told: tuple[int | None, Collection[int]] = (None, ()),
) -> Begin:
    """Say where a live run begins; one that goes on does so after the last candle that it scored, else where it began.

    What it scored and has not learnt is history: its checkpoint knows of these candles.
    """
    dealt_with = [recorded[word] for word in ("scored", "learnt") if recorded.get(word) is not None]
    if dealt_with:
        data_cut = max(dealt_with)
        return Begin(None, data_cut, config["sequence_length"], goes_on=True, began=first_time, told=told)
    asked = config["feed"]["from"] if first_time is None else first_time
    return Begin(asked, data_cut, config["sequence_length"], began=first_time)


def gateways(at: str) -> OpenGateway:
    """Give what opens the ways to exchanges; `at` is a loopback address that stands in for them all, or empty."""
    return lambda exchange, symbol, timeframe: GatewayProcess(exchange, symbol, timeframe, at)


class FeedMaker:
    """Makes the feeds of live runs; any thread may call."""

    def __init__(self, data: RunData, intake: Intake, clock: Clock, open_gateway: OpenGateway) -> None:
        self._data = data
        self._intake = intake
        self._clock = clock
        self._open_gateway = open_gateway

    def check(self, series_id: int, feed: Json, begin: Begin) -> None:
        """Raise InvalidInput where such a feed could not even begin."""
        candles, (_, timeframe) = self._data.candles(series_id), self._data.market(series_id)
        if feed["kind"] == "replay":
            first_candle(candles.time, timeframe, asked=begin.asked, data_cut=begin.data_cut, window=begin.window)
        elif feed["kind"] == "exchange":
            check_exchange(feed["exchange"])
        elif len(candles) < LEAST_CANDLES:
            raise InvalidInput(
                f"this series has {len(candles)} candles, and a model looks back over some; post at least "
                f"{LEAST_CANDLES} first, better {begin.window}",
                field="feed.kind",
                candles=len(candles),
            )

    def thread(self, series_id: int, feed: Json, begin: Begin, heard: Heard) -> FeedThread:
        """Make the thread of a feed; it is started by the caller."""

        def prepare(stopped: Event) -> Feed:
            if feed["kind"] == "replay":
                return self._replay(series_id, feed, begin, heard)
            if feed["kind"] == "push":
                return self._push(series_id, begin, heard)
            return self._exchange(series_id, feed, begin, heard, stopped)

        ahead = 1 if feed.get("speed") == "max" else AHEAD
        return FeedThread(prepare, heard.candle, heard.end, ahead=ahead)

    def _replay(self, series_id: int, feed: Json, begin: Begin, heard: Heard) -> Feed:
        times, (_, timeframe) = self._data.candles(series_id).time, self._data.market(series_id)
        if begin.goes_on:  # perhaps after the last candle: what was scored may still have to be learnt
            first = next_candle(times, timeframe, asked=None, after=begin.data_cut)
        else:
            first = first_candle(times, timeframe, asked=begin.asked, data_cut=begin.data_cut, window=begin.window)
        late = begin.late_of(times)
        heard.prepared(self._data.make(series_id, before=first), first, late.tolist())
        pace = None if feed["speed"] == "max" else float(feed["speed"])
        candles = Candles.concat([self._at(series_id, late), self._data.candles(series_id, first)])
        return ReplayFeed(candles, pace, self._clock)

    def _push(self, series_id: int, begin: Begin, heard: Heard) -> Feed:
        _, timeframe = self._data.market(series_id)
        watch = PushWatch(timeframe, lambda: self._intake.heard_at(series_id), heard.state)
        return self._tail(series_id, begin, heard, watch)

    def _exchange(self, series_id: int, feed: Json, begin: Begin, heard: Heard, stopped: Event) -> Feed:
        check_exchange(feed["exchange"])
        symbol, timeframe = self._data.market(series_id)
        gateway = self._open_gateway(feed["exchange"], feed["symbol"] or symbol, timeframe)
        collector = Collector(gateway, Shelf(self._intake, series_id), timeframe, heard.state)
        with unless_done(collector.close):
            candles = self._data.candles(series_id)
            collector.prepare(row_of(candles, -1) if len(candles) else None, feed["history"], stopped)
            made = self._tail(series_id, begin, heard, ExchangeWatch(collector))
        collector.start()
        return made

    def _tail(self, series_id: int, begin: Begin, heard: Heard, watch: Watch) -> Feed:
        """Follow the series from its next candle on, or from an earlier one that was asked for."""
        _, timeframe = self._data.market(series_id)
        times = self._data.candles(series_id).time
        if len(times) < LEAST_CANDLES:
            raise FeedError(f"the series has {len(times)} candles, and a model looks back over some")
        first = _goes_on_at(begin, timeframe)
        if first is None:
            first = next_candle(times, timeframe, asked=begin.asked, after=None)
        late = begin.late_of(times)
        heard.prepared(self._data.make(series_id, before=first), first, late.tolist())
        following = self._intake.following(series_id)
        following.is_late(candles_of(self._at(series_id, late)))
        last = begin.data_cut if begin.goes_on else None
        return TailFeed(following, timeframe, first, watch, began=begin.began, last=last)

    def _at(self, series_id: int, times: Times) -> Candles:
        """Give the stored candles that open at some times."""
        candles = self._data.candles(series_id)
        return candles.take(candles.time.searchsorted(times))


def _goes_on_at(begin: Begin, timeframe: str) -> int | None:
    """Give the open time from which an earlier part of the run had heard nothing; None where there was none.

    No candle need stand there: the next one tells whether what is missing before it is a gap.
    """
    if begin.goes_on and begin.data_cut is not None:
        return close_of(begin.data_cut, timeframe)
    return begin.began


class Shelf:
    """The place of one series' candles, as a collector sees it."""

    def __init__(self, intake: Intake, series_id: int) -> None:
        self._intake = intake
        self._series_id = series_id

    def store(self, closed: Sequence[Candle]) -> int:
        """Store closed candles; give how many contradict stored ones. Raises StorageFailed."""
        try:
            return len(self._intake.store(self._series_id, closed).conflicts)
        except OperationalError as error:  # a long import holds the database, or the disk is full
            raise StorageFailed(f"the database takes no candles now: {error.orig}") from error

    def note_no_trade(self, start: int, end: int) -> None:
        """Note that nobody traded between two candles."""
        self._intake.note_no_trade(self._series_id, start, end)

    def show_forming(self, candle: Candle) -> None:
        """Let a forming candle move on the charts."""
        self._intake.show_forming(self._series_id, candle)


class ExchangeWatch:
    """Ends a feed whose collector has given up, and the collector with the feed."""

    def __init__(self, collector: Collector) -> None:
        self._collector = collector

    def look(self, _last: int | None, /) -> None:
        """Raise FeedError where no more can come; the collector tells its state by itself."""
        if self._collector.failure is not None:
            raise FeedError(self._collector.failure)

    def close(self) -> None:
        """End the collector."""
        self._collector.close()
