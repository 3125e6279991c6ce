"""The best cut of candles into spans of any class and length, with nothing between them: a semi-Markov decoder."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nn.few.spans import Span

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for each cut, as log odds; class K is nothing."""

    candles: Floats  # (n, K + 1): that a candle is of a class
    starts: Floats  # (n, K): that a span of a class has its first candle here
    ends: Floats  # (n, K): that a span of a class has its last candle here
    lengths: Floats  # (K, D): that a span of a class holds 1…D candles
    transitions: Floats  # (K + 1, K + 1): that a class follows another


def best_cut(evidence: Evidence) -> list[Span]:
    """Give the spans of the cut with the largest sum of evidence (Viterbi over segments)."""
    n, classes = evidence.starts.shape
    if not n:
        return []
    total = np.concatenate([np.zeros((1, classes + 1)), np.cumsum(evidence.candles, axis=0)])
    bonus = evidence.starts - total[:-1, :classes]  # for a span that begins here
    close = evidence.ends + total[1:, :classes]  # for a span whose last candle this is
    lengths, most = np.ascontiguousarray(evidence.lengths[:, ::-1]), evidence.lengths.shape[1]
    began = np.zeros((n, classes), np.int64)  # where the best span that ends at a candle began
    before = np.full((n, classes + 1), -1)  # the class that came before one that begins at a candle
    entered = np.empty((classes, n))  # best score of a span that begins at a candle, before its end is known
    opened, each = evidence.transitions[classes], np.arange(classes)
    for t in range(n):
        entered[:, t] = opened[:classes] + bonus[t]
        first = max(0, t + 1 - most)
        tried = entered[:, first : t + 1] + lengths[:, most - (t + 1 - first) :]
        best = tried.argmax(axis=1)
        began[t] = first + best
        score = np.append(tried[each, best] + close[t], opened[classes] + evidence.candles[t, classes])
        if t + 1 < n:
            paths = score[:, None] + evidence.transitions
            before[t + 1] = paths.argmax(axis=0)
            opened = paths.max(axis=0)
    return _walk_back(began, before, int(score.argmax()))


def _walk_back(began: Ints, before: Ints, label: int) -> list[Span]:
    t, classes, spans = len(began) - 1, began.shape[1], []
    while t >= 0 and label >= 0:
        start = int(began[t, label]) if label < classes else t
        if label < classes:
            spans.append(Span(start, t + 1, label))
        label = int(before[start, label])
        t = start - 1
    return spans[::-1]
