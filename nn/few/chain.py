"""The best chain of stretches: which of them follow one another. A dynamic programme over local extremes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from nn.few.spans import Span
from nn.few.stretches import LONGEST, Stretches

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def best_chain(stretches: Stretches, gains: Floats, transitions: Floats) -> list[Span]:
    """Choose stretches that follow one another so that the sum of gains and transition log odds is largest.

    `gains` (m, K) is what stretch m adds as class k; `transitions` (K + 1, K + 1) is added from one class to the next,
    index K standing for "nothing", which may fill any room between two stretches. Stretches share no candle.
    """
    places = np.unique(np.concatenate([stretches.begin, stretches.end]))
    if not len(places):
        return []
    table = _Table(places, stretches, gains, transitions)
    for place in range(len(places)):
        table.fill(place)
    return table.walk_back()


class _Table:
    """Scores by (place, class that ended there) and where each came from."""

    def __init__(self, places: Ints, stretches: Stretches, gains: Floats, transitions: Floats) -> None:
        self.stretches, self.gains, self.transitions = stretches, gains, transitions
        self.nothing = gains.shape[1]
        self.begin = np.searchsorted(places, stretches.begin)
        end = np.searchsorted(places, stretches.end)
        self.order = np.argsort(end, kind="stable")
        self.bounds = np.searchsorted(end[self.order], np.arange(len(places) + 1))
        shape = (len(places), self.nothing + 1)
        self.score = np.full(shape, -np.inf)
        # The first chain may start anywhere in the first stretch's length, at no cost: what came before is not seen.
        self.score[places - places[0] <= LONGEST, self.nothing] = 0.0
        self.row, self.source = np.full(shape, -1), np.full(shape, -1)

    def fill(self, place: int) -> None:
        """Find the best way to each class at a place, from the places before it."""
        rows = self.order[self.bounds[place] : self.bounds[place + 1]]
        if len(rows):
            self._by_stretch(place, rows)
        if place:
            self._by_nothing(place)

    def _by_stretch(self, place: int, rows: Ints) -> None:
        spans = self.nothing
        # (rows, from, to): the best score at the stretch's beginning, by the class that ended there.
        paths = self.score[self.begin[rows]][:, :, None] + self.transitions[None, :, :spans]
        source = paths.argmax(axis=1)
        value = paths.max(axis=1) + self.gains[rows]
        best, label = value.argmax(axis=0), np.arange(spans)
        self.score[place, :spans] = value[best, label]
        self.row[place, :spans] = rows[best]
        self.source[place, :spans] = source[best, label]

    def _by_nothing(self, place: int) -> None:
        paths = self.score[place - 1] + self.transitions[:, self.nothing]
        paths[self.nothing] = self.score[place - 1, self.nothing]
        source = int(paths.argmax())
        if paths[source] > self.score[place, self.nothing]:
            self.score[place, self.nothing] = paths[source]
            self.source[place, self.nothing] = source

    def walk_back(self) -> list[Span]:
        """Give the best chain as spans: a stretch (begin, end] holds the candles after its beginning up to its end."""
        place, label = len(self.score) - 1, int(self.score[-1].argmax())
        spans = []
        while (source := int(self.source[place, label])) >= 0:
            if label == self.nothing:
                place -= 1
            else:
                row = int(self.row[place, label])
                spans.append(Span(int(self.stretches.begin[row]) + 1, int(self.stretches.end[row]) + 1, label))
                place = int(self.begin[row])
            label = source
        return spans[::-1]
