"""The leak gate: no answer may come from a window that has seen further than it, and no train mark may reach into what
judges it. Pure.

A window ends with the candle that it answers for; for an entry also at or before `decided_at`. A mark of one part of
the split that was known only when the next part had begun is purged: it takes part in neither.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from annotate.annotations.classes import CandleTimes
from annotate.annotations.fields import EARLIEST_MS
from annotate.annotations.geometry import KINDS
from annotate.errors import Conflict
from annotate.exporting.recipe import Recipe
from annotate.timeframe import closes_all, parse
from nn.split import Part, Split, split_rows

Json = dict[str, Any]
Marks = Sequence[Mapping[str, Any]]
Rows = npt.NDArray[np.int64]

MODES = ("replay", "hindsight")
NAMED = 5  # ids that the message itself names; the details hold all


class Leak(Conflict):
    """Something would learn from what it cannot have known; `details["marks"]` holds the ids."""

    code = "leak"


@dataclass(frozen=True, slots=True)
class Gate:
    """What the gate found in a dataset that it let pass."""

    split: Split
    modes: dict[str, int]  # marks by mode
    purged: dict[str, list[str]] = field(default_factory=dict)  # part → ids of the marks that reach beyond it

    @property
    def purged_ids(self) -> frozenset[str]:
        """Give the ids of all marks that no part may learn from."""
        return frozenset(mark_id for ids in self.purged.values() for mark_id in ids)

    def to_json(self, horizon: int) -> Json:
        """Give what stands in the manifest."""
        return {
            "passed": True,
            "horizon": horizon,
            "purge": self.split.purged,
            "embargo": self.split.embargo,
            "purged": self.purged,
            "modes": self.modes,
        }


def check(time: Rows, timeframe: str, marks: Marks, recipe: Recipe) -> Gate:
    """Let a dataset pass: candles that open at `time` (n,) with their marks, split as the recipe says.

    Raises Leak with the ids of the marks that claim to be known before their last candle had closed, or where fewer
    rows than the horizon lie between two parts.
    """
    _refuse_untrue(early_marks(time, timeframe, marks))
    split = split_rows(len(time), recipe.split, recipe.horizon)
    if split.embargo < recipe.horizon or split.purged < recipe.horizon:
        raise Leak(f"embargo {split.embargo}: targets look {recipe.horizon} candles ahead; widen the embargo", marks=[])
    modes = Counter(mark["mode"] for mark in marks)
    return Gate(split, {mode: modes[mode] for mode in MODES}, _reaching(time, timeframe, marks, split))


def early_marks(time: Rows, timeframe: str, marks: Marks) -> list[str]:
    """Give the ids of the marks whose `known_at` is before the close of the last candle that they touch."""
    rows, closes = CandleTimes(time, timeframe), closes_all(time, parse(timeframe))
    touched = ((mark, rows.touched(mark)) for mark in marks)
    return [mark["id"] for mark, at in touched if at.stop > at.start and mark["known_at"] < closes[at.stop - 1]]


def entry_rows(time: Rows, timeframe: str, marks: Marks) -> Rows:
    """Give for each mark the row of the candle with which a window that answers for its entry ends, (m,).

    It is the candle that holds the mark's first moment, or the last that had closed at `decided_at` where that came
    earlier; −1 where there is none.
    """
    closes = closes_all(time, parse(timeframe))
    starts = (KINDS[mark["kind"]].first(mark) for mark in marks)
    first = np.array([EARLIEST_MS if start is None else start for start in starts], np.int64)
    decided = np.array([mark["decided_at"] for mark in marks], np.int64)
    holds: Rows = np.searchsorted(time, first, side="right") - 1
    seen: Rows = np.searchsorted(closes, decided, side="right") - 1
    inside = (holds >= 0) & (first < closes[np.maximum(holds, 0)]) if len(time) else np.zeros(len(first), np.bool_)
    return np.where(inside, np.minimum(holds, seen), -1)


def refuse_look_ahead(ends: Rows, answers: Rows, marks: Marks, time: Rows, timeframe: str) -> None:
    """Raise Leak where a window ends after the candle that it answers for, with the ids of the marks on that candle.

    `ends` and `answers` are rows of candles, (w,): the window's last, and the one it answers for.
    """
    ahead = answers[ends > answers]
    if not len(ahead):
        return
    rows = CandleTimes(time, timeframe)
    looked = np.zeros(len(time) + 1, np.int64)
    looked[1:][ahead] = 1
    before = np.cumsum(looked)
    hit = [mark["id"] for mark in marks if before[(at := rows.touched(mark)).stop] > before[at.start]]
    raise Leak(
        f"{len(ahead)} windows end after the candle that they answer for; answers on marks {_named(hit)} would be "
        "learnt from what came after",
        marks=hit,
    )


def _refuse_untrue(ids: list[str]) -> None:
    if ids:
        raise Leak(
            f"{len(ids)} marks say that they were known before their last candle had closed: {_named(ids)}; "
            "save these marks again, or delete them",
            marks=ids,
        )


def _reaching(time: Rows, timeframe: str, marks: Marks, split: Split) -> dict[str, list[str]]:
    found = {}
    for name, part in (("train", split.train), ("validation", split.validation)):
        if part is not None and part.end < len(time):
            found[name] = _reach_beyond(CandleTimes(time, timeframe), marks, part, int(time[part.end]))
    return found


def _reach_beyond(rows: CandleTimes, marks: Marks, part: Part, border: int) -> list[str]:
    return [
        mark["id"] for mark in marks if mark["known_at"] > border and part.start <= rows.touched(mark).start < part.end
    ]


def _named(ids: Sequence[str]) -> str:
    rest = len(ids) - NAMED
    return ", ".join(ids[:NAMED]) + (f" and {rest} more" if rest > 0 else "")
