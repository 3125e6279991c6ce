"""Annotations of a live run: the class of each candle as far as it was known at a moment, and what is new. No torch."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from nn.tape import Indices, Tape
from nn.targets import gives_class, label_targets

Json = dict[str, Any]

FIELDS = ("id", "kind", "label", "start", "end", "known_at", "updated", "status")  # what a class depends on
MOST_WAITING = 10_000  # new marks that wait for a step of their own; further ones come by chance, as any past candle


class Waiting(NamedTuple):
    """A new or changed mark that no step has shown yet; the one known first comes first."""

    known_at: int
    end: int  # ms UTC, half open


class LiveMarks:
    """The marks that stand now. They may change between two steps, never within one."""

    def __init__(self, labels: Sequence[str], timeframe_ms: int) -> None:
        self._labels, self._timeframe_ms = tuple(labels), timeframe_ms
        self._marks: list[Json] = []
        self._edges = np.empty((3, 0), np.int64)  # start, end and known_at of each
        self._waiting: list[Waiting] = []  # a heap

    def take(self, annotations: Iterable[Mapping[str, Any]], *, are_new: bool = True) -> list[str]:
        """Put these in place of those that stood; new and changed ones wait to be shown, where `are_new`.

        Gives the labels that the model has no class for.
        """
        marks: list[Json] = [{name: mark.get(name) for name in FIELDS} for mark in annotations if gives_class(mark)]
        known = [mark for mark in marks if mark["label"] in self._labels]
        before = {_content(mark) for mark in self._marks}
        if are_new:
            fresh = [mark for mark in known if _content(mark) not in before]
            new = (Waiting(_known_at(mark), mark["end"]) for mark in fresh)
            self._waiting = heapq.nsmallest(MOST_WAITING, {*self._waiting, *new})
        self._marks = known
        edges = [(mark["start"], mark["end"], _known_at(mark)) for mark in known]
        self._edges = np.array(edges, np.int64).reshape(-1, 3).T
        return sorted({str(mark["label"]) for mark in marks} - set(self._labels))

    def classes(self, time: Indices, known_by: int) -> Indices:
        """Give the class of the candles that open at `time` (T,), ms UTC, by the marks known by then; else MASKED."""
        start, end, known_at = self._edges
        counts = (start < time[-1] + self._timeframe_ms) & (end > time[0]) & (known_at <= known_by)
        marks = [self._marks[i] for i in np.flatnonzero(counts)]
        return label_targets(marks, self._labels, time, self._timeframe_ms).classes

    def next_window(self, tape: Tape, known_by: int, length: int, oldest: int = 0) -> int | None:
        """Give the row after the window of a new mark that has to be shown now; None where none is due.

        The window ends with the mark's last candle and begins at row `oldest` or later. A mark that is not known yet
        waits; one without a whole window before its end is let go.
        """
        while self._waiting and self._waiting[0].known_at <= known_by:
            mark = heapq.heappop(self._waiting)
            row = tape.row_from(mark.end)
            if row - length >= oldest and tape.run[row - 1] >= length:
                return row
        return None

    def state(self) -> Json:
        """Give everything as plain data, for a checkpoint."""
        return {"marks": list(self._marks), "waiting": [tuple(mark) for mark in self._waiting]}

    def restore(self, state: Json) -> None:
        """Go back to where `state()` was taken."""
        self.take(state["marks"], are_new=False)
        self._waiting = [Waiting(*mark) for mark in state["waiting"]]


def _known_at(mark: Mapping[str, Any]) -> int:
    return int(mark["known_at"] or mark["end"])


def _content(mark: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(mark[name] for name in FIELDS)
