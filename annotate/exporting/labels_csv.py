"""`labels.csv`: one row a mark, plain columns, no JSON in a cell; written and read. Pure."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from annotate.errors import InvalidInput
from annotate.exporting.csv_text import escape, row, unescape
from annotate.exporting.iso import from_iso, iso

Json = dict[str, Any]

COLUMNS = (
    *("label_id", "chart_id", "symbol", "timeframe", "kind", "class", "t_start", "t_end", "t_start_ms", "t_end_ms"),
    *("price_start", "price_end", "side", "stop", "target", "confidence", "comment", "author", "source", "mode"),
    *("decided_at", "known_at", "created_at", "updated_at", "revision", "status"),
)
"""`label_id` is the mark's, `chart_id` the SHA-256 of the candles that it stands on; an empty cell is none."""

_TEXTS = {"class": "label"} | {name: name for name in ("kind", "comment", "author", "source", "mode")}
_TIMES = {"decided_at": "decided_at", "known_at": "known_at", "created_at": "created", "updated_at": "updated"}


def write_labels(annotations: Iterable[Mapping[str, Any]], manifest: Mapping[str, Any]) -> str:
    """Write the file: the annotations of a dataset in their order, on the series that its manifest names."""
    chart = {
        "chart_id": manifest["candles"]["sha256"],
        "symbol": escape(manifest["symbol"]),
        "timeframe": manifest["timeframe"],
    }
    lines = [row(COLUMNS)]
    for mark in annotations:
        cells = chart | _cells(mark)
        lines.append(row(cells.get(name, "") for name in COLUMNS))
    return "".join(lines)


def plain_rows(annotations: Iterable[Mapping[str, Any]]) -> list[Json]:
    """Give each mark as the columns of the file hold it, as values instead of cells: times in ms, None for none."""
    return [_values(mark) for mark in annotations]


def read_labels(text: str) -> list[Json]:
    """Read the file back: the annotations as the dataset holds them; raise InvalidInput naming line and column."""
    rows = csv.reader(io.StringIO(text, newline=""))
    if tuple(next(rows, ())) != COLUMNS:
        raise InvalidInput("labels.csv: the first line must be " + ",".join(COLUMNS), line=1)
    return [_mark(dict(zip(COLUMNS, _whole_row(cells, rows.line_num), strict=True)), rows.line_num) for cells in rows]


def _cells(mark: Mapping[str, Any]) -> dict[str, str]:
    start, end, price_start, price_end = _ends(mark)
    return {
        "label_id": mark["id"],
        **{column: escape(mark[name]) for column, name in _TEXTS.items()},
        **{column: iso(mark[name]) for column, name in _TIMES.items()},
        "t_start": iso(start),
        "t_end": iso(end),
        "t_start_ms": str(start),
        "t_end_ms": str(end),
        "price_start": _number(price_start),
        "price_end": _number(price_end),
        "side": mark.get("side", ""),
        **{name: _number(mark.get(name)) for name in ("stop", "target", "confidence")},
        "revision": str(mark["revision"]),
    }


def _values(mark: Mapping[str, Any]) -> Json:
    start, end, price_start, price_end = _ends(mark)
    return {
        "label_id": mark["id"],
        **{column: mark[name] for column, name in (_TEXTS | _TIMES).items()},
        "t_start_ms": start,
        "t_end_ms": end,
        "price_start": price_start,
        "price_end": price_end,
        **{name: mark.get(name) for name in ("side", "stop", "target")},
        "confidence": mark["confidence"],
        "revision": mark["revision"],
    }


def _ends(mark: Mapping[str, Any]) -> tuple[int, int, float | None, float | None]:
    """Give start and end times and prices; a point is an instant, so it ends where it starts."""
    if mark["kind"] == "point":
        return mark["time"], mark["time"], mark["price"], None
    if mark["kind"] == "trade":
        return mark["entry"]["time"], mark["exit"]["time"], mark["entry"]["price"], mark["exit"]["price"]
    return mark["start"], mark["end"], None, None


def _number(value: float | None) -> str:
    return "" if value is None else repr(value)


def _whole_row(cells: Sequence[str], line: int) -> Sequence[str]:
    if len(cells) != len(COLUMNS):
        raise InvalidInput(f"labels.csv, line {line}: {len(cells)} cells, {len(COLUMNS)} are needed", line=line)
    return cells


def _mark(cells: Mapping[str, str], line: int) -> Json:
    def read(column: str, parse: Callable[[str], Any]) -> Any:
        try:
            return parse(cells[column])
        except (ValueError, InvalidInput):
            raise InvalidInput(
                f"labels.csv, line {line}, column {column}: {cells[column]!r} cannot be read", line=line, column=column
            ) from None

    place = _PLACES.get(cells["kind"])
    if place is None:
        raise InvalidInput(
            f"labels.csv, line {line}: kind {cells['kind']!r}; known are {', '.join(_PLACES)}", line=line
        )
    return {
        "id": cells["label_id"],
        **{name: unescape(cells[column]) for column, name in _TEXTS.items()},
        **place(read),
        "confidence": read("confidence", _optional),
        **{name: read(column, from_iso) for column, name in _TIMES.items()},
        "revision": read("revision", int),
    }


Read = Callable[[str, Callable[[str], Any]], Any]


def _span(read: Read) -> Json:
    return {"start": read("t_start_ms", int), "end": read("t_end_ms", int)}


def _point(read: Read) -> Json:
    return {"time": read("t_start_ms", int), "price": read("price_start", float)}


def _trade(read: Read) -> Json:
    return {
        "side": read("side", str),
        "entry": _point(read),
        "exit": {"time": read("t_end_ms", int), "price": read("price_end", float)},
        "stop": read("stop", _optional),
        "target": read("target", _optional),
    }


def _optional(cell: str) -> float | None:
    return float(cell) if cell else None


_PLACES: dict[str, Callable[[Read], Json]] = {"span": _span, "point": _point, "trade": _trade}
