"""Reviewed ranges of a series over HTTP: what an author has looked through."""

from __future__ import annotations

from flask import Blueprint, request

from annotate.annotations.fields import Fields
from annotate.models import Json
from annotate.store.reviewed import list_reviewed
from annotate.store.series import get_series
from annotate.store.undo import review, undo_state
from annotate.views.annotations import gesture_of
from annotate.views.services import author, services
from annotate.views.veil import cursor_of, veil_of

bp = Blueprint("reviewed", __name__, url_prefix="/api/series/<int:series_id>/reviewed")


@bp.get("")
def get_reviewed(series_id: int) -> Json:
    """List the ranges that someone has looked through, by author."""
    with services().database.read() as session:
        get_series(session, series_id)
        items = list_reviewed(session, series_id, cursor_of(series_id))
    mine_only = veil_of(series_id).hides is not None
    return {"items": [each for each in items if not mine_only or each["author"] == author()]}


@bp.put("")
def put_reviewed(series_id: int) -> Json:
    """Note that this author has looked through a range, or has not after all; one step of undo."""
    fields = Fields(request.get_json())
    fields.only(("start", "end", "reviewed"))
    start, end = fields.time("start"), fields.time("end")
    if end <= start:
        raise fields.bad("end", f"must be after start = {start}")
    cursor = cursor_of(series_id)
    if cursor is not None and end > cursor:
        raise fields.bad("end", f"is after the replay's cursor at {cursor}; end it there")
    reviewed = not fields.has("reviewed") or fields.flag("reviewed")
    with services().database.write() as session:
        get_series(session, series_id)
        review(session, series_id, (start, end), gesture_of(series_id), reviewed=reviewed)
        items = [each for each in list_reviewed(session, series_id, cursor) if each["author"] == author()]
        reply = {"items": items, **undo_state(session, series_id, author())}
    services().publisher.series_changed(series_id, {"what": "reviewed", "id": series_id, "author": author()})
    return reply
