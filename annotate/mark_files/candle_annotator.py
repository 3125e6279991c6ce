"""The JSON of Candle Annotator: `annotations` with `start_time`, `end_time` (its last candle) and `label`. Pure.

Its confidence runs from 1 to 5; outcome and notes become the comment, sub-spans become spans of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from annotate.errors import InvalidInput
from annotate.mark_files.cells import text_of, times_of
from annotate.mark_files.doubts import MarkDoubts
from annotate.mark_files.found import Chart, Found, FoundMark

Json = dict[str, Any]

MOST_SURE = 5
DEEPEST = 20  # sub-spans of sub-spans


def is_candle_annotator(given: object) -> bool:
    """Tell whether this JSON is its export: an object with `annotations`, or the list alone."""
    spans = given.get("annotations") if isinstance(given, dict) else given
    return (
        isinstance(spans, list)
        and bool(spans)
        and all(isinstance(span, dict) and "start_time" in span for span in spans)
    )


def read_candle_annotator(given: Any, chart: Chart, doubts: MarkDoubts) -> Found:
    """Read every span; raise InvalidInput naming the one whose times, label or confidence cannot be read."""
    spans = given["annotations"] if isinstance(given, dict) else given
    parts = [part for number, span in enumerate(spans, 1) for part in _parts(span, f"annotation {number}", DEEPEST)]
    edges = {name: [text_of(part[name]) for _, part in parts] for name in ("start_time", "end_time")}
    (starts, ends), written = times_of(edges, [where for where, _ in parts], doubts)
    marks = [
        FoundMark(where, _body(part, where, start, chart.close_after(end)))
        for (where, part), start, end in zip(parts, starts, ends, strict=True)
    ]
    mapping = {"start": f"start_time ({written})", "end": "end_time, the last candle", "comment": "outcome, notes"}
    return Found("candle_annotator", marks, mapping=mapping)


def _parts(span: object, where: str, depth: int) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if not isinstance(span, dict) or depth == 0:
        raise InvalidInput(f"{where}: a span is an object with start_time, end_time and label")
    for name in ("start_time", "end_time", "label"):
        if span.get(name) in (None, ""):
            raise InvalidInput(f"{where}: {name} is missing", field=name)
    yield where, span
    below = span.get("sub_spans")
    for number, part in enumerate(below if isinstance(below, list) else [], 1):
        yield from _parts(part, f"{where}, sub-span {number}", depth - 1)


def _body(span: Mapping[str, Any], where: str, start: int, end: int) -> Json:
    words = [str(span[name]) for name in ("outcome", "notes") if span.get(name)]
    return {
        "kind": "span",
        "label": str(span["label"]),
        "start": start,
        "end": end,
        "comment": "; ".join(words),
        "confidence": _confidence(span.get("confidence"), where),
    }


def _confidence(given: object, where: str) -> float | None:
    if given in (None, ""):
        return None
    try:
        sure = float(str(given))
    except ValueError:
        sure = -1.0
    if not 0 <= sure <= MOST_SURE:
        raise InvalidInput(f"{where}: confidence {given!r}: it runs from 1 to {MOST_SURE}", field="confidence")
    return sure / MOST_SURE
