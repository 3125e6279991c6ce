"""Many changes in one gesture: all or none, one step of undo, safe to repeat."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import event

from annotate.annotations.timeline import Timeline
from annotate.errors import Conflict, InvalidInput, NotFound
from annotate.models import Json
from annotate.store.bulk import MAX_CHANGES, Applied, Bulk, apply_bulk, changed_drafts
from annotate.store.undo import Gesture, undo_state
from tests.annotate.annotations.builders import Workspace, candle_class, point, said, span
from tests.annotate.annotations.test_room import make_exclusive


def bulk(workspace: Workspace, body: Json, author: str = "me") -> Applied:
    """Send a bulk change."""
    return _apply(workspace, author, lambda _session: Bulk.from_json(body))


def set_all(workspace: Workspace, marks: list[Json], author: str = "me", **change: Any) -> Applied:
    """Give marks these fields."""
    body = {"ids": [mark["id"] for mark in marks], "set": change}
    return _apply(workspace, author, lambda session: changed_drafts(session, workspace.series_id, body))


def _apply(workspace: Workspace, author: str, wanted: Any) -> Applied:
    workspace.clock += 1
    timeline = Timeline(workspace.candles.read(workspace.series_id).time, "1h")
    with workspace.database.write() as session:
        gesture = Gesture(author=author, now=workspace.clock)
        return apply_bulk(session, workspace.series_id, wanted(session), timeline, gesture)


def new(body: Json) -> Json:
    """A draft with an id of its own."""
    return {**body, "id": str(uuid4())}


def statements(workspace: Workspace, act: Callable[[], object]) -> int:
    """Count what the database is asked while something is done."""
    asked: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        asked.append(statement)

    event.listen(workspace.database.engine, "before_cursor_execute", note)
    act()
    event.remove(workspace.database.engine, "before_cursor_execute", note)
    return len(asked)


def title(workspace: Workspace, author: str = "me") -> str | None:
    with workspace.database.read() as session:
        found: str | None = undo_state(session, workspace.series_id, author)["undo"]
        return found


def test_a_run_of_candle_classes_is_stored_in_one_undo_step(workspace: Workspace) -> None:
    run = [new(candle_class(place, "Long")) for place in range(40)]
    applied = bulk(workspace, {"put": run})
    assert [mark["revision"] for mark in applied.annotations] == [1] * 40
    assert title(workspace) == "draw 40 marks"
    workspace.undo()
    assert workspace.marks() == []


def test_put_and_delete_of_many_marks_are_taken_back_together(workspace: Workspace) -> None:
    stays, goes = workspace.put(span(10, 20)), workspace.put(span(30, 40, "Short"))
    before = workspace.marks()
    moved = span(11, 21) | {"id": stays["id"], "revision": 1}
    applied = bulk(workspace, {"put": [moved, new(point(5))], "delete": [{"id": goes["id"], "revision": 1}]})
    assert applied.deleted == [goes["id"]]
    assert len(workspace.marks()) == 2
    workspace.undo()
    assert said(workspace.marks()) == said(before)


def test_the_same_bulk_again_changes_nothing(workspace: Workspace) -> None:
    goes = workspace.put(span(30, 40))
    body = {"put": [new(span(10, 20))], "delete": [{"id": goes["id"], "revision": 1}]}
    first, second = bulk(workspace, body), bulk(workspace, body)
    assert (first.changed, second.changed) == (True, False)
    assert first.annotations == second.annotations
    assert title(workspace) == "change 2 marks"


def test_many_marks_cost_no_more_statements_than_a_few(workspace: Workspace) -> None:
    few, many = ([new(span(place % 90, place % 90 + 2)) for place in range(count)] for count in (10, 400))
    costs = []
    for marks in (few, many):
        steps: list[Callable[[], object]] = [
            partial(bulk, workspace, {"put": marks}),
            partial(set_all, workspace, marks, label="Short"),
            workspace.undo,
            partial(bulk, workspace, {"delete": [{"id": mark["id"]} for mark in marks]}),
            workspace.undo,
        ]
        costs.append([statements(workspace, step) for step in steps])
    assert costs[1] == costs[0]
    assert len(workspace.marks()) == 410


def test_many_marks_of_an_exclusive_layer_come_to_what_they_come_to_one_by_one(workspace: Workspace) -> None:
    rng = random.Random(0)
    starts = [rng.randrange(90) for _ in range(60)]
    drafts = [span(at, at + rng.randrange(1, 10), rng.choice(["Long", "Short"])) for at in starts]
    make_exclusive(workspace, "default")
    workspace.put(span(0, 100, "Noise"))
    for draft in drafts:
        workspace.put(draft)
    one_by_one = sorted((mark["start"], mark["end"], mark["label"]) for mark in workspace.marks())
    for _ in drafts:
        workspace.undo()
    bulk(workspace, {"put": [new(draft) for draft in drafts]})
    assert sorted((mark["start"], mark["end"], mark["label"]) for mark in workspace.marks()) == one_by_one
    workspace.undo()
    assert [mark["label"] for mark in workspace.marks()] == ["Noise"]


def test_an_edit_of_marks_that_someone_removed_names_who_it_was(workspace: Workspace) -> None:
    marks = [workspace.put(span(place, place + 5)) for place in (10, 20, 30)]
    for mark, author in zip(marks[:2], ("Ben", "Cleo"), strict=True):
        workspace.delete(mark, author=author)
    changed = [span(40, 45) | {"id": mark["id"], "revision": 1} for mark in marks]
    with pytest.raises(Conflict) as refused:
        bulk(workspace, {"put": changed})
    assert [(each["by"], each["stored"]) for each in refused.value.details["conflicts"]] == [
        ("Ben", None),
        ("Cleo", None),
    ]


def test_one_stale_mark_stops_all_and_every_stale_one_is_named_with_its_author(workspace: Workspace) -> None:
    marks = [workspace.put(span(place, place + 5)) for place in (10, 20, 30)]
    for mark in marks[:2]:
        workspace.put(span(1, 5, revision=1), mark["id"], author="Ben")
    changed = [span(40, 45) | {"id": mark["id"], "revision": 1} for mark in marks]
    before = workspace.marks()
    with pytest.raises(Conflict, match="2 of the marks changed since; nothing was stored") as refused:
        bulk(workspace, {"put": changed})
    assert [each["id"] for each in refused.value.details["conflicts"]] == [mark["id"] for mark in marks[:2]]
    assert {each["by"] for each in refused.value.details["conflicts"]} == {"Ben"}
    assert workspace.marks() == before


def test_all_shown_marks_get_a_label_a_status_or_a_confidence_at_once(workspace: Workspace) -> None:
    marks = [workspace.put(span(place, place + 5)) for place in (10, 20, 30)]
    set_all(workspace, marks, label="Noise", status="draft", confidence=0.25)
    after = workspace.marks()
    assert {(mark["label"], mark["status"], mark["confidence"]) for mark in after} == {("Noise", "draft", 0.25)}
    assert title(workspace) == "relabel 3 marks"
    workspace.undo()
    assert said(workspace.marks()) == said(marks)


def test_a_changed_status_leaves_the_moment_of_decision(workspace: Workspace) -> None:
    mark = workspace.put(span(10, 20))
    (after,) = set_all(workspace, [mark], status="draft", author="Ben").annotations
    assert after["decided_at"] == mark["decided_at"]
    assert (after["author"], after["updated_by"]) == ("me", "Ben")


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"put": [span()]}, "id is missing"),
        ({"put": [{**span(), "id": "1"}]}, r"put\[0\].id = '1': must be a UUID"),
        ({"put": {}}, "must be a list"),
        ({"puts": []}, "unknown field"),
        ({"delete": [{"id": str(uuid4()), "label": "Long"}]}, "unknown field"),
        ({"delete": [{"id": str(uuid4())} for _ in range(MAX_CHANGES + 1)]}, "at most 10000"),
        ({"put": [new(span(200, 210))]}, "place it on them"),
        ({"put": [new(span(label="Nope"))]}, "the label set has Long"),
    ],
)
def test_a_bulk_that_cannot_be_taken_is_refused_by_name(workspace: Workspace, body: Json, named: str) -> None:
    with pytest.raises(InvalidInput, match=named):
        bulk(workspace, body)
    assert workspace.marks() == []


def test_a_mark_named_twice_or_for_both_is_refused(workspace: Workspace) -> None:
    mark = new(span())
    with pytest.raises(InvalidInput, match="stands twice"):
        bulk(workspace, {"put": [mark, mark]})
    with pytest.raises(InvalidInput, match="is to be put too"):
        bulk(workspace, {"put": [mark], "delete": [{"id": mark["id"]}]})


def test_only_what_can_be_set_is_set_and_only_on_marks_of_the_series(workspace: Workspace) -> None:
    mark = workspace.put(span())
    with pytest.raises(InvalidInput, match="unknown field"):
        set_all(workspace, [mark], start=5)
    with pytest.raises(InvalidInput, match="name at least one"):
        set_all(workspace, [mark])
    with pytest.raises(NotFound):
        set_all(workspace, [{"id": str(uuid4())}], label="Long")
