"""Delimited text (CSV, TSV, semicolons): sniffed, mapped and read by Arrow, fast where every price is plain."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from annotate.errors import InvalidInput
from annotate.importing import layouts
from annotate.importing.columns import Roles, ask_missing, header_zone, overruled, plain, prefer_epochs, roles_by_name
from annotate.importing.dialect import TIME, Dialect, sniff
from annotate.importing.doubts import Doubts
from annotate.importing.headerless import average_before_volume, choose_shape, find_shapes, roles_by_shape
from annotate.importing.lean import LEAN, LEAN_SHAPE, lean_layout, with_dates
from annotate.importing.names import read_name
from annotate.importing.number_habits import dot_habit, dots_may_part, writes_decimal_commas
from annotate.importing.numbers import NumberStyle, parse_numbers
from annotate.importing.other_data import refuse_other_data
from annotate.importing.table import Table, counted_from
from annotate.importing.text import TextFile, with_aligned_columns
from annotate.importing.text_rows import TextRows, read_rows

FEWEST_CELLS = 5
NUMBER_COLUMNS = 5  # four prices and a volume
MAX_COLUMNS = 1000
SHAPE_ROWS = 20  # the first rows may be blank
SURE_ROWS = 20  # so many volumes are not all between low and high by chance
CLOCK = re.compile(r"^\s*(\d{1,2}:\d{2}.*|\d{1,2}\.\d{2}(\.\d{2})?|\d{1,6})\s*$")


def read_delimited(file: TextFile, doubts: Doubts) -> list[Table]:
    """Read a text as tables, one for each symbol that stands in its header; raise InvalidInput by what is wrong."""
    name = file.member.name
    dialect = sniff(file.sample)
    if dialect is None and sum("  " in line.strip() for line in file.sample) > 1:
        file = with_aligned_columns(file)
        dialect = sniff(file.sample)
    if dialect is None:
        refuse_other_data(None, [line.split() for line in file.sample if line.strip()][:5], name)
        raise InvalidInput(
            f"{name} has no columns of candles; its first line is {file.sample[0][:80]!r}. "
            "Give a time and open, high, low, close in columns parted by comma, semicolon or tab",
            file=name,
            line=1,
        )
    if dialect.width > MAX_COLUMNS:
        raise InvalidInput(f"{name} has {dialect.width} columns; candle files have at most {MAX_COLUMNS}", file=name)
    refuse_other_data(dialect.names, dialect.rows, name)
    if dialect.names and dialect.rows and dialect.width < FEWEST_CELLS:
        remark = " ".join(dialect.rows[0])[:80]
        raise InvalidInput(
            f"{name} holds no candles: after the header stands {remark!r}", file=name, line=dialect.first_line
        )
    if not dialect.rows:
        raise InvalidInput(
            f"{name} holds no candles: there is no row after the header", file=name, line=dialect.first_line
        )
    return _tables(file, dialect, doubts)


def _map(dialect: Dialect, filename: str, doubts: Doubts) -> tuple[list[str], layouts.Layout, Roles]:
    if dialect.names is None:
        layout = lean_layout(dialect, filename) or layouts.layout_by_rows(dialect.rows, dialect.delimiter, filename)
        numbered = [f"column {at + 1}" for at in range(dialect.width)]
        return numbered, layout, overruled(_headerless(dialect, filename, doubts, layout), numbered, doubts)
    names = _fitted_names(dialect, filename)
    roles = _checked(roles_by_name(names), dialect, names)
    roles = ask_missing(roles, names, doubts)
    first = dialect.rows[0]
    layout = layouts.fixed_point(layouts.layout_by_names(names), whole=_cell(first, roles.index["open"]).isdigit())
    time = _cell(first, roles.index.get("time", roles.index.get("close_time", 0)))
    return names, layouts.layout_by_first_cell(layout, time), roles


def _headerless(dialect: Dialect, filename: str, doubts: Doubts, layout: layouts.Layout) -> Roles:
    wide = (row for row in dialect.rows[:SHAPE_ROWS] if len(row) == dialect.width >= FEWEST_CELLS)
    shapes = [LEAN_SHAPE] if layout.name == LEAN else next(filter(None, map(find_shapes, wide)), [])
    if not shapes:
        refuse_other_data(dialect.rows[0], [], filename)  # a header, though none of candles
        raise InvalidInput(
            f"{filename}, line {dialect.first_line}: {dialect.delimiter.join(dialect.rows[0])[:80]!r} is no candle; "
            "a time and at least four prices are needed, or a header that names the columns",
            file=filename,
            line=dialect.first_line,
        )
    numbers = [_sampled(dialect, shape.first_number) for shape in shapes]
    at = choose_shape(shapes, numbers, doubts)
    roles = roles_by_shape(shapes[at], numbers[at], doubts, published=False)
    place = roles.index.get("volume", 0)
    is_usual = place == shapes[at].first_number + NUMBER_COLUMNS - 1
    if is_usual and dialect.width > place + 1 and len(numbers[at]) >= SURE_ROWS and average_before_volume(numbers[at]):
        reasons = {**roles.reasons, "volume": "the column before it lies between low and high: a mean price"}
        return Roles({**roles.index, "volume": place + 1}, reasons)
    return roles


def _sampled(dialect: Dialect, first: int) -> NDArray[np.float64]:
    """Give the four prices and the volume of the first rows as numbers, (rows, columns); NaN where one is none."""
    commas = dialect.delimiter != "," and any("," in cell for row in dialect.rows for cell in row)
    last = min(dialect.width, first + NUMBER_COLUMNS)
    parted = dialect.delimiter != "," and dots_may_part(
        [_cell(row, at) for row in dialect.rows for at in range(first, last)]
    )
    style = NumberStyle("," if commas or parted else ".", "sample")
    columns = pa.table({str(at): [_cell(row, at) for row in dialect.rows] for at in range(first, last)})
    return np.column_stack([parse_numbers(column, style).values for column in columns.columns])


def _checked(roles: Roles, dialect: Dialect, names: list[str]) -> Roles:
    """Check the time columns against the first row: an unnamed index may be the time, and a `Time` may be whole."""
    index, reasons, first = dict(roles.index), dict(roles.reasons), dialect.rows[0]
    if "clock" in index and not CLOCK.match(cell := _cell(first, index["clock"])):
        at = index.pop("clock")
        if TIME.match(cell):
            index["time"], reasons["time"] = at, "it holds whole times"
    by_epoch = prefer_epochs(Roles(index, reasons), names, lambda at: [_cell(row, at).strip() for row in dialect.rows])
    index, reasons = dict(by_epoch.index), dict(by_epoch.reasons)
    name = names[0].strip().lower()
    unnamed = name in ("", "index", "price", "ticker") or name.startswith("unnamed")
    if "time" not in index and "close_time" not in index and unnamed and TIME.match(first[0]):
        index = {"time": 0} | {
            role: at for role, at in index.items() if at != 0
        }  # yfinance heads its times with `Price`
        reasons["time"] = "the first column has no name and holds times"
    return Roles(index, reasons)


def _cell(row: Sequence[str], at: int) -> str:
    return row[at] if at < len(row) else ""


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
    if extra == 1 and "time" not in roles_by_name(names).index and TIME.match(dialect.rows[0][0]):
        return ["", *names]  # pandas prints its index under the names, not beside them
    if extra == 1 and dialect.rows[0][0].strip().isdigit() and TIME.match(dialect.rows[0][1]):
        return ["", *names]  # R writes row numbers without a name
    raise InvalidInput(
        f"{filename}: the header has {len(names)} names, but the rows have {dialect.width} cells, so that "
        "no name can be trusted; correct the header line",
        file=filename,
        line=dialect.first_line,
    )


def _date_and_clock(dialect: Dialect) -> bool:
    first = dialect.rows[0]
    return bool(TIME.match(first[0])) and ":" in first[1] and bool(CLOCK.match(first[1]))


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
    dots = None if layout.dots else dot_habit(dialect, roles, quoted=any('"' in line for line in file.sample))
    hint = read_name(file.member.name)
    base = Table(
        {},
        {role: names[at].strip() or f"column {at + 1}" for role, at in roles.index.items()},
        roles.reasons,
        layout,
        file.member.name,
        counted_from(dialect.first_line),
        notes=tuple(_notes(dialect, names, roles)),
        commas_part=dialect.delimiter == "," or not writes_decimal_commas(dialect),
        dots=dots,
        symbol=hint.symbol,
        timeframe=hint.timeframe,
        zone=header_zone(names[roles.index["time"]]) if "time" in roles.index else None,
        header=tuple(name.strip() or f"column {at + 1}" for at, name in enumerate(names)),
        places=roles.index,
    )
    return _filled(base, read_rows(file, dialect, roles, numbers_typed=dots is None))


def _filled(base: Table, rows: TextRows) -> Table:
    again = rows.careful
    table = replace(
        base,
        columns=rows.columns,
        lines_of=rows.lines_of,
        iso_times="time" in rows.columns and pa.types.is_timestamp(rows.columns["time"].type),
        careful=None if again is None else lambda: _filled(base, again()),
    )
    if rows.remarks:
        remark = f"Lines at the end that are remarks, not candles: {len(rows.remarks)}."
        table = replace(table, dropped={"remark": rows.remarks}, notes=(*table.notes, remark))
    return table


def _notes(dialect: Dialect, names: list[str], roles: Roles) -> Iterator[str]:
    if dialect.preamble:
        yield f"The lines before the data were passed over: {' / '.join(dialect.preamble)[:200]!r}."
    if "bid" in plain(names[roles.index["close"]]) and any("ask" in plain(name) for name in names):
        yield "The bid prices were taken; the file has ask prices too."
