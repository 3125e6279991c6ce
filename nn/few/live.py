"""The state of the newest candle by earlier ones alone: a causal model and a filter. A later candle changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nn.few.choice import Fold
from nn.few.decoding import sticky_filter
from nn.few.lesson import MOST_CANDLES, Lesson
from nn.few.linear import LEAST, Linear, Scale
from nn.few.marked import UNKNOWN
from nn.few.market import Market
from nn.few.spans import Span, moved, runs
from nn.few.surroundings import PLAIN_CAUSAL, TURNING_CAUSAL, causal

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

STAY = 0.97
RUN_UP = 400  # candles before the first that is asked for, so that the filter forgets where it began
STRENGTH = 0.1  # inverse of the regularisation
LEAD = 0.03  # share of the log loss that more columns must save
MOMENTUM = 12  # candles of the rule beside it


@dataclass(frozen=True, slots=True)
class LiveReader:
    """Class probabilities of each candle at its close."""

    model: Linear
    columns: int
    n_classes: int  # the class after the last is nothing

    def beliefs(self, market: Market, start: int, end: int) -> Floats:
        """Give P(class | this and earlier candles) of candles [start, end): (n, K + 1)."""
        first = max(0, start - RUN_UP)
        seen = np.exp(self.model.log_probabilities(causal(market, first, end)[:, : self.columns]))
        beliefs = np.zeros((end - first, self.n_classes + 1))
        beliefs[:, self.model.classes] = sticky_filter(seen, STAY)
        return beliefs[start - first :]

    def read(self, market: Market, start: int, end: int) -> list[Span]:
        """Give the runs of the likeliest class; the last may go on."""
        return moved(runs(self.beliefs(market, start, end).argmax(axis=1), self.n_classes), start)


def learn_live(folds: Sequence[Fold], lesson: Lesson) -> LiveReader | None:
    """Learn the classes of known candles from what led to them; None where only one class is known.

    Whether turning, widths and volume are looked at too is decided by the log loss on held-out blocks of time.
    """
    ground = lesson.ground
    rows = np.concatenate([causal(ground.market, piece.start, piece.end) for piece in ground.pieces])
    sets = (PLAIN_CAUSAL, TURNING_CAUSAL, rows.shape[1])
    losses = {columns: sum(_loss(fold, rows, columns) for fold in folds) for columns in sets}
    lead = LEAD * losses[PLAIN_CAUSAL]
    columns = min(sets, key=lambda tried: losses[tried] + (0 if tried == PLAIN_CAUSAL else lead))
    model = _fit(lesson, rows, columns)
    return None if model is None else LiveReader(model, columns, lesson.marked.n_classes)


def _fit(lesson: Lesson, rows: Floats, columns: int) -> Linear | None:
    known = np.flatnonzero(lesson.classes != UNKNOWN)
    known = known[:: max(1, -(-len(known) // MOST_CANDLES))]
    targets = lesson.classes[known]
    if len(np.unique(targets)) < 2:
        return None
    chosen = rows[known, :columns]
    return Linear.fit(chosen, targets, Scale.of(chosen), STRENGTH, lesson.ground.weights[known])


def _loss(fold: Fold, rows: Floats, columns: int) -> float:
    """Give the summed −log P of what is known of the held-out candles."""
    model, known = _fit(fold.lesson, rows, columns), fold.lesson.ground.classes
    held_out = np.flatnonzero(fold.lesson.left_out & (known != UNKNOWN))
    if model is None or not len(held_out):
        return 0.0
    logs = np.full((len(held_out), fold.lesson.marked.n_classes + 1), LEAST)
    logs[:, model.classes] = model.log_probabilities(rows[held_out, :columns])
    return -float(logs[np.arange(len(held_out)), known[held_out]].sum())


def momentum(market: Market, start: int, end: int) -> Ints:
    """Give 1 where price is above that of 12 candles ago, else 0 (n,): what needs no model."""
    at = np.arange(start, end)
    return (market.log_price[at] > market.log_price[np.maximum(at - MOMENTUM, 0)]).astype(np.int64)
