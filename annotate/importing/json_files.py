"""JSON of candles: arrays, records, columns, and the envelopes in which exchanges and sites send them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from annotate.errors import InvalidInput
from annotate.importing.arrow import Column
from annotate.importing.columns import Roles, ask_missing, plain, roles_by_name
from annotate.importing.dialect import TIME
from annotate.importing.doubts import Doubts
from annotate.importing.header_names import PRICES
from annotate.importing.headerless import Shape, roles_by_shape
from annotate.importing.layouts import STATED_UTC, Layout, layout_by_names
from annotate.importing.names import NameHint, read_name, read_words
from annotate.importing.other_data import refuse_other_data
from annotate.importing.table import Table, counted_from
from annotate.importing.text import TextFile

MAX_DEPTH = 8
MAX_LISTS = 500
LEAST_WIDTH = 5
HINT_KEYS = frozenset(
    (
        "symbol",
        "ticker",
        "pair",
        "instrument",
        "instid",
        "name",
        "topic",
        "channel",
        "interval",
        "timeframe",
        "granularity",
        "s",
        "i",
    )
)
ZONE_KEYS = frozenset(("timezone", "exchangetimezone", "tz"))
Row = Sequence[Any]


@dataclass(frozen=True, slots=True)
class Found:
    """Candles in a JSON tree: rows of cells, their names where they have any, and what stood around them."""

    rows: list[Row]
    names: list[str] | None
    hint: NameHint
    key: str = ""
    last_complete: int | None = None  # Kraken: the time of the last candle that is final


def read_json(file: TextFile, doubts: Doubts) -> list[Table]:
    """Read every list of candles in a JSON file; raise InvalidInput by what it is when there is none."""
    name = file.member.name
    tree = _parsed(file)
    found = [each for _, each in zip(range(MAX_LISTS), _find(tree, NameHint(None, None), "", 0), strict=False)]
    filled = [each for each in found if each.rows]
    if not filled:
        _refuse(tree, name, empty=bool(found) or tree in ([], {}))
    return [_table(each, name, doubts) for each in filled]


def _parsed(file: TextFile) -> Any:
    text = file.member.whole().decode("utf-8-sig", errors="replace")
    try:
        return json.loads(text)
    except RecursionError:
        raise InvalidInput(f"{file.member.name} nests too deeply to be candles", file=file.member.name) from None
    except ValueError as error:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) > 1 and lines[0].lstrip().startswith(("{", "[")):
            return _json_lines(lines, file, error)
        raise _not_json(file.member.name, error) from None


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
    keys = [str(key) for key in _first_keys(tree)]
    if keys:
        refuse_other_data(keys, [], name)
    if empty:
        raise InvalidInput(f"{name} holds no candles: its list is empty", file=name)
    what = f"its keys are {', '.join(keys[:12])}" if keys else "it has no rows of a time and four prices"
    raise InvalidInput(f"{name} is JSON without candles: {what}", file=name)


def _first_keys(tree: Any) -> list[Any]:
    while isinstance(tree, list) and tree:
        tree = tree[0]
    return list(tree) if isinstance(tree, dict) else []


def _find(tree: Any, hint: NameHint, key: str, depth: int) -> Iterator[Found]:
    """Walk the tree; a list or an object that is candles is taken whole and not entered."""
    if depth > MAX_DEPTH:
        return
    if isinstance(tree, list):
        yield from _in_list(tree, hint, key, depth)
    elif isinstance(tree, dict):
        yield from _in_object(tree, hint, key, depth)


def _in_list(items: list[Any], hint: NameHint, key: str, depth: int) -> Iterator[Found]:
    if not items:
        yield Found([], None, hint, key)
    elif isinstance(items[0], dict) and (names := _record_names(items)):
        yield Found([_cells(item, names) for item in items], names, _hint_of(items[0], hint), key)
    elif isinstance(items[0], list) and _is_row(items[0]):
        yield _positional(items, hint, key)
    else:
        for item in items:
            yield from _find(item, hint, key, depth + 1)


def _in_object(tree: dict[str, Any], hint: NameHint, key: str, depth: int) -> Iterator[Found]:
    hint = _hint_of(tree, hint)
    special = _yahoo_chart(tree, hint) or _columnar(tree, hint) or _split(tree, hint) or _by_time(tree, hint)
    if special:
        yield special
    elif names := _record_names([tree]):
        yield Found([_cells(tree, names)], names, hint, key)
    else:
        yield from _in_values(tree, hint, depth)


def _in_values(tree: dict[str, Any], hint: NameHint, depth: int) -> Iterator[Found]:
    """Look into each value; where several hold candles, their keys are their symbols."""
    by_key = {key: list(_find(value, hint, key, depth + 1)) for key, value in tree.items()}
    several = sum(any(found.rows for found in each) for each in by_key.values()) > 1
    last = tree.get("last")
    for key, each in by_key.items():
        for found in each:
            if several and found.hint.symbol is None:
                found = replace(found, hint=replace(found.hint, symbol=key))
            yield replace(found, last_complete=last) if isinstance(last, int) else found


def _hint_of(tree: dict[str, Any], hint: NameHint) -> NameHint:
    """Add what `symbol`, `interval`, `topic` and the like say."""
    for key, value in tree.items():
        if isinstance(value, str) and plain(key) in HINT_KEYS:
            found = read_words(value, interval=plain(key) in ("interval", "timeframe", "granularity", "i"))
            hint = replace(hint, symbol=hint.symbol or found.symbol, timeframe=hint.timeframe or found.timeframe)
        if isinstance(value, str) and plain(key) in ZONE_KEYS:
            hint = replace(hint, zone=value)
        if isinstance(value, dict) and plain(key) in ("arg", "meta", "metadata"):
            hint = _hint_of(value, hint)
    return hint


def _flat(item: dict[str, Any]) -> dict[str, Any]:
    """Lift one level of objects: OANDA gives `mid: {o, h, l, c}`."""
    flat: dict[str, Any] = {}
    for key, value in item.items():
        if isinstance(value, dict):
            flat |= {f"{key}.{inner}": cell for inner, cell in value.items()}
        else:
            flat[key] = value
    return flat


def _record_names(items: list[Any]) -> list[str] | None:
    """Give the keys of records when they name candles; keys of all records count, in order."""
    keys: dict[str, None] = {}
    for item in items:
        if not isinstance(item, dict):
            return None
        keys.update(dict.fromkeys(_flat(item)))
    names = list(keys)
    index = roles_by_name(names).index
    prices = [names[at] for role, at in index.items() if role in PRICES]
    first = _flat(items[0])
    scalars = all(not isinstance(first.get(name), (list, dict)) for name in prices)
    return names if len(prices) >= 3 and scalars else None


def _cells(item: Any, names: list[str]) -> Row:
    flat = _flat(item)
    return [flat.get(name) for name in names]


def _is_row(row: list[Any]) -> bool:
    return len(row) >= LEAST_WIDTH and not any(isinstance(cell, (list, dict)) for cell in row)


def _positional(items: list[Any], hint: NameHint, key: str) -> Found:
    """Take arrays of cells; a first array of words is their header."""
    first = items[0]
    if all(isinstance(cell, str) and not TIME.match(cell) for cell in first) and len(roles_by_name(first).index) >= 4:
        return Found(items[1:], list(first), hint, key)
    return Found(items, None, hint, key)


def _columnar(tree: dict[str, Any], hint: NameHint) -> Found | None:
    """Take `{"t": [...], "o": [...], ...}`, also with objects by row number, as pandas writes them."""
    lists = {key: _as_list(value) for key, value in tree.items() if isinstance(value, (list, dict))}
    columns = {key: value for key, value in lists.items() if value is not None}
    names = list(columns)
    if sum(price in roles_by_name(names).index for price in PRICES) < 3:
        return None
    lengths = Counter(len(column) for column in columns.values())
    height = lengths.most_common(1)[0][0]
    chosen = {name: column for name, column in columns.items() if len(column) == height}
    index = next((list(value) for value in tree.values() if isinstance(value, dict)), None)
    if index is not None and "time" not in roles_by_name(list(chosen)).index and len(index) == height:
        chosen = {"date": index, **chosen}
    return Found([list(row) for row in zip(*chosen.values(), strict=True)], list(chosen), hint)


def _as_list(value: Any) -> list[Any] | None:
    cells = list(value.values()) if isinstance(value, dict) else value
    return None if any(isinstance(cell, (list, dict)) for cell in cells) else cells


def _split(tree: dict[str, Any], hint: NameHint) -> Found | None:
    """Take pandas' `{"columns": [...], "index": [...], "data": [[...]]}`."""
    columns, index, data = tree.get("columns"), tree.get("index"), tree.get("data")
    if not (isinstance(columns, list) and isinstance(data, list) and all(isinstance(row, list) for row in data)):
        return None
    names = [str(column) for column in columns]
    if "time" in roles_by_name(names).index or not isinstance(index, list) or len(index) != len(data):
        return Found(data, names, hint)
    return Found([[at, *row] for at, row in zip(index, data, strict=True)], ["date", *names], hint)


def _by_time(tree: dict[str, Any], hint: NameHint) -> Found | None:
    """Take objects keyed by time, as Alpha Vantage and pandas' `orient="index"` give them."""
    if not tree or not all(TIME.match(key) for key in tree):
        return None
    values = list(tree.values())
    if all(isinstance(value, list) and len(value) >= 4 for value in values):
        return Found([[key, *value] for key, value in tree.items()], None, hint)
    names = _record_names(values)
    if names is None:
        return None
    return Found([[key, *_cells(value, names)] for key, value in tree.items()], ["date", *names], hint)


def _yahoo_chart(tree: dict[str, Any], hint: NameHint) -> Found | None:
    """Take Yahoo's chart answer: times beside `indicators.quote[0]` with a list a price."""
    times, indicators = tree.get("timestamp"), tree.get("indicators")
    if not isinstance(times, list) or not isinstance(indicators, dict):
        return None
    quotes = indicators.get("quote")
    quote = quotes[0] if isinstance(quotes, list) and quotes and isinstance(quotes[0], dict) else {}
    columns = {"timestamp": times, **{key: column for key, column in quote.items() if isinstance(column, list)}}
    if any(len(column) != len(times) for column in columns.values()):
        return None
    return Found([list(row) for row in zip(*columns.values(), strict=True)], list(columns), hint)


def _table(found: Found, filename: str, doubts: Doubts) -> Table:
    sample = [[str(cell) for cell in row] for row in found.rows[:5] if isinstance(row, list)]
    refuse_other_data(found.names, sample, filename)
    width = len(found.names) if found.names else len(found.rows[0])
    _check_width(found.rows, width, filename)
    columns = [list(column) for column in zip(*found.rows, strict=True)]
    if found.names is None:
        roles, layout = _positional_roles(columns, doubts)
        names = [f"element {at + 1}" for at in range(width)]
    else:
        names = found.names
        roles, layout = ask_missing(roles_by_name(names), names, doubts), layout_by_names(names)
    by_name = read_name(filename)
    table = Table(
        {role: _column(columns[at], is_time=role in ("time", "close_time")) for role, at in roles.index.items()},
        {role: names[at] for role, at in roles.index.items()},
        roles.reasons,
        replace(layout, name=f"JSON, {layout.name}"),
        filename,
        counted_from(1),
        place="item",
        symbol=found.hint.symbol or by_name.symbol,
        timeframe=found.hint.timeframe or by_name.timeframe,
        zone=found.hint.zone,
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
    roles = roles_by_shape(Shape(0, None, 1), numbers, doubts, published=True)
    if width == 12:
        return roles, Layout("Binance klines", STATED_UTC)
    if width == 9 and all(str(cell) in ("0", "1") for cell in columns[8]):
        return Roles({**roles.index, "confirmed": 8}, roles.reasons), Layout("OKX candles", STATED_UTC)
    if width == 8 and _is_average(numbers, 4):
        reasons = {**roles.reasons, "volume": "Kraken gives the average price before the volume"}
        return Roles({**roles.index, "volume": 6}, reasons), Layout("Kraken OHLC", STATED_UTC)
    return roles, Layout("arrays of time and prices", STATED_UTC)


def _is_average(numbers: np.ndarray[Any, np.dtype[np.float64]], column: int) -> bool:
    """Tell whether a column lies between low and high wherever it is not 0: a price, not a volume."""
    low, high, values = numbers[:, 2], numbers[:, 1], numbers[:, column]
    return bool(np.all((values == 0) | ((values >= low) & (values <= high))))


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
