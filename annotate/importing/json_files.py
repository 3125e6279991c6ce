"""JSON files: parsed, searched for candles, and handed on as tables with typed columns."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from annotate.errors import InvalidInput
from annotate.importing.arrow import Column
from annotate.importing.columns import Roles, ask_missing, overruled, prefer_epochs, roles_by_name
from annotate.importing.doubts import Doubts
from annotate.importing.header_names import PRICES
from annotate.importing.headerless import Shape, average_before_volume, roles_by_shape
from annotate.importing.json_tree import Found, Row, find_candles
from annotate.importing.layouts import STATED_UTC, Layout, layout_by_names
from annotate.importing.names import read_name
from annotate.importing.other_data import refuse_other_data
from annotate.importing.table import Table, counted_from
from annotate.importing.text import TextFile

MAX_LISTS = 500
LEVELS = 4  # of objects in objects that are searched for what a file without candles is
# Gate sends time, turnover, close, high, low, open, volume and whether the candle is closed.
GATE = Roles(
    {"time": 0, "close": 2, "high": 3, "low": 4, "open": 5, "volume": 6, "confirmed": 7},
    dict.fromkeys(("time", *PRICES, "volume"), "the order of Gate's interface, whose rows end with a flag"),
)
# Lists of candles under the length of theirs in seconds, each with the time of its end.
CRYPTOWATCH = Layout("Cryptowatch", STATED_UTC, ends=True, surely_ends=True)
PERIODS = ("60", "180", "300", "900", "1800", "3600", "7200", "14400", "21600", "43200", "86400")
SAYINGS = ("msg", "message", "error", "errmsg", "note", "information", "detail", "reason")


def read_json(file: TextFile, doubts: Doubts) -> list[Table]:
    """Read every list of candles in a JSON file; raise InvalidInput by what it is when there is none."""
    name = file.member.name
    tree = _parsed(file)
    found = _joined(find_candles(tree))
    filled = [each for each in found if each.rows]
    if not filled:
        _refuse(tree, name, empty=bool(found) or tree in ([], {}))
    if len(filled) > MAX_LISTS:
        raise InvalidInput(f"{name} holds {len(filled)} lists of candles; at most {MAX_LISTS} are read", file=name)
    return [_table(each, name, doubts) for each in filled]


def _joined(lists: Iterable[Found]) -> list[Found]:
    """Put lists of one kind and market together, such as the pages of an answer or the messages of a stream."""
    groups: dict[tuple[object, ...], Found] = {}
    for each in lists:
        shape = tuple(each.names) if each.names else len(each.rows[0]) if each.rows else 0
        kind = (shape, each.hint, each.last_complete)
        if kind in groups:
            groups[kind].rows.extend(each.rows)
        else:
            groups[kind] = replace(each, rows=list(each.rows))
    return list(groups.values())


def _parsed(file: TextFile) -> Any:
    text = file.member.whole().decode("utf-8-sig", errors="replace")
    # A time such as 1.7174e+12 has lost its digits; kept as text, it is recognised where times are read.
    number = _as_written if re.search(r"\d[eE]\+?(9|1\d)\b", text) else None
    try:
        return json.loads(text, parse_float=number)
    except RecursionError:
        raise InvalidInput(f"{file.member.name} nests too deeply to be candles", file=file.member.name) from None
    except ValueError as error:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) > 1 and lines[0].lstrip().startswith(("{", "[")):
            return _json_lines(lines, file, error)
        raise _not_json(file.member.name, error) from None


def _as_written(text: str) -> float | str:
    return text if "e" in text.lower() else float(text)


def _json_lines(lines: list[str], file: TextFile, error: ValueError) -> list[Any]:
    try:
        return [json.loads(line) for line in lines]
    except (ValueError, RecursionError):
        raise _not_json(file.member.name, error) from None


def _not_json(name: str, error: ValueError) -> InvalidInput:
    if not isinstance(error, json.JSONDecodeError):
        return InvalidInput(f"{name} holds a whole number of thousands of digits, which is no time or price", file=name)
    return InvalidInput(
        f"{name} is no valid JSON: {error}; perhaps the download was cut short", file=name, line=error.lineno
    )


def _refuse(tree: Any, name: str, *, empty: bool) -> None:
    for inner in _keys(tree, LEVELS):
        refuse_other_data(inner, [], name)
    keys = next(_keys(tree, LEVELS), [])
    if empty:
        raise InvalidInput(f"{name} holds no candles: its list is empty", file=name)
    said = [str(value)[:200] for key, value in tree.items() if key.lower() in SAYINGS] if isinstance(tree, dict) else []
    what = f"its keys are {', '.join(keys[:12])}" if keys else "it has no rows of a time and four prices"
    raise InvalidInput(f"{name} is JSON without candles: {'; it says: '.join([what, *said[:1]])}", file=name)


def _keys(tree: Any, levels: int) -> Iterator[list[str]]:
    """Give the keys of an object and of those in it; of a list those of its first item."""
    if isinstance(tree, dict):
        yield [str(key) for key in tree]
    inner = list(tree.values()) if isinstance(tree, dict) else tree[:1] if isinstance(tree, list) else []
    for each in inner if levels > 0 else ():
        yield from _keys(each, levels - 1)


def _table(found: Found, filename: str, doubts: Doubts) -> Table:
    sample = [[str(cell) for cell in row] for row in found.rows[:5] if isinstance(row, list)]
    refuse_other_data(found.names, sample, filename)
    width = len(found.names) if found.names else len(found.rows[0])
    _check_width(found.rows, width, filename)
    columns = [list(column) for column in zip(*found.rows, strict=True)]
    if found.names is None:
        roles, layout = _positional_roles(columns, doubts)
        names = [f"element {at + 1}" for at in range(width)]
        roles = overruled(roles, names, doubts)
        layout = CRYPTOWATCH if found.key in PERIODS else layout
    else:
        names = found.names
        by_name = prefer_epochs(
            roles_by_name(names), names, lambda at: [cell for cell in columns[at] if cell is not None]
        )
        roles, layout = ask_missing(by_name, names, doubts), layout_by_names(names)
    named = read_name(filename)
    table = Table(
        {role: _column(columns[at], is_time=role in ("time", "close_time")) for role, at in roles.index.items()},
        {role: names[at] for role, at in roles.index.items()},
        roles.reasons,
        replace(layout, name=f"JSON, {layout.name}"),
        filename,
        counted_from(1),
        place="item",
        symbol=found.hint.symbol or named.symbol,
        timeframe=found.hint.timeframe or named.timeframe,
        zone=found.hint.zone,
        header=tuple(names),
        places=roles.index,
    )
    return _without_last(table, found) if found.last_complete is not None else table


def _check_width(rows: list[Row], width: int, filename: str) -> None:
    for at, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != width:
            found = f"{len(row)} elements" if isinstance(row, list) else repr(row)[:80]
            raise InvalidInput(
                f"{filename}, item {at + 1}: {found} where the other candles have {width}", file=filename, line=at + 1
            )


def _positional_roles(columns: list[list[Any]], doubts: Doubts) -> tuple[Roles, Layout]:
    width, sample = len(columns), slice(0, 200)
    numbers = np.array([[_number(cell) for cell in column[sample]] for column in columns[1:]], dtype=np.float64).T
    if width == 8 and all(str(cell).lower() in ("true", "false") for cell in columns[7]):
        return GATE, Layout("Gate candles", STATED_UTC)
    roles = roles_by_shape(Shape(0, None, 1), numbers, doubts, published=True)
    if width == 12:
        return roles, Layout("Binance klines", STATED_UTC)
    if width == 9 and all(str(cell) in ("0", "1") for cell in columns[8]):
        return Roles({**roles.index, "confirmed": 8}, roles.reasons), Layout("OKX candles", STATED_UTC)
    if width == 8 and average_before_volume(numbers):
        reasons = {**roles.reasons, "volume": "Kraken gives the average price before the volume"}
        return Roles({**roles.index, "volume": 6}, reasons), Layout("Kraken OHLC", STATED_UTC)
    return roles, Layout("arrays of time and prices", STATED_UTC)


def _number(cell: Any) -> float:
    try:
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def _column(cells: list[Any], *, is_time: bool) -> Column:
    """Give cells their type: numbers where all are, else text; booleans are words."""
    kinds = {type(cell) for cell in cells}
    try:
        if kinds == {int}:
            return pa.chunked_array([pa.array(cells, pa.int64())])
        if kinds <= {int, float, type(None)} and not (is_time and type(None) in kinds):
            return pa.chunked_array([pa.array(cells, pa.float64(), from_pandas=True)])
    except (pa.ArrowInvalid, OverflowError):
        pass  # a whole number beyond 64 bits is read as text, where it is named
    return pa.chunked_array([pa.array([_text(cell) for cell in cells], pa.string())])


def _text(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    return cell.encode("utf-8", "replace").decode() if isinstance(cell, str) else repr(cell)


def _without_last(table: Table, found: Found) -> Table:
    """Leave out what Kraken says is not final: rows after `last`."""
    times = [_number(row[0]) for row in found.rows]
    complete = np.array([time <= float(found.last_complete or 0) for time in times])
    if complete.all() or not complete.any():
        return table
    rows = np.flatnonzero(complete)
    forming = (np.flatnonzero(~complete) + 1).tolist()
    return replace(table.take(rows), dropped={"still forming": forming})
