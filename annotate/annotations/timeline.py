"""When the candles of a series open and close, and what a mark on them touches. Pure; no database."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annotate.annotations.draft import AnnotationDraft
from annotate.annotations.geometry import KINDS
from annotate.errors import InvalidInput
from annotate.timeframe import close_of


@dataclass(frozen=True, slots=True)
class Timeline:
    """Open times of the closed candles of a series, ascending, and its timeframe."""

    times: npt.NDArray[np.int64]  # (n,), ms UTC
    timeframe: str
    is_replay: bool = False  # the candles end at a replay's cursor: a mark must not reach beyond

    @property
    def first(self) -> int:
        """Open time of the first candle."""
        return int(self.times[0])

    @property
    def end(self) -> int:
        """Close of the last candle: how far an author sees from whom nothing is hidden."""
        return close_of(int(self.times[-1]), self.timeframe)

    def check(self, draft: AnnotationDraft) -> None:
        """Raise InvalidInput where the mark lies wholly outside of the time that the candles span."""
        if not len(self.times):
            raise InvalidInput("the series has no candles yet, so there is nothing to mark")
        first, last = draft.first, draft.last
        if first is None or last is None:
            return
        if self.is_replay and last >= self.end:
            raise InvalidInput(
                f"the mark ends at {last + 1}, after the replay's cursor at {self.end}; end it at the cursor",
                field=KINDS[draft.kind].first_field,
            )
        if first >= self.end or last < self.first:
            name = KINDS[draft.kind].first_field
            raise InvalidInput(
                f"{name} = {first}: the mark ends at {last + 1}, and the series' candles span "
                f"{self.first} to {self.end}; place it on them",
                field=name,
            )

    def known_at(self, draft: AnnotationDraft) -> int:
        """Close of the last candle that the mark touches; where it ends in a gap, its own end.

        A mark on the whole chart is known when the last candle has closed.
        """
        last = draft.last
        if last is None:
            return self.end
        place = int(np.searchsorted(self.times, last, side="right")) - 1
        close = close_of(int(self.times[place]), self.timeframe)
        return close if close > last or last >= self.end else last + 1
