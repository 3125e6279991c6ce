"""A hand's habit: by how many candles a person's marks begin and end off the places that a reader finds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from nn.few.spans import Span, pairs

LEAST = 5  # pairs below which nothing is said of a habit


class Habit(NamedTuple):
    """Candles to add to the beginnings and to the ends that were found."""

    start: int = 0
    end: int = 0


def habit(found: Sequence[Span], marks: Sequence[Span]) -> Habit:
    """Give the median distances from the found ends to the marks' ends, over the pairs that match."""
    matched = pairs(found, marks)
    if len(matched) < LEAST:
        return Habit()
    starts = [marks[pair.true].start - found[pair.predicted].start for pair in matched]
    ends = [marks[pair.true].end - found[pair.predicted].end for pair in matched]
    return Habit(round(float(np.median(starts))), round(float(np.median(ends))))


def shifted(found: Sequence[Span], by: Habit) -> list[Span]:
    """Move the ends of spans in order of time by a habit; a span that would vanish or overlap keeps to its room."""
    if by == Habit():
        return list(found)
    moved: list[Span] = []
    for span in found:
        start = max(span.start + by.start, moved[-1].end if moved else 0)
        end = span.end + by.end
        if start < end:
            moved.append(Span(start, end, span.label))
    return moved
