"""What a person marked, and what may be known from it of the candles that they left unmarked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nn.few.spans import Span, paint

Ints = npt.NDArray[np.int64]
Range = tuple[int, int]  # candles [start, end)

UNKNOWN = -1  # the class of a candle of which nobody said anything; "nothing" is the class after the last
GROUP_GAP = 12  # marks no further apart than this touch
TOUCHING = 0.6  # share of near neighbours that touch from which a room is a mark left out rather than nothing
NEAR = 4.0  # marks whose room is at most this many times as long as a mark are near
LEAST_ROOM, MOST_ROOM = 120, 400
LEAST_BESIDE = 24  # candles beside a lone mark that a person saw at the least


class Marked(NamedTuple):
    """Marks as spans of candle positions, and the ranges in which unmarked candles are known to be nothing."""

    spans: list[Span]
    reviewed: list[Range]
    n_classes: int
    weights: Mapping[Span, float] = {}  # of marks that count for less than one: a model's own, accepted

    @property
    def own(self) -> list[Span]:
        """Give the marks by which a reader is judged: those of full weight, or all where there are none."""
        return [span for span in self.spans if self.weights.get(span, 1.0) >= 1.0] or self.spans

    @property
    def typical(self) -> int:
        """Give the median length of a mark, in candles."""
        return int(np.median([span.end - span.start for span in self.spans])) if self.spans else 0


def candle_classes(marked: Marked, n: int) -> Ints:
    """Give what is known of each candle (n,): a class, `n_classes` for nothing, or UNKNOWN."""
    classes = np.full(n, UNKNOWN, np.int64)
    for start, end in [*marked.reviewed, *passed_over(marked)]:
        classes[max(0, start) : max(0, end)] = marked.n_classes
    painted = paint(sorted(marked.spans), n, UNKNOWN)
    return np.where(painted == UNKNOWN, classes, painted)


def passed_over(marked: Marked) -> list[Range]:
    """Give the rooms that a person saw and left unmarked: those between near marks, and some candles beside lone ones.

    Where near marks of several classes mostly touch, a room is a mark that was left out, and says nothing.
    """
    spans = sorted(marked.spans)
    near = int(np.clip(NEAR * marked.typical, LEAST_ROOM, MOST_ROOM))
    rooms = [(a.end, b.start) for a, b in pairwise(spans)]
    close = [end - start <= GROUP_GAP for start, end in rooms if end - start <= near]
    alone = len({span.label for span in spans}) == 1  # a single class needs something that it is not
    if close and np.mean(close) >= TOUCHING and not alone:
        return []
    beside = max(LEAST_BESIDE, marked.typical // 2)
    wide = [(start, end) for start, end in rooms if end - start > near]
    edges = [(spans[0].start - beside, spans[0].start), (spans[-1].end, spans[-1].end + beside)] if spans else []
    lone = [part for start, end in wide for part in ((start, start + beside), (end - beside, end))]
    return [(start, end) for start, end in rooms if end - start <= near] + lone + edges


def merged(ranges: Iterable[Range], room: int = 0) -> list[Range]:
    """Join ranges that overlap or lie within `room` candles of each other; give them in order."""
    joined: list[Range] = []
    for start, end in sorted(ranges):
        if joined and start <= joined[-1][1] + room:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def transitions(marked: Marked) -> npt.NDArray[np.float64]:
    """Give the log odds (K + 1, K + 1) that a class follows another, against any as likely; one half to each count.

    Index K is nothing, which may follow itself at no cost.
    """
    k = marked.n_classes
    counts = np.full((k + 1, k + 1), 0.5)
    for before, after in pairwise(sorted(marked.spans)):
        room = after.start - before.end
        if room <= GROUP_GAP:
            counts[before.label, after.label] += 1
        elif room <= MOST_ROOM:
            counts[before.label, k] += 1
            counts[k, after.label] += 1
    odds: npt.NDArray[np.float64] = np.log(counts / counts.sum(axis=1, keepdims=True) * (k + 1))
    odds[k, k] = 0.0
    return odds


def inside(spans: Sequence[Span], start: int, end: int) -> list[Span]:
    """Keep the spans whose middle lies in [start, end)."""
    return [span for span in spans if start <= span.middle < end]
