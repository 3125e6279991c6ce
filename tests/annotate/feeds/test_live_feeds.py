"""Live runs that are fed while they go on, by POST or by an exchange: each candle once, in order, after a death too."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from annotate.errors import InvalidInput
from annotate.feeds.feed import ClosedCandle
from annotate.feeds.health import FeedState
from annotate.feeds.push import PushWatch
from annotate.feeds.replay import SystemClock
from annotate.feeds.tail import TailFeed
from annotate.live_feed import Begin, FeedMaker, Heard, begin_of, gateways
from annotate.run_data import RunData
from tests.annotate.training.door import Door, Json, some_candles
from tests.exchange import DirectGateway, LoopbackExchange

PUSH: Json = {"sequence_length": 8, "feed": {"kind": "push"}}
EXCHANGE = {"sequence_length": 8, "feed": {"kind": "exchange", "symbol": "BTC/USDT", "history": 20}}
START = 1_700_000_000_000


@pytest.fixture
def exchange() -> LoopbackExchange:
    made = LoopbackExchange(START)
    for _ in range(30):
        made.candle()
    made.trade()
    return made


@pytest.fixture
def door(tmp_path: Path, exchange: LoopbackExchange) -> Iterator[Door]:
    made = Door(tmp_path / "data", open_gateway=lambda *_market: DirectGateway(exchange))
    yield made
    made.close()


def posted(number: int) -> Json:
    """The candle of that number, as `some_candles` has it."""
    price = 100.0 + number % 7
    return {"time": number * 1000, "open": price, "high": price + 1, "low": price - 1, "close": price, "volume": 1.0}


def learnt(door: Door, run_id: int) -> list[int]:
    """Open times in seconds of the candles that the worker got."""
    return [event["candle_time"] // 1000 for event in door.events(run_id, "candle_learnt")]


def started_push(door: Door, series_id: int, config: Json = PUSH) -> int:
    run_id = int(door.trainer.submit("live", config, series_id=series_id)["id"])
    door.wait_for(lambda: door.events(run_id, "run_started"))
    return run_id


def test_a_run_that_waits_for_posts_gets_each_candle_once_it_is_stored(door: Door) -> None:
    series_id = door.add_series(50)
    run_id = started_push(door, series_id)
    started = door.events(run_id, "run_started")[0]["data"]
    assert (started["first"], started["history"], started["coalesce"]) == (50_000, 50, True)
    for number in (50, 51, 51, 49, 52):
        door.intake.post(series_id, posted(number), now=10**12)
    door.wait_for(lambda: learnt(door, run_id) == [50, 51, 52])
    assert door.run(run_id)["state"] == "running"
    assert door.run(run_id)["summary"]["feed"]["state"] == "connected"


def test_a_forming_candle_reaches_no_model(door: Door) -> None:
    series_id = door.add_series(50)
    run_id = started_push(door, series_id)
    for number in (50, 51):
        for close in (90.0, 95.0):
            door.intake.post(series_id, {**posted(number), "close": close, "low": 1.0, "closed": False}, now=10**12)
        door.intake.post(series_id, {**posted(number), "closed": True}, now=10**12)
    door.wait_for(lambda: learnt(door, run_id) == [50, 51])
    assert door.candles.read(series_id, 50_000).close.tolist() == [posted(50)["close"], posted(51)["close"]]


def test_a_late_candle_is_stored_and_told_to_the_run_as_one(door: Door) -> None:
    series_id = door.add_series(50)
    run_id = started_push(door, series_id)
    for number in (52, 51, 53):
        door.intake.post(series_id, posted(number), now=10**12)
    door.wait_for(lambda: 53 in learnt(door, run_id))
    assert learnt(door, run_id) in ([52, 51, 53], [51, 52, 53])
    assert door.candles.bounds(series_id).rows == 53


def test_late_candles_come_in_order_as_long_as_the_run_has_not_gone_past_them(door: Door) -> None:
    series_id = door.add_series(50)
    feed = TailFeed(door.intake.following(series_id), "1s", 50_000, PushWatch("1s", lambda: None, lambda _state: None))
    came = list[int]()
    for sent, count in (([50, 51, 53], 1), ([52, 49], 3), ([55, 57], 1), ([54, 56, 51], 3)):
        for number in sent:
            door.intake.post(series_id, posted(number), now=10**12)
        came += [next_of(feed) for _ in range(count)]
    feed.close()
    door.intake.post(series_id, posted(40), now=10**12)
    assert came == [50, 51, 52, 53, 55, 54, 56, 57]


def test_a_candle_says_whether_what_is_missing_before_it_is_a_gap_or_a_time_without_trades(door: Door) -> None:
    series_id = door.add_series(50)
    feed = TailFeed(door.intake.following(series_id), "1s", 50_000, PushWatch("1s", lambda: None, lambda _state: None))
    door.intake.note_no_trade(series_id, 52_000, 54_000)
    for number in (50, 51, 54, 55, 57):
        door.intake.post(series_id, posted(number), now=10**12)
    came = [candle for _ in range(5) if (candle := feed.next(threading.Event())) is not None]
    feed.close()
    assert [candle.time // 1000 for candle in came if candle.after_no_trade] == [54]


def test_a_candle_before_a_time_without_trades_is_followed_as_it_would_be_live(door: Door) -> None:
    series_id = door.add_series(50)
    door.intake.note_no_trade(series_id, 52_000, 54_000)
    for number in (50, 51, 54, 57):
        door.intake.post(series_id, posted(number), now=10**12)
    feed = TailFeed(door.intake.following(series_id), "1s", 50_000, PushWatch("1s", lambda: None, lambda _state: None))
    came = [candle for _ in range(4) if (candle := feed.next(threading.Event())) is not None]
    feed.close()
    assert [candle.next_time for candle in came] == [51_000, None, 57_000, None]


@pytest.mark.parametrize("recorded", [{"scored": 51_000}, {}], ids=["after a candle", "before the first"])
def test_a_resumed_run_hears_that_nobody_traded_before_its_next_candle(door: Door, recorded: Json) -> None:
    series_id = door.add_series(52)
    door.intake.note_no_trade(series_id, 52_000, 54_000)
    door.intake.post(series_id, posted(54), now=10**12)
    came = handed_over(door, series_id, begin_of(PUSH, None, recorded=recorded, first_time=52_000), 1)
    assert [(candle.time, candle.after_no_trade) for candle in came] == [(54_000, True)]


def test_a_resumed_run_is_told_of_candles_that_came_late_meanwhile_and_of_later_ones(door: Door) -> None:
    series_id = door.add_series(52)
    door.intake.post(series_id, [posted(number) for number in (54, 56, 57)], now=10**12)
    begin = begin_of(PUSH, None, recorded={"scored": 56_000}, first_time=50_000, told=(None, {50_000, 51_000, 56_000}))
    assert [candle.time // 1000 for candle in handed_over(door, series_id, begin, 2)] == [54, 57]
    feed = TailFeed(
        *(door.intake.following(series_id), "1s", 57_000, PushWatch("1s", lambda: None, lambda _state: None)),
        began=50_000,
        last=56_000,
    )
    door.intake.post(series_id, [posted(number) for number in (49, 53)], now=10**12)
    assert [next_of(feed), next_of(feed)] == [53, 57]
    feed.close()


@pytest.mark.parametrize(("whole_from", "late"), [(None, [51_000, 53_000]), (52_000, [53_000]), (54_000, [])])
def test_only_candles_of_which_all_events_are_kept_can_be_known_to_have_come_late(
    whole_from: int | None, late: list[int]
) -> None:
    times = np.arange(48, 60) * 1000
    told = (whole_from, {50_000, 52_000, 54_000})
    begin = begin_of(PUSH, None, recorded={"scored": 54_000, "learnt": 52_000}, first_time=50_000, told=told)
    assert begin.late_of(times).tolist() == late
    assert begin_of(PUSH, 54_000, recorded={}, first_time=50_000).late_of(times).tolist() == []


def handed_over(door: Door, series_id: int, begin: Begin, count: int) -> list[ClosedCandle]:
    """Give the first candles that the feed of a run hands over."""
    data = RunData(door.settings.data_dir, door.database, door.candles)
    came = list[ClosedCandle]()
    heard = Heard(lambda *_prepared: None, came.append, lambda _state: None, lambda _cause: None)
    thread = FeedMaker(data, door.intake, SystemClock(), gateways("")).thread(series_id, PUSH["feed"], begin, heard)
    thread.start()
    thread.model_is_ready()
    door.wait_for(lambda: len(came) >= count)
    thread.stop()
    thread.join(10)
    return came


def next_of(feed: TailFeed) -> int:
    candle = feed.next(threading.Event())
    assert candle is not None
    return candle.time // 1000


def test_a_run_may_begin_with_stored_candles_and_then_wait(door: Door) -> None:
    series_id = door.add_series(50)
    run_id = started_push(door, series_id, {**PUSH, "feed": {"kind": "push", "from": 47_000}})
    door.wait_for(lambda: learnt(door, run_id) == [47, 48, 49])
    door.intake.post(series_id, posted(50), now=10**12)
    door.wait_for(lambda: learnt(door, run_id)[-1] == 50)


def test_what_came_while_a_run_was_paused_or_dead_is_not_lost(door: Door, tmp_path: Path) -> None:
    series_id = door.add_series(50)
    run_id = started_push(door, series_id)
    door.intake.post(series_id, posted(50), now=10**12)
    door.wait_for(lambda: learnt(door, run_id) == [50])
    door.trainer.pause(run_id)
    door.intake.post(series_id, [posted(51), posted(52)], now=10**12)
    door.trainer.resume(run_id)
    door.wait_for(lambda: learnt(door, run_id) == [50, 51, 52])
    door.close()
    again = Door(tmp_path / "data")
    again.intake.post(series_id, [posted(53), posted(54)], now=10**12)
    again.trainer.resume(run_id)
    again.wait_for(lambda: learnt(again, run_id) == [50, 51, 52, 53, 54])
    again.close()


def test_candles_of_many_hands_reach_the_run_once_each(door: Door) -> None:
    series_id = door.add_series(50)
    run_id = started_push(door, series_id)

    def feed() -> None:
        for number in range(50, 130):
            door.intake.post(series_id, posted(number), now=10**12)

    threads = [threading.Thread(target=feed) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    door.wait_for(lambda: len(learnt(door, run_id)) == 80, within_s=60)
    assert learnt(door, run_id) == list(range(50, 130))


def test_a_series_without_a_past_is_told_to_be_filled_first(door: Door) -> None:
    series_id = door.add_series(1)
    with pytest.raises(InvalidInput, match="post at least 2 first, better 8"):
        door.trainer.submit("live", PUSH, series_id=series_id)


def test_silence_is_stale_after_three_candles_and_ten_seconds_at_least() -> None:
    clock: dict[str, float | None] = {"now": 0.0, "heard": None}
    states: list[FeedState] = []
    watch = PushWatch("5s", lambda: clock["heard"], states.append, lambda: clock["now"] or 0.0)
    for now, heard in ((0.0, None), (14.0, None), (15.5, None), (16.0, 15.9), (30.0, 15.9), (31.0, 15.9)):
        clock |= {"now": now, "heard": heard}
        watch.look(7)
    assert [state.state for state in states] == ["waiting", "stale", "connected", "stale"]
    assert states[-1].message == "nothing was posted for 15 s"


def test_an_exchange_fills_an_empty_series_and_feeds_the_run(door: Door, exchange: LoopbackExchange) -> None:
    series_id = door.add_series(0)
    run_id = int(door.trainer.submit("live", EXCHANGE, series_id=series_id)["id"])
    door.wait_for(lambda: door.events(run_id, "run_started"))
    assert door.events(run_id, "run_started")[0]["data"]["history"] == 20
    first = exchange.open_time
    for _ in range(40):
        exchange.trade()
        exchange.close()
    door.wait_for(lambda: len(learnt(door, run_id)) == 40)
    assert learnt(door, run_id) == [first // 1000 + number for number in range(40)]
    stored = door.candles.read(series_id)
    assert stored.time.tolist() == [candle.time for candle in exchange.closed[10:]]
    assert stored.close.tolist() == [candle.close for candle in exchange.closed[10:]]
    door.wait_for(lambda: door.run(run_id)["summary"]["feed"]["state"] == "connected")
    door.trainer.stop_run(run_id)
    door.wait_for_state(run_id, "stopped")


def test_an_exchange_goes_on_after_a_death_without_a_hole(
    door: Door, exchange: LoopbackExchange, tmp_path: Path
) -> None:
    series_id = door.add_series(0)
    run_id = int(door.trainer.submit("live", EXCHANGE, series_id=series_id)["id"])
    door.wait_for(lambda: door.events(run_id, "run_started"))
    first = exchange.open_time // 1000
    exchange.candle()
    door.wait_for(lambda: learnt(door, run_id) == [first])
    door.close()
    for _ in range(10):
        exchange.candle()
    exchange.trade()
    again = Door(tmp_path / "data", open_gateway=lambda *_market: DirectGateway(exchange))
    again.trainer.resume(run_id)
    again.wait_for(lambda: len(learnt(again, run_id)) == 11)
    assert learnt(again, run_id) == [first + number for number in range(11)]
    again.close()


def test_a_series_of_another_market_ends_the_run_with_the_reason(door: Door) -> None:
    series_id = door.add_series(50)
    run_id = int(door.trainer.submit("live", EXCHANGE, series_id=series_id)["id"])
    run = door.wait_for_state(run_id, "failed")
    assert "another market" in run["cause"]
    assert door.candles.read(series_id).time.tolist() == some_candles(50).time.tolist()


def test_an_exchange_that_is_not_on_the_list_is_refused_by_name(door: Door) -> None:
    series_id = door.add_series(50)
    feed = {"kind": "exchange", "exchange": "http://exchange.example"}
    with pytest.raises(InvalidInput, match="use one of binance, bybit, okx"):
        door.trainer.submit("live", {"feed": feed}, series_id=series_id)
