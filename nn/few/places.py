"""Where a mark would teach most: unmarked places in order of what a model is unsure of, or of chance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from nn.few.chances import Chances
from nn.few.choice import Chosen
from nn.few.decoding import viterbi
from nn.few.doubts import rank_doubtful
from nn.few.history import SIZE, Suggested
from nn.few.marked import Marked, Range
from nn.few.piece import Piece
from nn.few.spans import Span, paint
from nn.few.surroundings import PLAIN
from nn.offers import ORDERS

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

SEEN_ROWS = 1_000  # known candles that a place's candles are compared with
COVERED = 0.5  # a place of which more is marked or reviewed is left out
STAY = 0.97
LEAST_WIDTH = 12


class Place(NamedTuple):
    """Candles [start, end) to look at, and how much the order's reason applies."""

    start: int
    end: int
    score: float


@dataclass
class Sight:
    """What is known of the candles of a piece when the next place is sought."""

    chosen: Chosen
    chances: Chances
    piece: Piece
    likely: Floats  # (n, K + 1): class probabilities of the candles

    @cached_property
    def found(self) -> Sequence[Suggested]:
        """Read the piece by the chosen reader; several orders do without."""
        return self.chances.tell(self.piece, self.chosen.read(self.piece))


Order = Callable[[Sight], Floats]


def _entropy(sight: Sight) -> Floats:
    likely = np.maximum(sight.likely, 1e-12)
    return np.asarray(-(likely * np.log(likely)).sum(axis=1))


def _margin(sight: Sight) -> Floats:
    ordered = np.sort(sight.likely, axis=1)
    return np.asarray(1 - (ordered[:, -1] - ordered[:, -2]))


def _improbable(sight: Sight) -> Floats:
    """Give each candle how improbable the span that was found over it is; where none was found, half."""
    doubt = np.full(len(sight.piece), 0.5)
    for item in sight.found:
        doubt[max(0, item.span.start - sight.piece.start) : item.span.end - sight.piece.start] = 1 - item.probability
    return doubt


def _disagreement(sight: Sight) -> Floats:
    """Give 1 where the chosen reader and the plain recipe read different classes."""
    nothing = sight.likely.shape[1] - 1
    spans = [Span(s.start - sight.piece.start, s.end - sight.piece.start, s.label) for s, _ in sight.found]
    plain = viterbi(np.log(np.maximum(sight.likely, 1e-12)), STAY)
    return np.asarray(paint(spans, len(sight.piece), nothing) != plain, np.float64)


def _unseen(sight: Sight) -> Floats:
    """Give the distance of each candle's surroundings to the nearest known candle's, in spreads of the columns."""
    ground = sight.chosen.lesson.ground
    known = np.flatnonzero(ground.classes >= 0)
    known = known[:: max(1, -(-len(known) // SEEN_ROWS))]
    spread = ground.candle_scale.spread[:PLAIN]
    tree = cKDTree(ground.surroundings[known, :PLAIN] / spread)
    distance, _ = tree.query(sight.piece.surroundings[:, :PLAIN] / spread)
    return np.asarray(distance, np.float64)


BY: dict[str, Order | None] = {
    "random": None,
    "entropy": _entropy,
    "margin": _margin,
    "improbable": _improbable,
    "disagreement": _disagreement,
    "unseen": _unseen,
}


def next_places(
    chosen: Chosen, chances: Chances, within: Range, order: str = "random", count: int = 10, seed: int = 0
) -> list[Place]:
    """Give up to `count` unmarked places of candles [start, end), spread over time, the most telling first.

    Places that are mostly marked or reviewed are left out; by `annotator` the places are marks. Raises ValueError for
    an order that does not exist.
    """
    if order not in ORDERS:
        raise ValueError(f"no order {order!r}; there are {', '.join(ORDERS)}")
    if order == "annotator":
        return _doubted(chosen, within, count)
    starts, width = _open_places(chosen.lesson.marked, within)
    if not len(starts):
        return []
    by = BY[order]
    if by is None or chosen.lesson.plain_candles is None:
        scores = np.random.default_rng(seed).random(len(starts))
    else:
        scores = _worth(chosen, chances, by, within, width)[(starts - within[0]) // width]
    return _spread(starts, width, scores, count)


def _worth(chosen: Chosen, chances: Chances, by: Order, within: Range, width: int) -> Floats:
    """Give the mean worth of each place of the grid over candles [start, end), a piece at a time."""
    (start, end), market, model = within, chosen.lesson.ground.market, chosen.lesson.plain_candles
    step = max(1, SIZE // width) * width
    means: list[Floats] = []
    for begin in range(start, end, step):
        piece = Piece(market, begin, min(end, begin + step))
        likely = np.exp(model.log_probabilities(piece.surroundings)) if model else np.empty((len(piece), 0))
        worth = by(Sight(chosen, chances, piece, likely))
        means.append(np.add.reduceat(worth, np.arange(0, len(worth), width)) / width)
    return np.concatenate(means)


def _doubted(chosen: Chosen, within: Range, count: int) -> list[Place]:
    """Give the marks that the model reads differently, outside of reviewed ranges, the most doubted first."""
    start, end = within
    marks = [
        doubt
        for doubt in rank_doubtful(chosen)
        if start <= doubt.span.middle < end and not _holds(chosen.lesson.marked.reviewed, doubt.span.middle)
    ]
    apart = (end - start) // (3 * count) if len(marks) > count else 0
    taken: list[Place] = []
    for span, worth, *_ in marks:
        if len(taken) < count and all(abs(span.start - place.start) >= apart for place in taken):
            taken.append(Place(span.start, span.end, worth))
    return taken


def _holds(ranges: Sequence[Range], candle: int) -> bool:
    return any(first <= candle < last for first, last in ranges)


def _open_places(marked: Marked, within: Range) -> tuple[Ints, int]:
    """Give the beginnings of the open places, on a grid of twice a mark's length, and that width."""
    start, end = within
    width = max(LEAST_WIDTH, 2 * marked.typical)
    taken = np.zeros(end - start + 1)
    for first, last in [*((span.start, span.end) for span in marked.spans), *marked.reviewed]:
        taken[max(0, first - start) : max(0, last - start)] = 1
    starts = np.arange(start, end - width + 1, width)
    total = np.concatenate([[0.0], np.cumsum(taken)])
    share = (total[starts - start + width] - total[starts - start]) / width
    return starts[share <= COVERED], width


def _spread(starts: Ints, width: int, scores: Floats, count: int) -> list[Place]:
    """Take the best places one by one, none nearer to another than a third of their even spacing."""
    apart = max(width, (int(starts[-1]) - int(starts[0])) // (3 * count)) if len(starts) > count else width
    taken: list[Place] = []
    for index in np.argsort(-scores, kind="stable").tolist():
        start = int(starts[index])
        if all(abs(start - place.start) >= apart for place in taken):
            taken.append(Place(start, start + width, float(scores[index])))
        if len(taken) == count:
            break
    return taken
