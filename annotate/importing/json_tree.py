"""Candles in a JSON tree: arrays, records, columns, and the envelopes in which exchanges and sites send them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from annotate.importing.columns import plain, roles_by_name
from annotate.importing.dialect import TIME
from annotate.importing.header_names import PRICES
from annotate.importing.names import NameHint, read_words

MAX_DEPTH = 8
# A key in capitals above a list of candles is their market, unless it is one of the words of answers.
KEY_SYMBOL = re.compile(r"[A-Z][A-Z0-9]{0,9}([./:_-][A-Z0-9]{1,10})?")
OTHER_KEYS = frozenset(("data", "result", "candles", "ohlc", "ohlcv", "bars", "values", "quotes", "prices", "list"))
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


def find_candles(tree: Any) -> Iterator[Found]:
    """Give every list of candles in a tree, in its order; lists without rows too, so that one can say so."""
    return _find(tree, NameHint(None, None), "", 0)


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
            if found.hint.symbol is None and (several or (KEY_SYMBOL.fullmatch(key) and plain(key) not in OTHER_KEYS)):
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
