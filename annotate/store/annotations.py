"""Annotations of a series: listed, saved and removed, each gesture with its undo step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotate.annotations.draft import AnnotationDraft
from annotate.annotations.mark import MARK_FIELDS, Change, Mark
from annotate.annotations.timeline import Timeline
from annotate.errors import Conflict, InvalidInput, NotFound
from annotate.models import Annotation, Json, Label, Series
from annotate.store.marks import (
    add_marks,
    annotation_to_json,
    mark_of,
    mark_to_json,
    marks_by_id,
    put_mark,
    remove_mark,
)
from annotate.store.room import is_crowded, make_room
from annotate.store.series import get_series
from annotate.store.undo import Gesture, record, who_removed


@dataclass(frozen=True, slots=True)
class Saved:
    """The stored mark, whether this call changed it, and what else it changed to make room in its layer."""

    annotation: Annotation
    changed: bool
    also: Sequence[Change] = ()


def list_annotations(session: Session, series_id: int, limit: int | None = None) -> list[Json]:
    """List the marks of a series as the API shows them, by start, then id; all of them without a limit."""
    # Plain columns: ten thousand marks as mapped objects take several times as long.
    columns = [getattr(Annotation, name) for name in MARK_FIELDS]
    query = select(Label.name, *columns).join(Annotation.label).where(Annotation.series_id == series_id)
    rows = session.execute(query.order_by(Annotation.start, Annotation.id).limit(limit))
    return [mark_to_json(Mark(**dict(zip(MARK_FIELDS, row, strict=True))), label) for label, *row in rows]


def save_annotation(
    session: Session, series_id: int, annotation_id: str, draft: AnnotationDraft, timeline: Timeline, gesture: Gesture
) -> Saved:
    """Store a draft as the next revision of a mark.

    The draft that led to the stored revision, sent again, changes nothing. Raises InvalidInput for a label or a place
    that the series does not have, Conflict with both versions for a stale revision.
    """
    saved, changes = put_draft(session, get_series(session, series_id), annotation_id, draft, timeline, gesture)
    if changes:
        record(session, series_id, gesture, *changes)
    return Saved(saved, bool(changes), changes[1:])


def put_draft(
    session: Session, series: Series, annotation_id: str, draft: AnnotationDraft, timeline: Timeline, gesture: Gesture
) -> tuple[Annotation, list[Change]]:
    """Store a draft without a step of undo; give its row and the changes, its own first, none where nothing is new.

    Raises as `save_annotation` does.
    """
    row = _row(session, series.id, annotation_id)
    if row is not None and {"status": "done", **row.draft} == draft.to_json():  # older drafts have no status
        return row, []
    _check_revision(session, series.id, annotation_id, draft, row)
    timeline.check(draft)
    before = mark_of(row) if row is not None else None
    after = _next_version(annotation_id, draft, _label_id(series, draft.label, before), timeline, gesture, before)
    if row is not None and before is not None and after.says_the_same(before):
        return row, []
    saved = put_mark(session, series.id, after)
    return saved, [(before, after), *make_room(session, series, before, after, timeline, gesture)]


def delete_annotation(
    session: Session, series_id: int, annotation_id: str, revision: int | None, gesture: Gesture
) -> None:
    """Remove a mark; raise NotFound, or Conflict with both versions where `revision` is given and stale."""
    get_series(session, series_id)
    record(session, series_id, gesture, take_away(session, series_id, annotation_id, revision))


def take_away(session: Session, series_id: int, annotation_id: str, revision: int | None) -> Change:
    """Remove a mark without a step of undo; raises as `delete_annotation` does."""
    row = _row(session, series_id, annotation_id)
    if row is None:
        raise NotFound(f"there is no annotation {annotation_id} on series {series_id}", id=annotation_id)
    if revision is not None and revision != row.revision:
        raise _stale(session, series_id, annotation_id, {"revision": revision}, row)
    before = mark_of(row)
    remove_mark(session, annotation_id)
    return before, None


def add_annotations(
    session: Session, series_id: int, drafts: Mapping[str, AnnotationDraft], timeline: Timeline, gesture: Gesture
) -> list[Json]:
    """Store many new marks at once as one gesture; give them as the API shows them.

    Raises InvalidInput for a label or a place that the series does not have, Conflict for an id that is taken.
    """
    series = get_series(session, series_id)
    taken = next(iter(marks_by_id(session, list(drafts))), None)
    if taken is not None:
        raise Conflict(f"annotation {taken} stands already; suggest again and take the new ones", code="id_taken")
    marks = new_marks(series, drafts, timeline, gesture)
    crowded = is_crowded(session, series_id, marks, gesture.author)
    add_marks(session, series_id, marks)
    changes: list[Change] = [(None, mark) for mark in marks]
    for mark in marks if crowded else ():
        changes += make_room(session, series, None, mark, timeline, gesture)
    record(session, series_id, gesture, *changes)
    return [mark_to_json(mark, drafts[mark.id].label) for mark in marks]


def new_marks(
    series: Series, drafts: Mapping[str, AnnotationDraft], timeline: Timeline, gesture: Gesture
) -> list[Mark]:
    """Give the first version of each mark, not stored yet; raise InvalidInput naming the one that cannot be taken."""
    marks = []
    for mark_id, draft in drafts.items():
        try:
            timeline.check(draft)
            label_id = _label_id(series, draft.label, None)
        except InvalidInput as error:
            raise InvalidInput(f"mark {mark_id}: {error.message}", id=mark_id, **error.details) from None
        marks.append(_next_version(mark_id, draft, label_id, timeline, gesture, None))
    return marks


def marked_ranges(session: Session, series_id: int) -> dict[str, list[tuple[int, int]]]:
    """Give start and end of every mark of a series, by kind."""
    columns = (Annotation.kind, Annotation.start, Annotation.end)
    found: dict[str, list[tuple[int, int]]] = {}
    for kind, start, end in session.execute(select(*columns).where(Annotation.series_id == series_id)):
        found.setdefault(kind, []).append((start, end))
    return found


def _row(session: Session, series_id: int, annotation_id: str) -> Annotation | None:
    row = session.get(Annotation, annotation_id)
    if row is not None and row.series_id != series_id:
        raise Conflict(f"annotation {annotation_id} stands on another series; make a new id", code="id_taken")
    return row


def _check_revision(
    session: Session, series_id: int, annotation_id: str, draft: AnnotationDraft, row: Annotation | None
) -> None:
    if draft.revision != (row.revision if row else 0):
        raise _stale(session, series_id, annotation_id, {"id": annotation_id, **draft.to_json()}, row)


def _stale(session: Session, series_id: int, annotation_id: str, yours: Json, row: Annotation | None) -> Conflict:
    stored = annotation_to_json(row) if row else None
    by = row.updated_by if row else who_removed(session, series_id, annotation_id)
    now = f"is at revision {row.revision}, changed" if row else "was removed"
    who = f" by {by}" if by else ""
    message = f"annotation {annotation_id} {now}{who}, you sent revision {yours['revision']}; take the stored one first"
    return Conflict(message, code="stale_revision", yours=yours, stored=stored, by=by)


def _label_id(series: Series, name: str, before: Mark | None) -> int:
    """Find a label by name; an archived one may stay on a mark that has it and is given to no other."""
    label = next((label for label in series.label_set.labels if label.name == name), None)
    if label is None:
        raise InvalidInput(f"label = {name!r}: the label set has " + _offered(series.label_set.labels), field="label")
    if label.archived and (before is None or before.label_id != label.id):
        raise InvalidInput(
            f"label = {name!r}: it is archived; use one of {_offered(series.label_set.labels)}, or bring it back",
            field="label",
        )
    return label.id


def _source(gesture: Gesture, before: Mark | None, *, decided_before: bool) -> str:
    """Say where a mark comes from; one that a person moves or relabels after accepting it is theirs."""
    if before is None:
        return gesture.source
    return "model_corrected" if before.source == "model_accepted" and not decided_before else before.source


def _offered(labels: list[Label]) -> str:
    return ", ".join(label.name for label in labels if not label.archived)


def _next_version(
    annotation_id: str, draft: AnnotationDraft, label_id: int, timeline: Timeline, gesture: Gesture, before: Mark | None
) -> Mark:
    known_at = timeline.known_at(draft)
    # A new place or class is a new decision; a comment or a confidence leaves the old one standing.
    decided_before = before is not None and (before.kind, before.label_id, before.geometry) == (
        draft.kind, label_id, draft.geometry,
    )  # fmt: skip
    return Mark(
        id=annotation_id,
        kind=draft.kind,
        label_id=label_id,
        start=draft.listed_at,
        end=known_at,
        geometry=draft.geometry,
        comment=draft.comment,
        confidence=draft.confidence,
        author=before.author if before else gesture.author,
        source=_source(gesture, before, decided_before=decided_before),
        mode=before.mode if before and decided_before else gesture.mode,
        decided_at=before.decided_at if before and decided_before else timeline.end,
        known_at=known_at,
        revision=draft.revision + 1,
        created=before.created if before else gesture.now,
        updated=gesture.now,
        draft=draft.to_json(),
        status=draft.status,
        updated_by=gesture.author,
        entry_decided_at=_entry_decided_at(draft, timeline, before),
        review=before.review if before else None,
    )


def _entry_decided_at(draft: AnnotationDraft, timeline: Timeline, before: Mark | None) -> int | None:
    """Say when a trade's entry was decided; a later change of the exit leaves it as it was."""
    if draft.kind != "trade":
        return None
    if before is not None and before.kind == "trade" and _entry(before.geometry) == _entry(draft.geometry):
        return before.entry_decided_at
    return timeline.end


def _entry(trade: Json) -> tuple[object, ...]:
    return trade["side"], trade["entry"]
