"""Rows of delimited text read by Arrow: fast where every price is plain, else cell by cell with lines to name."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from annotate.errors import InvalidInput
from annotate.importing.arrow import Column, pc
from annotate.importing.columns import EPOCH, Roles
from annotate.importing.container import MIB
from annotate.importing.dialect import TIME, Dialect
from annotate.importing.header_names import NUMBERS
from annotate.importing.numbers import BLANKS
from annotate.importing.table import LinesOf, Rows
from annotate.importing.text import TextFile, as_cp1252

FOOTER_LINES = 20
SHORT_FOOTER = 2  # lines at the end in which a number alone is a remark, such as a count of rows
# A remark begins with words; a candle whose line was cut begins with its time.
WORDS = re.compile(r'^[\s"#*(\[;,]*[^\W\d]')
BLOCK = 4 * MIB
# ISO times that Arrow's CSV reader turns into timestamps by itself, all with an offset or all without.
ISO = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(Z|[+-]\d\d:?\d\d)?")


@dataclass(frozen=True, slots=True)
class TextRows:
    """Columns by role, text or float64, with the lines of their rows and the lines that hold a remark at the end."""

    columns: dict[str, Column]
    lines_of: LinesOf
    remarks: list[int]
    careful: Callable[[], TextRows] | None = None  # reads all cells as text; None where they are


@dataclass(slots=True)
class _Misfits:
    """Rows that have another number of cells than the first ones, in order of the file."""

    rows: list[pacsv.InvalidRow] = field(default_factory=list)

    def __call__(self, row: pacsv.InvalidRow) -> Literal["skip"]:
        self.rows.append(row)
        return "skip"


def read_rows(file: TextFile, dialect: Dialect, roles: Roles, *, numbers_typed: bool) -> TextRows:
    """Read the columns that play a role; raise InvalidInput for a row of another width or an open quote.

    Numbers stay text where not `numbers_typed`: where what their dots mean is open.
    """
    quoted = any('"' in line for line in file.sample)
    if not numbers_typed:
        return _read_carefully(file, dialect, roles)
    try:
        columns = _arrow(file, dialect, roles, typed=True, quoted=quoted, misfits=None)
    except pa.ArrowInvalid:
        return _read_carefully(file, dialect, roles)
    if quoted:
        _check_quotes(file, len(columns["close"]), file.filled_lines[file.filled_lines >= dialect.first_line])
    elif any(_has_quote(column) for column in columns.values()):
        return _read_carefully(file, dialect, roles)
    return TextRows(
        columns,
        lambda rows: file.lines_of(dialect.first_line, rows),
        [],
        lambda: _read_carefully(file, dialect, roles),
    )


def _has_quote(column: Column) -> bool:
    return pa.types.is_string(column.type) and bool(pc.any(pc.match_substring(column, '"')).as_py())


def _read_carefully(file: TextFile, dialect: Dialect, roles: Roles) -> TextRows:
    """Read all cells as text, row by row in order, so that what does not fit can be named."""
    misfits = _Misfits()
    try:
        columns = _arrow(file, dialect, roles, typed=False, quoted=True, misfits=misfits)
    except pa.ArrowInvalid as error:
        if "out of sync" in str(error):  # a quote hides the end of a block
            raise _open_quote(file, file.filled_lines[file.filled_lines >= dialect.first_line]) from None
        if "UTF8" not in str(error) or file.encoding == "cp1252":
            raise InvalidInput(f"{file.member.name} cannot be read: {error}", file=file.member.name) from None
        return _read_carefully(as_cp1252(file), dialect, roles)
    filled = file.filled_lines[file.filled_lines >= dialect.first_line]
    # Arrow counts the lines passed over, then the rows; an empty line is neither.
    ordinals = [(row.number or 0) - dialect.first_line for row in misfits.rows]
    height = len(columns["close"])
    _check_quotes(file, height + len(ordinals), filled)
    remarks = _judge(misfits.rows, filled[ordinals].tolist(), file, filled)
    lines: Rows = np.delete(filled, ordinals)
    return TextRows(columns, lambda rows: lines[rows], remarks)


def _arrow(
    file: TextFile, dialect: Dialect, roles: Roles, *, typed: bool, quoted: bool, misfits: _Misfits | None
) -> dict[str, Column]:
    taken = list(roles.index.values())
    types = {
        # A column that plays two roles stays text, so that the cell which fits only one of them is named.
        str(at): _type(role, at, dialect, roles) if typed and taken.count(at) == 1 else pa.string()
        for role, at in roles.index.items()
    }
    source: Any = file.member.mapped()  # the stubs want a Python file here
    with source:
        table = pacsv.read_csv(
            source,
            pacsv.ReadOptions(
                column_names=[str(at) for at in range(dialect.width)],
                skip_rows=dialect.first_line - 1,
                use_threads=misfits is None,
                block_size=BLOCK,
            ),
            pacsv.ParseOptions(
                delimiter=dialect.delimiter, quote_char='"' if quoted else False, invalid_row_handler=misfits
            ),
            pacsv.ConvertOptions(
                include_columns=list(types), column_types=types, null_values=list(BLANKS), strings_can_be_null=False
            ),
        )
    return {role: table[str(at)] for role, at in roles.index.items()}


def _type(role: str, at: int, dialect: Dialect, roles: Roles) -> pa.DataType:
    """Let Arrow read prices as numbers, and times too where all that were looked at are epochs or ISO times."""
    if role in NUMBERS:
        return pa.float64()
    if role != "time" or {"clock", "month", "symbol"} & set(roles.index):
        return pa.string()
    cells = [row[at] for row in dialect.rows if len(row) > at]
    if all(EPOCH.fullmatch(cell) for cell in cells):
        return pa.int64()
    found = [ISO.fullmatch(cell) for cell in cells]
    zones = {match[1] is not None for match in found if match}
    return pa.timestamp("us", "UTC" if zones == {True} else None) if all(found) and len(zones) == 1 else pa.string()


def _check_quotes(file: TextFile, rows: int, filled: Rows) -> None:
    """Refuse a file in which a quote swallowed line ends: its rows would hide one another."""
    if rows != len(filled):
        raise _open_quote(file, filled)


def _open_quote(file: TextFile, filled: Rows) -> InvalidInput:
    lines = file.member.whole().split(b"\n")
    at = next((int(line) for line in filled if lines[line - 1].count(b'"') % 2), None)
    where = f", line {at}" if at else ""
    return InvalidInput(f"{file.member.name}{where}: a quote is opened and not closed", file=file.member.name, line=at)


def _footer(lines: list[int], filled: Rows) -> set[int]:
    """Give the lines of another width that nothing but such lines follows."""
    odd, footer = set(lines), set()
    for line in filled[: -FOOTER_LINES - 1 : -1].tolist():
        if line not in odd:
            break
        footer.add(line)
    return footer


def _judge(rows: list[pacsv.InvalidRow], lines: list[int], file: TextFile, filled: Rows) -> list[int]:
    """Pass over lines of spaces and remarks at the end, whose lines are given; refuse other rows of another width."""
    remarks = []
    footer = _footer(lines, filled)
    for row, line in zip(rows, lines, strict=True):
        if not row.text.strip(" \t\r\n,;|"):
            continue
        count = line in filled[-SHORT_FOOTER:] and row.actual_columns <= 2 and not TIME.match(row.text)
        if not (count or (line in footer and WORDS.match(row.text))):
            raise InvalidInput(
                f"{file.member.name}, line {line}: {row.actual_columns} cells where the other rows have "
                f"{row.expected_columns}: {row.text[:80]!r}",
                file=file.member.name,
                line=line,
                column=None,
                value=row.text[:80],
            )
        remarks.append(line)
    return remarks
