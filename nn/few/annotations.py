"""From annotations to marked spans of candles, and from spans back to times; a group for each kind and layer of marks.

A trade is a span from its entry candle to its exit candle, and a class is a label with its side. A point is a span of
its candle and the two beside it, so that a candle's difference still counts as the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from nn.dataset_dir import Candles
from nn.few.history import Suggested
from nn.few.marked import Marked, Range, merged
from nn.few.spans import Span

Json = dict[str, Any]
Times = npt.NDArray[np.int64]

KINDS = ("span", "trade", "point")
ACCEPTED = "model_accepted"  # source of a mark that a model made and a person let pass unchanged
MOST_MARKS = 400  # marks that teach: an even draw of runs where there are more
RUN = 10
BESIDE = 1  # candles beside a point that are taken as part of it


class Group(NamedTuple):
    """The marks of one kind and layer as spans; class i is `classes[i]`."""

    kind: str
    layer: str
    classes: list[tuple[str, str | None]]  # label, and the side of a trade
    marked: Marked
    ids: dict[Span, str]  # the annotation that a span came from
    sources: dict[str, int]  # marks by source


def groups(
    annotations: Iterable[Mapping[str, Any]],
    candles: Candles,
    timeframe_ms: int,
    layers: Mapping[str, Sequence[str]],
    reviewed: Sequence[Range] = (),
    accepted_weight: float = 0.3,
) -> list[Group]:
    """Sort marks into groups, the largest first; `reviewed` are time ranges [start, end) in ms UTC.

    A mark that holds no candle is left out. Where two marks of a group lie on the same candles, the later one counts.
    """
    layer_of = {label: layer for layer, labels in layers.items() for label in labels}
    sorted_in: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for mark in annotations:
        if mark.get("kind") in KINDS:
            sorted_in.setdefault((mark["kind"], layer_of.get(mark["label"], "")), []).append(mark)
    ranges = merged(
        (first, end) for a, b in reviewed if (first := _first(candles, a, timeframe_ms)) < (end := _end(candles, b))
    )
    made = [
        _group(kind, layer, marks, candles, timeframe_ms, ranges, accepted_weight)
        for (kind, layer), marks in sorted_in.items()
    ]
    return sorted((group for group in made if group.marked.spans), key=lambda group: -len(group.marked.spans))


def to_json(group: Group, found: Suggested, candles: Candles, timeframe_ms: int) -> Json:
    """Give a suggestion as a draft of an annotation, plus its `probability`; times in ms UTC."""
    (start, end, label), probability = found
    name, side = group.classes[label]
    first, last = int(candles.time[start]), int(candles.time[end - 1])
    told: Json = {"kind": group.kind, "label": name, "probability": round(probability, 4)}
    if group.kind == "span":
        return told | {"start": first, "end": last + timeframe_ms}
    if group.kind == "point":
        middle = (start + end - 1) // 2
        return told | {"time": int(candles.time[middle]), "price": float(candles.close[middle])}
    entry = {"time": first, "price": float(candles.open[start])}
    return told | {"side": side, "entry": entry, "exit": {"time": last, "price": float(candles.close[end - 1])}}


def _group(
    kind: str,
    layer: str,
    marks: Sequence[Mapping[str, Any]],
    candles: Candles,
    timeframe_ms: int,
    reviewed: list[Range],
    accepted_weight: float,
) -> Group:
    classes = sorted({(mark["label"], mark.get("side")) for mark in marks}, key=str)
    number = {name: i for i, name in enumerate(classes)}
    ids: dict[Span, str] = {}
    weights: dict[Span, float] = {}
    sources: dict[str, int] = {}
    for mark in sorted(marks, key=lambda mark: int(mark.get("updated") or 0)):
        start, end = _candles_of(mark, candles, timeframe_ms)
        if start >= end:
            continue
        span = Span(start, end, number[mark["label"], mark.get("side")])
        source = str(mark.get("source") or "human")
        ids[span] = str(mark.get("id") or "")
        weights.pop(span, None)
        if source == ACCEPTED:
            weights[span] = accepted_weight
        sources[source] = sources.get(source, 0) + 1
    taught = _thinned(sorted(ids))
    return Group(kind, layer, classes, Marked(taught, reviewed, len(classes), weights), ids, sources)


def _thinned(spans: list[Span]) -> list[Span]:
    """Draw evenly from many marks, in runs of neighbours."""
    runs = [spans[i : i + RUN] for i in range(0, len(spans), RUN)]
    return [span for run in runs[:: max(1, -(-len(spans) // MOST_MARKS))] for span in run]


def _candles_of(mark: Mapping[str, Any], candles: Candles, timeframe_ms: int) -> Range:
    if mark["kind"] == "span":
        return _first(candles, mark["start"], timeframe_ms), _end(candles, mark["end"])
    if mark["kind"] == "trade":
        return _first(candles, mark["entry"]["time"], timeframe_ms), _end(candles, mark["exit"]["time"] + 1)
    at = _end(candles, mark["time"] + 1)
    if not at or mark["time"] >= int(candles.time[at - 1]) + timeframe_ms:
        return at, at
    return max(0, at - 1 - BESIDE), min(len(candles), at + BESIDE)


def _first(candles: Candles, time: int, timeframe_ms: int) -> int:
    """Give the candle that holds a time, else the next one."""
    return int(np.searchsorted(candles.time, time - timeframe_ms, side="right"))


def _end(candles: Candles, time: int) -> int:
    """Give how many candles open before a time."""
    return int(np.searchsorted(candles.time, time, side="left"))
