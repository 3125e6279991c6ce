"""Numbers that count time in another way than since 1970 in seconds to ns: what they can be is asked, never guessed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotate.importing.doubts import Choice, Doubts

Numbers = NDArray[np.int64] | NDArray[np.float64]

DAY = 86_400_000
SMALLEST_EPOCH = 10**8  # seconds of 1973: below, a number is rarely seconds since 1970


@dataclass(frozen=True, slots=True)
class Count:
    """A way to count: ms UTC = (number - zero) x ms; it can be one where all numbers lie in [low, high)."""

    label: str
    zero: float
    ms: float
    low: float
    high: float


# Ranges are of the years 1927 to 2091 or so, where nothing else is near.
SMALL = {
    "days": Count("Days of a spreadsheet, such as 45292 for 2024-01-01", 25_569, DAY, 10_000, 70_000),
    "ordinal": Count("Days since the year 1, as Python counts them", 719_163, DAY, 700_000, 765_000),
    "datenum": Count("Days since the year 0, as MATLAB counts them", 719_529, DAY, 700_000, 765_000),
    "julian": Count("Julian days of astronomers", 2_440_587.5, DAY, 2_420_000, 2_490_000),
    "minutes": Count("Minutes since 1970", 0, 60_000, 10_000_000, 64_000_000),
}
TICKS_PER_MS = 10_000
# As ns since 1970 these are a year about 1974 and 1990.
TICKS = {
    "1601": Count("Ticks of 100 ns since 1601, as Windows counts them", 116_444_736 * 10**9, 1e-4, 1.16e17, 1.58e17),
    "0001": Count("Ticks of 100 ns since the year 1, as .NET counts them", 621_355_968 * 10**9, 1e-4, 6.2e17, 6.65e17),
}


def small_count(values: Numbers, name: str, doubts: Doubts) -> Count | None:
    """Ask what small numbers count; None for seconds since 1970, which they are where they are not small."""
    if not len(values) or values.min() < 0 or values.max() >= SMALLEST_EPOCH:
        return None
    fitting = {key: count for key, count in SMALL.items() if _within(values, count)}
    likely = next(iter(fitting), "seconds")
    if likely == "ordinal" and np.any(values % 1):
        likely = "datenum"
    choices = [Choice(key, count.label, likely=key == likely) for key, count in fitting.items()]
    choices.append(Choice("seconds", "Seconds since 1970", likely=likely == "seconds"))
    reason = "All numbers are so small that, as seconds since 1970, they would lie before 1973."
    answer = doubts.ask("small_times", f"What is {values[0]} in {name}?", choices, reason)
    return fitting.get(answer)


def ticks_since(values: NDArray[np.int64], name: str, doubts: Doubts) -> Count | None:
    """Ask whether numbers are ticks of 100 ns of another age; None for ns since 1970."""
    if not len(values):
        return None
    for key, count in TICKS.items():
        if _within(values, count):
            choices = [Choice(key, count.label, likely=True), Choice("1970", "Nanoseconds since 1970")]
            reason = f"As nanoseconds since 1970 all times would lie in {1970 + int(values[0] // 31_556_952e9)}."
            answer = doubts.ask("ticks_since", f"What is {values[0]} in {name}?", choices, reason)
            return count if answer == key else None
    return None


def _within(values: Numbers, count: Count) -> bool:
    return bool(values.min() >= count.low and values.max() < count.high)


def counted_ms(values: Numbers, count: Count) -> NDArray[np.int64]:
    """Give the times in ms; ticks are whole numbers and stay exact."""
    if values.dtype.kind == "i" and count.ms < 1:
        return (values.astype(np.int64) - int(count.zero)) // TICKS_PER_MS
    ms: NDArray[np.int64] = np.rint((values.astype(np.float64) - count.zero) * count.ms).astype(np.int64)
    return ms
