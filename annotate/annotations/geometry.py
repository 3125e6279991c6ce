"""Where a mark of each kind sits: the fields of a kind, and the time that they take up. Pure; no database."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from annotate.annotations.fields import Fields
from annotate.errors import InvalidInput

Json = dict[str, Any]
Geometry = Mapping[str, Any]

SIDES = ("long", "short")
EXTENDS = ("none", "left", "right", "both")


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of mark: its field names, how to read them, and the first and last ms that it takes up.

    A mark on the whole chart takes up no time of its own: first and last are None.
    """

    fields: tuple[str, ...]
    first_field: str  # the one that `first` reads
    read: Callable[[Fields], Json]
    first: Callable[[Geometry], int | None]
    last: Callable[[Geometry], int | None]  # inclusive: the `end` of a span is half open, so one ms before it
    of_candles: bool = True  # it says something of the candles that it touches; a line or the chart's class does not


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


def _read_level(fields: Fields) -> Json:
    time, until = (fields.optional_time(name) for name in ("time", "until"))
    if until is not None and (time is None or until <= time):
        raise fields.bad("until", f"must be after time = {time}; leave it out where the level still holds")
    return {"price": fields.number("price"), "time": time, "until": until}


def _read_line(fields: Fields) -> Json:
    start, end = (_read_anchor(fields.object(name)) for name in ("start", "end"))
    if end["time"] <= start["time"]:
        raise InvalidInput(
            f"end.time = {end['time']}: must be after start.time = {start['time']}; a trend line runs forward",
            field="end.time",
        )
    return {"start": start, "end": end, "extend": fields.choice("extend", EXTENDS) if fields.has("extend") else "none"}


def _read_chart(fields: Fields) -> Json:
    if fields.has("start") or fields.has("end"):
        return _read_span(fields)
    return {"start": None, "end": None}


def _read_anchor(fields: Fields) -> Json:
    fields.only(("time", "price"))
    return _read_point(fields)


def _start(place: Geometry) -> int | None:
    start: int | None = place["start"]
    return start


def _before_end(place: Geometry) -> int | None:
    return None if place["end"] is None else int(place["end"]) - 1


def _level_start(place: Geometry) -> int | None:
    time: int | None = place["time"]
    return time


def _level_end(place: Geometry) -> int | None:
    return _level_start(place) if place["until"] is None else int(place["until"]) - 1


KINDS: dict[str, Kind] = {
    "span": Kind(("start", "end"), "start", _read_span, _start, _before_end),
    "point": Kind(("time", "price"), "time", _read_point, lambda at: int(at["time"]), lambda at: int(at["time"])),
    "trade": Kind(
        fields=("side", "entry", "exit", "stop", "target"),
        first_field="entry.time",
        read=_read_trade,
        first=lambda at: int(at["entry"]["time"]),
        last=lambda at: int(at["exit"]["time"]),
    ),
    # A level that still holds touches the candle that it begins at, not every later one.
    "level": Kind(("price", "time", "until"), "time", _read_level, _level_start, _level_end, of_candles=False),
    "trend_line": Kind(
        fields=("start", "end", "extend"),
        first_field="start.time",
        read=_read_line,
        first=lambda at: int(at["start"]["time"]),
        last=lambda at: int(at["end"]["time"]),
        of_candles=False,
    ),
    "candle_class": Kind(("start", "end"), "start", _read_span, _start, _before_end),
    "chart_class": Kind(("start", "end"), "start", _read_chart, _start, _before_end, of_candles=False),
}
CLASS_KINDS = ("span", "candle_class")
"""Kinds that give the candles which they cover a class."""


def change_of(kind: str, before: Geometry, after: Geometry) -> str:
    """Say in a word what became of a mark's place: `move` where the whole of it went, `resize` where an edge did."""
    if kind not in CLASS_KINDS:
        return "move"
    shifts = {after[edge] - before[edge] for edge in ("start", "end")}
    return "move" if len(shifts) == 1 else "resize"
