"""Spans over candles: runs of a class, overlap, and how well one set of spans finds another."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]

IOU = 0.5  # two spans of one class are the same when they share at least this part of their union
CLOSE = 2  # candles by which both ends may miss


class Span(NamedTuple):
    """Candles [start, end) of one class."""

    start: int
    end: int
    label: int

    @property
    def middle(self) -> int:
        """Give the candle half way."""
        return (self.start + self.end) // 2


class Agreement(NamedTuple):
    """How well predicted spans find the true ones."""

    f1: float
    quality: float  # F1 in which a hit counts by its IoU ("panoptic quality", Kirillov et al. 2019): ends matter too
    both_ends: float  # share of the true spans with both ends within `CLOSE` candles
    found: int
    predicted: int
    true: int


class Pair(NamedTuple):
    """A true span and the predicted one that found it, as indices, and their IoU."""

    true: int
    predicted: int
    iou: float


def runs(classes: Ints, nothing: int = -1) -> list[Span]:
    """Give the runs of equal classes (n,) as spans, in order; runs of `nothing` are left out."""
    if not len(classes):
        return []
    edges = np.concatenate([[0], np.flatnonzero(np.diff(classes)) + 1, [len(classes)]])
    labels = classes[edges[:-1]].tolist()
    spans = zip(edges[:-1].tolist(), edges[1:].tolist(), labels, strict=True)
    return [Span(start, end, label) for start, end, label in spans if label != nothing]


def paint(spans: Sequence[Span], n: int, nothing: int = -1) -> Ints:
    """Give the class of each of n candles; a later span of the list paints over an earlier one."""
    classes = np.full(n, nothing, np.int64)
    for span in spans:
        classes[max(span.start, 0) : span.end] = span.label
    return classes


def moved(spans: Sequence[Span], by: int) -> list[Span]:
    """Give the spans `by` candles later."""
    return [Span(span.start + by, span.end + by, span.label) for span in spans]


def iou(a: Span, b: Span) -> float:
    """Give the candles that both hold over those that either holds; 0 where they are apart."""
    shared = min(a.end, b.end) - max(a.start, b.start)
    return max(0, shared) / (max(a.end, b.end) - min(a.start, b.start))


def pairs(predicted: Sequence[Span], true: Sequence[Span]) -> list[Pair]:
    """Match each true span, in order of time, to the best unused predicted one of its class with IoU ≥ 0.5."""
    order = sorted(range(len(predicted)), key=lambda i: predicted[i])
    starts = [predicted[i].start for i in order]
    longest = max((span.end - span.start for span in predicted), default=0)
    used: set[int] = set()
    found: list[Pair] = []
    for index in sorted(range(len(true)), key=lambda i: true[i]):
        first = bisect_left(starts, true[index].start - longest)
        near = (order[j] for j in range(first, len(order)) if order[j] not in used)
        match = _best(index, true[index], near, predicted)
        if match is not None:
            used.add(match.predicted)
            found.append(match)
    return found


def agreement(predicted: Sequence[Span], true: Sequence[Span]) -> Agreement:
    """Tell how well the predicted spans find the true ones; all figures are 0 where there are none of either."""
    matched = pairs(predicted, true)
    size = max(1, len(predicted) + len(true))
    close = sum(_close(predicted[pair.predicted], true[pair.true]) for pair in matched)
    return Agreement(
        f1=2 * len(matched) / size,
        quality=2 * sum(pair.iou for pair in matched) / size,
        both_ends=close / max(1, len(true)),
        found=len(matched),
        predicted=len(predicted),
        true=len(true),
    )


def _close(a: Span, b: Span) -> bool:
    return abs(a.start - b.start) <= CLOSE and abs(a.end - b.end) <= CLOSE


def _best(index: int, span: Span, candidates: Iterable[int], predicted: Sequence[Span]) -> Pair | None:
    best: Pair | None = None
    for i in candidates:
        if predicted[i].start >= span.end:
            break
        overlap = iou(predicted[i], span)
        if predicted[i].label == span.label and overlap >= (best.iou if best else IOU):
            best = Pair(index, i, overlap)
    return best
