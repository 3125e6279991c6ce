"""Where a replay's cursor goes: to a time, to a random candle, on and back by candles. Pure; no database.

The cursor is the close of the last candle that is shown, so that a candle is shown where it opened before the cursor.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import numpy as np
import numpy.typing as npt

from annotate.errors import InvalidInput
from annotate.timeframe import closes_all, floor_all, nests, parse

Times = npt.NDArray[np.int64]

MOST_STEPS = 100_000
LEAST_PAST = 100  # candles before a random start, where the series has as many to spare


@dataclass(frozen=True, slots=True)
class Walk:
    """The candles of a series that a replay goes over: open times (n,), ascending, ms UTC."""

    opens: Times
    timeframe: str

    def at(self, time: int) -> int:
        """Give the cursor for a time: only what had closed by then is shown. Raises InvalidInput before the first."""
        row = int(np.searchsorted(self._closes(), time, side="right")) - 1
        if row < 0:
            raise InvalidInput("at: no candle had closed by then; choose a later time", field="at")
        return self.close(row)

    def random(self, random: Random) -> int:
        """Give a cursor anywhere with some candles before it and at least one after."""
        n = len(self.opens)
        if n < 2:
            raise InvalidInput("the series has too few candles to replay", field="random")
        first = min(LEAST_PAST, n // 2)
        return self.close(random.randrange(first, max(first + 1, n - 1 - n // 10)) - 1)

    def stepped(self, cursor: int, steps: int, timeframe: str) -> int:
        """Give the cursor after so many candles of a timeframe, back where negative; it stops at either end."""
        row = self.row(cursor)
        length = parse(timeframe)
        if timeframe != self.timeframe and not nests(self.timeframe, timeframe):
            raise InvalidInput(f"timeframe = {timeframe}: {self.timeframe} candles do not fill it", field="timeframe")
        if abs(steps) > MOST_STEPS:
            raise InvalidInput(f"step = {steps}: at most {MOST_STEPS} candles at once", field="step")
        if length == parse(self.timeframe):
            return self.close(row + steps)
        reach = abs(steps) * (length // parse(self.timeframe) + 1)
        if steps > 0:
            buckets = floor_all(self.opens[row + 1 : row + 2 + reach], length)
            ends = np.flatnonzero(np.append(buckets[1:] != buckets[:-1], True))[: min(steps, len(buckets))]
            return self.close(row + 1 + int(ends[-1])) if len(buckets) else cursor
        buckets = floor_all(self.opens[max(0, row - reach) : row + 1], length)
        starts = np.flatnonzero(np.append(True, buckets[1:] != buckets[:-1]))
        back = starts[max(0, len(starts) + steps)] if steps else len(buckets)
        return self.close(max(0, row - len(buckets) + int(back)))

    def row(self, cursor: int) -> int:
        """Give the row of the last candle that is shown."""
        return int(np.searchsorted(self.opens, cursor, side="left")) - 1

    def close(self, row: int) -> int:
        """Give the close of a row; of the first or the last where there is no such row."""
        inside = min(max(row, 0), len(self.opens) - 1)
        return int(closes_all(self.opens[inside : inside + 1], parse(self.timeframe))[0])

    def _closes(self) -> Times:
        return closes_all(self.opens, parse(self.timeframe))
