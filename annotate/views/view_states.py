"""The view of a series over HTTP: zoom, panes, indicators, zone, or whatever else the page wants to find again."""

from __future__ import annotations

import json

from flask import Blueprint, request

from annotate.errors import InvalidInput
from annotate.models import Json
from annotate.store.series import get_series
from annotate.store.view_states import get_view as stored_view
from annotate.store.view_states import put_view as store_view
from annotate.views.services import author, now_ms, services
from annotate.views.veil import cursor_of

bp = Blueprint("views", __name__, url_prefix="/api/series/<int:series_id>/view")

MOST_CHARACTERS = 20_000


@bp.get("")
def get_view(series_id: int) -> Json:
    """Give this author's view of the series, empty at first; a replay has one of its own."""
    with services().database.read() as session:
        get_series(session, series_id)
        return {"view": stored_view(session, series_id, author(), _place(series_id))}


@bp.put("")
def put_view(series_id: int) -> Json:
    """Keep this author's view of the series, any JSON object."""
    view = request.get_json()
    if not isinstance(view, dict) or len(json.dumps(view)) > MOST_CHARACTERS:
        raise InvalidInput(f"view: a JSON object of at most {MOST_CHARACTERS} characters is needed", field="view")
    with services().database.write() as session:
        get_series(session, series_id)
        store_view(session, series_id, author(), _place(series_id), view, now_ms())
    return {"view": view}


def _place(series_id: int) -> str:
    """A view from before the replay would show how far the series goes."""
    return "chart" if cursor_of(series_id) is None else "replay"
