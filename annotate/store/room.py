"""Room for a mark: where a layer allows a candle one class, earlier marks of the author give way to a new one."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from itertools import pairwise
from typing import Any
from uuid import uuid4

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from annotate.annotations.draft import AnnotationDraft
from annotate.annotations.geometry import CLASS_KINDS, KINDS
from annotate.annotations.mark import Change, Mark
from annotate.annotations.ranges import Range, without
from annotate.annotations.timeline import Timeline
from annotate.models import Annotation, Series
from annotate.store.marks import mark_of, put_mark, remove_mark
from annotate.store.undo import Gesture


def make_room(
    session: Session, series: Series, before: Mark | None, new: Mark, timeline: Timeline, gesture: Gesture
) -> list[Change]:
    """Let the author's earlier marks give way to `new`, which was `before`; give what changed, `new` not included.

    In an exclusive layer spans and candle classes are shortened, split or removed. In any other, a candle class takes
    the place of one on the very same candle. Marks of others, and those that the author cannot see now, stay.
    """
    labels = {label.id: label.layer for label in series.label_set.labels}
    stood_here = before is not None and (before.kind, before.geometry) == (new.kind, new.geometry)
    if stood_here and before is not None and labels.get(before.label_id) == labels[new.label_id]:
        return []
    exclusive = labels[new.label_id] in series.label_set.exclusive
    if new.kind not in CLASS_KINDS or not (exclusive or new.kind == "candle_class"):
        return []
    label_ids = [label_id for label_id, layer in labels.items() if layer == labels[new.label_id]]
    taken = (new.geometry["start"], new.geometry["end"])
    changes: list[Change] = []
    for old in _rivals(session, series.id, new, label_ids, gesture):
        place = (old.geometry["start"], old.geometry["end"])
        if exclusive or (old.kind == "candle_class" and place == taken):
            changes += _cut(session, series.id, old, without([place], taken), timeline, gesture)
    return changes


def is_crowded(session: Session, series_id: int, new: Sequence[Mark], author: str) -> bool:
    """Tell whether some of many new marks might need room; if not, nobody has to ask for each of them."""
    placed = [mark for mark in new if mark.kind in CLASS_KINDS]
    if not placed:
        return False
    spans = sorted((mark.geometry["start"], mark.geometry["end"]) for mark in placed)
    if any(one[1] > other[0] for one, other in pairwise(spans)):
        return True
    first, last = min(mark.start for mark in placed), max(mark.end for mark in placed)
    query = select(Annotation.id).where(
        Annotation.series_id == series_id,
        Annotation.author == author,
        Annotation.kind.in_(CLASS_KINDS),
        Annotation.start < last,
        Annotation.end > first,
    )
    return session.scalar(query.limit(1)) is not None


def _rivals(session: Session, series_id: int, new: Mark, label_ids: list[int], gesture: Gesture) -> list[Mark]:
    """Give the author's other classes of these labels that share time with a mark, by time."""
    first, last = (edge(new.geometry) for edge in (KINDS[new.kind].first, KINDS[new.kind].last))
    start, end = first or 0, (last or 0) + 1
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
    # The column `end` is the close of the last candle that a mark touches.
    return [mark for mark in marks if (KINDS[mark.kind].last(mark.geometry) or 0) >= start]


def _taken(session: Session, old: Mark) -> Change:
    remove_mark(session, old.id)
    return old, None


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
        return [_taken(session, old)]
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
