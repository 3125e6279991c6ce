"""Marks that the model doubts most: each is judged by what marks of other blocks of time teach (confident learning)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nn.few.chances import span_thirds
from nn.few.choice import Chosen, Fold
from nn.few.ground import Ground
from nn.few.marked import inside
from nn.few.spans import Span, iou

Floats = npt.NDArray[np.float64]

FIT_WEIGHT = 0.5  # of what was read, against 1 for each other reason: a reader errs about whole spans more often


class Doubt(NamedTuple):
    """A mark, how much it is doubted (0 to 1), and why: each reason between 0 and 1."""

    span: Span
    doubt: float
    candles: float  # improbability of its class in the third of its candles that speaks most against it
    ends: float  # improbability of the less likely of its two ends, against the usual
    overlap: float  # share of it that another mark holds too
    unread: float  # 1 − IoU with the best span of its class that was read there
    instead: Span | None  # the span that was read over most of it


def rank_doubtful(chosen: Chosen) -> list[Doubt]:
    """Give every mark, the most doubtful first.

    The worst third of the candles, the worse end and the overlap weigh the same; what was read counts by how well its
    reader reads. An overlap puts both marks up, since it does not say which of them is wrong.
    """
    trust = FIT_WEIGHT * chosen.score.f1
    folds = zip(chosen.folds, chosen.unseen, strict=True)
    doubts = [doubt for fold, read in folds for doubt in _of_fold(fold, read, trust)]
    return sorted(doubts, key=lambda doubt: -doubt.doubt)


def _of_fold(fold: Fold, read: list[Span], trust: float) -> list[Doubt]:
    marks = inside(sorted(fold.lesson.ground.marked.spans), *fold.held_out)
    candles, ends = _against_candles(fold, marks), _against_ends(fold, marks)
    overlaps = [_overlap(mark, fold.lesson.ground) for mark in marks]
    reasons = zip(marks, candles.tolist(), ends.tolist(), overlaps, strict=True)
    return [_doubt(read, trust, *reason) for reason in reasons]


def _doubt(read: list[Span], trust: float, mark: Span, candles: float, ends: float, overlap: float) -> Doubt:
    near = [span for span in read if span.start < mark.end and span.end > mark.start]
    unread = 1 - max((iou(span, mark) for span in near if span.label == mark.label), default=0.0)
    instead = max(near, key=lambda span: iou(span, mark), default=None)
    doubt = (candles + ends + overlap + trust * unread) / (3 + trust)
    return Doubt(mark, doubt, candles, ends, overlap, unread, instead)


def _against_candles(fold: Fold, marks: list[Span]) -> Floats:
    against, model = np.full(len(marks), 0.5), fold.lesson.plain_candles
    if model is None:
        return against
    for piece in fold.lesson.ground.pieces:
        mine = [i for i, mark in enumerate(marks) if piece.start <= mark.start and mark.end <= piece.end]
        if mine:
            likely = np.exp(model.log_probabilities(piece.surroundings))
            against[mine] = 1 - span_thirds(likely, [marks[i] for i in mine], piece.start).min(axis=1)
    return against


def _against_ends(fold: Fold, marks: list[Span]) -> Floats:
    ground, model = fold.lesson.ground, fold.lesson.ends
    rows, labels = np.arange(len(marks)), [mark.label for mark in marks]
    first = np.searchsorted(ground.rows, [max(0, mark.start - 1) for mark in marks])
    last = np.searchsorted(ground.rows, [mark.end - 1 for mark in marks])
    starts = model.log_odds(ground.surroundings[first], 0)[rows, labels]
    ends = model.log_odds(ground.surroundings[last], 1)[rows, labels]
    return np.asarray(1 / (1 + np.exp(np.minimum(starts, ends))))


def _overlap(mark: Span, ground: Ground) -> float:
    others = (span for span in ground.marked.spans if span != mark and span.start < mark.end and span.end > mark.start)
    shared = [min(span.end, mark.end) - max(span.start, mark.start) for span in others]
    return min(1.0, max(shared, default=0) / (mark.end - mark.start))
