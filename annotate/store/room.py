"""Room for a mark: where a layer allows a candle one class, earlier marks of the author give way to a new one."""

from __future__ import annotations

import dataclasses
from typing import Any
from uuid import uuid4

from annotate.annotations.draft import AnnotationDraft
from annotate.annotations.mark import Change, Mark
from annotate.annotations.ranges import Range, without
from annotate.annotations.timeline import Timeline
from annotate.models import Series
from annotate.store.rivals import place_of, rivals
from annotate.store.slate import Slate
from annotate.store.undo import Gesture


def make_room(
    slate: Slate, series: Series, before: Mark | None, new: Mark, timeline: Timeline, gesture: Gesture
) -> list[Change]:
    """Let the author's earlier marks give way to `new`, which was `before`; give what changed, `new` not included.

    In an exclusive layer spans and candle classes are shortened, split or removed. In any other, a candle class takes
    the place of one on the very same candle. Marks of others, and those that the author cannot see now, stay.
    """
    changes: list[Change] = []
    for old in rivals(slate, series.label_set, before, new):
        if _sees(gesture, old):
            changes += _cut(slate, old, without([place_of(old)], place_of(new)), timeline, gesture)
    return changes


def _sees(gesture: Gesture, mark: Mark) -> bool:
    """Tell whether the author sees a mark now."""
    if gesture.sees_from is not None and mark.created < gesture.sees_from:
        return False
    return gesture.sees_until is None or max(mark.known_at, mark.decided_at) <= gesture.sees_until


def _cut(slate: Slate, old: Mark, left: list[Range], timeline: Timeline, gesture: Gesture) -> list[Change]:
    """Let a mark keep the first part that is left of it; each further part is a mark of its own."""
    if not left:
        slate.remove(old.id)
        return [(old, None)]
    changes: list[Change] = []
    for place, part in enumerate(left):
        before = old if place == 0 else None
        after = _part(old, part, before, timeline, gesture)
        slate.put(after)
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
