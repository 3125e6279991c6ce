"""Live runs through the door: where the feed begins, its pace and order, its end, and how a run goes on."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import delete

from annotate.db import Database
from annotate.errors import Conflict, InvalidInput
from annotate.feeds.feed import ClosedCandle
from annotate.feeds.thread import FeedThread
from annotate.models import Event
from annotate.store.runs import change_run
from tests.annotate.training.door import LIVE, SMALL, Door, Json, one_to
from tests.annotate.training.hand_clock import HandClock

REAL_WORKER = [sys.executable, "-m", "nn.worker", "--device", "cpu", "--threads", "1"]
AT_ONE = {**LIVE, "feed": {"kind": "replay", "speed": 1}}


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def paced(tmp_path: Path, clock: HandClock) -> Iterator[Door]:
    made = Door(tmp_path / "paced", clock=clock)
    yield made
    made.close()


def test_a_fresh_model_begins_at_the_first_candle_with_a_full_window_before_it(door: Door, series_id: int) -> None:
    run_id = _live(door, series_id, LIVE)
    assert _learnt(door, run_id) == [second * 1000 for second in range(8, 100)]
    labelling: dict[str, list[str]] = {"marks": [], "rejected": []}
    assert _began(door, run_id) == {"first": 8000, "history": 8, "recorded": {}, "coalesce": False, **labelling}


def test_a_run_begins_after_the_data_cut_of_the_newest_checkpoint(door: Door, series_id: int) -> None:
    door.finished_batch(series_id)
    run_id = _live(door, series_id, LIVE)
    assert _learnt(door, run_id)[0] == 51_000
    assert _began(door, run_id)["history"] == 51


def test_a_checkpoint_of_another_shape_does_not_move_the_begin(door: Door, series_id: int) -> None:
    door.finished_batch(series_id)
    assert _learnt(door, _live(door, series_id, {**LIVE, "sequence_length": 9}))[0] == 9000


def test_a_new_model_loaded_over_a_checkpoint_begins_as_a_fresh_one(door: Door, series_id: int) -> None:
    door.finished_batch(series_id)
    door.trainer.load(series_id, None, "new", {"sequence_length": 8, "dropout": 0.3})
    assert _learnt(door, _live(door, series_id, LIVE))[0] == 8000  # asked while the load was under way


def test_a_start_that_was_asked_for_counts(door: Door, series_id: int) -> None:
    door.finished_batch(series_id)
    config = {**LIVE, "feed": {"kind": "replay", "speed": "max", "from": 20_500}}
    assert _learnt(door, _live(door, series_id, config))[0] == 21_000


def test_a_start_after_the_last_candle_is_refused_with_the_way_out(door: Door, series_id: int) -> None:
    config = {**LIVE, "feed": {"kind": "replay", "speed": "max", "from": 100_000}}
    with pytest.raises(InvalidInput, match="no candle at or after"):
        door.trainer.submit("live", config, series_id=series_id)
    with pytest.raises(InvalidInput, match="5 candles; a fresh model needs more than its sequence_length of 8"):
        door.trainer.submit("live", LIVE, series_id=door.add_series(5))


def test_a_model_that_has_learnt_from_every_candle_is_told_so(door: Door) -> None:
    series_id = door.add_series(51)
    door.finished_batch(series_id)
    with pytest.raises(InvalidInput, match="has learnt from every candle"):
        door.trainer.submit("live", LIVE, series_id=series_id)


def test_a_second_live_run_on_a_series_is_refused_naming_the_first(paced: Door) -> None:
    series_id = paced.add_series()
    first = paced.trainer.submit("live", AT_ONE, series_id=series_id)["id"]
    with pytest.raises(Conflict, match=f"run {first} is live on this series"):
        paced.trainer.submit("live", AT_ONE, series_id=series_id)
    assert paced.trainer.state() == "live"


def test_a_paced_feed_gives_a_candle_each_time_the_clock_says_so(paced: Door, clock: HandClock) -> None:
    run_id = _started(paced, clock)
    for expected in ([8000], [8000, 9000], [8000, 9000, 10_000]):
        clock.move(1.0)
        paced.wait_for(partial(_has_learnt, paced, run_id, expected))
        clock.wait_for_waiter()
    assert _learnt(paced, run_id) == [8000, 9000, 10_000]  # and nothing comes while it stands still


def test_a_paused_live_run_gets_no_candle_and_does_not_hurry_afterwards(paced: Door, clock: HandClock) -> None:
    run_id = _started(paced, clock)
    paced.trainer.pause(run_id)
    paced.wait_for_state(run_id, "paused")
    clock.move(60.0)
    paced.trainer.resume(run_id)
    paced.wait_for(lambda: len(_learnt(paced, run_id)) == 1)
    assert clock.wait_for_waiter() == pytest.approx(clock.now() + 1.0)
    assert _learnt(paced, run_id) == [8000]


def test_a_pause_that_is_over_before_the_feed_looks_up_is_not_made_up_for_either() -> None:
    feed, came = SlowFeed(), threading.Event()
    thread = FeedThread(lambda _stopped: feed, lambda _candle: came.set(), lambda _cause: None, ahead=2)
    thread.start()
    thread.model_is_ready()
    assert feed.waits.wait(10)
    thread.pause()
    thread.resume()
    feed.closed.set()
    assert came.wait(10)
    thread.stop()
    thread.join(10)
    assert feed.restarts == 2  # at the start, and after the pause


class SlowFeed:
    """Gives a candle once `closed` is set, and counts how often its clock is restarted."""

    def __init__(self) -> None:
        self.waits, self.closed, self.restarts = threading.Event(), threading.Event(), 0

    def next(self, stopped: threading.Event) -> ClosedCandle | None:
        self.waits.set()
        self.closed.wait(10)
        return None if stopped.is_set() else ClosedCandle(0, 1.0, 1.0, 1.0, 1.0, None, None)

    def restart_clock(self) -> None:
        self.restarts += 1

    def close(self) -> None:
        self.closed.set()


def test_a_stopped_live_run_ends_at_once_though_its_next_candle_is_far_away(paced: Door, clock: HandClock) -> None:
    run_id = _started(paced, clock)
    paced.trainer.stop_run(run_id)
    assert paced.wait_for_state(run_id, "stopped", within_s=5)["summary"]["first_time"] == 8000


def test_a_killed_worker_interrupts_a_live_run_and_the_next_one_goes_through(door: Door, series_id: int) -> None:
    run_id = door.trainer.submit("live", {**LIVE, "seed": 9}, series_id=series_id)["id"]
    run = door.wait_for_state(run_id, "interrupted", within_s=5)
    assert "SIGKILL" in run["cause"]
    last = door.events(run_id)[-1]
    assert (last["type"], last["state"], last["cause"]) == ("run_ended", "interrupted", run["cause"])
    assert len(_learnt(door, _live(door, series_id, LIVE))) == 92
    door.trainer.resume(run_id)
    door.wait_for(lambda: len(door.events(run_id, "run_ended")) == 2)


def test_an_interrupted_live_run_goes_on_at_its_next_unlearnt_candle(paced: Door, clock: HandClock) -> None:
    run_id = _started(paced, clock)
    clock.move(1.0)
    paced.wait_for(lambda: _learnt(paced, run_id) == [8000])
    paced.trainer.stop()
    assert paced.run(run_id)["state"] == "interrupted"
    following = Door(paced.settings.data_dir, clock=clock)
    try:
        following.trainer.resume(run_id)
        clock.wait_for_waiter()
        clock.move(1.0)
        following.wait_for(lambda: _learnt(following, run_id) == [8000, 9000])
        events = following.events(run_id)
        assert [event["seq"] for event in events] == one_to(len(events))
        data = [event["data"] for event in events if event["type"] == "run_started"][-1]
        assert (data["first"], data["history"]) == (9000, 9)
        late: dict[str, list[int]] = {"scored": [], "learnt": []}
        assert data["recorded"] == {
            "predicted": None,
            "scored": None,
            "learnt": 8000,
            "late": late,
            "after_no_trade": [],
        }
    finally:
        following.close()


def test_each_candle_is_told_once_by_a_run_that_was_interrupted_while_candles_waited(tmp_path: Path) -> None:
    config: Json = {"model": "gru", "sequence_length": 16, "learn_every": 15, "feed": {"kind": "replay", "speed": 40}}
    first = Door(tmp_path / "real", worker=REAL_WORKER)
    run_id: int = first.trainer.submit("live", config, series_id=first.add_series(200))["id"]
    first.wait_for(lambda: len(_told(first, run_id, "candle_learnt")) == 15)
    first.wait_for(lambda: len(_told(first, run_id, "candle_scored")) > 17)
    first.close()
    following = Door(first.settings.data_dir, worker=REAL_WORKER)
    try:
        waited = len(_told(following, run_id, "candle_scored")) - len(_told(following, run_id, "candle_learnt"))
        assert 0 < waited < 15
        following.trainer.resume(run_id)
        following.wait_for(lambda: len(_told(following, run_id, "candle_learnt")) >= 45)
        following.trainer.stop_run(run_id)
        summary = following.wait_for_state(run_id, "stopped")["summary"]
        scored, learnt = (_told(following, run_id, what) for what in ("candle_scored", "candle_learnt"))
        assert scored == learnt == [16_000 + 1000 * number for number in range(len(scored))]
        assert sum(summary["counts"].values()) == len(learnt)
    finally:
        following.close()


def test_a_replay_that_was_interrupted_after_its_last_candle_comes_to_its_end(door: Door, series_id: int) -> None:
    run_id = _live(door, series_id, LIVE)
    door.close()
    _lose_the_end(door, run_id)
    following = Door(door.settings.data_dir)
    try:
        following.trainer.resume(run_id)
        run = following.wait_for_state(run_id, "finished", "failed")
        assert (run["state"], run["cause"]) == ("finished", None)
        assert _learnt(following, run_id) == [second * 1000 for second in range(8, 100)]
        assert following.events(run_id, "run_started")[-1]["data"]["history"] == 100
    finally:
        following.close()


def test_batch_and_live_runs_are_under_way_together(paced: Door, clock: HandClock) -> None:
    live = _started(paced, clock)
    other = paced.add_series()
    paced.finished_batch(other, SMALL)
    assert paced.run(live)["state"] == "running"


def _lose_the_end(door: Door, run_id: int) -> None:
    """Leave a run as a server leaves it that dies before it has stored the end."""
    database = Database(door.settings.data_dir / "annotate.db")
    with database.write() as session:
        session.execute(delete(Event).where(Event.run_id == run_id, Event.type == "run_ended"))
        change_run(session, run_id, state="running", ended=None)
    database.close()


def _told(door: Door, run_id: int, event_type: str) -> list[int]:
    return [event["candle_time"] for event in door.events(run_id, event_type)]


def _live(door: Door, series_id: int, config: Json) -> int:
    run_id: int = door.trainer.submit("live", config, series_id=series_id)["id"]
    door.wait_for_state(run_id, "finished")
    return run_id


def _started(door: Door, clock: HandClock) -> int:
    run_id: int = door.trainer.submit("live", AT_ONE, series_id=door.add_series())["id"]
    clock.wait_for_waiter()
    return run_id


def _learnt(door: Door, run_id: int) -> list[int]:
    return [event["candle_time"] for event in door.events(run_id, "candle_learnt")]


def _has_learnt(door: Door, run_id: int, times: list[int]) -> bool:
    return _learnt(door, run_id) == times


def _began(door: Door, run_id: int) -> Json:
    data: Json = door.events(run_id, "run_started")[0]["data"]
    return data
