"""How likely a suggested span is what the person would have marked: calibrated on spans that were read out of fold."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nn.few.choice import Chosen, Fold
from nn.few.history import Suggested
from nn.few.lesson import Lesson
from nn.few.linear import Linear, Scale
from nn.few.marked import inside
from nn.few.piece import Piece
from nn.few.spans import Span, pairs

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

STRENGTH = 0.1  # inverse of the regularisation: some dozens of spans teach five numbers
BINS = 5


class Reliability(NamedTuple):
    """How true the probabilities were, each told by spans of other blocks of time."""

    n: int
    share: float  # of the spans that matched a mark
    mean: float  # probability told
    brier: float
    error: float  # mean distance between the probability told and the share that came true, over five bins


class Chances(NamedTuple):
    """Tells the probability of spans."""

    lesson: Lesson
    model: Linear | None  # None: every one has the probability `share`
    share: float
    reliability: Reliability | None  # None below two blocks of time

    def tell(self, piece: Piece, spans: Sequence[Span]) -> list[Suggested]:
        """Give the spans of a piece with their probabilities."""
        told = _told(self.model, self.share, looks(self.lesson, piece, spans)).tolist()
        return [Suggested(span, chance) for span, chance in zip(spans, told, strict=True)]


def calibrate(chosen: Chosen) -> Chances:
    """Learn from the spans that the chosen reader read before it saw the marks there: which matched one?"""
    rows, hits = zip(
        *(_examples(fold, spans) for fold, spans in zip(chosen.folds, chosen.unseen, strict=True)), strict=True
    )
    model, share = _fit(np.concatenate(rows), np.concatenate(hits))
    return Chances(chosen.lesson, model, share, _reliability(rows, hits))


def looks(lesson: Lesson, piece: Piece, spans: Sequence[Span]) -> Floats:
    """Describe spans (m, 5) by what the lesson's models make of them: candles, worst third, both ends, length."""
    if not spans:
        return np.empty((0, 5))
    model = lesson.plain_candles
    first = np.array([span.start for span in spans]) - piece.start
    last = np.array([span.end for span in spans]) - piece.start
    labels = np.array([span.label for span in spans])
    starts = lesson.ends.log_odds(piece.surroundings[np.maximum(first - 1, 0)], 0)[np.arange(len(spans)), labels]
    ends = lesson.ends.log_odds(piece.surroundings[last - 1], 1)[np.arange(len(spans)), labels]
    usual = np.log(max(1, lesson.marked.typical))
    odd = np.abs(np.log(last - first) - usual)
    if model is None:
        return np.column_stack([np.zeros((len(spans), 2)), starts, ends, odd])
    likely = np.exp(model.log_probabilities(piece.surroundings))
    thirds = span_thirds(likely, spans, piece.start)
    return np.column_stack([_log_odds(thirds.mean(axis=1)), _log_odds(thirds.min(axis=1)), starts, ends, odd])


def span_thirds(likely: Floats, spans: Sequence[Span], start: int) -> Floats:
    """Give the mean probability of its class in each third of each span (m, 3); row 0 of `likely` is candle `start`."""
    total = np.concatenate([np.zeros((1, likely.shape[1])), np.cumsum(likely, axis=0)])
    first, last, labels = (np.array(column, np.int64) for column in zip(*spans, strict=True))
    cuts = [first - start + (last - first) * k // 3 for k in range(4)]
    means = []
    for a, b in pairwise(cuts):
        # A span shorter than three candles has thirds without a candle: such a third takes the next one.
        since = np.minimum(a, last - start - 1)
        until = np.maximum(b, since + 1)
        means.append((total[until, labels] - total[since, labels]) / (until - since))
    return np.stack(means, axis=1)


def _log_odds(likely: Floats) -> Floats:
    held = np.clip(likely, 1e-3, 1 - 1e-3)
    return np.asarray(np.log(held / (1 - held)))


def _examples(fold: Fold, spans: Sequence[Span]) -> tuple[Floats, Ints]:
    """Give the looks of spans that were read in a held-out block, and whether each matched a mark."""
    marks = inside(fold.lesson.ground.marked.own, *fold.held_out)
    hits = np.zeros(len(spans), np.int64)
    hits[[pair.predicted for pair in pairs(spans, marks)]] = 1
    rows = np.zeros((len(spans), 5))
    for piece in fold.lesson.ground.pieces:
        mine = [i for i, span in enumerate(spans) if piece.start <= span.start and span.end <= piece.end]
        rows[mine] = looks(fold.lesson, piece, [spans[i] for i in mine])
    return rows, hits


def _fit(rows: Floats, hits: Ints) -> tuple[Linear | None, float]:
    share = (int(hits.sum()) + 1) / (len(hits) + 2)
    if len(np.unique(hits)) < 2:
        return None, share
    return Linear.fit(rows, hits, Scale.of(rows), STRENGTH), share


def _told(model: Linear | None, share: float, rows: Floats) -> Floats:
    return np.full(len(rows), share) if model is None else np.exp(model.log_probabilities(rows))[:, 1]


def _reliability(rows: Sequence[Floats], hits: Sequence[Ints]) -> Reliability | None:
    if len(rows) < 2 or not sum(len(part) for part in hits):
        return None
    told = []
    for k in range(len(rows)):
        others = [i for i in range(len(rows)) if i != k]
        model, share = _fit(np.concatenate([rows[i] for i in others]), np.concatenate([hits[i] for i in others]))
        told.append(_told(model, share, rows[k]))
    return reliability(np.concatenate(told), np.concatenate(hits))


def reliability(told: Floats, hits: Ints) -> Reliability:
    """Compare probabilities (n,) with what came true (n,), in five bins with as many each."""
    order = np.argsort(told, kind="stable")
    bins = [part for part in np.array_split(order, BINS) if len(part)]
    error = sum(len(part) * abs(told[part].mean() - hits[part].mean()) for part in bins) / len(told)
    brier = float(np.mean((told - hits) ** 2))
    return Reliability(len(told), float(hits.mean()), float(told.mean()), brier, float(error))
