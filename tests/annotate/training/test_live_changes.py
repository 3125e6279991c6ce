"""What a person changes of a live run through the door: annotations, what is forgotten; and a worker that hangs."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from annotate import training
from annotate.annotations.draft import AnnotationDraft
from annotate.annotations.timeline import Timeline
from annotate.errors import Conflict, InvalidInput
from annotate.store.annotations import save_annotation
from annotate.store.rejected import add_rejected
from annotate.store.undo import Gesture
from tests.annotate.training.door import LONG, SMALL, Door
from tests.annotate.training.hand_clock import HandClock

Json = dict[str, Any]
AT_ONE = {"sequence_length": 8, "feed": {"kind": "replay", "speed": 1}}


@pytest.fixture
def paced(tmp_path: Path) -> Iterator[Door]:
    made = Door(tmp_path / "paced", clock=HandClock())
    yield made
    made.close()


def live(door: Door, series_id: int) -> int:
    run_id: int = door.trainer.submit("live", AT_ONE, series_id=series_id)["id"]
    door.wait_for(lambda: door.events(run_id, "run_started"))
    return run_id


def mark(door: Door, series_id: int, label: str, start: int = 1000) -> None:
    """Store a span of five candles, and tell who follows the series, as a view does."""
    number = str(uuid4())
    given = {"kind": "span", "label": label, "start": start, "end": start + 5000, "revision": 0}
    with door.database.write() as session:
        draft, timeline = AnnotationDraft.from_json(given, number), Timeline(door.candles.read(series_id).time, "1s")
        save_annotation(session, series_id, number, draft, timeline, Gesture(author="me", now=1, id=None))
    door.publisher.series_changed(series_id, {"what": "annotation", "id": number})


def reject(door: Door, series_id: int, label: str, start: int) -> None:
    """Store a suggestion of five candles that someone rejected, and tell who follows the series, as a view does."""
    span = {"kind": "span", "start": start, "end": start + 5000, "geometry": {}, "probability": 0.5, "label": label}
    with door.database.write() as session:
        add_rejected(session, series_id, [{**span, "author": "me", "decided": 1}], 1)
    door.publisher.series_changed(series_id, {"what": "suggestions", "id": 0, "author": "me"})


def told(door: Door, run_id: int, code: str) -> list[Any]:
    """What the peer says it was told."""
    warnings = [event for event in door.events(run_id, "warning") if event["code"] == code]
    return [json.loads(event["message"]) for event in warnings]


def keep(door: Door, run_id: int, number: int, data_cut: int | None) -> None:
    """Lay a kept snapshot on the disk, as the worker does."""
    folder = door.settings.data_dir / "checkpoints" / str(run_id) / "kept" / str(number)
    folder.mkdir(parents=True)
    (folder / "meta.json").write_text(json.dumps({"step": number * 10, "data_cut": data_cut, "created_ms": 5}))
    (folder / "model.safetensors").write_bytes(b"1234")


def test_a_run_begins_with_every_mark_of_its_series_also_later_ones(paced: Door) -> None:
    series_id = paced.add_series()
    mark(paced, series_id, "Long")
    mark(paced, series_id, "Short", start=60_000)  # on candles that the replay has not reached
    run_id = live(paced, series_id)
    assert sorted(paced.events(run_id, "run_started")[0]["data"]["marks"]) == ["Long", "Short"]


def test_an_annotation_made_while_live_reaches_the_worker_with_all_others(paced: Door) -> None:
    series_id = paced.add_series()
    mark(paced, series_id, "Long")
    run_id = live(paced, series_id)
    mark(paced, series_id, "Noise", start=7000)
    paced.wait_for(lambda: told(paced, run_id, "marks"))
    assert sorted(told(paced, run_id, "marks")[-1]) == ["Long", "Noise"]


def test_a_suggestion_rejected_while_live_reaches_the_worker_and_progress_of_suggesting_does_not(paced: Door) -> None:
    series_id = paced.add_series()
    reject(paced, series_id, "Long", start=2000)
    run_id = live(paced, series_id)
    assert paced.events(run_id, "run_started")[0]["data"]["rejected"] == ["Long"]
    paced.publisher.series_changed(series_id, {"what": "suggestions", "id": 3, "task": {"done": 1}})
    reject(paced, series_id, "Short", start=9000)
    paced.wait_for(lambda: told(paced, run_id, "rejected"))
    mark(paced, series_id, "Noise")
    paced.wait_for(lambda: len(told(paced, run_id, "rejected")) == 2)
    assert told(paced, run_id, "rejected") == [["Long", "Short"], ["Long", "Short"]]
    assert told(paced, run_id, "marks") == [[], ["Noise"]]


def test_marks_of_another_series_are_not_sent(paced: Door) -> None:
    series_id, other = paced.add_series(), paced.add_series()
    run_id = live(paced, series_id)
    mark(paced, other, "Long")
    mark(paced, series_id, "Short")
    paced.wait_for(lambda: told(paced, run_id, "marks"))
    assert told(paced, run_id, "marks") == [["Short"]]


def test_forgetting_goes_to_the_newest_snapshot_that_has_not_seen_the_candle(paced: Door) -> None:
    run_id = live(paced, paced.add_series())
    for number, cut in ((1, None), (4, 20_000), (9, 40_000)):
        keep(paced, run_id, number, cut)
    client = paced.client()
    listed = client.get(f"/api/runs/{run_id}/snapshots").get_json()
    assert [(each["number"], each["data_cut"]) for each in listed["items"]] == [(9, 40_000), (4, 20_000), (1, None)]
    assert listed["bytes"] == sum(each["bytes"] for each in listed["items"]) > 0
    assert listed["most_bytes"] == paced.settings.keep_snapshots_mb << 20
    answer = client.post(f"/api/runs/{run_id}/forget", json={"since": 40_000})
    assert (answer.status_code, answer.get_json()["snapshot"]["number"]) == (202, 4)
    assert client.post(f"/api/runs/{run_id}/forget", json={"snapshot": 9}).get_json()["snapshot"]["number"] == 9
    paced.wait_for(lambda: len(told(paced, run_id, "forget")) == 2)
    assert told(paced, run_id, "forget") == [[40_000, 4], [40_001, 9]]


def test_what_cannot_be_forgotten_is_refused_with_the_reason(paced: Door) -> None:
    series_id = paced.add_series()
    run_id = live(paced, series_id)
    with pytest.raises(InvalidInput, match="keeps no snapshot yet"):
        paced.trainer.forget(run_id, 5000, None)
    keep(paced, run_id, 3, 20_000)
    with pytest.raises(InvalidInput, match="the oldest kept snapshot has learnt up to 20000"):
        paced.trainer.forget(run_id, 20_000, None)
    with pytest.raises(Conflict, match=r"snapshot 7 is not kept; take one of \[3\]"):
        paced.trainer.forget(run_id, None, 7)
    with pytest.raises(InvalidInput, match="say since which candle"):
        paced.trainer.forget(run_id, None, None)
    paced.trainer.stop_run(run_id)
    paced.wait_for_state(run_id, "stopped")
    with pytest.raises(Conflict, match=f"run {run_id} is stopped; there is nothing to forget"):
        paced.trainer.forget(run_id, 30_000, None)


def test_a_batch_run_has_nothing_to_forget(door: Door, series_id: int) -> None:
    run_id = door.started_batch(series_id, LONG)
    keep(door, run_id, 1, None)
    with pytest.raises(Conflict, match="is a batch run"):
        door.trainer.forget(run_id, 5, None)


def test_a_worker_that_hangs_is_ended_and_the_next_run_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "BEAT_S", 0.1)
    door = Door(tmp_path / "hung", worker_answer_s=2)
    try:
        series_id = door.add_series()
        run_id = door.trainer.submit("batch", {**SMALL, "seed": 3}, series_id=series_id)["id"]  # seed 3 hangs
        cause = door.wait_for_state(run_id, "failed")["cause"]
        assert cause.startswith("the training process gave no sign of life for 2 s and was ended")
        assert door.events(run_id)[-1]["cause"] == cause
        door.finished_batch(series_id)
    finally:
        door.close()


def test_a_worker_that_answers_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "BEAT_S", 0.05)
    door = Door(tmp_path / "alive", worker_answer_s=2, clock=HandClock())
    try:
        run_id = live(door, door.add_series())
        time.sleep(3)  # longer than a silent one would be left
        assert door.run(run_id)["state"] == "running"
    finally:
        door.close()
