"""Undo and redo: whatever was done, all of it goes back to the start and again to the end."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select

from annotate.errors import Conflict
from annotate.models import Json, UndoStep
from annotate.store.undo import undo_state
from tests.annotate.annotations.builders import Workspace, candles_at, every, point, said, span, trade


def test_each_gesture_is_one_step_with_a_title(workspace: Workspace) -> None:
    mark = workspace.put(span())
    mark = workspace.put(span(12, 22, revision=1), mark["id"])
    workspace.delete(mark)
    assert [workspace.undo().title for _ in range(4)] == ["delete Long", "move Long", "draw Long", None]
    assert [workspace.redo().title for _ in range(4)] == ["draw Long", "move Long", "delete Long", None]


def test_undo_gives_the_marks_it_set_and_the_ids_it_removed(workspace: Workspace) -> None:
    mark = workspace.put(span())
    moved = workspace.put(span(12, 22, revision=1), mark["id"])
    back = workspace.undo()
    assert said(back.annotations) == said([mark])
    assert back.annotations[0]["revision"] == moved["revision"] + 1
    assert workspace.undo().deleted == [mark["id"]]
    assert workspace.marks() == []


def test_a_new_gesture_clears_this_authors_redo_and_no_others(workspace: Workspace) -> None:
    for author in ("Ann", "Ben"):
        workspace.put(span(), author=author)
        workspace.undo(author)
    workspace.put(point(), author="Ann")
    assert workspace.redo("Ann").title is None
    assert workspace.redo("Ben").title == "draw Long"


def test_authors_undo_their_own_gestures_only(workspace: Workspace) -> None:
    ann, ben = workspace.put(span(1, 5), author="Ann"), workspace.put(span(6, 9), author="Ben")
    assert workspace.undo("Ann").deleted == [ann["id"]]
    assert workspace.marks() == [ben]


def test_undo_is_kept_apart_by_series(workspace: Workspace) -> None:
    workspace.put(span())
    workspace.series_id = workspace.add_series(candles_at(every("1h", 100)))
    assert workspace.undo().title is None


def test_undo_of_a_mark_that_someone_changed_since_is_refused_with_both_versions(workspace: Workspace) -> None:
    mark = workspace.put(span(), author="Ann")
    changed = workspace.put(span(11, 25, revision=1), mark["id"], author="Ben")
    with pytest.raises(Conflict) as refused:
        workspace.undo("Ann")
    assert refused.value.details == {"yours": mark, "stored": changed, "by": "Ben"}
    assert "changed since by Ben" in refused.value.message
    assert workspace.marks() == [changed]


def test_undo_works_again_once_the_other_took_the_change_back(workspace: Workspace) -> None:
    mark = workspace.put(span(), author="Ann")
    workspace.put(span(11, 25, revision=1), mark["id"], author="Ben")
    workspace.undo("Ben")
    assert workspace.undo("Ann").deleted == [mark["id"]]


def test_undo_of_a_mark_that_someone_removed_since_is_refused(workspace: Workspace) -> None:
    mark = workspace.put(span(), author="Ann")
    workspace.delete(mark, author="Ben")
    with pytest.raises(Conflict) as refused:
        workspace.undo("Ann")
    assert refused.value.details == {"yours": mark, "stored": None, "by": "Ben"}


def test_redo_onto_an_id_that_was_drawn_again_is_refused(workspace: Workspace) -> None:
    mark = workspace.put(span(), author="Ann")
    workspace.undo("Ann")
    other = workspace.put(point(), mark["id"], author="Ben")
    with pytest.raises(Conflict) as refused:
        workspace.redo("Ann")
    assert refused.value.details == {"yours": None, "stored": other, "by": "Ben"}


def test_a_blocked_step_can_be_skipped_and_what_nobody_changed_is_taken_back(workspace: Workspace) -> None:
    earlier = workspace.put(span(1, 5), author="Ann")
    gesture = str(uuid4())
    mine = workspace.put(span(), author="Ann", gesture=gesture)
    changed = workspace.put(span(30, 40), author="Ann", gesture=gesture)
    theirs = workspace.put(span(31, 41, revision=1), changed["id"], author="Ben")
    applied = workspace.undo("Ann", skip=True)
    assert (applied.title, applied.deleted, applied.skipped) == ("draw 2 marks", [mine["id"]], [changed["id"]])
    assert workspace.marks() == [earlier, theirs]
    workspace.redo("Ann")
    assert said(workspace.marks()) == said([earlier, mine, theirs])


def test_a_step_that_is_skipped_whole_is_gone_and_the_next_one_is_undone(workspace: Workspace) -> None:
    earlier = workspace.put(span(1, 5), author="Ann")
    mark = workspace.put(span(), author="Ann")
    theirs = workspace.put(span(31, 41, revision=1), mark["id"], author="Ben")
    assert workspace.undo("Ann", skip=True).skipped == [mark["id"]]
    assert workspace.marks() == [earlier, theirs]
    assert workspace.undo("Ann").deleted == [earlier["id"]]


def test_a_refused_undo_of_several_marks_changes_none(workspace: Workspace) -> None:
    gesture = str(uuid4())
    first, second = (workspace.put(span(place, place + 3), author="Ann", gesture=gesture) for place in (1, 5))
    workspace.put(span(5, 9, revision=1), second["id"], author="Ben")
    with pytest.raises(Conflict):
        workspace.undo("Ann")
    assert first in workspace.marks()


def test_calls_of_one_gesture_are_one_step(workspace: Workspace) -> None:
    gesture = str(uuid4())
    marks = [workspace.put(span(place, place + 3), gesture=gesture) for place in (1, 5, 9)]
    workspace.put(point())
    workspace.undo()
    back = workspace.undo()
    assert back.title == "draw 3 marks"
    assert sorted(back.deleted) == sorted(mark["id"] for mark in marks)
    assert said(workspace.redo().annotations) == said(marks)


def test_a_mark_drawn_and_removed_in_one_gesture_leaves_no_step(workspace: Workspace) -> None:
    gesture = str(uuid4())
    workspace.delete(workspace.put(span(), gesture=gesture), gesture=gesture)
    assert workspace.undo().title is None


def test_an_edit_made_before_an_undo_is_stale_after_it(workspace: Workspace) -> None:
    mark = workspace.put(span())
    moved = workspace.put(span(12, 22, revision=1), mark["id"])
    workspace.undo()
    for revision in (mark["revision"], moved["revision"]):
        with pytest.raises(Conflict):
            workspace.put(span(15, 25, revision=revision), mark["id"])


def test_a_mark_drawn_again_by_redo_never_takes_up_an_old_revision(workspace: Workspace) -> None:
    mark = workspace.put(span())
    seen = [mark["revision"]]
    for _ in range(3):
        workspace.undo()
        seen.append(workspace.redo().annotations[0]["revision"])
    assert seen == sorted(set(seen))


def test_undo_says_what_comes_next(workspace: Workspace) -> None:
    workspace.put(span())
    workspace.put(point(label="Short"))
    workspace.undo()
    with workspace.database.read() as session:
        state = undo_state(session, workspace.series_id, "me")
    assert state == {"can_undo": True, "can_redo": True, "undo": "draw Long", "redo": "draw Short"}


LABELS = st.sampled_from(["Long", "Short", "Range"])
PLACES = st.tuples(st.integers(0, 90), st.integers(1, 9))
BODIES = st.one_of(
    st.builds(lambda place, label: span(place[0], sum(place), label), PLACES, LABELS),
    st.builds(lambda place, label: point(place[0], float(place[1]), label), PLACES, LABELS),
    st.builds(lambda place, label: trade(place[0], sum(place), label), PLACES, LABELS),
)
GESTURES = st.lists(
    st.tuples(st.integers(0, 4), st.sampled_from(["put", "put", "put", "delete", "comment"]), BODIES), max_size=10
)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """One folder for many examples, each on a series of its own."""
    made = Workspace.make(Path(tmp_path_factory.mktemp("undo")))
    yield made
    made.close()


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(GESTURES)
def test_undo_all_returns_to_the_start_and_redo_all_to_the_end(shared: Workspace, gestures: list[Any]) -> None:
    shared.series_id = shared.add_series(candles_at(every("1h", 100)))
    ids = [str(uuid4()) for _ in range(5)]
    states = [said(shared.marks())]
    for slot, action, body in gestures:
        stored = {mark["id"]: mark for mark in shared.marks()}.get(ids[slot])
        act(shared, ids[slot], stored, action, body)
        if said(shared.marks()) != states[-1]:
            states.append(said(shared.marks()))
    assert count_steps(shared) == len(states) - 1
    assert walk(shared, shared.undo) == states[-2::-1]
    assert walk(shared, shared.redo) == states[1:]
    assert walk(shared, shared.undo) == states[-2::-1]


def act(workspace: Workspace, mark_id: str, stored: Json | None, action: str, body: Json) -> None:
    if stored is None:
        workspace.put(body, mark_id)
    elif action == "delete":
        workspace.delete(stored)
    elif action == "comment":
        draft = {name: value for name, value in stored.items() if name not in ("comment", "known_at")}
        workspace.put(draft | {"comment": stored["comment"] + "!"}, mark_id)
    else:
        workspace.put(body | {"revision": stored["revision"]}, mark_id)


def walk(workspace: Workspace, step: Any) -> list[list[Json]]:
    """Undo or redo until nothing is left; give the marks after each step."""
    states = []
    while step().title is not None:
        states.append(said(workspace.marks()))
    return states


def count_steps(workspace: Workspace) -> int:
    with workspace.database.read() as session:
        query = select(func.count()).select_from(UndoStep).where(UndoStep.series_id == workspace.series_id)
        return session.scalar(query) or 0
