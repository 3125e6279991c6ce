"""A file's columns by role before parsing: what every family of formats hands to the parser."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from annotate.errors import InvalidInput
from annotate.importing.arrow import Column
from annotate.importing.layouts import Layout
from annotate.importing.number_habits import DotHabit
from annotate.importing.problems import CellProblem

Rows = NDArray[np.int64]
LinesOf = Callable[[Rows], Rows]


def counted_from(first: int) -> LinesOf:
    """Give lines of rows that follow one another without anything between."""
    return lambda rows: rows + first


@dataclass(frozen=True, slots=True)
class Table:
    """Columns by role: text as written, or float64, integer, timestamp and date where the file is typed.

    `lines_of` turns row numbers (from 0) into places that a person can find; `place` names them, `line` or `item`.
    `header` names every column of the file, `places` says which of them (from 0) plays a role.
    """

    columns: Mapping[str, Column]
    names: Mapping[str, str]
    reasons: Mapping[str, str]
    layout: Layout
    file: str
    lines_of: LinesOf
    place: str = "line"
    notes: tuple[str, ...] = ()
    dropped: Mapping[str, list[int]] = field(default_factory=dict)
    commas_part: bool = True  # whether a comma between digits rather parts thousands than it is decimal
    dots: DotHabit | None = None
    symbol: str | None = None
    timeframe: str | None = None
    zone: str | None = None
    header: tuple[str, ...] = ()
    places: Mapping[str, int] = field(default_factory=dict)
    iso_times: bool = False  # the times were ISO text, which Arrow has turned into timestamps
    careful: Callable[[], Table] | None = None  # reads the same rows as text, so that a cell that is wrong can be named

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def take(self, rows: Rows) -> Table:
        """Give the table of the chosen rows; their lines stay theirs."""
        lines_of = self.lines_of
        chosen = {role: column.take(rows) for role, column in self.columns.items()}
        return replace(self, columns=chosen, lines_of=lambda picked: lines_of(rows[picked]), careful=None)

    def line(self, row: int) -> int:
        """Give the place of one row."""
        return int(self.lines_of(np.array([row], dtype=np.int64))[0])

    def refuse(self, problem: CellProblem) -> InvalidInput:
        """Turn a cell that cannot be read into the error that names line, column and value."""
        line = self.line(problem.cell.row)
        value = str(problem.cell.value)[:80]
        message = f"{self.file}, {self.place} {line}, {problem.cell.column}: {value!r} {problem.why}"
        return InvalidInput(message, file=self.file, line=line, column=problem.cell.column, value=value)
