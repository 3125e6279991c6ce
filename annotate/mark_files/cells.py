"""Tables of marks: rows of text by column, their times and numbers. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from annotate.errors import InvalidInput
from annotate.exporting.csv_text import read_rows as delimited
from annotate.importing.clock import Clock
from annotate.importing.doubts import Choice
from annotate.importing.numbers import number_style, parse_numbers
from annotate.importing.problems import CellProblem
from annotate.importing.times import read_times
from annotate.importing.zones import Zone, parse_zone, to_utc
from annotate.mark_files.doubts import MarkDoubts

DELIMITERS = ",;\t|"
QUOTED = re.compile('"[^"]*"')
A_TIME = re.compile(r"\s*(\d{4}[-/.]?\d\d[-/.]?\d\d|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}|\d{9,19}(\.\d*)?\s*$)")
ZONES = (
    Choice("UTC", "UTC", likely=True),
    Choice("New York+7", "New York + 7 hours: most brokers, whose day ends with New York's"),
    *(Choice(name, name) for name in ("America/New_York", "Europe/London", "Europe/Berlin", "Asia/Tokyo")),
)


@dataclass(frozen=True, slots=True)
class Rows:
    """A table; `lines` are the numbers of the rows' last lines in the file."""

    names: list[str]
    cells: list[list[str]]
    lines: list[int]
    delimiter: str = ","
    named: bool = True  # False: the file has no header, and the names are made

    def column(self, name: str) -> list[str]:
        """Give the cells of a column."""
        place = self.names.index(name)
        return [row[place] for row in self.cells]

    def take(self, places: Sequence[int]) -> Rows:
        """Give some of the rows."""
        cells, lines = [self.cells[place] for place in places], [self.lines[place] for place in places]
        return Rows(self.names, cells, lines, self.delimiter, self.named)


def read_rows(text: str) -> Rows:
    """Read delimited text, with a header or without; raise InvalidInput for a row of another length."""
    delimiter = delimiter_of(text)
    filled = [(line, cells) for line, cells in delimited(text, delimiter) if any(map(str.strip, cells))]
    if not filled:
        return Rows([], [], [], delimiter)
    named = not any(map(A_TIME.match, filled[0][1]))
    head = [name.strip() for name in _trimmed(filled[0][1])]
    names = head if named else [f"column {place}" for place in range(1, len(head) + 1)]
    body = filled[1:] if named else filled
    return Rows(names, [_cut(cells, line, names) for line, cells in body], [line for line, _ in body], delimiter, named)


def delimiter_of(text: str) -> str:
    """Tell what parts the cells, by the first line without what stands in quotes."""
    first = QUOTED.sub("", text.lstrip("\r\n").split("\n", 1)[0])
    return max(DELIMITERS, key=first.count)


def times_of(
    columns: Mapping[str, Sequence[str]], places: Sequence[object], doubts: MarkDoubts
) -> tuple[list[list[int]], str]:
    """Give the times of columns of one length, ms UTC, and in words how they were read.

    All columns are read in one way. Times without an offset are taken in the zone that is answered, UTC by default; a
    date without a clock stays its date. `places` name the rows: a line's number, or words. Raises InvalidInput naming
    place and cell.
    """
    every = [cell for cells in columns.values() for cell in cells]
    names = list(columns)
    if not every:
        return [[] for _ in names], ""
    try:
        clock = read_times(pa.chunked_array([pa.array(every, pa.string())]), "/".join(names), doubts)
    except CellProblem as problem:
        column, row = divmod(problem.cell.row, len(places))
        raise _bad(places[row], names[column], str(problem.cell.value), problem.why) from None
    parts = np.split(clock.ms, len(names))
    finer = f", {clock.finer} finer than a millisecond cut off" if clock.finer else ""
    if clock.zoned or clock.date_only:
        return [part.tolist() for part in parts], clock.written + finer
    zone = _zone(clock, doubts)
    read = [_in_utc(part, zone, columns[name], name, places) for name, part in zip(names, parts, strict=True)]
    twice = sum(ambiguous for _, ambiguous in read)
    noted = f"; {twice} clocks happened twice that night and are told apart by their order" if twice else ""
    return [times for times, _ in read], f"{clock.written}, read in {zone.name}{noted}{finer}"


def text_of(time: object) -> str:
    """Write a time of JSON as a cell: a whole number that came as a fraction loses its zeros."""
    return str(int(time)) if isinstance(time, float) and time.is_integer() else str(time)


def numbers_of(rows: Rows, name: str, doubts: MarkDoubts) -> list[float | None]:
    """Give the numbers of a column, None for an empty cell; decimal commas are told from the column's cells."""
    column = pa.chunked_array([pa.array(rows.column(name), pa.string())])
    style = number_style({name: column}, doubts, commas_part=rows.delimiter == ",")
    parsed = parse_numbers(column, style)
    wrong = np.flatnonzero(parsed.bad | np.isinf(parsed.values))
    if len(wrong):
        row = int(wrong[0])
        raise _bad(rows.lines[row], name, rows.column(name)[row], "is no number")
    return [None if np.isnan(value) else float(value) for value in parsed.values]


def _trimmed(cells: list[str]) -> list[str]:
    """Drop the empty cells that spreadsheets leave at the end of a header."""
    end = len(cells)
    while end and not cells[end - 1].strip():
        end -= 1
    return cells[:end]


def _cut(cells: list[str], line: int, names: Sequence[str]) -> list[str]:
    if len(cells) < len(names) or any(map(str.strip, cells[len(names) :])):
        raise InvalidInput(f"line {line}: {len(cells)} cells, the header names {len(names)}", line=line)
    return cells[: len(names)]


def _zone(clock: Clock, doubts: MarkDoubts) -> Zone:
    reason = f"The times ({clock.written}) name no zone. A fixed offset such as +02:00 or an IANA name is fine too."
    return parse_zone(doubts.offer("zone", "In which time zone are the times?", ZONES, reason, free=True))


def _in_utc(
    clock: npt.NDArray[np.int64], zone: Zone, cells: Sequence[str], name: str, places: Sequence[object]
) -> tuple[list[int], int]:
    found = to_utc(clock, zone)
    if len(found.missing):
        row = int(found.missing[0])
        why = f"is a clock that {zone.name} skipped when its summer time began; choose another zone"
        raise _bad(places[row], name, cells[row], why)
    return found.time.tolist(), len(found.ambiguous)


def _bad(place: object, name: str, value: str, why: str) -> InvalidInput:
    said = f"line {place}" if isinstance(place, int) else str(place)
    error = InvalidInput(f"{said}, column {name}: {value!r} {why}", column=name, value=value)
    error.details |= {"line": place} if isinstance(place, int) else {}
    return error
