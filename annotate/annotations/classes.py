"""Which class each candle has in a layer: spans laid over candles, the last updated one on top. Pure; no database."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from annotate.annotations.geometry import CLASS_KINDS, KINDS
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
        """Give the rows of the candles that share a moment with the mark; none where it lies in a gap.

        A mark on the whole chart has no time of its own and touches none.
        """
        kind = KINDS[mark["kind"]]
        first_ms, last_ms = kind.first(mark), kind.last(mark)
        if first_ms is None or last_ms is None:
            return slice(0, 0)
        return self.within(first_ms, last_ms)

    def within(self, first_ms: int, last_ms: int) -> slice:
        """Give the rows of the candles that share a moment with [first_ms, last_ms]."""
        first = np.searchsorted(self._closes, first_ms, side="right")
        end = np.searchsorted(self._opens, last_ms, side="right")
        return slice(int(first), max(int(first), int(end)))

    def covers(self, marks: Sequence[Json]) -> npt.NDArray[np.int64]:
        """Count for each candle the marks that touch it."""
        return self._counted(map(self.touched, marks))

    def reviewed(self, marks: Sequence[Json], ranges: Sequence[Json] = ()) -> npt.NDArray[np.bool_]:
        """Tell which candles someone has looked at: in a range `{start, end}`, or touched by a mark that says so."""
        touched = [self.touched(mark) for mark in marks if KINDS[mark["kind"]].of_candles]
        return self._counted([*touched, *(self.within(each["start"], each["end"] - 1) for each in ranges)]) > 0

    def _counted(self, rows: Iterable[slice]) -> npt.NDArray[np.int64]:
        steps = np.zeros(len(self._opens) + 1, np.int64)
        for each in rows:
            steps[each.start] += 1
            steps[each.stop] -= 1
        return np.cumsum(steps[:-1])

    def layer_classes(self, marks: Sequence[Json], names: Sequence[str]) -> LayerClasses:
        """Lay spans and candle classes whose label is one of `names` over the candles; drafts do not count.

        Where they overlap, the last updated one wins; of two updated at once, the later one in the list.
        """
        place_of = {name: place for place, name in enumerate(names)}
        spans = [mark for mark in marks if gives_class(mark) and mark["label"] in place_of]
        classes = np.full(len(self._opens), NO_CLASS, np.int32)
        for span in sorted(spans, key=lambda mark: int(mark["updated"])):
            classes[self.touched(span)] = place_of[span["label"]]
        return LayerClasses(classes, int(np.count_nonzero(self.covers(spans) > 1)))


def gives_class(mark: Json) -> bool:
    """Tell whether a mark gives candles a class: neither a draft nor one that a reviewer found wrong."""
    found_wrong = (mark.get("review") or {}).get("verdict") in ("correct", "reject")
    return mark["kind"] in CLASS_KINDS and mark.get("status") != "draft" and not found_wrong
