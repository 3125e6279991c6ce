"""From what the suggester says to suggestions that are stored: checked, with ids, without what was decided before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import uuid4

from sqlalchemy.orm import Session

from annotate.annotations.draft import AnnotationDraft
from annotate.models import Lesson, Suggestion
from annotate.store.annotations import marked_ranges
from annotate.store.series import get_series
from annotate.store.suggestions import LEARNT, add_suggestions, places_of, remove_open
from annotate.suggesting.tasks import Task

Json = dict[str, Any]
Place = tuple[int, int]  # start and end, ms UTC

SAME = 0.5  # share of their union from which two suggestions of a label are the same
BESIDE = ("probability", "rule")


def keep(session: Session, task: Task, lesson: Lesson, said: Sequence[Json], timeframe_ms: int, now: int) -> int:
    """Store a piece of suggestions; with the first, what earlier lessons of the source left open in the range goes.

    Left out are those like one that was rejected or ignored, and a rule's where there are marks of its kind already.
    Gives how many were stored.
    """
    if task.is_first:
        remove_open(session, lesson, task.start, task.end)
        task.is_first = False
    labels = {label.name: label.id for label in get_series(session, task.series_id).label_set.labels}
    rows = [row for item in said if (row := _row(item, labels, timeframe_ms)) is not None]
    settled = _by_label(places_of(session, task.series_id, "rejected", "ignored"))
    fresh = [row for row in rows if not _known(row, settled.get((row["kind"], row["label_id"]), []))]
    if lesson.source not in LEARNT:
        marked = marked_ranges(session, task.series_id)
        fresh = [row for row in fresh if not _known(row, marked.get(row["kind"], []))]
    common = {"series_id": task.series_id, "lesson_id": lesson.id, "created": now}
    add_suggestions(session, [{"id": str(uuid4()), **common, **row} for row in fresh])
    return len(fresh)


def _row(item: Json, labels: Mapping[str, int], timeframe_ms: int) -> Json | None:
    """Give the columns of a suggestion; None where its label is gone from the set."""
    body = {name: value for name, value in item.items() if name not in BESIDE}
    draft = AnnotationDraft.from_json(body, "")
    first, last = draft.first, draft.last
    if draft.label not in labels or first is None or last is None:
        return None
    return {
        "kind": draft.kind,
        "label_id": labels[draft.label],
        "start": first,
        "end": last + (1 if draft.kind == "span" else timeframe_ms),
        "geometry": draft.geometry,
        "probability": item.get("probability"),
    }


def _by_label(places: Iterable[tuple[str, int, int, int]]) -> dict[tuple[str, int], list[Place]]:
    found: dict[tuple[str, int], list[Place]] = {}
    for kind, label, start, end in places:
        found.setdefault((kind, label), []).append((start, end))
    return found


def _known(row: Json, places: Iterable[Place]) -> bool:
    start, end = row["start"], row["end"]
    for first, last in places:
        shared = min(end, last) - max(start, first)
        if shared > 0 and shared >= SAME * (max(end, last) - min(start, first)):
            return True
    return False


def draft_of(suggestion: Suggestion) -> AnnotationDraft:
    """Give the mark that a suggestion proposes."""
    body = {"kind": suggestion.kind, "label": suggestion.label.name, **suggestion.geometry, "revision": 0}
    return AnnotationDraft.from_json(body, suggestion.id)
