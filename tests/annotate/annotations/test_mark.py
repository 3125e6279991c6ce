"""A gesture in words, and the calls of one gesture as one change."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from annotate.annotations.mark import Mark, describe, merge

NAMES = {1: "Long", 2: "Short"}
MARK = Mark(
    id="a",
    kind="span",
    label_id=1,
    start=0,
    end=10,
    geometry={"start": 0, "end": 10},
    comment="",
    confidence=None,
    author="me",
    source="human",
    mode="hindsight",
    decided_at=100,
    known_at=10,
    revision=1,
    created=5,
    updated=5,
    draft={},
)


def but(**changes: Any) -> Mark:
    return dataclasses.replace(MARK, **changes)


@pytest.mark.parametrize(
    ("before", "after", "title"),
    [
        (None, MARK, "draw Long"),
        (MARK, None, "delete Long"),
        (MARK, but(label_id=2), "relabel Long as Short"),
        (MARK, but(geometry={"start": 5, "end": 15}), "move Long"),
        (MARK, but(geometry={"start": 0, "end": 15}), "resize Long"),
        (MARK, but(kind="point", geometry={"time": 0, "price": 1.0}), "redraw Long"),
        (MARK, but(comment="why"), "comment on Long"),
        (MARK, but(confidence=0.5), "set confidence of Long"),
    ],
)
def test_a_gesture_is_named_by_what_it_did(before: Mark | None, after: Mark | None, title: str) -> None:
    assert describe([(before, after)], NAMES) == title


def test_a_point_that_goes_elsewhere_has_moved() -> None:
    here, there = (but(kind="point", geometry={"time": time, "price": 1.0}) for time in (0, 7))
    assert describe([(here, there)], NAMES) == "move Long"


def test_several_marks_are_counted() -> None:
    other = but(id="b")
    assert describe([(MARK, None), (other, None)], NAMES) == "delete 2 marks"
    assert describe([(MARK, None), (None, other)], NAMES) == "change 2 marks"


def test_calls_of_one_gesture_join_from_first_to_last() -> None:
    moved, again = but(comment="1"), but(comment="2")
    assert merge([(MARK, moved)], [(moved, again), (None, but(id="b"))]) == [(MARK, again), (None, but(id="b"))]


def test_a_mark_drawn_and_removed_in_one_gesture_leaves_nothing() -> None:
    assert merge([(None, MARK)], [(MARK, None)]) == []
    assert merge([(MARK, but(comment="1"))], [(but(comment="1"), but(revision=3))]) == []


def test_versions_are_alike_whatever_led_there() -> None:
    assert MARK.is_like(but(revision=9, draft={"revision": 8}))
    assert not MARK.is_like(but(updated=6))
