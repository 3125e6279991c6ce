"""Tables of marks: rows of text by column, and their times. Pure."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from annotate.errors import InvalidInput
from annotate.importing.doubts import Doubts
from annotate.importing.problems import CellProblem
from annotate.importing.times import read_times
from annotate.importing.zones import parse_zone, to_utc

DELIMITERS = ",;\t|"


@dataclass(frozen=True, slots=True)
class Rows:
    """A table with a header; `lines` are the numbers of the rows' last lines in the file."""

    names: list[str]
    cells: list[list[str]]
    lines: list[int]

    def column(self, name: str) -> list[str]:
        """Give the cells of a column."""
        place = self.names.index(name)
        return [row[place] for row in self.cells]


def read_rows(text: str) -> Rows:
    """Read delimited text with a header; raise InvalidInput for a row of another length."""
    first = text.split("\n", 1)[0]
    delimiter = max(DELIMITERS, key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    names = [name.strip() for name in next(reader, [])]
    rows, lines = [], []
    for cells in reader:
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) != len(names):
            raise InvalidInput(
                f"line {reader.line_num}: {len(cells)} cells, the header names {len(names)}", line=reader.line_num
            )
        rows.append(cells)
        lines.append(reader.line_num)
    return Rows(names, rows, lines)


def times_of(cells: Sequence[str], name: str, lines: Sequence[int], doubts: Doubts) -> tuple[list[int], str]:
    """Give times, ms UTC, and in words how they were read.

    Times without an offset are taken in the zone that `doubts` answers under `zone`, UTC by default. Raises
    InvalidInput naming line and cell.
    """
    if not cells:
        return [], ""
    try:
        clock = read_times(pa.chunked_array([pa.array(cells, pa.string())]), name, doubts)
    except CellProblem as problem:
        line = lines[problem.cell.row]
        raise InvalidInput(
            f"line {line}, column {name}: {problem.cell.value!r} {problem.why}",
            line=line,
            column=name,
            value=problem.cell.value,
        ) from None
    if clock.zoned:
        return clock.ms.tolist(), clock.written
    zone = parse_zone(doubts.given("zone") or "UTC")
    return to_utc(clock.ms, zone).time.tolist(), f"{clock.written}, read in {zone.name}"


def number_of(cell: str, name: str, line: int) -> float | None:
    """Give the number of a cell, None for an empty one; raise InvalidInput naming line and column."""
    try:
        return float(cell) if cell.strip() else None
    except ValueError:
        raise InvalidInput(f"line {line}, column {name}: {cell!r} is no number", line=line, column=name) from None
