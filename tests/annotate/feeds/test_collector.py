"""Following an exchange: what it stores, what it says of itself, and what it does when the exchange misbehaves."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator, Sequence
from typing import ClassVar

import pytest

from annotate.errors import StorageFailed
from annotate.feeds.arrivals import Candle
from annotate.feeds.feed import FeedError
from annotate.feeds.gateway import Impossible, Page
from tests.annotate.feeds.following import START, Followed, Memory, wait_for
from tests.exchange import DirectGateway, LoopbackExchange

DAY_MS = 86_400_000


@pytest.fixture
def exchange() -> LoopbackExchange:
    made = LoopbackExchange(START)
    for _ in range(5):
        made.candle()
    made.trade()
    return made


@pytest.fixture
def gateway(exchange: LoopbackExchange) -> DirectGateway:
    return DirectGateway(exchange)


@pytest.fixture
def followed(exchange: LoopbackExchange, gateway: DirectGateway) -> Iterator[Followed]:
    made = Followed(exchange, gateway)
    yield made
    made.end()


def test_the_history_comes_first_and_then_each_candle_as_it_closes(followed: Followed) -> None:
    followed.begin(history=3)
    assert followed.memory.candles == followed.exchange.closed[2:]
    for _ in range(10):
        followed.exchange.trade()
        followed.exchange.close()
    followed.wait_until_all_is_stored()
    assert followed.words()[0] == "back-filling"
    wait_for(lambda: followed.words()[-1] == "connected")


def test_a_forming_candle_is_shown_and_never_stored(followed: Followed) -> None:
    followed.begin()
    moves = [followed.exchange.trade() for _ in range(4)]
    wait_for(lambda: followed.memory.forming[-4:] == moves)
    assert all(candle.time < followed.exchange.open_time for candle in followed.memory.candles)


def test_it_goes_on_where_the_store_ends_and_reads_nothing_twice(followed: Followed) -> None:
    followed.begin(newest=followed.exchange.closed[1], history=1000)
    assert followed.memory.candles == followed.exchange.closed[2:]


def test_a_history_that_is_too_long_is_cut(followed: Followed) -> None:
    followed.begin(newest=followed.exchange.closed[0], history=2)
    assert followed.memory.candles == followed.exchange.closed[3:]


@pytest.mark.parametrize("changed", [{"close": 1.5}, {"time": START - 1000}])
def test_a_series_of_another_market_is_refused(followed: Followed, changed: dict[str, float]) -> None:
    stored = dataclasses.replace(followed.exchange.closed[1], **changed)  # type: ignore[arg-type]
    with pytest.raises(FeedError, match="of another market"):
        followed.begin(newest=stored)
    assert followed.memory.candles == []


def test_a_stored_candle_without_volume_is_the_same_market(followed: Followed) -> None:
    followed.begin(newest=dataclasses.replace(followed.exchange.closed[1], volume=None))
    assert followed.memory.candles == followed.exchange.closed[2:]


def test_what_a_silent_cut_swallowed_is_found_by_the_times(followed: Followed) -> None:
    followed.begin()
    for _ in range(30):
        followed.exchange.candle(say=False)
    followed.exchange.trade()
    followed.wait_until_all_is_stored()


def test_doubled_late_swapped_and_misdated_messages_change_nothing(followed: Followed) -> None:
    followed.begin()
    exchange = followed.exchange
    for ahead, is_closed in ((-DAY_MS, True), (-DAY_MS, False), (DAY_MS, True), (DAY_MS, False)):
        misdated = dataclasses.replace(exchange.closed[-1], time=exchange.closed[-1].time + ahead)
        exchange.send(exchange.message(misdated, closed=is_closed))
    for _ in range(5):
        moved = exchange.message(exchange.trade(), closed=False)
        closed = exchange.close(say=False)
        assert closed is not None
        exchange.trade()  # the next one is heard of first
        exchange.send(exchange.message(closed, closed=True))
        exchange.send(exchange.message(closed, closed=True))
        exchange.send(moved)
    followed.wait_until_all_is_stored()
    assert followed.states[-1].conflicts == 0
    wait_for(lambda: followed.words()[-1] == "connected")
    exchange.trade()
    wait_for(lambda: followed.memory.forming[-1] == exchange.forming)


def test_a_closed_candle_that_comes_again_with_other_values_is_counted_and_the_stored_one_stays(
    followed: Followed,
) -> None:
    followed.begin()
    followed.exchange.candle()
    followed.wait_until_all_is_stored()
    other = dataclasses.replace(followed.exchange.closed[-1], close=1.0)
    followed.exchange.send(followed.exchange.message(other, closed=True))
    wait_for(lambda: followed.states[-1].conflicts == 1)
    assert other not in followed.memory.candles


def test_an_outage_is_stale_while_it_lasts_and_filled_afterwards(followed: Followed, gateway: DirectGateway) -> None:
    followed.begin()
    exchange = followed.exchange
    exchange.is_down = True
    gateway.cut()
    for _ in range(1200):
        exchange.candle()
    wait_for(lambda: followed.words()[-1] == "stale")
    last = followed.states[-1]
    assert (last.last_candle, last.kind) == (followed.memory.candles[-1].time, "exchange")
    assert "connection" in last.message
    wait_for(lambda: gateway.reconnected > 0)
    exchange.trade()  # whether the last one closed is only known by the next
    exchange.is_down = False
    followed.wait_until_all_is_stored()
    exchange.trade()
    wait_for(lambda: followed.words()[-1] == "connected")


def test_without_a_stream_closed_candles_come_by_rest(followed: Followed, gateway: DirectGateway) -> None:
    followed.begin()
    wait_for(lambda: gateway.reconnected > 0)
    for _ in range(3):
        followed.exchange.candle(say=False)
    followed.exchange.trade(say=False)
    followed.wait_until_all_is_stored()
    wait_for(lambda: "reconnecting" in followed.words())


def test_the_exchanges_word_about_its_limit_is_kept(exchange: LoopbackExchange) -> None:
    class Watched(DirectGateway):
        asked_s: ClassVar[list[float]] = []

        def candles(self, since: int | None, limit: int) -> Page:
            self.asked_s.append(time.monotonic())
            return super().candles(since, limit)

    gateway = Watched(exchange)
    exchange.limited, exchange.retry_after_s = 1, 1
    followed = Followed(exchange, gateway)
    followed.begin()
    followed.end()
    assert gateway.asked_s[1] - gateway.asked_s[0] >= 1
    assert "limited" in followed.words()
    assert followed.memory.candles == exchange.closed[2:]


@pytest.mark.parametrize("ahead_ms", [-3_600_000, 3_600_000, 4_000])
def test_a_wrong_clock_makes_no_forming_candle_final(followed: Followed, ahead_ms: int) -> None:
    followed.exchange.clock_ahead_ms = ahead_ms
    followed.begin()
    for _ in range(20):
        followed.exchange.trade(say=False)
        followed.exchange.close(say=False)
        followed.exchange.trade()
    followed.wait_until_all_is_stored()


def test_periods_without_trades_are_counted_and_not_asked_for_again(followed: Followed) -> None:
    followed.begin()
    followed.exchange.candle()
    for _ in range(3):
        followed.exchange.close()
    followed.exchange.candle()
    followed.exchange.trade()
    followed.wait_until_all_is_stored()
    wait_for(lambda: followed.states[-1].no_trade == 3)
    before, after = followed.memory.candles[-2:]
    assert followed.memory.no_trade == [(before.time + 1000, after.time)]
    asked = followed.exchange.asked
    for _ in range(20):
        followed.exchange.trade()
        wait_for(lambda: followed.memory.forming[-1] == followed.exchange.forming)
    assert followed.exchange.asked <= asked + 1  # once to see that there is no more


def test_a_market_that_is_not_there_ends_the_feed_with_the_exchanges_words(exchange: LoopbackExchange) -> None:
    class Nowhere(DirectGateway):
        def candles(self, since: int | None, limit: int) -> Page:
            raise Impossible("no market symbol NO/SUCH")

    followed = Followed(exchange, Nowhere(exchange))
    with pytest.raises(FeedError, match="no market symbol NO/SUCH"):
        followed.begin()
    followed.collector.close()


def test_candles_wait_for_a_full_disk_and_are_not_lost(exchange: LoopbackExchange, gateway: DirectGateway) -> None:
    class Full(Memory):
        refusals = 3

        def store(self, closed: Sequence[Candle]) -> int:
            self.refusals -= 1
            if self.refusals >= 0:
                raise StorageFailed("the disk is full")
            return super().store(closed)

    followed = Followed(exchange, gateway, Full())
    followed.begin(history=5)
    assert followed.memory.candles == exchange.closed
    followed.end()
