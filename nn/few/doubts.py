"""Marks that the model doubts most: each is judged by what marks of other blocks of time teach (confident learning)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nn.few.chances import span_thirds
from nn.few.choice import Chosen, Fold
from nn.few.marked import inside
from nn.few.spans import Span, iou

Floats = npt.NDArray[np.float64]


class Doubt(NamedTuple):
    """A mark, how much it is doubted (0 to 1), and what was read in its place."""

    span: Span
    doubt: float
    fit: float  # IoU with the best span of its class that was read there
    worst_third: float  # probability of its class in the third of its candles that speaks most against it
    instead: Span | None  # the span that was read over most of it


def rank_doubtful(chosen: Chosen) -> list[Doubt]:
    """Give every mark, the most doubtful first.

    What was read counts by how well that reader reads, the worst third of a mark's candles by the rest.
    """
    trust = chosen.score.f1
    doubts = [
        doubt for fold, read in zip(chosen.folds, chosen.unseen, strict=True) for doubt in _of_fold(fold, read, trust)
    ]
    return sorted(doubts, key=lambda doubt: -doubt.doubt)


def _of_fold(fold: Fold, read: list[Span], trust: float) -> list[Doubt]:
    marks = inside(sorted(fold.lesson.ground.marked.spans), *fold.held_out)
    thirds = _worst_thirds(fold, marks)
    return [_doubt(mark, read, float(third), trust) for mark, third in zip(marks, thirds, strict=True)]


def _doubt(mark: Span, read: list[Span], third: float, trust: float) -> Doubt:
    near = [span for span in read if span.start < mark.end and span.end > mark.start]
    fit = max((iou(span, mark) for span in near if span.label == mark.label), default=0.0)
    instead = max(near, key=lambda span: iou(span, mark), default=None)
    return Doubt(mark, trust * (1 - fit) + (1 - trust) * (1 - third), fit, third, instead)


def _worst_thirds(fold: Fold, marks: list[Span]) -> Floats:
    lesson = fold.lesson
    worst = np.full(len(marks), 0.5)
    if lesson.plain_candles is None:
        return worst
    for piece in lesson.ground.pieces:
        mine = [i for i, mark in enumerate(marks) if piece.start <= mark.start and mark.end <= piece.end]
        if mine:
            likely = np.exp(lesson.plain_candles.log_probabilities(piece.surroundings))
            worst[mine] = span_thirds(likely, [marks[i] for i in mine], piece.start).min(axis=1)
    return worst
