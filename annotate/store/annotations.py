"""Annotations of a series: listed, saved and removed, each gesture with its undo step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotate.annotations.draft import AnnotationDraft
from annotate.annotations.mark import MARK_FIELDS, Change, Mark, merge
from annotate.annotations.timeline import Timeline
from annotate.errors import Conflict, InvalidInput, NotFound
from annotate.models import Annotation, Json, Label, Series
from annotate.store.marks import mark_to_json, marks_by_id
from annotate.store.rivals import load_rivals
from annotate.store.room import make_room
from annotate.store.series import get_series
from annotate.store.slate import Slate
from annotate.store.undo import Gesture, record


@dataclass(frozen=True, slots=True)
class Saved:
    """The stored mark as the API shows it, whether this call changed it, and what else it changed to make room."""

    annotation: Json
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
    slate = Slate(session, series_id)
    changes = put_draft(slate, get_series(session, series_id), annotation_id, draft, timeline, gesture)
    slate.write()
    if changes:
        record(session, series_id, gesture, *changes)
    (shown,) = slate.shown([annotation_id])
    return Saved(shown, bool(changes), changes[1:])


def put_draft(
    slate: Slate, series: Series, annotation_id: str, draft: AnnotationDraft, timeline: Timeline, gesture: Gesture
) -> list[Change]:
    """Put a draft on the slate, without a step of undo; give the changes, its own first, none where nothing is new.

    Raises as `save_annotation` does.
    """
    before = slate.find(annotation_id)
    if before is not None and {"status": "done", **before.draft} == draft.to_json():  # older drafts have no status
        return []
    if draft.revision != (before.revision if before else 0):
        raise _stale(slate, annotation_id, {"id": annotation_id, **draft.to_json()}, before)
    timeline.check(draft)
    after = _next_version(annotation_id, draft, _label_id(series, draft.label, before), timeline, gesture, before)
    if before is not None and after.says_the_same(before):
        return []
    slate.put(after)
    return [(before, after), *make_room(slate, series, before, after, timeline, gesture)]


def delete_annotation(
    session: Session, series_id: int, annotation_id: str, revision: int | None, gesture: Gesture
) -> None:
    """Remove a mark; raise NotFound, or Conflict with both versions where `revision` is given and stale."""
    get_series(session, series_id)
    slate = Slate(session, series_id)
    change = take_away(slate, annotation_id, revision)
    slate.write()
    record(session, series_id, gesture, change)


def take_away(slate: Slate, annotation_id: str, revision: int | None) -> Change:
    """Take a mark off the slate, without a step of undo; raises as `delete_annotation` does."""
    mark = slate.find(annotation_id)
    if mark is None:
        raise NotFound(f"there is no annotation {annotation_id} on series {slate.series_id}", id=annotation_id)
    if revision is not None and revision != mark.revision:
        raise _stale(slate, annotation_id, {"revision": revision}, mark)
    slate.remove(annotation_id)
    return mark, None


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
    slate = Slate(session, series_id)
    slate.load(drafts)
    load_rivals(slate, gesture.author, drafts.values())
    changes: list[Change] = []
    for mark_id, draft in drafts.items():
        changes += put_named(slate, series, mark_id, draft, timeline, gesture)
    slate.write()
    record(session, series_id, gesture, *merge((), changes))
    return slate.shown(drafts)


def put_named(
    slate: Slate, series: Series, mark_id: str, draft: AnnotationDraft, timeline: Timeline, gesture: Gesture
) -> list[Change]:
    """Put one of many drafts on the slate, as `put_draft` does; an InvalidInput names the mark."""
    try:
        return put_draft(slate, series, mark_id, draft, timeline, gesture)
    except InvalidInput as error:
        raise InvalidInput(f"mark {mark_id}: {error.message}", id=mark_id, **error.details) from None


def marked_ranges(session: Session, series_id: int) -> dict[str, list[tuple[int, int]]]:
    """Give start and end of every mark of a series, by kind."""
    columns = (Annotation.kind, Annotation.start, Annotation.end)
    found: dict[str, list[tuple[int, int]]] = {}
    for kind, start, end in session.execute(select(*columns).where(Annotation.series_id == series_id)):
        found.setdefault(kind, []).append((start, end))
    return found


def _stale(slate: Slate, annotation_id: str, yours: Json, mark: Mark | None) -> Conflict:
    by = mark.updated_by if mark else slate.remover(annotation_id)
    now = f"is at revision {mark.revision}, changed" if mark else "was removed"
    who = f" by {by}" if by else ""
    message = f"annotation {annotation_id} {now}{who}, you sent revision {yours['revision']}; take the stored one first"
    stored = next(iter(slate.shown([annotation_id])), None)
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
