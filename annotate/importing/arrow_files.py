"""Parquet, Feather and Arrow files: columns by name, times by the type in the schema, nothing guessed."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet

from annotate.errors import InvalidInput
from annotate.importing.arrow import Column, pc
from annotate.importing.columns import Roles, ask_missing, prefer_epochs, roles_by_name
from annotate.importing.container import ARROW, FEATHER_1, MAX_UNPACKED, MIB, PARQUET, Member
from annotate.importing.doubts import Doubts
from annotate.importing.header_names import NUMBERS
from annotate.importing.layouts import fixed_point, layout_by_names
from annotate.importing.names import read_name
from annotate.importing.other_data import refuse_other_data
from annotate.importing.table import Table, counted_from

SAMPLE = 200  # rows that are looked at to tell epochs from clocks
STREAM = b"\xff\xff\xff\xff"


def is_arrow(member: Member) -> bool:
    """Tell whether a member is Parquet, Feather or Arrow, by its first bytes."""
    return member.head(8).startswith((PARQUET, ARROW, FEATHER_1, STREAM))


def read_arrow(member: Member, doubts: Doubts) -> list[Table]:
    """Read a typed file, a table for each ticker that stands in its column names."""
    try:
        columns = _columns(member)
        names, tickers = _plain_names(columns.column_names)
    except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
        raise InvalidInput(f"{member.name} is damaged and cannot be read: {error}", file=member.name) from None
    if columns.num_rows == 0:
        raise InvalidInput(f"{member.name} holds no candles: it has no rows", file=member.name)
    distinct = list(dict.fromkeys(ticker for ticker in tickers if ticker))
    if not distinct:
        return [_table(columns, names, None, member, doubts)]
    tables = []
    for ticker in distinct:
        own = [name if of in ("", ticker) else "" for name, of in zip(names, tickers, strict=True)]
        tables.append(_table(columns, own, ticker, member, doubts))
    return tables


def _columns(member: Member) -> pa.Table:
    magic = member.head(8)
    source: Any = member.source()  # the stubs want a Python file here
    with source:
        if magic.startswith(PARQUET):
            return _parquet(source, member.name)
        if magic.startswith(FEATHER_1):
            return pa.feather.read_table(source)
        reader = pa.ipc.open_file(source) if magic.startswith(ARROW) else pa.ipc.open_stream(source)
        return _batches(reader, member.name)


def _parquet(source: pa.NativeFile, name: str) -> pa.Table:
    file = pa.parquet.ParquetFile(source)
    groups = (file.metadata.row_group(at) for at in range(file.metadata.num_row_groups))
    if sum(group.total_byte_size for group in groups) > MAX_UNPACKED:
        raise _too_large(name)
    return file.read()


def _batches(reader: pa.ipc.RecordBatchFileReader | pa.ipc.RecordBatchStreamReader, name: str) -> pa.Table:
    """Read batch by batch, so that one that unpacks without end is stopped."""
    batches, size = [], 0
    stored = (
        (reader.get_batch(at) for at in range(reader.num_record_batches))
        if isinstance(reader, pa.ipc.RecordBatchFileReader)
        else iter(reader)
    )
    for batch in stored:
        size += batch.nbytes
        if size > MAX_UNPACKED:
            raise _too_large(name)
        batches.append(batch)
    return pa.Table.from_batches(batches, schema=reader.schema)


def _too_large(name: str) -> InvalidInput:
    return InvalidInput(f"{name} unpacks to more than {MAX_UNPACKED // MIB} MiB; upload it in parts", file=name)


def _plain_names(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Part pandas' two-level names, `('Close', 'AAPL')`, into field and ticker."""
    fields, tickers = [], []
    for name in names:
        field, ticker = name, ""
        if name.startswith("('"):
            try:
                parts = [str(part) for part in ast.literal_eval(name)]
                field, ticker = parts[0], parts[1] if len(parts) > 1 else ""
            except (ValueError, SyntaxError):
                field = name
        fields.append(field)
        tickers.append(ticker)
    # `(ticker, field)` as yfinance groups by ticker, where the second level names more prices than the first.
    if len(roles_by_name(tickers).index) <= len(roles_by_name(fields).index):
        return fields, tickers
    pairs = [(ticker, field) if ticker else (field, "") for field, ticker in zip(fields, tickers, strict=True)]
    return [field for field, _ in pairs], [ticker for _, ticker in pairs]


def _table(columns: pa.Table, names: list[str], ticker: str | None, member: Member, doubts: Doubts) -> Table:
    refuse_other_data(names, [], member.name)
    by_name = prefer_epochs(
        _with_index(roles_by_name(names), columns), names, lambda at: columns.column(at).slice(0, SAMPLE).to_pylist()
    )
    roles = ask_missing(by_name, names, doubts)
    hint = read_name(member.name)
    layout = fixed_point(layout_by_names(names), whole=pa.types.is_integer(columns.column(roles.index["open"]).type))
    return Table(
        {role: _column(role, columns.column(at), names[at], member.name) for role, at in roles.index.items()},
        {role: names[at] for role, at in roles.index.items()},
        roles.reasons,
        replace(layout, name=f"{_kind(member)}, {layout.name}"),
        member.name,
        counted_from(1),
        place="row",
        symbol=ticker or hint.symbol,
        timeframe=hint.timeframe,
        header=tuple(name or f"column {at + 1}" for at, name in enumerate(names)),
        places=roles.index,
    )


def _kind(member: Member) -> str:
    return "Parquet" if member.head(4) == PARQUET else "Arrow"


def _with_index(roles: Roles, columns: pa.Table) -> Roles:
    """Take the first column of times where no name gives one: pandas stores its index without a name."""
    if "time" in roles.index or "close_time" in roles.index:
        return roles
    for at, column in enumerate(columns.schema):
        if pa.types.is_timestamp(column.type) or pa.types.is_date(column.type):
            return Roles({**roles.index, "time": at}, {**roles.reasons, "time": "the only column whose type is a time"})
    return roles


def _column(role: str, column: Column, name: str, filename: str) -> Column:
    plain = _plain_type(column, name, filename)
    if role in NUMBERS and (pa.types.is_temporal(plain.type) or pa.types.is_temporal(column.type)):
        raise _misfit(column, f"no number, as {role} needs", name, filename)
    return plain


def _plain_type(column: Column, name: str, filename: str) -> Column:
    """Give a column as text, float64, int64, timestamp or date; anything else is no cell of a candle."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _plain_type(pc.cast(column, kind.value_type), name, filename)
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind) or pa.types.is_string(kind):
        return column
    try:
        if pa.types.is_integer(kind):
            # A column with blanks becomes float64 here, as a blank price needs it.
            return _cast(column, pa.int64() if column.null_count == 0 else pa.float64())
        if pa.types.is_floating(kind):
            return _cast(column, pa.float64())
        if pa.types.is_decimal(kind):
            return _cast(_cast(column, pa.string()), pa.float64())
        if not pa.types.is_duration(kind):
            return _cast(column, pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        pass
    raise _misfit(column, "neither a time nor a number", name, filename)


def _misfit(column: Column, why: str, name: str, filename: str) -> InvalidInput:
    message = (
        f"{filename}, column {name}: a column of type {column.type} is {why}; say which column it is, or export CSV"
    )
    return InvalidInput(message, file=filename, column=name)


def _cast(column: Column, kind: pa.DataType) -> Column:
    cast: Column = pc.cast(column, kind)
    return cast
