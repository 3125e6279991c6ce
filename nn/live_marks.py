"""What people said of a live run's candles: which class each has or has not, by a moment; what is new. No torch."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from nn.tape import Indices, Tape
from nn.targets import MASKED, LabelTargets, gives_class, label_targets

Json = dict[str, Any]

FIELDS = ("id", "kind", "label", "start", "end", "known_at", "updated", "status")  # what a class depends on
GOLDEN = (5**0.5 - 1) / 2  # its multiples spread over [0, 1) so evenly that any stretch of candles keeps its share
MOST_WAITING = 10_000  # new marks that wait for a step of their own; further ones come by chance, as any past candle


class Waiting(NamedTuple):
    """A new or changed mark, or a new rejection, that no step has shown yet; the one known first comes first."""

    known_at: int
    end: int  # ms UTC, half open


class LiveMarks:
    """The marks and rejected suggestions that stand now. They may change between two steps, never within one.

    Of the candles under a mark that a model made and a person accepted, a share of `accepted_weight` is a target.
    """

    def __init__(self, labels: Sequence[str], timeframe_ms: int, accepted_weight: float = 1.0) -> None:
        self._labels, self._timeframe_ms, self._accepted_weight = tuple(labels), timeframe_ms, accepted_weight
        self._marks: list[Json] = []
        self._edges = np.empty((3, 0), np.int64)  # start, end and known_at of each
        self._rejected: list[Json] = []  # {label, start, end}
        self._waiting: list[Waiting] = []  # a heap

    def take(
        self,
        annotations: Iterable[Mapping[str, Any]],
        rejected: Iterable[Mapping[str, Any]] = (),
        *,
        are_new: bool = True,
    ) -> list[str]:
        """Put these in place of those that stood; new and changed ones wait to be shown, where `are_new`.

        `rejected` are suggestions, `{label, start, end}`, known from their end on. Gives the labels of the marks that
        the model has no class for.
        """
        marks: list[Json] = [
            {name: mark.get(name) for name in (*FIELDS, "source")} for mark in annotations if gives_class(mark)
        ]
        known = [mark for mark in marks if mark["label"] in self._labels]
        refused = [dict(one) for one in rejected if one["label"] in self._labels] if len(self._labels) > 1 else []
        before = {_content(mark) for mark in (*self._marks, *self._rejected)}
        if are_new:
            fresh = [mark for mark in (*known, *refused) if _content(mark) not in before]
            new = (Waiting(_known_at(mark), mark["end"]) for mark in fresh)
            self._waiting = heapq.nsmallest(MOST_WAITING, {*self._waiting, *new})
        self._marks, self._rejected = known, refused
        edges = [(mark["start"], mark["end"], _known_at(mark)) for mark in known]
        self._edges = np.array(edges, np.int64).reshape(-1, 3).T
        return sorted({str(mark["label"]) for mark in marks} - set(self._labels))

    def classes(self, time: Indices, known_by: int) -> Indices:
        """Give the class of the candles that open at `time` (T,), ms UTC, by the marks known by then; else MASKED."""
        found = self._targets(time, known_by)
        left_out = time // self._timeframe_ms * GOLDEN % 1 >= self._accepted_weight
        return np.where(found.accepted & left_out, MASKED, found.classes)

    @property
    def any_refused(self) -> bool:
        """Tell whether any suggestion was rejected."""
        return bool(self._rejected)

    def refused(self, time: Indices, known_by: int) -> Indices:
        """Give the class that someone said the candles that open at `time` (T,) do not have, by then; else MASKED.

        A mark says more: where one was known by then, nothing is refused.
        """
        classes = np.full(len(time), MASKED, np.int64)
        for one in self._rejected:
            if one["end"] <= known_by:
                first, end = np.searchsorted(time, [one["start"], one["end"]]).tolist()
                classes[first:end] = self._labels.index(one["label"])
        return np.where(self._targets(time, known_by).classes == MASKED, classes, MASKED)

    def _targets(self, time: Indices, known_by: int) -> LabelTargets:
        start, end, known_at = self._edges
        counts = (start < time[-1] + self._timeframe_ms) & (end > time[0]) & (known_at <= known_by)
        marks = [self._marks[i] for i in np.flatnonzero(counts)]
        return label_targets(marks, self._labels, time, self._timeframe_ms)

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
        waiting = [tuple(mark) for mark in self._waiting]
        return {"marks": list(self._marks), "rejected": list(self._rejected), "waiting": waiting}

    def restore(self, state: Json) -> None:
        """Go back to where `state()` was taken."""
        self.take(state["marks"], state.get("rejected", ()), are_new=False)
        self._waiting = [Waiting(*mark) for mark in state["waiting"]]


def _known_at(mark: Mapping[str, Any]) -> int:
    return int(mark.get("known_at") or mark["end"])


def _content(mark: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(mark.get(name) for name in FIELDS)
