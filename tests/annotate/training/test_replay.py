"""The replay feed and its thread: every candle once, in order, at its pace, never further ahead than allowed."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from threading import Event

import numpy as np
import pytest

from annotate.candles import COLUMNS
from annotate.errors import InvalidInput
from annotate.feeds.feed import ClosedCandle, Feed, FeedError
from annotate.feeds.replay import CHUNK, ReplayFeed
from annotate.feeds.thread import FeedThread
from annotate.live_plan import first_candle
from annotate.sample import MARKETS, read_sample
from nn.dataset_dir import Candles
from nn.tape import Tape
from tests.annotate.training.door import some_candles
from tests.annotate.training.hand_clock import HandClock


class SleeplessClock:
    """A clock on which every wait is over at once, at the moment that it was for."""

    def __init__(self) -> None:
        self.time = 0.0

    def now(self) -> float:
        return self.time

    def wait_until(self, due: float, stopped: Event) -> None:
        self.time = max(self.time, due)


def test_every_candle_comes_once_with_its_values_and_the_time_of_the_next() -> None:
    candles = some_candles(CHUNK + 3)
    given = _all_of(ReplayFeed(candles, None, HandClock()))
    assert [candle.time for candle in given] == candles.time.tolist()
    assert [candle.close for candle in given] == candles.close.tolist()
    assert [candle.next_time for candle in given] == [*candles.time[1:].tolist(), None]


def test_a_null_volume_stays_null() -> None:
    candles = some_candles(2)
    null = dataclasses.replace(candles, volume=np.array([np.nan, 3.0]))
    assert [candle.volume for candle in _all_of(ReplayFeed(null, None, HandClock()))] == [None, 3.0]


def test_a_paced_feed_comes_in_even_steps_and_makes_up_for_at_most_a_second_of_delay() -> None:
    clock = SleeplessClock()
    feed = ReplayFeed(some_candles(20), 2.0, clock)
    assert [_came(feed, clock) for _ in range(3)] == [0.5, 1.0, 1.5]
    clock.time += 100
    assert [_came(feed, clock) for _ in range(4)] == [101.5, 101.5, 102.0, 102.5]
    clock.time += 100
    feed.restart_clock()
    assert _came(feed, clock) == 203.0


def test_a_stopped_feed_gives_nothing_more() -> None:
    stopped = Event()
    stopped.set()
    assert ReplayFeed(some_candles(3), 1.0, HandClock()).next(stopped) is None


def test_the_next_candle_waits_until_the_last_is_done() -> None:
    given: list[int] = []
    thread = _thread(given, ahead=1)
    thread.start()
    thread.model_is_ready()
    _until(lambda: given == [0])
    time.sleep(0.05)
    assert given == [0]
    thread.candle_done()
    _until(lambda: given == [0, 1000])
    thread.stop()
    thread.join(5)


def test_no_candle_comes_before_the_model_is_ready() -> None:
    given: list[int] = []
    thread = _thread(given, ahead=5)
    thread.start()
    time.sleep(0.05)
    assert given == []
    thread.model_is_ready()
    _until(lambda: len(given) == 5)
    thread.stop()
    thread.join(5)


@pytest.mark.parametrize(
    ("error", "words"),
    [(FeedError("the exchange is closed"), "the exchange is closed"), (OSError(5, "broken"), "OSError")],
)
def test_a_feed_that_breaks_ends_with_its_words(error: Exception, words: str) -> None:
    class Broken:
        def next(self, stopped: Event) -> ClosedCandle | None:
            raise error

        def restart_clock(self) -> None:
            pass

        def close(self) -> None:
            pass

    causes: list[str | None] = []
    thread = FeedThread(lambda _stopped: Broken(), lambda _: None, causes.append, ahead=1)
    thread.start()
    thread.model_is_ready()
    thread.join(5)
    assert len(causes) == 1
    assert words in str(causes[0])


def test_a_feed_that_cannot_begin_ends_with_the_reason() -> None:
    def refuse(_stopped: Event) -> Feed:
        raise InvalidInput("no candle at or after that")

    causes: list[str | None] = []
    thread = FeedThread(refuse, lambda _: None, causes.append, ahead=1)
    thread.start()
    thread.join(5)
    assert causes == ["no candle at or after that"]


@pytest.mark.parametrize(
    ("asked", "data_cut", "expected"),
    [(None, None, 20_000), (None, 30_000, 31_000), (5000, 30_000, 5000), (0, None, 1000)],
)
def test_where_a_live_run_begins(asked: int | None, data_cut: int | None, expected: int) -> None:
    assert first_candle(some_candles(50).time, "1s", asked=asked, data_cut=data_cut, window=20) == expected


def test_a_fresh_model_begins_where_the_weekends_of_the_market_are_known() -> None:
    times = read_sample(MARKETS[0]).time  # EUR/USD 1h: no 200 hours in a row
    first = first_candle(times, "1h", asked=None, data_cut=None, window=200)
    row = int(times.searchsorted(first))
    assert 200 < row < 600
    history = Candles(**{name: getattr(read_sample(MARKETS[0]), name)[:row] for name in COLUMNS})
    assert Tape(history, 3_600_000).run.newest() >= 200
    assert Tape(history.slice(0, row - 1), 3_600_000).run.newest() < 200  # the control


def _thread(given: list[int], ahead: int) -> FeedThread:
    feed = ReplayFeed(some_candles(20), None, HandClock())
    return FeedThread(lambda _stopped: feed, lambda candle: given.append(candle.time), lambda _: None, ahead)


def _came(feed: ReplayFeed, clock: SleeplessClock) -> float:
    assert feed.next(Event()) is not None
    return clock.now()


def _all_of(feed: ReplayFeed) -> list[ClosedCandle]:
    given = []
    while (candle := feed.next(Event())) is not None:
        given.append(candle)
    return given


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 5
    while not condition():
        assert time.monotonic() < deadline, "nothing came of it in time"
        time.sleep(0.01)
