"""Where a mark of each kind sits: the fields of span, point and trade, and the time they take up. Pure; no database."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from annotate.annotations.fields import Fields
from annotate.errors import InvalidInput

Json = dict[str, Any]
Geometry = Mapping[str, Any]

SIDES = ("long", "short")


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of mark: its field names, how to read them, and the first and last ms that it takes up."""

    fields: tuple[str, ...]
    first_field: str  # the one that `first` reads
    read: Callable[[Fields], Json]
    first: Callable[[Geometry], int]
    last: Callable[[Geometry], int]  # inclusive: the `end` of a span is half open, so one ms before it


def _read_span(fields: Fields) -> Json:
    start, end = fields.time("start"), fields.time("end")
    if end <= start:
        raise fields.bad("end", f"must be after start = {start}; the end of a span is the close of its last candle")
    return {"start": start, "end": end}


def _read_point(fields: Fields) -> Json:
    return {"time": fields.time("time"), "price": fields.number("price")}


def _read_trade(fields: Fields) -> Json:
    entry, exit_ = (_read_anchor(fields.object(name)) for name in ("entry", "exit"))
    if exit_["time"] < entry["time"]:
        raise InvalidInput(
            f"exit.time = {exit_['time']}: must not be before entry.time = {entry['time']}", field="exit.time"
        )
    limits = {name: fields.optional_number(name) for name in ("stop", "target")}
    return {"side": fields.choice("side", SIDES), "entry": entry, "exit": exit_, **limits}


def _read_anchor(fields: Fields) -> Json:
    fields.only(("time", "price"))
    return _read_point(fields)


KINDS: dict[str, Kind] = {
    "span": Kind(
        fields=("start", "end"),
        first_field="start",
        read=_read_span,
        first=lambda place: int(place["start"]),
        last=lambda place: int(place["end"]) - 1,
    ),
    "point": Kind(
        fields=("time", "price"),
        first_field="time",
        read=_read_point,
        first=lambda place: int(place["time"]),
        last=lambda place: int(place["time"]),
    ),
    "trade": Kind(
        fields=("side", "entry", "exit", "stop", "target"),
        first_field="entry.time",
        read=_read_trade,
        first=lambda place: int(place["entry"]["time"]),
        last=lambda place: int(place["exit"]["time"]),
    ),
}


def change_of(kind: str, before: Geometry, after: Geometry) -> str:
    """Say in a word what became of a mark's place: `move` where the whole of it went, `resize` where an edge did."""
    if kind != "span":
        return "move"
    shifts = {after[edge] - before[edge] for edge in ("start", "end")}
    return "move" if len(shifts) == 1 else "resize"
