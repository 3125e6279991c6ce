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

bp = Blueprint("reviewed", __name__, url_prefix="/api/series/<int:series_id>/reviewed")


@bp.get("")
def get_reviewed(series_id: int) -> Json:
    """List the ranges that someone has looked through, by author."""
    with services().database.read() as session:
        get_series(session, series_id)
        return {"items": list_reviewed(session, series_id)}


@bp.put("")
def put_reviewed(series_id: int) -> Json:
    """Note that this author has looked through a range, or has not after all; one step of undo."""
    fields = Fields(request.get_json())
    fields.only(("start", "end", "reviewed"))
    start, end = fields.time("start"), fields.time("end")
    if end <= start:
        raise fields.bad("end", f"must be after start = {start}")
    reviewed = not fields.has("reviewed") or fields.flag("reviewed")
    with services().database.write() as session:
        get_series(session, series_id)
        review(session, series_id, (start, end), gesture_of(), reviewed=reviewed)
        items = [each for each in list_reviewed(session, series_id) if each["author"] == author()]
        reply = {"items": items, **undo_state(session, series_id, author())}
    services().publisher.series_changed(series_id, {"what": "reviewed", "id": series_id, "author": author()})
    return reply
