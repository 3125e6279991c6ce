"""Cells to time: epochs of every unit, ISO and typed times. The one place where anything becomes int ms."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from annotate.importing.arrow import Column, first_false, ints_of, pc
from annotate.importing.clock import UNITS, Clock
from annotate.importing.dates import parse_dates
from annotate.importing.doubts import Choice, Doubts
from annotate.importing.problems import Cell, CellProblem
from annotate.importing.small_times import TICKS_PER_MS, counted_ms, small_count, ticks_since
from annotate.timeframe import SECOND, USER_TIMEFRAMES, parse

Times = NDArray[np.int64]

# A bare number is seconds, ms, µs or ns by its size: 1e11 s is the year 5138 and 1e11 ms is 1973.
UNIT_EDGES = np.array([10**11, 10**14, 10**17], dtype=np.int64)
FAR_S = 10**12  # beyond the year 33,000, and still in range as µs
TO_US = np.array([10.0**6, 10.0**3, 1.0, 10.0**-3])
DAY = 86_400_000
# Candles outside this range are misread times, never data.
EARLIEST = int(datetime(1800, 1, 1, tzinfo=UTC).timestamp() * 1000)
LATEST = int(datetime(2101, 1, 1, tzinfo=UTC).timestamp() * 1000)

YEARS = (1800, 2100)

DECIMAL = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
# 1.60E+12: what a spreadsheet leaves of an epoch, hours from the truth.
SCIENTIFIC = r"^\d(?:\.(?P<digits>\d*))?[eE]\+?(?P<power>\d{1,2})$"
_MONTH, _DAY = r"(0[1-9]|1[0-2])", r"(0[1-9]|[12]\d|3[01])"
SHORT_DATE = rf"^(\d\d{_MONTH}{_DAY}|{_DAY}{_MONTH}\d\d|{_MONTH}{_DAY}\d\d)$"
QUOTED = r"^'\s*(.*?)\s*'?$"  # also what a spreadsheet puts before text
ISO_ZONED = r"(?:[Zz]|[+-]\d{2}(?::?\d{2})?)$"


def read_times(column: Column, name: str, doubts: Doubts, *, day_first: bool | None = None) -> Clock:
    """Read a column of times without blanks; raise CellProblem for the first cell that is none."""
    clock = _read(column, name, doubts, day_first)
    _refuse_far(clock.ms, column, name)
    return clock


def read_iso_times(column: Column, name: str) -> Clock:
    """Take a column of ISO text that Arrow has turned into timestamps, as `read_times` reads that text."""
    ms, finer = _floored(column)
    _refuse_far(ms, column, name)
    return _iso_clock(ms, finer, zoned=column.type.tz is not None)


def _read(column: Column, name: str, doubts: Doubts, day_first: bool | None) -> Clock:
    kind = column.type
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return _typed(column)
    if pa.types.is_integer(kind):
        return _numbers(ints_of(column), column, name, doubts)
    if pa.types.is_floating(kind):
        return _numbers(np.asarray(column.to_numpy(), dtype=np.float64), column, name, doubts)
    cells = pc.utf8_trim_whitespace(column)
    if cells[0].as_py().startswith("'"):
        cells = pc.replace_substring_regex(cells, QUOTED, r"\1")
    if pc.all(pc.ascii_is_decimal(cells)).as_py():
        return _digits(cells, name, doubts)
    if pc.match_substring_regex(cells.slice(0, 1), DECIMAL)[0].as_py():
        return _decimals(cells, name, doubts)
    return _iso(cells) or parse_dates(cells, name, doubts, day_first)


def _numbers(values: Times | NDArray[np.float64], column: Column, name: str, doubts: Doubts) -> Clock:
    """Read numbers as epochs, unless they are so small or so large that they can count from elsewhere: asked."""
    if len(values) and values.min() >= YEARS[0] and values.max() <= YEARS[1]:
        choices = [Choice("years", "Years", likely=True), Choice("seconds", "Seconds since 1970")]
        reason = f"All numbers lie between {YEARS[0]} and {YEARS[1]}."
        if doubts.ask("small_times", f"What is {values[0]:g} in {name}?", choices, reason) == "years":
            years = (values.astype(np.int64) - 1970).astype("datetime64[Y]")
            return Clock(_ms_of(years), zoned=False, date_only=True, written="years")
    elif _counts_rows(values):
        raise _problem(0, name, column, "and so on count the rows and are no times; say which column is the time")
    elif count := small_count(values, name, doubts):
        ms = counted_ms(values, count)
        by_days = count.ms == DAY
        return Clock(ms, zoned=not by_days, date_only=by_days and not np.any(ms % DAY), written=count.label.lower())
    if values.dtype.kind == "f":
        return _epoch_fraction(values.astype(np.float64, copy=False), column, name, doubts)
    whole = values.astype(np.int64, copy=False)
    if ticks := ticks_since(whole, name, doubts):
        finer = int(np.count_nonzero(whole % TICKS_PER_MS))
        return Clock(counted_ms(whole, ticks), zoned=True, date_only=False, written=ticks.label.lower(), finer=finer)
    return _epoch(whole, doubts)


def _counts_rows(values: Times | NDArray[np.float64]) -> bool:
    """Tell whether numbers are 0, 1, 2 and so on."""
    return len(values) > 2 and values[0] in (0, 1) and bool(np.all(np.diff(values) == 1))


def _ms_of(dates: NDArray[np.datetime64]) -> Times:
    ms: Times = dates.astype("datetime64[ms]").astype(np.int64)
    return ms


def _typed(column: Column) -> Clock:
    kind = column.type
    if pa.types.is_date(kind):
        days = pc.cast(column, pa.date32())
        return Clock(_days(days), zoned=False, date_only=True, written="dates")
    ms, finer = _floored(column)
    written = f"timestamps in {kind.unit}, {kind.tz or 'no zone'}"
    return Clock(ms, zoned=kind.tz is not None, date_only=False, written=written, finer=finer)


def _days(days: Column) -> Times:
    return ints_of(pc.cast(days, pa.int32())) * DAY


def _floored(column: Column) -> tuple[Times, int]:
    """Give timestamps of any unit as ms, floored, and how many were finer."""
    per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[column.type.unit]
    values = ints_of(pc.cast(column, pa.int64()))
    if per_second <= 10**3:
        return values * (10**3 // per_second), 0
    ms = values // (per_second // 10**3)
    return ms, int(np.count_nonzero(ms * (per_second // 10**3) != values))


def _digits(cells: Column, name: str, doubts: Doubts) -> Clock:
    widths = pc.unique(pc.utf8_length(cells)).to_pylist()
    if widths in ([8], [12], [14], [17]) and (dates := _compact(cells, name, doubts)) is not None:
        return dates
    if widths == [6] and _are_short_dates(cells, name, doubts):
        return parse_dates(cells, name, doubts, None)
    try:
        values = pc.cast(cells, pa.int64())
    except pa.ArrowInvalid:
        far = np.flatnonzero(ints_of(pc.utf8_length(cells)) > 18)
        raise _problem(int(far[0]), name, cells, "is too large to be a time") from None
    return _numbers(ints_of(values), cells, name, doubts)


def _are_short_dates(cells: Column, name: str, doubts: Doubts) -> bool:
    """Ask whether numbers of six digits are dates such as 240131, where all of them can be."""
    example = cells[0].as_py()
    if not pc.all(pc.match_substring_regex(cells, SHORT_DATE)).as_py():
        return False
    choices = [Choice("dates", "Dates of six digits", likely=True), Choice("seconds", "Seconds since 1970")]
    reason = "All times have six digits, as dates with a year of two digits have."
    return doubts.ask("small_times", f"What is {example} in {name}?", choices, reason) == "dates"


def _compact(cells: Column, name: str, doubts: Doubts) -> Clock | None:
    """Read 20240131, 202401310930 and the like, when every cell is a date of 1800 to 2100."""
    if not pc.all(pc.match_substring_regex(cells, r"^(18|19|20|21)\d\d(0[1-9]|1[0-2])([0-2]\d|3[01])")).as_py():
        return None
    try:
        return parse_dates(cells, name, doubts, None)
    except CellProblem:
        return None


def _units(values: Times | NDArray[np.float64], doubts: Doubts) -> NDArray[np.int8]:
    """Tell the unit of each number by its size, as an index into UNITS, unless a person named one for all."""
    if (unit := doubts.option("unit", ("auto", *UNITS))) != "auto":
        return np.full(len(values), UNITS.index(unit), dtype=np.int8)
    sizes = values if values.min() >= 0 else np.abs(values)
    lowest, highest = (int(np.searchsorted(UNIT_EDGES, edge, side="right")) for edge in (sizes.min(), sizes.max()))
    if lowest == highest:
        return np.full(len(values), lowest, dtype=np.int8)
    unit_of = np.zeros(len(values), dtype=np.int8)
    for edge in UNIT_EDGES:
        unit_of += sizes >= edge
    return unit_of


def _epoch(values: Times, doubts: Doubts) -> Clock:
    unit_of = _units(values, doubts)
    if np.all(unit_of == UNITS.index("ms")):
        return Clock(values, zoned=True, date_only=False, written="epoch numbers", unit_of=unit_of)
    ms, finer = values.copy(), 0
    for unit, divisor in ((2, 10**3), (3, 10**6)):
        rows = unit_of == unit
        if rows.any():
            ms[rows] //= divisor
            finer += int(np.count_nonzero(values[rows] % divisor))
    if (seconds := unit_of == 0).any():
        # What overflows here was named seconds and is none; it stays out of the years that are taken.
        ms[seconds] = np.clip(ms[seconds], -FAR_S, FAR_S) * 1000
    return Clock(ms, zoned=True, date_only=False, written="epoch numbers", unit_of=unit_of, finer=finer)


def _decimals(cells: Column, name: str, doubts: Doubts) -> Clock:
    if (row := first_false(pc.match_substring_regex(cells, DECIMAL))) is not None:
        raise _problem(row, name, cells, "is no number, while the first time of the file is one")
    if (row := _lost_digits(cells)) is not None:
        raise _problem(row, name, cells, "has lost its last digits, perhaps in a spreadsheet; export the file anew")
    unsigned = pc.replace_substring_regex(cells, r"^\+", "")
    if pc.all(pc.match_substring_regex(unsigned, r"^-?\d{1,18}$")).as_py():
        return _numbers(ints_of(pc.cast(unsigned, pa.int64())), cells, name, doubts)
    values = np.asarray(pc.cast(unsigned, pa.float64()).to_numpy(), dtype=np.float64)
    return _numbers(values, cells, name, doubts)


def _lost_digits(cells: Column) -> int | None:
    """Give the first row of times that were rounded to a fixed number of digits; None where none can be lost."""
    if not pc.match_substring_regex(cells.slice(0, 1), SCIENTIFIC)[0].as_py():
        return None
    found = pc.extract_regex(cells, SCIENTIFIC)
    if pc.any(pc.is_null(found)).as_py():
        return None
    digits = pc.utf8_length(pc.struct_field(found, "digits"))
    short = pc.less(digits, pc.cast(pc.struct_field(found, "power"), pa.int32()))
    # Written with as many digits as needed, some would have fewer than others, and none would end with a zero.
    padded = pc.any(pc.match_substring_regex(cells, r"0[eE]")).as_py()
    fixed = padded or (pc.count_distinct(digits).as_py() == 1 and not _on_a_grid(cells))
    return first_false(pc.invert(short)) if fixed else None


def _on_a_grid(cells: Column) -> bool:
    """Tell whether times stand where candles of a usual timeframe open, each of them: rounded ones would not."""
    values = np.unique(pc.cast(cells, pa.float64()).to_numpy())
    seconds = np.rint(values / 10.0 ** (np.floor(np.log10(max(1.0, values[0]))) - 9)).astype(np.int64)
    step = int(np.diff(seconds).min()) if len(seconds) > 1 else 3_600
    return step * SECOND in map(parse, USER_TIMEFRAMES) and not np.any(seconds % step)


def _epoch_fraction(values: NDArray[np.float64], column: Column, name: str, doubts: Doubts) -> Clock:
    odd = np.flatnonzero(~(np.abs(values) < 9e18))
    if len(odd):
        raise _problem(int(odd[0]), name, column, "is no time")
    unit_of = _units(values, doubts)
    # A float64 holds seconds of today to a quarter of a µs: round to the µs first, floor to the ms after.
    us = np.rint(np.clip(values * TO_US[unit_of], -FAR_S * 1e6, FAR_S * 1e6)).astype(np.int64)
    ms = us // 1000
    finer = int(np.count_nonzero(ms * 1000 != us))
    return Clock(ms, zoned=True, date_only=False, written="epoch numbers", unit_of=unit_of, finer=finer)


def _iso(cells: Column) -> Clock | None:
    """Read ISO 8601 text with Arrow's own parser; None when a cell is written otherwise."""
    zoned = bool(pc.match_substring_regex(cells.slice(0, 1), ISO_ZONED)[0].as_py() and len(cells[0].as_py()) > 10)
    for unit in ("us", "ns"):
        try:
            times = pc.cast(cells, pa.timestamp(unit, "UTC") if zoned else pa.timestamp(unit))
        except pa.ArrowInvalid:
            continue
        ms, finer = _floored(times)
        if not zoned and pc.all(pc.equal(pc.utf8_length(cells), 10)).as_py():
            return Clock(ms, zoned=False, date_only=True, written="dates, year first", finer=finer)
        return _iso_clock(ms, finer, zoned=zoned)
    return None


def _iso_clock(ms: Times, finer: int, *, zoned: bool) -> Clock:
    written = "ISO times with offset" if zoned else "ISO times without offset"
    return Clock(ms, zoned=zoned, date_only=False, written=written, finer=finer)


def _refuse_far(ms: Times, column: Column, name: str) -> None:
    if len(ms) and ms.min() >= EARLIEST and ms.max() < LATEST:
        return
    far = np.flatnonzero((ms < EARLIEST) | (ms >= LATEST))
    if len(far):
        raise _problem(int(far[0]), name, column, "is no time between the years 1800 and 2100")


def _problem(row: int, name: str, column: Column, why: str) -> CellProblem:
    return CellProblem(Cell(row, name, column[row].as_py()), why)
