"""Which zone the clock of a file runs in: stated, known of its layout, answered, asked, or UTC with a note."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from annotate.errors import InvalidInput
from annotate.importing import layouts
from annotate.importing.arrow import pc
from annotate.importing.clock import Clock
from annotate.importing.doubts import Choice, Doubts
from annotate.importing.problems import Cell, CellProblem
from annotate.importing.table import Table
from annotate.importing.zones import Zone, parse_zone, to_utc

DAY = 86_400_000
SUNDAY = 6
NIGHTLY = 0.02  # more rows that stand still or run back are no night of a time change
LIKELY = {layouts.BROKER: "New York+7", layouts.LIKELY_UTC: "UTC", layouts.NEW_YORK: "America/New_York"}
CHOICES = (
    Choice("New York+7", "New York + 7 hours: most brokers, whose day ends with New York's"),
    Choice("UTC", "UTC"),
    Choice("Europe/Athens", "Eastern Europe (EET, EEST)"),
    Choice("EST", "Eastern Standard Time, fixed, UTC−5"),
    Choice("America/New_York", "New York"),
)


@dataclass(frozen=True, slots=True)
class ChosenZone:
    """A zone and why it is the one."""

    zone: Zone
    reason: str

    def apply(self, clock: Clock, table: Table) -> tuple[NDArray[np.int64], tuple[str, ...]]:
        """Give the times in ms UTC and what is to be said; raise CellProblem for a clock that the zone never showed."""
        if clock.zoned or clock.date_only:
            return clock.ms, ()
        # A night in which the clock ran back is told apart by the order of time, so turn newest-first files round.
        steps = np.diff(clock.ms)
        falling = np.count_nonzero(steps < 0) > np.count_nonzero(steps > 0)
        found = to_utc(clock.ms[::-1] if falling else clock.ms, self.zone)
        if falling:
            last = len(clock.ms) - 1
            found = replace(
                found, time=found.time[::-1], ambiguous=last - found.ambiguous[::-1], missing=last - found.missing[::-1]
            )
        if len(found.missing):
            row = int(found.missing.min())
            value = np.datetime64(int(clock.ms[row]), "ms").item().isoformat(" ")
            why = f"is a clock that {self.zone.name} skipped when its summer time began; choose another zone"
            raise CellProblem(Cell(row, table.names.get("time", "time"), value), why)
        return found.time, _ambiguous_note(found.ambiguous, self.zone, table)


def _ambiguous_note(rows: NDArray[np.int64], zone: Zone, table: Table) -> tuple[str, ...]:
    if len(rows) == 0:
        return ()
    lines = table.lines_of(rows[:5]).tolist()
    return (
        f"{len(rows)} clocks happened twice when {zone.name} ended its summer time ({table.place}s {lines[0]} …); "
        "they were told apart by their order.",
    )


def choose_zone(clock: Clock, table: Table, doubts: Doubts) -> ChosenZone:
    """Decide the zone of a clock; it is asked only where the layout is known to run on somebody's local clock."""
    layout, utc = table.layout, parse_zone("UTC")
    answer = doubts.given("zone")
    answered = parse_zone(answer) if answer else None
    if clock.zoned:
        what = "epoch numbers count from 1970 in UTC" if clock.unit_of is not None else "each time states its offset"
        return ChosenZone(utc, what + (f"; the answer {answer} was not needed" if answer else ""))
    if clock.date_only:
        return ChosenZone(utc, "dates without a clock stay their date, 00:00 UTC")
    if answered is not None:
        return ChosenZone(answered, "as answered")
    if stated := clock.zone or table.zone or _column_zone(table):
        return ChosenZone(parse_zone(stated), f"the file says {stated}")
    if layout.clock == layouts.STATED_UTC:
        return ChosenZone(utc, f"{layout.name} files are in UTC")
    if layout.clock == layouts.HISTDATA:
        return ChosenZone(parse_zone("EST"), "HistData files are in Eastern Standard Time without summer time")
    if not np.any(clock.ms % DAY):
        return ChosenZone(utc, "every clock is 00:00: dates, which stay their date")
    if layout.clock in LIKELY:
        return _asked(layout, doubts)
    if night := _repeated_night(clock):
        return _asked_night(night, doubts)
    return ChosenZone(utc, "the file states no zone, so its times were taken as UTC; give a zone if they are not")


def _column_zone(table: Table) -> str | None:
    """Give the zone that a column names, where all rows name one that is known."""
    if "zone" not in table.columns:
        return None
    names = pc.unique(pc.cast(table.columns["zone"], pa.string())).to_pylist()
    try:
        return parse_zone(names[0]).name if len(names) == 1 and names[0] else None
    except InvalidInput:
        return None


def _repeated_night(clock: Clock) -> tuple[str, str] | None:
    """Find a night of a time change in which the clock repeats itself: its date and the likely zone."""
    steps = np.diff(clock.ms)
    if np.count_nonzero(steps < 0) > np.count_nonzero(steps > 0):
        steps = -steps
    back = np.flatnonzero(steps <= 0)
    if len(back) == 0 or len(back) > NIGHTLY * len(steps) + 1:
        return None
    for ms in clock.ms[back].tolist():
        moment = np.datetime64(ms, "ms").item()
        if moment.weekday() == SUNDAY and moment.hour < 3:
            if moment.month == 10 and moment.day > 24:
                return f"{moment:%Y-%m-%d}", "Europe/Berlin"
            if moment.month == 11 and moment.day < 8:
                return f"{moment:%Y-%m-%d}", "America/New_York"
    return None


def _asked_night(night: tuple[str, str], doubts: Doubts) -> ChosenZone:
    date, likely = night
    choices = [Choice(likely, likely, likely=True), Choice("UTC", "UTC")]
    reason = f"The clock runs back or repeats itself in the night of {date}, when summer time ended; UTC never does."
    question = "In which time zone are the times of this file? A fixed offset or an IANA name is fine too."
    answer = doubts.ask("zone", question, choices, reason, free=True, by_rows=True)
    return ChosenZone(parse_zone(answer), "as answered")


def _asked(layout: layouts.Layout, doubts: Doubts) -> ChosenZone:
    choices = [replace(choice, likely=choice.value == LIKELY[layout.clock]) for choice in CHOICES]
    reason = f"{layout.name} writes the clock of the server or the computer that exported, and does not say which."
    question = "In which time zone are the times of this file? A fixed offset or an IANA name is fine too."
    return ChosenZone(parse_zone(doubts.ask("zone", question, choices, reason, free=True)), "as answered")
