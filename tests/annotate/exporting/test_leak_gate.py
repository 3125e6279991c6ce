"""The leak gate: what reaches beyond its part is purged, what has seen the future is refused by the id of its mark."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.errors import Conflict
from annotate.exporting.dataset import snapshot
from annotate.exporting.leak_gate import Leak, check, entry_rows, refuse_look_ahead
from annotate.exporting.recipe import Recipe
from annotate.models import Annotation, Json
from annotate.store.datasets import list_datasets
from tests.annotate.annotations.builders import HOUR, START, Workspace, every, point, span, trade

TIME = np.array(every("1h", 100), np.int64)
RECIPE = Recipe()


def known(mark: Json, mark_id: str, **changes: object) -> Json:
    """A mark as a dataset holds it, known when its last candle has closed and decided when all candles were there."""
    last = mark["end"] if mark["kind"] == "span" else mark.get("exit", mark)["time"] + HOUR
    return {**mark, "id": mark_id, "known_at": last, "decided_at": START + 100 * HOUR, "mode": "hindsight"} | changes


def test_a_mark_known_before_its_last_candle_had_closed_is_refused_by_id() -> None:
    marks = [known(span(10, 20), "good"), known(span(30, 40), "early", known_at=START + 39 * HOUR)]
    with pytest.raises(Leak, match="early") as refused:
        check(TIME, "1h", marks, RECIPE)
    assert refused.value.details == {"marks": ["early"]}
    assert refused.value.code == "leak"


@given(st.integers(0, 90), st.integers(1, 9), st.sampled_from(["span", "trade", "point"]))
def test_a_planted_look_ahead_of_one_candle_is_always_found(start: int, length: int, kind: str) -> None:
    mark = {"span": span(start, start + length), "trade": trade(start, start + length), "point": point(start)}[kind]
    good = known(mark, "m")
    assert check(TIME, "1h", [good], RECIPE).modes["hindsight"] == 1
    with pytest.raises(Leak) as refused:
        check(TIME, "1h", [good | {"known_at": good["known_at"] - HOUR}], RECIPE)
    assert refused.value.details["marks"] == ["m"]


def test_marks_that_reach_into_the_next_part_are_purged_and_those_that_end_at_its_border_stay() -> None:
    marks = [known(span(60, 70), "ends at the border"), known(span(60, 71), "reaches in"), known(span(83, 90), "late")]
    gate = check(TIME, "1h", marks, RECIPE)
    assert gate.purged == {"train": ["reaches in"], "validation": ["late"]}
    assert gate.purged_ids == {"reaches in", "late"}


def test_the_embargo_is_as_long_as_the_longest_horizon() -> None:
    gate = check(TIME, "1h", [], Recipe(horizon=7))
    assert (gate.split.purged, gate.split.embargo) == (7, 7)
    assert gate.split.validation is not None
    assert gate.split.validation.first - gate.split.train.last == 14


def test_a_window_that_ends_one_candle_late_is_refused_with_the_ids_of_the_marks_it_answers_for() -> None:
    marks = [known(span(10, 20), "near"), known(span(50, 60), "far"), known(trade(18, 25), "over it")]
    answers = np.arange(100)
    refuse_look_ahead(answers, answers, marks, TIME, "1h")
    ends = answers + (answers == 19)
    with pytest.raises(Leak, match="1 windows end after") as refused:
        refuse_look_ahead(ends, answers, marks, TIME, "1h")
    assert refused.value.details["marks"] == ["near", "over it"]


def test_an_entry_is_answered_by_a_window_that_ends_at_or_before_its_decision() -> None:
    marks = [
        known(trade(10, 20), "in hindsight"),
        known(trade(10, 20), "on the open", decided_at=START + 10 * HOUR),
        known(point(10) | {"time": START + 10 * HOUR + 60_000}, "inside of a candle"),
        known(point(10) | {"time": START - 1}, "before all candles"),
    ]
    assert entry_rows(TIME, "1h", marks).tolist() == [10, 9, 10, -1]


def test_a_dataset_with_a_mark_that_saw_the_future_is_not_made(workspace: Workspace) -> None:
    mark = workspace.put(span(10, 20))
    with workspace.database.write() as session:
        stored = session.get(Annotation, mark["id"])
        assert stored is not None
        stored.known_at -= HOUR
    with pytest.raises(Conflict, match=mark["id"]):
        take(workspace)
    with workspace.database.read() as session:
        assert list_datasets(session) == []


def test_hindsight_marks_are_counted_and_may_stay_out(workspace: Workspace) -> None:
    kept = workspace.put(span(10, 20))
    workspace.put(span(30, 40))
    with workspace.database.write() as session:
        stored = session.get(Annotation, kept["id"])
        assert stored is not None
        stored.mode = "replay"
    assert take(workspace)["gate"]["modes"] == {"replay": 1, "hindsight": 1}
    manifest = take(workspace, Recipe(without_hindsight=True))
    assert (manifest["gate"]["modes"], manifest["gate"]["left_out"]) == ({"replay": 1, "hindsight": 0}, 1)
    assert manifest["counts"]["Long"] == 1


def take(workspace: Workspace, recipe: Recipe = RECIPE) -> Json:
    return snapshot(
        *(workspace.database, workspace.candles, workspace.data_dir, workspace.series_id),
        name="x",
        kept=True,
        recipe=recipe,
    ).manifest
