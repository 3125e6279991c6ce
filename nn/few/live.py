"""The state of the newest candle by earlier ones alone: a causal model and a filter. A later candle changes nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nn.few.decoding import sticky_filter
from nn.few.lesson import MOST_CANDLES, Lesson
from nn.few.linear import Linear, Scale
from nn.few.marked import UNKNOWN
from nn.few.market import Market
from nn.few.spans import Span, moved, runs
from nn.few.surroundings import causal

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

STAY = 0.97
RUN_UP = 400  # candles before the first that is asked for, so that the filter forgets where it began
STRENGTH = 1.0  # inverse of the regularisation
MOMENTUM = 12  # candles of the rule beside it


@dataclass(frozen=True, slots=True)
class LiveReader:
    """Class probabilities of each candle at its close."""

    model: Linear
    n_classes: int  # the class after the last is nothing

    def beliefs(self, market: Market, start: int, end: int) -> Floats:
        """Give P(class | this and earlier candles) of candles [start, end): (n, K + 1)."""
        first = max(0, start - RUN_UP)
        seen = np.exp(self.model.log_probabilities(causal(market, first, end)))
        beliefs = np.zeros((end - first, self.n_classes + 1))
        beliefs[:, self.model.classes] = sticky_filter(seen, STAY)
        return beliefs[start - first :]

    def read(self, market: Market, start: int, end: int) -> list[Span]:
        """Give the runs of the likeliest class; the last may go on."""
        return moved(runs(self.beliefs(market, start, end).argmax(axis=1), self.n_classes), start)


def learn_live(lesson: Lesson) -> LiveReader | None:
    """Learn the classes of known candles from what led to them; None where only one class is known."""
    known = np.flatnonzero(lesson.classes != UNKNOWN)
    known = known[:: max(1, -(-len(known) // MOST_CANDLES))]
    targets = lesson.classes[known]
    if len(np.unique(targets)) < 2:
        return None
    ground = lesson.ground
    rows = np.concatenate([causal(ground.market, piece.start, piece.end) for piece in ground.pieces])
    model = Linear.fit(rows[known], targets, Scale.of(rows), STRENGTH)
    return LiveReader(model, lesson.marked.n_classes)


def momentum(market: Market, start: int, end: int) -> Ints:
    """Give 1 where price is above that of 12 candles ago, else 0 (n,): what needs no model."""
    at = np.arange(start, end)
    return (market.log_price[at] > market.log_price[np.maximum(at - MOMENTUM, 0)]).astype(np.int64)
