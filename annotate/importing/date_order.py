"""Which of three numbers is the day, the month and the year: by the calendar, the layout, the steps, or by asking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotate.importing.doubts import Choice, Doubts

Ints = NDArray[np.int64]

DAY = 86_400_000
DAY_FIRST, MONTH_FIRST, YEAR_FIRST = "day_first", "month_first", "year_first"
LABELS = {
    DAY_FIRST: "day first (31/01/2024)",
    MONTH_FIRST: "month first (01/31/2024)",
    YEAR_FIRST: "year first (24/01/31)",
}
MOST_FIT = 0.98  # a reading fits where nearly all rows are dates in it; the others are then named
FAR_LONGER = 20  # steps of years beside steps of days: nobody has candles of one day a year
CENTURY_TURNS = 70  # 69 is 2069 and 70 is 1970


@dataclass(frozen=True, slots=True)
class ThreeNumbers:
    """Dates as three columns of numbers, in the order in which they are written, with the clock beside them in ms."""

    first: Ints
    second: Ints
    third: Ints
    short_years: bool  # no year has four digits
    separator: str
    clock: Ints
    example: str

    def civil(self, order: str) -> tuple[Ints, Ints, Ints]:
        """Give year, month and day as an order reads them."""
        if order == YEAR_FIRST:
            return full_years(self.first), self.second, self.third
        year = np.where(self.third < 100, full_years(self.third), self.third)
        return (year, self.second, self.first) if order == DAY_FIRST else (year, self.first, self.second)

    def fit(self, order: str) -> float:
        """Give the share of rows that are dates in an order."""
        _year, month, day = self.civil(order)
        return float(np.mean((month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)))

    def times(self, order: str) -> Ints:
        """Give the times as an order reads them, in ms; a day beyond its month runs into the next one."""
        year, month, day = self.civil(order)
        months = (year - 1970) * 12 + np.clip(month, 1, 12) - 1
        starts: Ints = months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
        return (starts + day - 1) * DAY + self.clock


def full_years(year: Ints) -> Ints:
    """Give years of two digits their century."""
    return np.where(year < CENTURY_TURNS, 2000 + year, 1900 + year)


def choose_order(dates: ThreeNumbers, doubts: Doubts, *, day_first: bool | None) -> tuple[str, str]:
    """Give the order and why: by numbers that fit one alone, the layout, the separator, the steps, or by asking."""
    if doubts.given("date_order"):
        return _asked(dates, doubts, tuple(LABELS)), "as answered"
    possible = [order for order in LABELS if order != YEAR_FIRST or dates.short_years]
    fitting = _without_leaps(dates, [order for order in possible if dates.fit(order) >= MOST_FIT])
    if YEAR_FIRST not in fitting:  # of day and month one row tells
        fitting = [order for order in fitting if dates.fit(order) == 1] or fitting
    if len(fitting) < 2:
        order = fitting[0] if fitting else (DAY_FIRST if dates.first.max() > 12 else MONTH_FIRST)
        return order, f"the {order.split('_')[0]} comes first: no other order gives dates of a calendar"
    if YEAR_FIRST in fitting:
        return _asked(dates, doubts, fitting), "as answered"
    return _day_or_month(dates, doubts, day_first=day_first)


def _without_leaps(dates: ThreeNumbers, fitting: Sequence[str]) -> list[str]:
    """Leave out the readings of short years whose steps are years long where another has steps of days."""
    if YEAR_FIRST not in fitting:
        return list(fitting)
    steps = {order: _mean_step(dates.times(order)) for order in fitting}
    others = [order for order in fitting if order != YEAR_FIRST]
    if any(FAR_LONGER * steps[order] < steps[YEAR_FIRST] for order in others):
        return others
    return [order for order in fitting if steps[order] <= FAR_LONGER * steps[YEAR_FIRST]]


def _mean_step(ms: Ints) -> float:
    return float(np.mean(np.abs(np.diff(ms)))) if len(ms) > 1 else 0.0


def _day_or_month(dates: ThreeNumbers, doubts: Doubts, *, day_first: bool | None) -> tuple[str, str]:
    if day_first is not None:
        return (DAY_FIRST if day_first else MONTH_FIRST), "as this layout always writes it"
    if dates.separator == ".":
        return DAY_FIRST, "dates with dots have the day first"
    if np.array_equal(dates.first, dates.second):
        return DAY_FIRST, "day and month are equal throughout"
    rough = {order: _roughness(dates.times(order)) for order in (DAY_FIRST, MONTH_FIRST)}
    if rough[DAY_FIRST] != rough[MONTH_FIRST] and min(rough.values()) == 0:
        smooth = min(rough, key=lambda order: rough[order])
        return smooth, f"the {smooth.split('_')[0]} comes first: the other order makes the times jump to and fro"
    return _asked(dates, doubts, (DAY_FIRST, MONTH_FIRST)), "as answered"


def _asked(dates: ThreeNumbers, doubts: Doubts, orders: Sequence[str]) -> str:
    def unlikely(order: str) -> tuple[int, int]:
        # Candles a day apart are likelier than candles a month apart.
        ms = dates.times(order)
        return _roughness(ms), int(ms.max() - ms.min())

    likely = min(orders, key=unlikely)
    choices = [Choice(order, LABELS[order], likely=order == likely) for order in orders]
    reason = "No number tells which place is the month, and the times are as regular in every reading."
    return doubts.ask("date_order", f"In which order is {dates.example} written?", choices, reason)


def _roughness(ms: Ints) -> int:
    """Count the steps against the direction of a series and, within days, those beyond 27 days; 0 can be right."""
    steps = np.diff(ms)
    if np.count_nonzero(steps < 0) > np.count_nonzero(steps > 0):
        steps = -steps
    intraday = len(steps) > 0 and np.median(steps) < DAY
    return int(np.count_nonzero(steps < 0)) + int(np.count_nonzero(steps > 27 * DAY) if intraday else 0)
