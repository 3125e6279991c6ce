"""A table of cells to rows of candles: numbers, times, blanks and zones; nothing is repaired or left out unsaid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from annotate.errors import InvalidInput
from annotate.importing.arrow import Column, first_false, mask_of, pc
from annotate.importing.clock import Clock
from annotate.importing.columns import plain
from annotate.importing.doubts import Choice, Doubts
from annotate.importing.header_names import CLOCK_PARTS, PRICES
from annotate.importing.numbers import BLANKS, NumberStyle, ParsedNumbers, number_style, parse_numbers
from annotate.importing.problems import Cell, CellProblem
from annotate.importing.table import LinesOf, Table
from annotate.importing.times import read_iso_times, read_times
from annotate.importing.zone_choice import ChosenZone, choose_zone

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

MIDNIGHT = r"^0+$"
HOUR = r"^([01]?\d|2[0-3])$"
DOTTED_CLOCK = r"^([01]?\d|2[0-3])\.[0-5]\d(\.[0-5]\d)?$"
LONGEST_BLANK = max(len(blank.encode()) for blank in BLANKS)


@dataclass(frozen=True, slots=True)
class ParsedRows:
    """Rows in the order of the file: `time` int64 ms UTC (n,), `values` float64 (n,) by role; NaN is a null volume."""

    time: NDArray[np.int64]
    values: Mapping[str, Floats]
    lines_of: LinesOf
    clock: Clock
    zone: ChosenZone
    table: Table
    read: int
    dropped: Mapping[str, list[int]]
    notes: tuple[str, ...]
    style: NumberStyle
    closes: bool = False
    columns: Mapping[str, str] = field(default_factory=dict)


def parse_rows(table: Table, doubts: Doubts) -> ParsedRows:
    """Parse a table of one symbol; raise InvalidInput with line, column and value for a cell that cannot be read."""
    try:
        return _parse(table, doubts)
    except CellProblem as problem:
        if table.careful is None:
            raise table.refuse(problem) from None
    return parse_rows(table.careful(), doubts)


def _parse(table: Table, doubts: Doubts) -> ParsedRows:
    values, style, notes = _numbers(table, doubts)
    keep, dropped = _without_price(table, values)
    read = len(table) + sum(len(lines) for lines in table.dropped.values())
    rows = None if keep.all() else np.flatnonzero(keep)
    if rows is not None:
        table = table.take(rows)
        values = {role: column[rows] for role, column in values.items()}
    if len(table) == 0:
        why = ", ".join(f"{reason}: {len(lines)}" for reason, lines in dropped.items())
        raise InvalidInput(f"{table.file} holds no candle that could be kept ({why})", file=table.file)
    try:
        clock, closes = _times(table, doubts)
        zone = choose_zone(clock, table, doubts)
        time, zone_notes = zone.apply(clock, table)
    except CellProblem as problem:
        raise problem if rows is None else problem.at(int(rows[problem.cell.row])) from None
    volume, volume_note, columns = _volume(table, values)
    scaled = {
        price: values[price] / table.layout.scale if table.layout.scale != 1 else values[price] for price in PRICES
    }
    return ParsedRows(
        time,
        {**scaled, "volume": volume},
        table.lines_of,
        clock,
        zone,
        table,
        read,
        {**table.dropped, **dropped},
        (*table.notes, *notes, *volume_note, *zone_notes),
        style,
        closes,
        columns,
    )


def _numbers(table: Table, doubts: Doubts) -> tuple[dict[str, Floats], NumberStyle, tuple[str, ...]]:
    roles = [role for role in (*PRICES, "volume", "tick_volume") if role in table.columns]
    text = {role: table.columns[role] for role in roles if pa.types.is_string(table.columns[role].type)}
    style = NumberStyle(".", "no cell has a comma" if table.place == "line" else "typed")
    if text:
        style = number_style(text, doubts, commas_part=table.commas_part, habit=table.dots)
    parsed = {role: parse_numbers(column, style) for role, column in text.items()}
    empty = _without_numbers(table, parsed)
    values = {}
    for role in roles:
        values[role] = _values(table, role, parsed[role], empty) if role in parsed else _typed(table.columns[role])
    note = (
        (f"Commas were read as decimals, dots as marks of thousands ({style.reason}).",) if style.decimal == "," else ()
    )
    return values, style, note


def _without_numbers(table: Table, parsed: Mapping[str, ParsedNumbers]) -> Bools:
    """Mark the rows that are no candle and give no price: a dividend, a header that comes again, a remark.

    None is marked where half of the rows are so: then their cells are to be named.
    """
    empty = np.ones(len(table), dtype=np.bool_)
    digits = np.zeros(len(table), dtype=np.int64)
    for price in PRICES:
        if price not in parsed:
            return np.zeros(len(table), dtype=np.bool_)
        empty &= np.isnan(parsed[price].values) | parsed[price].bad
        digits += parsed[price].bad & mask_of(pc.match_substring_regex(table.columns[price], r"\d"))
    empty &= digits <= 1
    return empty if np.count_nonzero(empty) * 2 < len(empty) else empty & False


def _values(table: Table, role: str, parsed: ParsedNumbers, empty: Bools) -> Floats:
    bad = np.flatnonzero(parsed.bad & ~empty)
    if len(bad):
        row = int(bad[0])
        raise CellProblem(Cell(row, table.names[role], table.columns[role][row].as_py()), "is no number")
    return parsed.values


def _typed(column: Column) -> Floats:
    return np.asarray(pc.cast(column, pa.float64(), safe=False).to_numpy(zero_copy_only=False), dtype=np.float64)


def _without_price(table: Table, values: Mapping[str, Floats]) -> tuple[Bools, dict[str, list[int]]]:
    """Find the rows that are no candle: a blank price, one that is not finite, or a candle that still forms."""
    if "confirmed" not in table.columns and all(np.isfinite(values[price].sum()) for price in PRICES):
        return np.ones(len(table), dtype=np.bool_), {}
    blank = np.zeros(len(table), dtype=np.bool_)
    infinite = blank.copy()
    for price in PRICES:
        blank |= np.isnan(values[price])
        infinite |= np.isinf(values[price])
    reasons = {"blank price": blank, "price not finite": infinite & ~blank}
    if "confirmed" in table.columns:
        reasons["still forming"] = _forming(table.columns["confirmed"]) & ~blank & ~infinite
    dropped = {reason: table.lines_of(np.flatnonzero(mask)).tolist() for reason, mask in reasons.items() if mask.any()}
    keep = ~np.logical_or.reduce(list(reasons.values()))
    return keep, dropped


def _forming(column: Column) -> Bools:
    words = pc.utf8_lower(pc.cast(column, pa.string()))
    return mask_of(pc.is_in(words, value_set=pa.array(["0", "false", "no"])))


def _times(table: Table, doubts: Doubts) -> tuple[Clock, bool]:
    """Read the open times; where a file has only the ends of its candles, those, and say so."""
    role = "time" if "time" in table.columns else "close_time"
    column, name = table.columns[role], table.names[role]
    _refuse_blank(table, role)
    if "clock" in table.columns:
        column = _joined(table, doubts)
    if "month" in table.columns:
        column = _of_parts(table)
    if table.iso_times:
        return read_iso_times(column, name), False
    return read_times(column, name, doubts, day_first=table.layout.day_first), role == "close_time"


def _refuse_blank(table: Table, role: str) -> None:
    column = table.columns[role]
    if column.null_count == 0 and not (pa.types.is_string(column.type) or pa.types.is_floating(column.type)):
        return
    filled = pc.is_valid(column)
    if pa.types.is_string(column.type) and (pc.min(pc.binary_length(column)).as_py() or 0) <= LONGEST_BLANK:
        blank = pc.is_in(pc.utf8_trim_whitespace(column), value_set=pa.array(BLANKS))
        filled = pc.and_(filled, pc.invert(blank))
    if pa.types.is_floating(column.type):
        filled = pc.and_(filled, pc.invert(pc.is_nan(column)))
    if (row := first_false(filled)) is not None:
        raise CellProblem(Cell(row, table.names[role], column[row].as_py()), "is blank, but the row has prices")


def _joined(table: Table, doubts: Doubts) -> Column:
    """Put date and clock together, as text."""
    days, clocks = (pc.utf8_trim_whitespace(pc.cast(table.columns[role], pa.string())) for role in ("time", "clock"))
    if pc.all(pc.match_substring_regex(clocks, MIDNIGHT)).as_py():
        clocks = pc.replace_substring_regex(clocks, MIDNIGHT, "00:00")
    elif pc.all(pc.match_substring_regex(clocks, DOTTED_CLOCK)).as_py():
        clocks = pc.replace_substring(clocks, ".", ":")
    elif pc.all(pc.match_substring_regex(clocks, HOUR)).as_py() and _are_hours(clocks, table, doubts):
        clocks = pc.binary_join_element_wise(clocks, "00", ":")
    elif pc.all(pc.ascii_is_decimal(clocks)).as_py():
        padded = pc.ascii_lpad(clocks, width=_clock_width(clocks, table, doubts), padding="0")
        clocks = pc.replace_substring_regex(padded, r"^(\d\d)(\d\d)(\d\d)?$", r"\1:\2:\3")
        clocks = pc.replace_substring_regex(clocks, r":$", "")
    joined: Column = pc.binary_join_element_wise(days, clocks, " ")
    return joined


def _of_parts(table: Table) -> Column:
    """Put year, month, day and what there is of the clock together, as text."""

    def two_digits(role: str) -> Column:
        cells = pc.utf8_trim_whitespace(pc.cast(table.columns[role], pa.string()))
        padded: Column = pc.utf8_lpad(cells, width=2, padding="0")
        return padded

    days: Column = pc.binary_join_element_wise(*(two_digits(role) for role in ("time", "month", "day")), "-")
    clock = [two_digits(part) for part in CLOCK_PARTS if part in table.columns]
    if not clock:
        return days
    clocks = pc.binary_join_element_wise(*clock, *["00"] * (len(clock) == 1), ":")
    joined: Column = pc.binary_join_element_wise(days, clocks, " ")
    return joined


def _are_hours(clocks: Column, table: Table, doubts: Doubts) -> bool:
    """Tell whether clocks of one or two digits are hours: by their name, or as answered."""
    if plain(table.names["clock"]) == "hour" or table.names["clock"].startswith("<"):
        return not table.names["clock"].startswith("<")
    choices = [Choice("2", "hours: 9 is 09:00", likely=True), Choice("4", "minutes after midnight: 9 is 00:09")]
    reason = f"No clock is above 23; the latest is {pc.max(pc.cast(clocks, pa.int64())).as_py()}."
    return doubts.ask("clock_digits", "How are the clocks of this file written?", choices, reason) == "2"


def _clock_width(clocks: Column, table: Table, doubts: Doubts) -> int:
    """Tell hhmm from hhmmss where a spreadsheet has taken the leading zeros: 200 is 000200 in Stooq's files."""
    widths = pc.unique(pc.utf8_length(clocks)).to_pylist()
    if max(widths) > 4 or (table.names["clock"].startswith("<") and widths != [4]):
        return 6
    if widths == [4]:
        return 4
    longest = pc.max(clocks).as_py()
    choices = [
        Choice("4", "hours and minutes: 930 is 09:30", likely=True),
        Choice("6", "hours, minutes and seconds: 930 is 00:09:30"),
    ]
    reason = f"The clocks have up to four digits, such as {longest}, and leading zeros are gone."
    return int(doubts.ask("clock_digits", "How are the clocks of this file written?", choices, reason))


def _volume(table: Table, values: Mapping[str, Floats]) -> tuple[Floats, tuple[str, ...], dict[str, str]]:
    """Choose the volume: ticks where the real one is nothing but zeros, as of brokers without an exchange."""
    reasons = dict(table.reasons)
    volume, ticks = values.get("volume"), values.get("tick_volume")
    if ticks is not None and (volume is None or not np.nan_to_num(volume).any()):
        reasons["volume"] = f"{table.names['tick_volume']!r} counts ticks; no other volume has a value"
        return ticks, ("Volume is the number of ticks.",), reasons
    if volume is None:
        return np.full(len(table), np.nan), ("The file has no volume; it is null.",), reasons
    infinite = np.isinf(volume)
    if not infinite.any():
        return volume, (), reasons
    note = f"Volumes that are infinite, taken as null: {np.count_nonzero(infinite)}."
    return np.where(infinite, np.nan, volume), (note,), reasons
