"""Delimited text (CSV, TSV, semicolons): sniffed, mapped and read by Arrow, fast where every price is plain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from annotate.errors import InvalidInput
from annotate.importing import layouts
from annotate.importing.arrow import Column
from annotate.importing.columns import PRICES, Roles, ask_missing, roles_by_name
from annotate.importing.dialect import NUMERIC, TIME, Dialect, sniff
from annotate.importing.doubts import Doubts
from annotate.importing.headerless import find_shape, roles_by_shape
from annotate.importing.lean import lean_layout, with_dates
from annotate.importing.names import read_name
from annotate.importing.numbers import BLANKS, NumberStyle, parse_numbers
from annotate.importing.other_data import refuse_other_data
from annotate.importing.table import Rows, Table, counted_from
from annotate.importing.text import TextFile, as_cp1252

NUMBERS = (*PRICES, "volume", "tick_volume")
FOOTER_LINES = 2


@dataclass(slots=True)
class _Misfits:
    """Rows that have another number of cells than the first ones, in order of the file."""

    rows: list[pacsv.InvalidRow] = field(default_factory=list)

    def __call__(self, row: pacsv.InvalidRow) -> Literal["skip"]:
        self.rows.append(row)
        return "skip"


def read_delimited(file: TextFile, doubts: Doubts) -> list[Table]:
    """Read a text as tables, one for each symbol that stands in its header; raise InvalidInput by what is wrong."""
    name = file.member.name
    dialect = sniff(file.sample)
    if dialect is None:
        refuse_other_data(None, [line.split() for line in file.sample if line.strip()][:5], name)
        raise InvalidInput(
            f"{name} has no columns of candles; its first line is {file.sample[0][:80]!r}. "
            "Give a time and open, high, low, close in columns parted by comma, semicolon or tab",
            file=name,
            line=1,
        )
    refuse_other_data(dialect.names, dialect.rows, name)
    if not dialect.rows:
        raise InvalidInput(
            f"{name} holds no candles: there is no row after the header", file=name, line=dialect.first_line
        )
    return _tables(file, dialect, doubts)


def _map(dialect: Dialect, filename: str, doubts: Doubts) -> tuple[list[str], layouts.Layout, Roles]:
    if dialect.names is None:
        layout = lean_layout(dialect, filename) or layouts.layout_by_rows(dialect.rows, dialect.delimiter, filename)
        return [f"column {at + 1}" for at in range(dialect.width)], layout, _headerless(dialect, filename, doubts)
    names = _fitted_names(dialect, filename)
    return names, layouts.layout_by_names(names), ask_missing(_usable(roles_by_name(names), dialect), names, doubts)


def _headerless(dialect: Dialect, filename: str, doubts: Doubts) -> Roles:
    shape = find_shape(dialect.rows[0]) if len(dialect.rows[0]) >= 5 else None
    if shape is None:
        raise InvalidInput(
            f"{filename}, line {dialect.first_line}: {dialect.delimiter.join(dialect.rows[0])[:80]!r} is no candle; "
            "a time and at least four prices are needed, or a header that names the columns",
            file=filename,
            line=dialect.first_line,
        )
    columns = pa.table(
        {
            str(at): [row[at] if at < len(row) else "" for row in dialect.rows]
            for at in range(shape.first_number, dialect.width)
        }
    )
    style = NumberStyle("," if dialect.delimiter != "," else ".", "sample")
    if not any("," in cell for row in dialect.rows for cell in row):
        style = NumberStyle(".", "sample")
    numbers = np.column_stack([parse_numbers(columns[at], style).values for at in range(columns.num_columns)])
    return roles_by_shape(shape, numbers, doubts)


def _usable(roles: Roles, dialect: Dialect) -> Roles:
    """Drop the unnamed or numbered index column of pandas as time, and use it where nothing else is one."""
    index = dict(roles.index)
    first = dialect.names[0].strip() if dialect.names else ""
    unnamed = first == "" or first.lower().startswith("unnamed") or first.lower() in ("index", "price", "ticker")
    if "time" not in index and "close_time" not in index and unnamed and TIME.match(dialect.rows[0][0]):
        index["time"] = 0
        return Roles(index, {**roles.reasons, "time": "the first column has no name and holds times"})
    return roles


def _fitted_names(dialect: Dialect, filename: str) -> list[str]:
    """Give a name for every cell of a row; a header that is one short packs date and clock under one name."""
    names = list(dialect.names or [])
    extra = dialect.width - len(names)
    if extra == 0:
        return names
    if extra < 0 and not any(name.strip() for name in names[dialect.width :]):
        return names[: dialect.width]
    if extra == 1 and all(not row[-1].strip() for row in dialect.rows if len(row) == dialect.width):
        return [*names, ""]
    if extra == 1 and _date_and_clock(dialect):
        return [names[0], "Time", *names[1:]]
    raise InvalidInput(
        f"{filename}: the header has {len(names)} names, but the rows have {dialect.width} cells, so that "
        "no name can be trusted; correct the header line",
        file=filename,
        line=dialect.first_line,
    )


def _date_and_clock(dialect: Dialect) -> bool:
    first = dialect.rows[0]
    return bool(TIME.match(first[0])) and ":" in first[1] and not NUMERIC.match(first[1])


def _tables(file: TextFile, dialect: Dialect, doubts: Doubts) -> list[Table]:
    """Read one table or, where a second header line names tickers, one a ticker."""
    name = file.member.name
    tickers = list(dict.fromkeys(cell.strip() for cell in (dialect.tickers or [])[1:] if cell.strip()))
    if len(tickers) < 2:
        names, layout, roles = _map(dialect, name, doubts)
        table = with_dates(_read(file, dialect, roles, names, layout), name)
        return [replace(table, symbol=tickers[0]) if tickers else table]
    tables = []
    for ticker in tickers:
        row = zip(dialect.names or [], dialect.tickers or [], strict=False)
        own = replace(
            dialect, names=[field if at == 0 or of.strip() == ticker else "" for at, (field, of) in enumerate(row)]
        )
        names, layout, roles = _map(own, name, doubts)
        tables.append(replace(_read(file, own, roles, names, layout), symbol=ticker))
    return tables


def _read(file: TextFile, dialect: Dialect, roles: Roles, names: list[str], layout: layouts.Layout) -> Table:
    hint = read_name(file.member.name)
    notes = (
        [f"The lines before the header were passed over: {' / '.join(dialect.preamble)[:200]!r}."]
        if dialect.preamble
        else []
    )
    base = Table(
        {},
        {role: names[at].strip() or f"column {at + 1}" for role, at in roles.index.items()},
        roles.reasons,
        layout,
        file.member.name,
        counted_from(dialect.first_line),
        notes=tuple(notes),
        comma_separated=dialect.delimiter == ",",
        symbol=hint.symbol,
        timeframe=hint.timeframe,
    )
    try:
        columns = _arrow(file, dialect, roles, typed=True, misfits=None)
    except pa.ArrowInvalid:
        return _read_carefully(file, dialect, roles, base)
    return _with_lines(replace(base, columns=columns), file, dialect, 0)


def _read_carefully(file: TextFile, dialect: Dialect, roles: Roles, base: Table) -> Table:
    """Read all cells as text, row by row in order, so that what does not fit can be named."""
    misfits = _Misfits()
    try:
        columns = _arrow(file, dialect, roles, typed=False, misfits=misfits)
    except pa.ArrowInvalid as error:
        if "UTF8" not in str(error) or file.encoding == "cp1252":
            raise InvalidInput(f"{file.member.name} cannot be read: {error}", file=file.member.name) from None
        file, misfits = as_cp1252(file), _Misfits()
        columns = _arrow(file, dialect, roles, typed=False, misfits=misfits)
    table = replace(base, columns=columns)
    left_out = _judge(misfits.rows, file, dialect, len(table))
    if left_out:
        table = replace(
            table, dropped={"footer": left_out}, notes=(*table.notes, "The last line is a remark, not a candle.")
        )
    return _with_lines(table, file, dialect, len(misfits.rows))


def _arrow(
    file: TextFile, dialect: Dialect, roles: Roles, *, typed: bool, misfits: _Misfits | None
) -> dict[str, Column]:
    types = {str(at): pa.float64() if typed and role in NUMBERS else pa.string() for role, at in roles.index.items()}
    source: Any = file.member.source()  # the stubs want a Python file here
    with source:
        table = pacsv.read_csv(
            source,
            pacsv.ReadOptions(
                column_names=[str(at) for at in range(dialect.width)],
                skip_rows=dialect.first_line - 1,
                use_threads=misfits is None,
            ),
            pacsv.ParseOptions(delimiter=dialect.delimiter, invalid_row_handler=misfits),
            pacsv.ConvertOptions(
                include_columns=list(types), column_types=types, null_values=list(BLANKS), strings_can_be_null=False
            ),
        )
    return {role: table[str(at)] for role, at in roles.index.items()}


def _judge(rows: Sequence[pacsv.InvalidRow], file: TextFile, dialect: Dialect, read: int) -> list[int]:
    """Pass over blank lines and a remark at the end, whose line is given; refuse other rows of another width."""
    lines, remarks = file.filled_lines, []
    at = int(np.searchsorted(lines, dialect.first_line))
    for row in rows:
        ordinal = (row.number or 0) - dialect.first_line
        line = int(lines[min(at + ordinal, len(lines) - 1)])
        if not row.text.strip(f" \t\r\n{dialect.delimiter}"):
            continue
        is_last = ordinal >= read + len(rows) - FOOTER_LINES
        if not is_last or row.actual_columns > 2 or TIME.match(row.text.split(dialect.delimiter)[0]):
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


def _with_lines(table: Table, file: TextFile, dialect: Dialect, misfits: int) -> Table:
    """Attach line numbers; refuse a file in which a quote swallowed line ends."""
    first = dialect.first_line

    def lines_of(rows: Rows) -> Rows:
        lines = file.filled_lines
        chosen: Rows = lines[np.searchsorted(lines, first) + rows]
        return chosen

    if misfits or file.has_quotes:
        filled = int(np.count_nonzero(file.filled_lines >= first))
        if filled != len(table) + misfits:
            raise InvalidInput(
                f"{file.member.name}: {filled} lines of data make {len(table) + misfits} rows; "
                "a quote is opened and not closed",
                file=file.member.name,
            )
    return replace(table, lines_of=lines_of)
