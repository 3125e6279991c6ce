"""Dates that are not ISO: dotted, day or month first, with month names, compact, with AM/PM or a GMT offset."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from annotate.importing.arrow import Column, first_false, ints_of, mask_of, pc
from annotate.importing.clock import Clock
from annotate.importing.date_order import ThreeNumbers, choose_order, full_years
from annotate.importing.doubts import Doubts
from annotate.importing.header_names import fold
from annotate.importing.problems import Cell, CellProblem

Ints = NDArray[np.int64]

DAY = 86_400_000
ZONE_HOURS = {"UTC": 0, "GMT": 0, "EST": -5, "EDT": -4, "PST": -8, "PDT": -7, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3}
# The first letters of the months in the languages of trading sites, without accents.
MONTH_WORDS = (
    "jan ene gen oca sty янв",
    "feb fev sub lut фев",
    "mar mrt mrz мар",
    "apr abr avr nis kwi апр",
    "may mai mei maj mag мая маи",
    "juin jun giu haz cze июн",
    "juil jul lug tem lip июл",
    "aug ago aou agu sie авг",
    "sep set eyl wrz сен",
    "oct okt out ott eki paz окт",
    "nov kas lis ноя",
    "dec dez dic des ara gru дек",
)
MONTHS = {word: month for month, words in enumerate(MONTH_WORDS, start=1) for word in words.split()}

NAME = r"\p{L}{3,12}"
YEAR = r"(?P<y>\d{4}|\d{2})"
FAMILIES = {
    "year first": r"(?P<y>\d{4})[-./年]\s?(?P<m>\d{1,2})[-./月]\s?(?P<d>\d{1,2})[日.]?",
    "compact": r"(?P<y>\d{4})(?P<m>\d{2})(?P<d>\d{2})",
    "day and month": rf"(?P<a>\d{{1,2}})(?P<sep>[-./])\s?(?P<b>\d{{1,2}})[-./]\s?{YEAR}",
    "compact, two digits a year": r"(?P<a>\d{2})(?P<sep>)(?P<b>\d{2})(?P<y>\d{2})",
    "day, month name": rf"(?P<d>\d{{1,2}})\.?[- /]*(?:de )?(?P<name>{NAME})\.?[- /,]*(?:de )?{YEAR}",
    "month name, day": rf"(?P<name>{NAME})\.?[- ](?P<d>\d{{1,2}})(?:st|nd|rd|th)?,?[- ]+{YEAR}",
    "month name, day, year last": rf"(?P<name>{NAME}) +(?P<d>\d{{1,2}})",
    "year, month name": rf"(?P<y>\d{{4}})[- /](?P<name>{NAME})[- /](?P<d>\d{{1,2}})",
    "month name and year": rf"(?P<name>{NAME})\.?[-' /,]*{YEAR}(?P<d>)",
    "year and month": r"(?P<y>\d{4})[-/M](?P<m>\d{1,2})(?P<d>)",
}
MONTHLY = ("month name and year", "year and month")
YEAR_LAST = r"\s+(?P<hh>\d{1,2}):(?P<mm>\d{2}):(?P<ss>\d{2})(?P<f>)(?P<ap>)(?P<z>)\s+(?P<y>\d{4})"  # as C's ctime
NO_CLOCK = "(?P<hh>)(?P<mm>)(?P<ss>)(?P<f>)(?P<ap>)(?P<z>)"
WEEKDAY = r"(?:(?i:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,?\s+)?"
CLOCK = (
    r"(?:[T ,;]*\s*(?P<hh>\d{1,2}):(?P<mm>\d{2})(?::(?P<ss>\d{2})(?:[.,:](?P<f>\d{1,9}))?)?"
    r"\s*(?P<ap>[AaPp]\.?\s?[Mm]\.?)?"
)
CLOCK_COMPACT = r"(?:[T ;]*(?P<hh>\d{2}):?(?P<mm>\d{2})(?::?(?P<ss>\d{2})(?:[.,]?(?P<f>\d{3}|\d{6}|\d{9}))?)?(?P<ap>)"
ZONE = r"\s*(?P<z>[Zz]|(?:UTC|GMT)?[+-]\d{2}:?\d{2}|[A-Z]{3,4}|[A-Z][A-Za-z]+/[A-Za-z_/]+)?(?: \(.*\)| UTC)?)?"


@dataclass(frozen=True, slots=True)
class _Parts:
    """A column of date text and the groups in which one family matched all of it."""

    cells: Column
    name: str
    family: str
    groups: dict[str, Column]

    def number(self, group: str) -> Ints:
        found = self.groups[group]
        return ints_of(pc.cast(pc.if_else(pc.equal(found, ""), "0", found), pa.int64()))

    @property
    def short_years(self) -> NDArray[np.bool_]:
        """Mark the years of two digits."""
        return mask_of(pc.equal(pc.utf8_length(self.groups["y"]), 2))

    def refuse_where(self, wrong: NDArray[np.bool_], why: str) -> None:
        """Raise CellProblem for the first row that is marked."""
        if wrong.any():
            row = int(np.argmax(wrong))
            raise CellProblem(Cell(row, self.name, self.cells[row].as_py()), why)


def parse_dates(cells: Column, name: str, doubts: Doubts, day_first: bool | None) -> Clock:
    """Read date text of one family; the order of day and month is proven by all rows, or asked.

    Raises CellProblem for the first cell that does not fit the family of the first cell.
    """
    # CryptoDataDownload once wrote 2019-10-17 09-AM.
    parts = _match(pc.replace_substring_regex(cells, r"\s(\d{1,2})-([AP]M)$", r" \1:00 \2"), name)
    year, month, day, reason = _civil(parts, doubts, day_first)
    ms = _days(parts, year, month, day) * DAY + _clock_ms(parts)
    zone = _named_zone(parts)
    zoned, offset = (False, np.zeros(len(ms), dtype=np.int64)) if zone else _offset(parts)
    date_only = bool(pc.all(pc.equal(parts.groups["hh"], "")).as_py())
    finer = int(np.count_nonzero(_fraction_ns(parts) % 10**6))
    written = f"{'dates' if date_only else 'times'}, {parts.family}"
    if parts.short_years.all() and "two digits" not in written:
        written += ", two digits a year"
    return Clock(ms - offset, zoned=zoned, date_only=date_only, written=written, finer=finer, reason=reason, zone=zone)


def _named_zone(parts: _Parts) -> str | None:
    """Give the IANA zone that every cell names, as Interactive Brokers writes it; None where cells name none."""
    zones = pc.unique(parts.groups["z"]).to_pylist()
    if not any("/" in zone for zone in zones):
        return None
    parts.refuse_where(mask_of(pc.not_equal(parts.groups["z"], zones[0])), "names another zone than the first time")
    return str(zones[0])


def _match(cells: Column, name: str) -> _Parts:
    first = cells[0].as_py()
    for family, date in FAMILIES.items():
        pattern = f"^{WEEKDAY}{date}{_clock_pattern(family)}$"
        if not pc.match_substring_regex(cells.slice(0, 1), pattern)[0].as_py():
            continue
        found = pc.extract_regex(cells, pattern)
        if (row := first_false(pc.is_valid(found))) is not None:
            raise CellProblem(Cell(row, name, cells[row].as_py()), f"is not written like the first time, {first!r}")
        groups = re.findall(r"\?P<(\w+)>", pattern)
        return _Parts(cells, name, family, {group: pc.struct_field(found, group) for group in groups})
    raise CellProblem(Cell(0, name, first), "is no time that can be read; write 2024-01-31 09:30:00 or an epoch number")


def _clock_pattern(family: str) -> str:
    if family.endswith("year last"):
        return YEAR_LAST
    if family in MONTHLY:
        return NO_CLOCK
    return (CLOCK_COMPACT if family == "compact" else CLOCK) + ZONE


def _civil(parts: _Parts, doubts: Doubts, day_first: bool | None) -> tuple[Ints, Ints, Ints, str]:
    year = parts.number("y")
    short = parts.short_years
    if "a" in parts.groups:
        separator, example = parts.groups["sep"][0].as_py(), parts.cells[0].as_py()
        first, second = parts.number("a"), parts.number("b")
        dates = ThreeNumbers(first, second, year, bool(short.all()), separator, _clock_ms(parts), example)
        order, reason = choose_order(dates, doubts, day_first=day_first)
        return (*dates.civil(order), reason)
    named = "name" in parts.groups
    month = _month_by_name(parts) if named else parts.number("m")
    day = np.ones_like(month) if parts.family in MONTHLY else parts.number("d")
    return np.where(short, full_years(year), year), month, day, "the month is a name" if named else ""


def _month_by_name(parts: _Parts) -> Ints:
    names = pc.unique(parts.groups["name"])
    months = np.array([_month_of(name) for name in names.to_pylist()], dtype=np.int64)
    found: Ints = months[ints_of(pc.index_in(parts.groups["name"], value_set=names))]
    parts.refuse_where(found == 0, "has no name of a month that is known; write 2024-01-31")
    return found


def _month_of(name: str) -> int:
    word = fold(name.lower())
    return MONTHS.get(word[:4]) or MONTHS.get(word[:3]) or 0


def _days(parts: _Parts, year: Ints, month: Ints, day: Ints) -> Ints:
    """Give days since 1970; raise CellProblem for a date that the calendar lacks."""
    months = (year - 1970) * 12 + month - 1
    starts = _first_days(months)
    lengths = _first_days(months + 1) - starts
    parts.refuse_where((month < 1) | (month > 12) | (day < 1) | (day > lengths), "is no date of the calendar")
    return starts + day - 1


def _first_days(months: Ints) -> Ints:
    days: Ints = months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    return days


def _clock_ms(parts: _Parts) -> Ints:
    hour, minute, second = parts.number("hh"), parts.number("mm"), parts.number("ss")
    half = pc.utf8_lower(pc.utf8_slice_codeunits(parts.groups["ap"], 0, 1))
    is_am, is_pm = mask_of(pc.equal(half, "a")), mask_of(pc.equal(half, "p"))
    # 24:00 is the midnight that ends its day.
    latest = np.where(is_am | is_pm, 12, np.where((minute == 0) & (second == 0), 24, 23))
    no_hour = (hour > latest) | ((is_am | is_pm) & (hour < 1))
    parts.refuse_where(no_hour | (minute > 59) | (second > 59), "has no clock of a day")
    hour = np.where(is_am | is_pm, hour % 12, hour) + np.where(is_pm, 12, 0)
    ms: Ints = ((hour * 60 + minute) * 60 + second) * 1000 + _fraction_ns(parts) // 10**6
    return ms


def _fraction_ns(parts: _Parts) -> Ints:
    return ints_of(pc.cast(pc.ascii_rpad(parts.groups["f"], width=9, padding="0"), pa.int64()))


def _offset(parts: _Parts) -> tuple[bool, Ints]:
    """Give the offset of each row in ms, and whether the file states one; some rows with, some without is an error."""
    zone = pc.utf8_upper(parts.groups["z"])
    without = mask_of(pc.equal(zone, ""))
    if without.all():
        return False, np.zeros(len(without), dtype=np.int64)
    parts.refuse_where(without != without[0], "differs from the first row in having an offset or not")
    named = mask_of(pc.match_substring_regex(zone, "^[A-Z]{3,4}$"))
    known = mask_of(pc.is_in(zone, value_set=pa.array(list(ZONE_HOURS))))
    parts.refuse_where(named & ~known, "names a zone that means several offsets; write one such as +02:00")
    found = pc.extract_regex(zone, r"^(?:UTC|GMT)?(?P<sign>[+-])(?P<h>\d{2}):?(?P<m>\d{2})$")
    hours, minutes = (
        ints_of(pc.fill_null(pc.cast(pc.struct_field(found, part), pa.int64()), 0)) for part in ("h", "m")
    )
    west = mask_of(pc.equal(pc.struct_field(found, "sign"), "-"))
    offset: Ints = np.where(west, -1, 1) * (hours * 60 + minutes) * 60_000
    for name, hours_of in ZONE_HOURS.items():
        offset[mask_of(pc.equal(zone, name))] = hours_of * 3_600_000
    return True, offset
