"""Which class each candle has in a layer: spans laid over candles, the last updated one on top. Pure; no database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from annotate.annotations.geometry import KINDS
from annotate.timeframe import closes_all, parse

Json = Mapping[str, Any]
NO_CLASS = -1


@dataclass(frozen=True, slots=True)
class LayerClasses:
    """The class of each candle in one layer, NO_CLASS where no span covers it; and how many candles several cover."""

    classes: npt.NDArray[np.int32]  # (n,), places in the layer's list of names
    overlapping: int


class CandleTimes:
    """Open and close times of candles, ascending; finds the rows that a mark touches."""

    def __init__(self, opens: npt.NDArray[np.int64], timeframe: str) -> None:
        self._opens = opens
        self._closes = closes_all(opens, parse(timeframe))

    def touched(self, mark: Json) -> slice:
        """Give the rows of the candles that share a moment with the mark; none where it lies in a gap."""
        kind = KINDS[mark["kind"]]
        first = np.searchsorted(self._closes, kind.first(mark), side="right")
        end = np.searchsorted(self._opens, kind.last(mark), side="right")
        return slice(int(first), max(int(first), int(end)))

    def covers(self, marks: Sequence[Json]) -> npt.NDArray[np.int64]:
        """Count for each candle the marks that touch it."""
        steps = np.zeros(len(self._opens) + 1, np.int64)
        for mark in marks:
            rows = self.touched(mark)
            steps[rows.start] += 1
            steps[rows.stop] -= 1
        return np.cumsum(steps[:-1])

    def layer_classes(self, marks: Sequence[Json], names: Sequence[str]) -> LayerClasses:
        """Lay the spans whose label is one of `names` over the candles.

        Where spans overlap, the last updated one wins; of two updated at once, the later one in the list.
        """
        place_of = {name: place for place, name in enumerate(names)}
        spans = [mark for mark in marks if mark["kind"] == "span" and mark["label"] in place_of]
        classes = np.full(len(self._opens), NO_CLASS, np.int32)
        for span in sorted(spans, key=lambda mark: int(mark["updated"])):
            classes[self.touched(span)] = place_of[span["label"]]
        return LayerClasses(classes, int(np.count_nonzero(self.covers(spans) > 1)))
