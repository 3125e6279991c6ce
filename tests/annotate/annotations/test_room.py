"""Exclusive layers: one class a candle, the last gesture wins, and one undo brings everything back."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path

import pytest

from annotate.annotations.labels import LabelSetDraft
from annotate.errors import Conflict, InvalidInput
from annotate.models import Json
from annotate.store.label_sets import get_label_set, label_set_to_json, save_label_set
from annotate.store.series import get_series
from tests.annotate.annotations.builders import HOUR, START, Workspace, candle_class, said, span


def make_exclusive(workspace: Workspace, *layers: str) -> None:
    """Let the candles of these layers have one class each."""
    with workspace.database.write() as session:
        label_set = get_series(session, workspace.series_id).label_set
        wanted = label_set_to_json(session, label_set) | {"exclusive": list(layers)}
        save_label_set(session, label_set.id, LabelSetDraft.from_json(wanted))


@pytest.fixture
def exclusive(workspace: Workspace) -> Workspace:
    make_exclusive(workspace, "default")
    return workspace


def places(workspace: Workspace) -> list[tuple[str, int, int]]:
    """Label, first candle and the one after the last of each span."""
    return [
        (mark["label"], (mark["start"] - START) // HOUR, (mark["end"] - START) // HOUR) for mark in workspace.marks()
    ]


def test_a_later_span_takes_the_candles_of_an_earlier_one_in_one_undo_step(exclusive: Workspace) -> None:
    exclusive.put(span(0, 100, "Long"))
    before = exclusive.marks()
    exclusive.put(span(70, 120, "Short"))
    assert places(exclusive) == [("Long", 0, 70), ("Short", 70, 120)]
    exclusive.undo()
    assert said(exclusive.marks()) == said(before)
    exclusive.redo()
    assert places(exclusive) == [("Long", 0, 70), ("Short", 70, 120)]


def test_a_span_inside_another_splits_it(exclusive: Workspace) -> None:
    whole = exclusive.put(span(10, 50, "Long", comment="why", confidence=0.5))
    exclusive.put(span(20, 30, "Short"))
    assert places(exclusive) == [("Long", 10, 20), ("Short", 20, 30), ("Long", 30, 50)]
    first, _, second = exclusive.marks()
    assert first["id"] == whole["id"] != second["id"]
    assert [(mark["comment"], mark["confidence"]) for mark in (first, second)] == [("why", 0.5)] * 2
    assert [mark["known_at"] for mark in (first, second)] == [START + 20 * HOUR, START + 50 * HOUR]
    exclusive.undo()
    assert places(exclusive) == [("Long", 10, 50)]


def test_a_span_over_another_removes_it(exclusive: Workspace) -> None:
    exclusive.put(span(20, 30, "Long"))
    exclusive.put(span(10, 40, "Short"))
    assert places(exclusive) == [("Short", 10, 40)]


def test_a_span_dragged_over_another_cuts_it_too(exclusive: Workspace) -> None:
    moving = exclusive.put(span(10, 20, "Long"))
    exclusive.put(span(20, 30, "Short"))
    exclusive.put(span(15, 25, "Long", revision=1), moving["id"])
    assert places(exclusive) == [("Long", 15, 25), ("Short", 25, 30)]


def test_marks_of_others_and_of_other_layers_stay(exclusive: Workspace) -> None:
    with exclusive.database.write() as session:
        label_set = get_series(session, exclusive.series_id).label_set
        wanted = label_set_to_json(session, label_set)
        wanted["labels"].append({"name": "News", "colour": "#112233", "key": None, "layer": "events"})
        save_label_set(session, label_set.id, LabelSetDraft.from_json(wanted))
    exclusive.put(span(10, 20, "Long"), author="Ben")
    exclusive.put(span(10, 20, "News"))
    exclusive.put(span(10, 20, "Short"))
    assert sorted(places(exclusive)) == [("Long", 10, 20), ("News", 10, 20), ("Short", 10, 20)]


def test_layers_that_are_not_exclusive_keep_every_span(workspace: Workspace) -> None:
    workspace.put(span(0, 100, "Long"))
    workspace.put(span(70, 120, "Short"))
    assert places(workspace) == [("Long", 0, 100), ("Short", 70, 120)]


def test_walking_back_over_a_candle_gives_it_its_last_class(workspace: Workspace) -> None:
    workspace.put(candle_class(5, "Long"))
    workspace.put(candle_class(6, "Long"))
    workspace.put(candle_class(5, "Short"))
    assert places(workspace) == [("Short", 5, 6), ("Long", 6, 7)]
    workspace.undo()
    assert places(workspace) == [("Long", 5, 6), ("Long", 6, 7)]


def test_exclusive_layers_are_kept_when_a_set_is_saved_without_naming_them(exclusive: Workspace) -> None:
    with exclusive.database.write() as session:
        label_set = get_series(session, exclusive.series_id).label_set
        wanted: Json = {k: v for k, v in label_set_to_json(session, label_set).items() if k != "exclusive"}
        save_label_set(session, label_set.id, LabelSetDraft.from_json(wanted | {"name": "Renamed"}))
        assert get_label_set(session, label_set.id).exclusive == ["default"]


def test_an_exclusive_layer_without_a_label_is_refused_by_name(workspace: Workspace) -> None:
    with pytest.raises(InvalidInput, match="no label has the layer 'evens'; the layers are default"):
        make_exclusive(workspace, "evens")


def test_a_set_without_exclusive_layers_is_what_a_new_folder_has(tmp_path: Path) -> None:
    workspace = Workspace.make(tmp_path)
    with workspace.database.read() as session:
        assert get_series(session, workspace.series_id).label_set.exclusive == []
    workspace.close()


def test_undo_never_gives_a_candle_a_second_class(exclusive: Workspace) -> None:
    mine = exclusive.put(span(0, 10, "Long"), author="Ann")
    other = exclusive.put(span(40, 50, "Short"), author="Ann")
    exclusive.delete(mine, author="Ann")
    moved = exclusive.put(span(5, 15, "Short", revision=other["revision"]), other["id"], author="Ben")
    with pytest.raises(Conflict, match="would stand where “Short” stands since, last changed by Ben") as refused:
        exclusive.undo("Ann")
    assert (refused.value.details["yours"]["id"], refused.value.details["stored"]) == (mine["id"], moved)
    assert exclusive.undo("Ann", skip=True).skipped == [mine["id"]]
    assert exclusive.marks() == [moved]


def test_whatever_two_people_do_to_each_others_marks_a_candle_keeps_one_class(exclusive: Workspace) -> None:
    draw = random.Random(0)
    met = 0
    for _ in range(250):
        who, marks = draw.choice(["Ann", "Ben"]), exclusive.marks()
        match draw.choice(["draw", "move", "delete", "undo", "undo", "redo"]):
            case "draw":
                exclusive.put(span(*_place(draw)), author=who)
            case "move" if marks:
                mark = draw.choice(marks)
                exclusive.put(span(*_place(draw), revision=mark["revision"]), mark["id"], author=who)
            case "delete" if marks:
                exclusive.delete(draw.choice(marks), author=who)
            case "undo":
                met += len(exclusive.undo(who, skip=True).skipped)
            case "redo":
                met += len(exclusive.redo(who, skip=True).skipped)
        for author in ("Ann", "Ben"):
            own = sorted((mark["start"], mark["end"]) for mark in exclusive.marks() if mark["author"] == author)
            assert all(end <= start for (_, end), (start, _) in pairwise(own))
    assert met > 10


def _place(draw: random.Random) -> tuple[int, int]:
    first = draw.randrange(30)
    return first, first + draw.randrange(1, 12)
