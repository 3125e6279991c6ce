"""What a file of marks gave, before anything is stored; and the candles that its marks should stand on. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from annotate.candles import Candles
from annotate.timeframe import closes_all, parse

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class FoundMark:
    """One mark of a file."""

    where: str  # its place in the file, in words
    body: Json  # as the API takes it, without a revision
    id: str | None = None  # None where the file has none of ours
    facts: Json | None = None  # what a stored mark of ours adds: author, source, times, revision


@dataclass(frozen=True, slots=True)
class Found:
    """All marks of a file, and how it was read."""

    format: str
    marks: list[FoundMark]
    labels: Sequence[Mapping[str, Any]] = ()  # the look of its labels, where the file has it
    mapping: Mapping[str, str] = field(default_factory=dict)  # what was taken from where
    notes: Sequence[str] = ()
    options: Sequence[Mapping[str, Any]] = ()  # other readings that a person may choose
    skipped: Sequence[Json] = ()  # {where, why} of what is no mark


@dataclass(frozen=True)
class Chart:
    """The closed candles of the series that marks come to."""

    candles: Candles
    timeframe: str

    @property
    def opens(self) -> npt.NDArray[np.int64]:
        """Open times, ascending."""
        return self.candles.time

    def row_of(self, time: int) -> int | None:
        """Give the row of the candle that holds a time; None where none does."""
        row = int(np.searchsorted(self.opens, time, side="right")) - 1
        return row if row >= 0 and time < self.close_of(row) else None

    def close_of(self, row: int) -> int:
        """Give the close of a candle, ms UTC."""
        return int(closes_all(self.opens[row : row + 1], parse(self.timeframe))[0])

    def close_after(self, time: int) -> int:
        """Give the close of the candle that holds a time; the next ms where none does, so that a span stays one."""
        row = self.row_of(time)
        return time + 1 if row is None else self.close_of(row)

    def price_at(self, time: int) -> float | None:
        """Give the closing price of the candle that holds a time; None where none does."""
        row = self.row_of(time)
        return None if row is None else float(self.candles.close[row])


def joined_spans(chart: Chart, labelled: Sequence[tuple[int, str, str]]) -> list[FoundMark]:
    """Join candles of one label, (time, label, where), to a span each stretch of neighbours.

    Labels are joined apart from each other, so that two of them may lie on the same candles.
    """
    spans: list[FoundMark] = []
    last: dict[str, FoundMark] = {}
    for time, label, where in sorted(labelled, key=lambda each: each[0]):
        span = last.get(label)
        if span is not None and _follows(chart, span.body["end"], time):
            span.body["end"] = max(span.body["end"], chart.close_after(time))
        else:
            body = {"kind": "span", "label": label, "start": time, "end": chart.close_after(time)}
            last[label] = FoundMark(where, body)
            spans.append(last[label])
    return spans


def _follows(chart: Chart, end: int, time: int) -> bool:
    """Tell whether no candle lies between the end of a span and a time."""
    return int(np.searchsorted(chart.opens, end)) >= int(np.searchsorted(chart.opens, time))
