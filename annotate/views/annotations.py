"""Annotations of a series over HTTP, and undo and redo of this author's gestures on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from uuid import UUID

from flask import Blueprint, request
from sqlalchemy.orm import Session

from annotate.annotations.draft import MAX_REVISION, AnnotationDraft
from annotate.annotations.fields import Fields, query_number
from annotate.annotations.timeline import Timeline
from annotate.errors import AnnotateError, InvalidInput
from annotate.mark_files import Chart, read_marks
from annotate.mark_import import Import, import_marks
from annotate.models import Json
from annotate.store.annotations import delete_annotation, list_annotations, save_annotation
from annotate.store.bulk import Bulk, apply_bulk, changed_drafts, changes_to_json
from annotate.store.label_sets import label_set_to_json
from annotate.store.series import get_series
from annotate.store.undo import Applied, Gesture, marks_of_next, redo, undo, undo_state
from annotate.upload import answers_of
from annotate.views.incoming import optional_json
from annotate.views.received import received_bytes
from annotate.views.services import author, now_ms, services
from annotate.views.veil import cursor_of, refuse_hidden, shown_marks, under_veil, veiled_gesture

bp = Blueprint("annotations", __name__, url_prefix="/api/series/<int:series_id>")

MAX_LIST = 1_000_000
MOST_NOTICES = 100


@bp.get("/annotations")
def get_annotations(series_id: int) -> Json:
    """List the marks of a series by start, then id; all of them unless `limit` is given."""
    limit = query_number(request.args, "limit", 1, MAX_LIST)
    with services().database.read() as session:
        get_series(session, series_id)
        return {"items": shown_marks(series_id, list_annotations(session, series_id))[:limit]}


@bp.put("/annotations/<uuid:annotation_id>")
def put_annotation(series_id: int, annotation_id: UUID) -> Json:
    """Store a mark's next revision; the same call again changes nothing."""
    draft = AnnotationDraft.from_json(request.get_json(), str(annotation_id))
    timeline = timeline_of(series_id)
    with _writing(series_id) as session:
        refuse_hidden(session, series_id, [str(annotation_id)])
        saved = save_annotation(session, series_id, str(annotation_id), draft, timeline, gesture_of(series_id))
        mark, also = saved.annotation, changes_to_json(session, saved.also)
    if saved.changed:
        tell_marks(series_id, [mark, *also["annotations"]], also["deleted"])
    return {**mark, "also": also} if saved.also else mark


@bp.delete("/annotations/<uuid:annotation_id>")
def remove_annotation(series_id: int, annotation_id: UUID) -> Json:
    """Remove a mark; with `revision`, only where that is the stored one."""
    revision = query_number(request.args, "revision", 0, MAX_REVISION)
    with _writing(series_id) as session:
        refuse_hidden(session, series_id, [str(annotation_id)])
        delete_annotation(session, series_id, str(annotation_id), revision, gesture_of(series_id))
    tell_marks(series_id, [], [str(annotation_id)])
    return {"deleted": [str(annotation_id)]}


@bp.post("/annotations/bulk")
def post_bulk(series_id: int) -> Json:
    """Store and remove many marks as one gesture, all or none."""
    bulk = Bulk.from_json(request.get_json())
    return _bulk(series_id, lambda _session: bulk)


@bp.patch("/annotations")
def patch_annotations(series_id: int) -> Json:
    """Give many marks a label, a status, a confidence or a comment, as one gesture."""
    given = request.get_json()
    return _bulk(series_id, lambda session: changed_drafts(session, series_id, given))


@bp.post("/annotations/import")
def post_import(series_id: int) -> Json:
    """Take the marks of a file; with `dry_run`, only say what would become of them."""
    content, name = received_bytes()
    dry_run, replace = (request.form.get(name, "") in ("1", "true") for name in ("dry_run", "replace"))
    chart = _chart(series_id)
    found = read_marks(content, name, chart, answers_of(request.form))
    with services().database.write() as session, session.begin_nested() as savepoint:
        report = import_marks(session, series_id, chart, found, Import(gesture_of(series_id), replace))
        if dry_run:
            savepoint.rollback()
    if not dry_run:
        _tell_of_import(series_id, bool(report["labels_added"]))
    return {"report": {**report, "stored": not dry_run}}


@bp.get("/undo")
def get_undo(series_id: int) -> Json:
    """Say what undo and redo would do for this author."""
    with services().database.read() as session:
        get_series(session, series_id)
        return undo_state(session, series_id, author())


@bp.post("/undo")
def post_undo(series_id: int) -> Json:
    """Take back this author's last gesture on the series."""
    with _writing(series_id) as session:
        get_series(session, series_id)
        refuse_hidden(session, series_id, marks_of_next(session, series_id, author(), "undo"))
        applied = undo(session, series_id, author(), skip=_skip())
        reply = {"undone": applied.title, **_applied(applied), **undo_state(session, series_id, author())}
    tell_marks(series_id, reply["annotations"], reply["deleted"])
    tell_suggestions(series_id, applied.suggestions)
    return reply


@bp.post("/redo")
def post_redo(series_id: int) -> Json:
    """Make again the gesture that this author took back last."""
    with _writing(series_id) as session:
        get_series(session, series_id)
        refuse_hidden(session, series_id, marks_of_next(session, series_id, author(), "redo"))
        applied = redo(session, series_id, author(), skip=_skip())
        refuse_hidden(session, series_id, [mark["id"] for mark in applied.annotations])
        reply = {"redone": applied.title, **_applied(applied), **undo_state(session, series_id, author())}
    tell_marks(series_id, reply["annotations"], reply["deleted"])
    tell_suggestions(series_id, applied.suggestions)
    return reply


def _applied(applied: Applied) -> Json:
    return {"annotations": applied.annotations, "deleted": applied.deleted, "skipped": applied.skipped}


def _skip() -> bool:
    """Say whether marks that someone changed since are to be left as they are, instead of refusing the step."""
    fields = Fields(optional_json())
    fields.only(("skip",))
    return fields.flag("skip")


def _bulk(series_id: int, wanted: Callable[[Session], Bulk]) -> Json:
    timeline = timeline_of(series_id)
    with _writing(series_id) as session:
        bulk = wanted(session)
        refuse_hidden(session, series_id, [*bulk.drafts, *bulk.removed])
        applied = apply_bulk(session, series_id, bulk, timeline, gesture_of(series_id))
        state = undo_state(session, series_id, author())
    if applied.changed:
        tell_marks(series_id, applied.annotations, applied.deleted)
    return {"annotations": applied.annotations, "deleted": applied.deleted, **state}


@contextmanager
def _writing(series_id: int) -> Iterator[Session]:
    """Give a session to change marks in; what goes wrong tells nothing that is hidden from the author."""
    try:
        with services().database.write() as session:
            yield session
    except AnnotateError as error:
        raise under_veil(series_id, error) from None


def timeline_of(series_id: int) -> Timeline:
    """Give the candles' times of a series, in a replay up to its cursor; raise NotFound."""
    with services().database.read() as session:
        timeframe = get_series(session, series_id).timeframe
    cursor = cursor_of(series_id)
    times = services().candles.read(series_id, before=cursor).time
    return Timeline(times, timeframe, is_replay=cursor is not None)


def _chart(series_id: int) -> Chart:
    with services().database.read() as session:
        timeframe = get_series(session, series_id).timeframe
    return Chart(services().candles.read(series_id), timeframe)


def _tell_of_import(series_id: int, labels_changed: bool) -> None:
    """Tell who follows the series to ask again: the marks may be many."""
    services().publisher.series_changed(series_id, {"what": "annotations", "id": series_id, "author": author()})
    if not labels_changed:
        return
    with services().database.read() as session:
        label_set = label_set_to_json(session, get_series(session, series_id).label_set)
    for user in label_set["used_by"]:
        body = {"what": "label_set", "id": label_set["id"], "label_set": label_set}
        services().publisher.series_changed(user, body)


def gesture_of(series_id: int) -> Gesture:
    """Say who acts now on a series and what they see of it, and the gesture that this call belongs to."""
    given = request.headers.get("X-Gesture")
    try:
        gesture_id = None if given is None else str(UUID(given))
    except ValueError:
        raise InvalidInput(f"X-Gesture = {given!r}: must be a UUID", field="X-Gesture") from None
    return Gesture(author=author(), now=now_ms(), id=gesture_id, **veiled_gesture(series_id))


def tell_marks(series_id: int, annotations: list[Json], deleted: list[str]) -> None:
    """Tell who follows the series; each mark is a notice of its own, null where it is gone; many: ask again."""
    if len(annotations) + len(deleted) > MOST_NOTICES:
        services().publisher.series_changed(series_id, {"what": "annotations", "id": series_id, "author": author()})
        return
    marks = {**{mark["id"]: mark for mark in annotations}, **dict.fromkeys(deleted)}
    for mark_id, mark in marks.items():
        body = {"what": "annotation", "id": mark_id, "annotation": mark, "author": author()}
        services().publisher.series_changed(series_id, body)


def tell_suggestions(series_id: int, decided: list[str]) -> None:
    """Tell who follows the series that suggestions met a fate, or are open again."""
    if decided:
        services().publisher.series_changed(series_id, {"what": "suggestions", "id": 0, "author": author()})
