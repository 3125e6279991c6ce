"""Room for a mark: where a layer allows a candle one class, earlier marks of the author give way to a new one."""

from __future__ import annotations

import dataclasses
from typing import Any
from uuid import uuid4

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from annotate.annotations.draft import AnnotationDraft
from annotate.annotations.geometry import CLASS_KINDS
from annotate.annotations.mark import Change, Mark
from annotate.annotations.ranges import Range, without
from annotate.annotations.timeline import Timeline
from annotate.models import Annotation, Series
from annotate.store.marks import mark_of, put_mark, remove_mark
from annotate.store.undo import Gesture


def make_room(session: Session, series: Series, new: Mark, timeline: Timeline, gesture: Gesture) -> list[Change]:
    """Cut the author's other classes where `new` now stands; give what changed, the new mark not included.

    In an exclusive layer spans and candle classes are shortened, split or removed. In any other, a candle class takes
    the place of one on the very same candle. Marks of others, and those that the author cannot see now, stay.
    """
    if new.kind not in CLASS_KINDS:
        return []
    layer = next(label.layer for label in series.label_set.labels if label.id == new.label_id)
    exclusive = layer in series.label_set.exclusive
    if not exclusive and new.kind != "candle_class":
        return []
    label_ids = [label.id for label in series.label_set.labels if label.layer == layer]
    taken = (new.geometry["start"], new.geometry["end"])
    changes: list[Change] = []
    for old in _rivals(session, series.id, new, label_ids, gesture):
        place = (old.geometry["start"], old.geometry["end"])
        if exclusive or (old.kind == "candle_class" and place == taken):
            changes += _cut(session, series.id, old, without([place], taken), timeline, gesture)
    return changes


def _rivals(session: Session, series_id: int, new: Mark, label_ids: list[int], gesture: Gesture) -> list[Mark]:
    start, end = new.geometry["start"], new.geometry["end"]
    query = select(Annotation).where(
        Annotation.series_id == series_id,
        Annotation.start < end,
        Annotation.end > start,
        Annotation.id != new.id,
        Annotation.author == new.author,
        Annotation.kind.in_(CLASS_KINDS),
        Annotation.label_id.in_(label_ids),
        *_seen(gesture),
    )
    marks = [mark_of(row) for row in session.scalars(query.order_by(Annotation.start, Annotation.id))]
    return [mark for mark in marks if mark.geometry["end"] > start]  # the column is the close of its last candle


def _seen(gesture: Gesture) -> list[ColumnElement[bool]]:
    """Give what a mark must meet so that the author sees it now."""
    seen: list[ColumnElement[bool]] = []
    if gesture.sees_from is not None:
        seen.append(Annotation.created >= gesture.sees_from)
    if gesture.sees_until is not None:
        seen += [Annotation.known_at <= gesture.sees_until, Annotation.decided_at <= gesture.sees_until]
    return seen


def _cut(
    session: Session, series_id: int, old: Mark, left: list[Range], timeline: Timeline, gesture: Gesture
) -> list[Change]:
    """Let a mark keep the first part that is left of it; each further part is a mark of its own."""
    if not left:
        remove_mark(session, old.id)
        return [(old, None)]
    changes: list[Change] = []
    for place, part in enumerate(left):
        before = old if place == 0 else None
        after = _part(old, part, before, timeline, gesture)
        put_mark(session, series_id, after)
        changes.append((before, after))
    return changes


def _part(old: Mark, part: Range, before: Mark | None, timeline: Timeline, gesture: Gesture) -> Mark:
    geometry = {"start": part[0], "end": part[1]}
    draft = AnnotationDraft(
        kind=old.kind,
        label=old.draft["label"],
        geometry=geometry,
        comment=old.comment,
        confidence=old.confidence,
        status=old.status,
        revision=before.revision if before else 0,
    )
    known_at = timeline.known_at(draft)
    changed: dict[str, Any] = {
        "start": part[0],
        "end": known_at,
        "geometry": geometry,
        "known_at": known_at,
        "decided_at": timeline.end,
        "mode": gesture.mode,
        "revision": draft.revision + 1,
        "created": old.created if before else gesture.now,
        "updated": gesture.now,
        "updated_by": gesture.author,
        "draft": draft.to_json(),
    }
    return dataclasses.replace(old, id=old.id if before else str(uuid4()), **changed)
