"""The JSON of Candle Annotator: `annotations` with `start_time`, `end_time` (its last candle) and `label`. Pure.

Its confidence runs from 1 to 5; outcome and notes become the comment, sub-spans become spans of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from annotate.errors import InvalidInput
from annotate.importing.doubts import Doubts
from annotate.mark_files.cells import times_of
from annotate.mark_files.found import Chart, Found, FoundMark

Json = dict[str, Any]

MOST_SURE = 5


def is_candle_annotator(given: object) -> bool:
    """Tell whether this JSON is its export: an object with `annotations`, or the list alone."""
    spans = given.get("annotations") if isinstance(given, dict) else given
    return (
        isinstance(spans, list)
        and bool(spans)
        and all(isinstance(span, dict) and "start_time" in span for span in spans)
    )


def read_candle_annotator(given: object, chart: Chart, doubts: Doubts) -> Found:
    """Read every span; raise InvalidInput naming the one whose times or confidence cannot be read."""
    spans: Sequence[Mapping[str, Any]] = given["annotations"] if isinstance(given, dict) else given  # type: ignore[assignment]
    parts = [part for number, span in enumerate(spans, 1) for part in _parts(span, f"annotation {number}")]
    edges = [[str(part[name]) for _, part in parts] for name in ("start_time", "end_time")]
    places = list(range(1, len(parts) + 1))
    (starts, written), (ends, _) = (
        times_of(cells, name, places, doubts) for cells, name in zip(edges, ("start_time", "end_time"), strict=True)
    )
    marks = [
        FoundMark(where, _body(part, start, chart.close_after(end)))
        for (where, part), start, end in zip(parts, starts, ends, strict=True)
    ]
    mapping = {"start": f"start_time ({written})", "end": "end_time, the last candle", "comment": "outcome, notes"}
    return Found("candle_annotator", marks, mapping=mapping)


def _parts(span: Mapping[str, Any], where: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name in ("start_time", "end_time", "label"):
        if span.get(name) in (None, ""):
            raise InvalidInput(f"{where}: {name} is missing", field=name)
    yield where, span
    for number, part in enumerate(span.get("sub_spans") or [], 1):
        yield from _parts(part, f"{where}, sub-span {number}")


def _body(span: Mapping[str, Any], start: int, end: int) -> Json:
    words = [str(span[name]) for name in ("outcome", "notes") if span.get(name)]
    sure = span.get("confidence")
    return {
        "kind": "span",
        "label": str(span["label"]),
        "start": min(start, end - 1),
        "end": end,
        "comment": "; ".join(words),
        "confidence": None if sure is None else float(sure) / MOST_SURE,
    }
