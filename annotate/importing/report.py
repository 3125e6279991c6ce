"""The ImportReport: what was read, kept and dropped, and why, as a plain dict that JSON can carry."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotate.candles import Candles, Gap
from annotate.importing.checks import Duplicates
from annotate.importing.clock import UNITS

# Lists in a report end here; their counts never do.
LISTED = 1000

Place = int | str
PlacesOf = Callable[[NDArray[np.int64]], list[Place]]


def dropped_json(dropped: dict[str, list[Place]]) -> dict[str, Any]:
    """Give each reason with its count and the first lines."""
    return {reason: {"count": len(lines), "lines": lines[:LISTED]} for reason, lines in dropped.items() if lines}


def duplicates_json(found: Duplicates, rule: str, places: PlacesOf) -> dict[str, Any]:
    """Give counts and, for conflicting rows, each time with its lines and the line kept."""
    items = [
        {"time": time, "lines": places(rows), "kept": places(np.array([kept]))[0]}
        for time, rows, kept in found.groups[:LISTED]
    ]
    return {"exact": len(found.exact), "conflicting": len(found.conflicting), "rule": rule, "items": items}


def gaps_json(gaps: Sequence[Gap]) -> dict[str, Any]:
    """Give count, missing candles, the longest stretch and the first gaps; times are ms UTC, ranges half open."""
    return {
        "count": len(gaps),
        "missing_candles": sum(gap.missing for gap in gaps),
        "longest_ms": max((gap.end - gap.start for gap in gaps), default=0),
        "items": [{"start": gap.start, "end": gap.end, "missing": gap.missing} for gap in gaps[:LISTED]],
    }


def lines_json(rows: NDArray[np.int64], places: PlacesOf) -> dict[str, Any]:
    """Give a count and the first lines."""
    return {"count": len(rows), "lines": places(rows[:LISTED])}


def units_json(unit_of: NDArray[np.int8] | None, places: PlacesOf) -> list[dict[str, Any]]:
    """Give the runs of rows that share an epoch unit; empty for text times."""
    if unit_of is None or len(unit_of) == 0:
        return []
    starts = np.append(0, np.flatnonzero(np.diff(unit_of)) + 1)
    rows = np.diff(np.append(starts, len(unit_of)))
    lines = places(starts[:LISTED])
    return [
        {"unit": UNITS[unit_of[start]], "first_line": line, "rows": int(count)}
        for start, line, count in zip(starts[:LISTED].tolist(), lines, rows[:LISTED], strict=True)
    ]


def candles_json(candles: Candles) -> list[dict[str, Any]]:
    """Give candles as rows for a preview; a null volume is None."""
    names = ("open", "high", "low", "close", "volume")
    return [
        {"time": int(candles.time[row])}
        | {name: None if np.isnan(value := getattr(candles, name)[row]) else float(value) for name in names}
        for row in range(len(candles))
    ]
