"""`labels.csv`: one row a mark, plain columns, no JSON in a cell; written and read. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from annotate.errors import InvalidInput
from annotate.exporting.csv_text import escape, read_rows, row, unescape
from annotate.exporting.iso import from_iso, iso

Json = dict[str, Any]

COLUMNS = (
    *("label_id", "chart_id", "symbol", "timeframe", "kind", "class", "t_start", "t_end", "t_start_ms", "t_end_ms"),
    *("price_start", "price_end", "side", "stop", "target", "confidence", "comment", "author", "source", "mode"),
    *("decided_at", "known_at", "created_at", "updated_at", "revision", "status", "extend", "entry_decided_at"),
    *("updated_by", "review", "review_by", "review_at", "review_comment", "review_correction"),
)
"""`label_id` is the mark's, `chart_id` the SHA-256 of the candles that it stands on; an empty cell is none."""

FIRST_COLUMNS = COLUMNS[: COLUMNS.index("status") + 1]  # of files from before there were more

WORDS = {"trend_line": "trend", "candle_class": "candle", "chart_class": "chart"}
"""How the file names a kind, where it is not by the kind's own name."""

_KINDS = {word: kind for kind, word in WORDS.items()}
_TEXTS = {"class": "label"} | {name: name for name in ("comment", "author", "source", "mode")}
_REVIEW = {"review": "verdict", "review_by": "by", "review_comment": "comment", "review_correction": "correction"}
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
    rows = read_rows(text)
    head = tuple(next(rows, (0, []))[1])
    if head not in (COLUMNS, FIRST_COLUMNS):
        raise InvalidInput("labels.csv: the first line must be " + ",".join(COLUMNS), line=1)
    empty = dict.fromkeys(COLUMNS, "")
    return [_mark(empty | _named(cells, head, line), line) for line, cells in rows]


def _cells(mark: Mapping[str, Any]) -> dict[str, str]:
    start, end, price_start, price_end = _ends(mark)
    return {
        "label_id": mark["id"],
        "kind": WORDS.get(mark["kind"], mark["kind"]),
        **{column: escape(mark[name]) for column, name in _TEXTS.items()},
        **{column: iso(mark[name]) for column, name in _TIMES.items()},
        "t_start": _iso(start),
        "t_end": _iso(end),
        "t_start_ms": _whole(start),
        "t_end_ms": _whole(end),
        "price_start": _number(price_start),
        "price_end": _number(price_end),
        **{name: mark.get(name) or "" for name in ("side", "extend")},
        **{name: _number(mark.get(name)) for name in ("stop", "target", "confidence")},
        "revision": str(mark["revision"]),
        "status": mark.get("status", "done"),
        "entry_decided_at": _iso(mark.get("entry_decided_at")),
        "updated_by": escape(mark.get("updated_by", mark["author"])),
        **_review_cells(mark.get("review")),
    }


def _review_cells(review: Mapping[str, Any] | None) -> dict[str, str]:
    if review is None:
        return {}
    return {column: escape(review[name] or "") for column, name in _REVIEW.items()} | {"review_at": iso(review["at"])}


def _values(mark: Mapping[str, Any]) -> Json:
    start, end, price_start, price_end = _ends(mark)
    return {
        "label_id": mark["id"],
        "kind": WORDS.get(mark["kind"], mark["kind"]),
        **{column: mark[name] for column, name in (_TEXTS | _TIMES).items()},
        "t_start_ms": start,
        "t_end_ms": end,
        "price_start": price_start,
        "price_end": price_end,
        **{name: mark.get(name) for name in ("side", "stop", "target", "extend", "entry_decided_at")},
        "confidence": mark["confidence"],
        "revision": mark["revision"],
        "status": mark.get("status", "done"),
        "updated_by": mark.get("updated_by", mark["author"]),
        **{column: (mark.get("review") or {}).get(name) for column, name in _REVIEW.items()},
        "review_at": (mark.get("review") or {}).get("at"),
    }


def _ends(mark: Mapping[str, Any]) -> tuple[int | None, int | None, float | None, float | None]:
    """Give start and end times and prices; a point is an instant, so it ends where it starts."""
    if mark["kind"] == "point":
        return mark["time"], mark["time"], mark["price"], None
    if mark["kind"] == "level":
        return mark["time"], mark["until"], mark["price"], None
    if mark["kind"] in _ANCHORS:
        first, last = (mark[name] for name in _ANCHORS[mark["kind"]])
        return first["time"], last["time"], first["price"], last["price"]
    return mark["start"], mark["end"], None, None


def _iso(time: int | None) -> str:
    return "" if time is None else iso(time)


def _whole(number: int | None) -> str:
    return "" if number is None else str(number)


def _number(value: float | None) -> str:
    return "" if value is None else repr(value)


def _named(cells: Sequence[str], head: Sequence[str], line: int) -> dict[str, str]:
    if len(cells) != len(head):
        raise InvalidInput(f"labels.csv, line {line}: {len(cells)} cells, {len(head)} are needed", line=line)
    return dict(zip(head, cells, strict=True))


def _mark(cells: Mapping[str, str], line: int) -> Json:
    def read(column: str, parse: Callable[[str], Any]) -> Any:
        try:
            return parse(cells[column])
        except (ValueError, InvalidInput):
            raise InvalidInput(
                f"labels.csv, line {line}, column {column}: {cells[column]!r} cannot be read", line=line, column=column
            ) from None

    kind = _KINDS.get(cells["kind"], cells["kind"])
    place = _PLACES.get(kind)
    if place is None:
        known = ", ".join(WORDS.get(each, each) for each in _PLACES)
        raise InvalidInput(f"labels.csv, line {line}: kind {cells['kind']!r}; known are {known}", line=line)
    return {
        "id": cells["label_id"],
        "kind": kind,
        **{name: unescape(cells[column]) for column, name in _TEXTS.items()},
        **place(read),
        "confidence": read("confidence", _optional),
        **{name: read(column, from_iso) for column, name in _TIMES.items()},
        "revision": read("revision", int),
        "status": cells["status"] or "done",
        "entry_decided_at": read("entry_decided_at", _optional_time),
        "updated_by": unescape(cells["updated_by"] or cells["author"]),
        "review": _review(cells, read),
    }


Read = Callable[[str, Callable[[str], Any]], Any]


def _review(cells: Mapping[str, str], read: Read) -> Json | None:
    if not cells["review"]:
        return None
    texts = {name: unescape(cells[column]) for column, name in _REVIEW.items()}
    return {**texts, "correction": texts["correction"] or None, "at": read("review_at", from_iso)}


def _span(read: Read) -> Json:
    return {"start": read("t_start_ms", int), "end": read("t_end_ms", int)}


def _chart(read: Read) -> Json:
    return {"start": read("t_start_ms", _optional_whole), "end": read("t_end_ms", _optional_whole)}


def _level(read: Read) -> Json:
    times = {"time": read("t_start_ms", _optional_whole), "until": read("t_end_ms", _optional_whole)}
    return {"price": read("price_start", float), **times}


def _line(read: Read) -> Json:
    return {"start": _point(read), "end": _last_point(read), "extend": read("extend", str)}


def _last_point(read: Read) -> Json:
    return {"time": read("t_end_ms", int), "price": read("price_end", float)}


def _point(read: Read) -> Json:
    return {"time": read("t_start_ms", int), "price": read("price_start", float)}


def _trade(read: Read) -> Json:
    return {
        "side": read("side", str),
        "entry": _point(read),
        "exit": _last_point(read),
        "stop": read("stop", _optional),
        "target": read("target", _optional),
    }


def _optional(cell: str) -> float | None:
    return float(cell) if cell else None


def _optional_whole(cell: str) -> int | None:
    return int(cell) if cell else None


def _optional_time(cell: str) -> int | None:
    return from_iso(cell) if cell else None


_ANCHORS = {"trade": ("entry", "exit"), "trend_line": ("start", "end")}
_PLACES: dict[str, Callable[[Read], Json]] = {
    "span": _span,
    "point": _point,
    "trade": _trade,
    "level": _level,
    "trend_line": _line,
    "candle_class": _span,
    "chart_class": _chart,
}
