"""How far two sets of marks agree: of two people, or of one at two times. Pure; no database.

Points agree by label within ±n candles, trades by side and entry within ±n candles, spans by label with an overlap of
at least half of their union (IoU), each mark once; the class of each candle by Cohen's kappa, where both have looked.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from annotate.annotations.classes import CandleTimes
from annotate.annotations.geometry import KINDS

Json = dict[str, Any]
Mark = Mapping[str, Any]

LEAST_IOU = 0.5
TOLERANCE = 2
MOST_TOLERANCE = 1_000


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two: their marks that are done, and the ranges `{start, end}` that they looked through."""

    marks: Sequence[Mark]
    ranges: Sequence[Mark] = field(default_factory=tuple)

    def of_kind(self, kind: str) -> list[Mark]:
        """Give the marks of a kind; drafts do not count."""
        return [mark for mark in self.marks if mark["kind"] == kind and mark.get("status") != "draft"]


def agreement(
    first: Side, second: Side, rows: CandleTimes, layers: Mapping[str, Sequence[str]], tolerance: int = TOLERANCE
) -> Json:
    """Give `{points, spans, trades, candles}`.

    Each of the first three is `{first, second, matched, precision, recall, f1, by_label}`, seen from `second`:
    precision is the share of its marks that `first` has too. `candles` holds for each layer `{n, agreed, kappa}`. What
    cannot be said is null.
    """
    near, overlapping = _near(rows, tolerance), _overlapping(rows)
    return {
        "tolerance": tolerance,
        "least_iou": LEAST_IOU,
        "points": _compared(first.of_kind("point"), second.of_kind("point"), near, "label"),
        "spans": _compared(first.of_kind("span"), second.of_kind("span"), overlapping, "label"),
        "trades": _compared(first.of_kind("trade"), second.of_kind("trade"), near, "side"),
        "candles": {layer: _kappa(first, second, rows, names) for layer, names in layers.items()},
    }


Matcher = Callable[[Sequence[Mark], Sequence[Mark]], int]


def _compared(first: Sequence[Mark], second: Sequence[Mark], match: Matcher, by: str) -> Json:
    """Match marks that say the same, group by group; give the figures of all and of each label."""
    matched = _matches(first, second, match, by)
    labels = sorted({mark["label"] for mark in (*first, *second)})
    by_label = {}
    for label in labels:
        ones, others = ([mark for mark in marks if mark["label"] == label] for marks in (first, second))
        by_label[label] = _figures(len(ones), len(others), _matches(ones, others, match, by))
    return {**_figures(len(first), len(second), matched), "by_label": by_label}


def _matches(first: Sequence[Mark], second: Sequence[Mark], match: Matcher, by: str) -> int:
    names = {mark[by] for mark in first} & {mark[by] for mark in second}
    return sum(
        match([mark for mark in first if mark[by] == name], [mark for mark in second if mark[by] == name])
        for name in names
    )


def _figures(first: int, second: int, matched: int) -> Json:
    return {
        "first": first,
        "second": second,
        "matched": matched,
        "precision": matched / second if second else None,
        "recall": matched / first if first else None,
        "f1": 2 * matched / (first + second) if first + second else None,
    }


def _near(rows: CandleTimes, tolerance: int) -> Matcher:
    """Match in order of time, each with the earliest partner in reach: with equal reaches nothing matches more."""

    def match(first: Sequence[Mark], second: Sequence[Mark]) -> int:
        ones, others = (sorted(rows.touched(mark).start for mark in marks) for marks in (first, second))
        matched = at = 0
        for one in ones:
            while at < len(others) and others[at] < one - tolerance:
                at += 1
            if at < len(others) and others[at] <= one + tolerance:
                matched, at = matched + 1, at + 1
        return matched

    return match


def _overlapping(rows: CandleTimes) -> Matcher:
    """Match the pairs of largest overlap first."""

    def match(first: Sequence[Mark], second: Sequence[Mark]) -> int:
        ones, others = (
            sorted((rows.touched(mark) for mark in marks), key=lambda at: (at.start, at.stop))
            for marks in (first, second)
        )
        taken_first, taken_second = set[int](), set[int]()
        for _, one, other in sorted(_pairs(ones, others), key=lambda pair: (-pair[0], pair[1], pair[2])):
            if one not in taken_first and other not in taken_second:
                taken_first.add(one)
                taken_second.add(other)
        return len(taken_first)

    return match


def _pairs(ones: Sequence[slice], others: Sequence[slice]) -> Iterator[tuple[float, int, int]]:
    """Give IoU and places of those that share enough candles; both in order of time."""
    starts = [other.start for other in others]
    longest = max((other.stop - other.start for other in others), default=0)
    for place, one in enumerate(ones):
        for at in range(bisect_left(starts, one.start - longest), bisect_left(starts, one.stop)):
            shared = min(one.stop, others[at].stop) - max(one.start, others[at].start)
            iou = shared / (max(one.stop, others[at].stop) - min(one.start, others[at].start))
            if iou >= LEAST_IOU:
                yield iou, place, at


def _kappa(first: Side, second: Side, rows: CandleTimes, names: Sequence[str]) -> Json:
    """Compare the class of each candle, none included, where both have looked."""
    both = _looked(first, rows) & _looked(second, rows)
    ones, others = (rows.layer_classes(side.marks, names).classes[both] for side in (first, second))
    n = len(ones)
    if not n or len(np.union1d(ones, others)) < 2:  # one class alone is agreed upon by everyone and says nothing
        return {"n": n, "agreed": 1.0 if n else None, "kappa": None}
    from sklearn.metrics import cohen_kappa_score  # takes a second to load, which no other page should wait for

    return {"n": n, "agreed": float(np.mean(ones == others)), "kappa": float(cohen_kappa_score(ones, others))}


def _looked(side: Side, rows: CandleTimes) -> npt.NDArray[np.bool_]:
    """Tell which candles a person has looked at: what they say they looked through, else all between their marks."""
    touched = rows.reviewed(side.marks, side.ranges)
    if not side.ranges:
        marked = np.flatnonzero(touched)
        if len(marked):
            touched[marked[0] : marked[-1] + 1] = True
    return touched


def is_comparable(mark: Mark) -> bool:
    """Tell whether a mark takes part: levels, lines and the chart's class have no candle to agree on."""
    return KINDS[mark["kind"]].of_candles
