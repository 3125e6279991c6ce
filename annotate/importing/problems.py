"""What is wrong with one cell: a row index while reading, turned into a line of the file where that is known."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Cell:
    """A place in a table: row index from 0, column name, and what stands there."""

    row: int
    column: str
    value: object


class CellProblem(Exception):
    """A cell that cannot be read; the reader of the file turns it into InvalidInput with the line."""

    def __init__(self, cell: Cell, why: str) -> None:
        super().__init__(f"{cell.column} {cell.value!r} {why}")
        self.cell = cell
        self.why = why

    def at(self, row: int) -> CellProblem:
        """Give the problem with the row that it has in a larger table."""
        return CellProblem(replace(self.cell, row=row), self.why)
