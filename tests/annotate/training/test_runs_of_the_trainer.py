"""Batch runs and loads through the door: rows, events, order, deaths."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from annotate.errors import Conflict, InvalidInput, NotFound
from annotate.store.events import add_events
from annotate.store.runs import add_run
from tests.annotate.training.door import LONG, SMALL, Door, in_order, one_to


def test_a_batch_run_leaves_its_events_in_order_and_a_finished_row(door: Door, series_id: int) -> None:
    run_id = door.finished_batch(series_id)
    events = door.events(run_id)
    assert in_order(events)
    assert [event["type"] for event in events] == ["run_started", *["batch_done"] * 10, "run_ended"]
    run = door.run(run_id)
    assert (run["state"], run["cause"], run["summary"]) == ("finished", None, {"best_epoch": 2})
    assert run["created"] <= run["started"] <= run["ended"]
    assert run["config"]["learning_rate"] == 2e-3


def test_a_second_batch_run_waits_and_then_starts(door: Door, series_id: int) -> None:
    first = door.started_batch(series_id)
    second = door.trainer.submit("batch", SMALL, series_id=series_id)["id"]
    assert door.run(second)["state"] == "queued"
    door.trainer.stop_run(first)
    door.wait_for_state(second, "finished")
    assert door.run(first)["state"] == "stopped"


def test_a_stop_is_acknowledged_at_once(door: Door, series_id: int) -> None:
    run_id = door.started_batch(series_id)
    began = time.monotonic()
    assert door.trainer.stop_run(run_id)["state"] == "stopping"
    assert time.monotonic() - began < 5 * 0.2
    assert door.wait_for_state(run_id, "stopped", within_s=5)["cause"] is None


def test_a_run_that_has_not_begun_stops_without_the_worker(door: Door, series_id: int) -> None:
    door.started_batch(series_id)
    waiting = door.trainer.submit("batch", SMALL, series_id=series_id)["id"]
    assert door.trainer.stop_run(waiting)["state"] == "stopped"
    assert [event["type"] for event in door.events(waiting)] == ["run_ended"]


def test_a_paused_run_holds_still_and_goes_on(door: Door, series_id: int) -> None:
    run_id = door.started_batch(series_id)
    assert door.trainer.pause(run_id)["state"] == "paused"
    time.sleep(0.2)
    held = len(door.events(run_id))
    time.sleep(0.2)
    assert len(door.events(run_id)) == held
    assert door.trainer.resume(run_id)["state"] == "running"
    door.wait_for(lambda: len(door.events(run_id)) > held + 3)
    assert in_order(door.events(run_id))


@pytest.mark.parametrize(("seed", "word"), [(9, "SIGKILL"), (11, "SIGSEGV"), (1, "a leaf Variable was modified")])
def test_a_death_of_the_worker_fails_the_run_with_its_cause_and_the_next_run_starts(
    door: Door, series_id: int, seed: int, word: str
) -> None:
    run_id = door.trainer.submit("batch", {**SMALL, "seed": seed}, series_id=series_id)["id"]
    run = door.wait_for_state(run_id, "failed", within_s=5)
    assert word in run["cause"]
    assert ("batch_size = 4 saves about" in run["cause"]) == (word == "SIGKILL")  # which may be a lack of memory
    last = door.events(run_id)[-1]
    assert (last["type"], last["state"], last["cause"]) == ("run_ended", "failed", run["cause"])
    door.finished_batch(series_id)


def test_a_run_that_waited_outlives_the_death_of_the_worker(door: Door, series_id: int) -> None:
    first = door.started_batch(series_id)
    waiting = door.trainer.submit("batch", SMALL, series_id=series_id)["id"]
    os.kill(_worker_of(door), signal.SIGKILL)
    door.wait_for_state(first, "failed", within_s=5)
    door.wait_for_state(waiting, "finished")


def test_runs_that_a_death_of_the_server_cut_off_are_interrupted_and_go_on(door: Door, series_id: int) -> None:
    run_id = door.started_batch(series_id)
    waiting = door.trainer.submit("batch", SMALL, series_id=series_id)["id"]
    door.trainer.stop()
    assert door.run(run_id)["state"] == "interrupted"
    told = door.events(run_id)
    assert (told[-1]["type"], told[-1]["state"]) == ("run_ended", "interrupted")
    following = Door(door.settings.data_dir)
    try:
        assert following.run(waiting)["state"] == "interrupted"
        assert following.trainer.resume(run_id)["state"] == "running"
        following.wait_for(lambda: len(following.events(run_id)) > len(told) + 3)
        steps = [event["step"] for event in following.events(run_id, "batch_done")]
        assert steps == one_to(len(steps))
        assert in_order(following.events(run_id))
        following.trainer.stop_run(run_id)
        following.wait_for_state(run_id, "stopped")
        following.trainer.resume(waiting)
        following.wait_for_state(waiting, "finished")
    finally:
        following.close()


def test_a_row_left_running_is_settled_before_anything_starts(door: Door, series_id: int) -> None:
    with door.database.write() as session:
        row = add_run(session, mode="batch", series_id=series_id, dataset_id=None, config=LONG, created=1)
        row.state = "stopping"
        add_events(session, [{"run_id": row.id, "seq": seq, "time": 1, "type": "batch_done"} for seq in (1, 2)])
    door.trainer.settle()
    run = door.run(row.id)
    assert (run["state"], run["cause"]) == ("interrupted", "the server ended while this run was under way")
    assert [(event["seq"], event["type"]) for event in door.events(row.id)[1:]] == [(2, "batch_done"), (3, "run_ended")]


def test_checkpoints_of_runs_that_are_gone_are_removed_at_start_and_those_of_others_stay(
    door: Door, series_id: int
) -> None:
    run_id = door.finished_batch(series_id)
    folder = door.settings.data_dir / "checkpoints"
    (folder / "999" / "best").mkdir(parents=True)
    door.trainer.settle()
    assert [kept.name for kept in folder.iterdir()] == [str(run_id)]


def test_a_stop_that_the_worker_ignores_can_be_forced(
    door: Door, series_id: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotate.under_way.FORCE_AFTER_S", 0.2)
    run_id = door.trainer.submit("batch", {**LONG, "seed": 3}, series_id=series_id)["id"]
    door.wait_for(lambda: len(door.events(run_id)) >= 4)
    door.trainer.stop_run(run_id)
    time.sleep(0.3)
    assert door.run(run_id)["state"] == "stopping"
    door.trainer.stop_run(run_id)
    run = door.wait_for_state(run_id, "stopped", within_s=5)
    assert "while it was stopping" in run["cause"]
    door.finished_batch(series_id)


def test_a_load_says_what_it_took(door: Door, series_id: int) -> None:
    fresh = door.trainer.load(series_id, "transformer", "latest", {"sequence_length": 8})
    door.wait_for_state(fresh["id"], "finished")
    assert door.events(fresh["id"], "model_loaded")[0]["origin"] == "fresh"
    door.finished_batch(series_id)
    loaded = door.trainer.load(series_id, None, "latest", {"sequence_length": 8, "epochs": 3})
    door.wait_for_state(loaded["id"], "finished")
    assert door.events(loaded["id"], "model_loaded")[0]["origin"] == "checkpoint"
    assert "epochs" not in door.run(loaded["id"])["config"]


def test_a_run_asked_while_a_load_is_under_way_waits_for_it(door: Door, series_id: int) -> None:
    load = door.trainer.load(series_id, "gru", "new", {"dropout": 0.5})
    run = door.trainer.submit("batch", SMALL, series_id=series_id)
    assert (run["state"], run["config"]["model"]) == ("queued", "gru")
    assert door.trainer.state() == "loading"
    door.wait_for_state(run["id"], "finished")
    assert door.run(load["id"])["ended"] <= door.run(run["id"])["started"]


def test_a_run_without_a_model_takes_the_one_of_the_newest_checkpoint_after_a_restart(
    door: Door, series_id: int
) -> None:
    door.finished_batch(series_id, {**SMALL, "model": "gru"})
    door.trainer.stop()
    following = Door(door.settings.data_dir)
    try:
        assert following.trainer.submit("batch", SMALL, series_id=series_id)["config"]["model"] == "gru"
        assert (
            following.trainer.submit("batch", SMALL, series_id=following.add_series())["config"]["model"]
            == "transformer"
        )
    finally:
        following.close()


def test_a_run_is_offered_the_checkpoints_that_earlier_ones_left_newest_first(door: Door, series_id: int) -> None:
    runs = [door.finished_batch(series_id) for _ in range(2)]
    last = door.finished_batch(series_id)
    candidates = door.events(last, "run_started")[0]["data"]["candidates"]
    folder = door.settings.data_dir / "checkpoints"
    assert candidates == [str(folder / str(run_id) / "best") for run_id in reversed(runs)]


def test_discarded_checkpoints_are_gone_from_disk_and_offer(door: Door, series_id: int) -> None:
    run_id = door.finished_batch(series_id)
    assert door.trainer.discard(series_id, None) == 1
    assert not (door.settings.data_dir / "checkpoints" / str(run_id) / "best").exists()
    assert door.events(door.finished_batch(series_id), "run_started")[0]["data"]["candidates"] == []


def test_checkpoints_of_a_series_at_work_are_not_discarded(door: Door, series_id: int) -> None:
    run_id = door.started_batch(series_id)
    with pytest.raises(Conflict, match=f"run {run_id} of this series is running; stop it first"):
        door.trainer.discard(series_id, None)


@pytest.mark.parametrize(
    ("config", "field"),
    [
        ({"epochs": 0}, "epochs"),
        ({"epochs": 2.5}, "epochs"),
        ({"batch_size": "many"}, "batch_size"),
        ({"feed": {}}, "feed"),
    ],
)
def test_a_config_that_cannot_be_taken_is_refused_by_name(
    door: Door, series_id: int, config: dict[str, object], field: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        door.trainer.submit("batch", config, series_id=series_id)
    assert refused.value.details["field"] == field
    assert refused.value.details["allowed"]


def test_what_is_not_there_is_said(door: Door, series_id: int) -> None:
    with pytest.raises(NotFound, match="no series 99"):
        door.trainer.submit("batch", SMALL, series_id=99)
    with pytest.raises(NotFound, match="no run 99"):
        door.trainer.stop_run(99)
    with pytest.raises(NotFound, match="no checkpoint 99"):
        door.trainer.load(series_id, None, 99, {})
    with pytest.raises(NotFound, match="no dataset 99"):
        door.trainer.submit("batch", SMALL, dataset_id=99)


def test_steering_a_run_that_is_over_is_refused_with_its_state(door: Door, series_id: int) -> None:
    run_id = door.finished_batch(series_id)
    for steer in (door.trainer.stop_run, door.trainer.pause, door.trainer.resume):
        with pytest.raises(Conflict, match=f"run {run_id} is finished"):
            steer(run_id)


def test_a_question_is_answered_by_the_worker_and_its_refusal_is_handed_on(door: Door, series_id: int) -> None:
    answer = door.trainer.predict(series_id, "transformer", 7000)
    assert answer["as_of"] == 7000
    assert answer["history_dir"] == door.trainer.predict(series_id, "transformer", None)["history_dir"]
    with pytest.raises(Conflict, match="no model is loaded"):
        door.trainer.predict(series_id, "gru", None)


@pytest.mark.parametrize(
    ("worker", "words"),
    [(["/nowhere/python"], "cannot be started"), ([sys.executable, "-c", "import no_such_module"], "no_such_module")],
)
def test_a_worker_that_does_not_come_up_fails_runs_with_its_words(
    tmp_path: Path, worker: list[str], words: str
) -> None:
    broken = Door(tmp_path / "data", worker=worker)
    try:
        series_id = broken.add_series()
        for _ in range(4):
            run = broken.trainer.submit("batch", SMALL, series_id=series_id)
            assert words in broken.wait_for_state(run["id"], "failed")["cause"]
        assert broken.trainer.state() == "failed"
    finally:
        broken.close()


def _worker_of(door: Door) -> int:
    process = door.trainer._supervisor._process
    assert process is not None
    return process.pid
