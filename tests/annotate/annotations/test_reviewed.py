"""Ranges that an author has looked through: joined, cut, undone; "nothing here" is a fact that is stored."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from annotate.annotations.classes import CandleTimes
from annotate.annotations.ranges import Range, joined, within, without
from annotate.models import Json
from annotate.store.reviewed import list_reviewed
from annotate.store.undo import Gesture, review, undo_state
from tests.annotate.annotations.builders import START, Workspace, every, level, span

RANGES = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)).map(lambda pair: (min(pair), max(pair))))


def look(workspace: Workspace, start: int, end: int, author: str = "me", *, reviewed: bool = True) -> None:
    workspace.clock += 1
    with workspace.database.write() as session:
        review(
            session,
            workspace.series_id,
            (start, end),
            Gesture(author=author, now=workspace.clock),
            reviewed=reviewed,
        )


def ranges(workspace: Workspace, until: int | None = None) -> list[Json]:
    with workspace.database.read() as session:
        return list_reviewed(session, workspace.series_id, until)


def test_neighbouring_ranges_become_one(workspace: Workspace) -> None:
    look(workspace, 0, 10)
    look(workspace, 20, 30)
    look(workspace, 10, 20)
    assert ranges(workspace) == [{"author": "me", "start": 0, "end": 30}]


def test_each_author_has_ranges_of_their_own(workspace: Workspace) -> None:
    look(workspace, 0, 10)
    look(workspace, 5, 15, "Ben")
    assert ranges(workspace) == [
        {"author": "Ben", "start": 5, "end": 15},
        {"author": "me", "start": 0, "end": 10},
    ]


def test_a_part_can_be_taken_back_and_undo_brings_it_again(workspace: Workspace) -> None:
    look(workspace, 0, 30)
    look(workspace, 10, 20, reviewed=False)
    assert [(each["start"], each["end"]) for each in ranges(workspace)] == [(0, 10), (20, 30)]
    with workspace.database.read() as session:
        assert undo_state(session, workspace.series_id, "me")["undo"] == "mark as not reviewed"
    workspace.undo()
    assert [(each["start"], each["end"]) for each in ranges(workspace)] == [(0, 30)]
    workspace.undo()
    assert ranges(workspace) == []
    workspace.redo()
    assert [(each["start"], each["end"]) for each in ranges(workspace)] == [(0, 30)]


def test_what_is_reviewed_already_makes_no_step_of_undo(workspace: Workspace) -> None:
    look(workspace, 0, 30)
    look(workspace, 10, 20)
    workspace.undo()
    assert ranges(workspace) == []


def test_a_list_can_end_at_a_moment(workspace: Workspace) -> None:
    look(workspace, 0, 10)
    look(workspace, 20, 30)
    assert [(each["start"], each["end"]) for each in ranges(workspace, until=25)] == [(0, 10), (20, 25)]
    assert ranges(workspace, until=0) == []


def test_a_candle_counts_as_reviewed_by_a_range_or_a_mark_of_candles_not_by_a_line() -> None:
    opens = np.array(every("1h", 10), np.int64)
    rows = CandleTimes(opens, "1h")
    marks = [span(2, 4), level(time=START, until=int(opens[9]))]
    looked = rows.reviewed(marks, [{"start": int(opens[6]), "end": int(opens[8])}])
    assert np.flatnonzero(looked).tolist() == [2, 3, 6, 7]


@given(RANGES)
def test_joined_ranges_cover_the_same_and_do_not_touch(given_ranges: list[Range]) -> None:
    made = joined(given_ranges)
    assert covered(made) == covered(given_ranges)
    assert all(before[1] < after[0] for before, after in pairwise(made))


@given(RANGES, st.integers(0, 50), st.integers(0, 50))
def test_what_is_taken_away_is_away_and_nothing_else(given_ranges: list[Range], first: int, last: int) -> None:
    taken = (min(first, last), max(first, last))
    assert covered(without(given_ranges, taken)) == covered(given_ranges) - covered([taken])
    assert covered(within(joined(given_ranges), first)) == {at for at in covered(given_ranges) if at < first}


def covered(given_ranges: list[Range]) -> set[int]:
    return {at for start, end in given_ranges for at in range(start, end)}
