"""What a person decides of suggestions: accepted, corrected, rejected or ignored, each decision one step of undo."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from sqlalchemy.orm import Session

from annotate.annotations.draft import AnnotationDraft
from annotate.annotations.timeline import Timeline
from annotate.errors import Conflict
from annotate.models import Json, Suggestion
from annotate.store.annotations import add_annotations
from annotate.store.suggestions import OPEN, decide
from annotate.store.undo import Gesture, record
from annotate.suggesting.keeping import draft_of

SOURCES = {"accepted": "model_accepted", "corrected": "model_corrected"}
VERBS = {"accepted": "accept", "corrected": "correct", "rejected": "reject", "ignored": "ignore"}


def accept(
    session: Session, series_id: int, suggestions: Sequence[Suggestion], timeline: Timeline, gesture: Gesture
) -> list[Json]:
    """Make marks of open suggestions as they are; give the marks. Raises Conflict for one that is decided."""
    drafts = {suggestion.id: draft_of(suggestion) for suggestion in suggestions}
    return _marked(session, series_id, suggestions, drafts, timeline, "accepted", gesture)


def correct(
    session: Session,
    series_id: int,
    suggestion: Suggestion,
    draft: AnnotationDraft,
    timeline: Timeline,
    gesture: Gesture,
) -> list[Json]:
    """Make the mark of an open suggestion that a person wants instead. Raises Conflict for one that is decided."""
    drafts = {suggestion.id: draft}
    fate = "accepted" if _is_same(draft, draft_of(suggestion)) else "corrected"
    return _marked(session, series_id, [suggestion], drafts, timeline, fate, gesture)


def put_aside(session: Session, series_id: int, suggestions: Sequence[Suggestion], fate: str, gesture: Gesture) -> None:
    """Reject or ignore open suggestions. Raises Conflict for one that is decided."""
    gesture = _deciding(suggestions, fate, gesture)
    decide(session, suggestions, fate, gesture.author, gesture.now)
    if suggestions:
        record(session, series_id, gesture)


def _marked(
    session: Session,
    series_id: int,
    suggestions: Sequence[Suggestion],
    drafts: Mapping[str, AnnotationDraft],
    timeline: Timeline,
    fate: str,
    gesture: Gesture,
) -> list[Json]:
    gesture = dataclasses.replace(_deciding(suggestions, fate, gesture), source=SOURCES[fate])
    decide(session, suggestions, fate, gesture.author, gesture.now)
    return add_annotations(session, series_id, drafts, timeline, gesture) if suggestions else []


def _deciding(suggestions: Sequence[Suggestion], fate: str, gesture: Gesture) -> Gesture:
    decided = next((one for one in suggestions if one.fate != OPEN), None)
    if decided is not None:
        raise Conflict(f"suggestion {decided.id} is {decided.fate} already; undo that first", fate=decided.fate)
    what = suggestions[0].label.name if len(suggestions) == 1 else f"{len(suggestions)} suggestions"
    fates = {suggestion.id: [OPEN, fate] for suggestion in suggestions}
    return dataclasses.replace(gesture, title=f"{VERBS[fate]} {what}", fates=fates)


def _is_same(draft: AnnotationDraft, proposed: AnnotationDraft) -> bool:
    return (draft.kind, draft.label, draft.geometry) == (proposed.kind, proposed.label, proposed.geometry)
