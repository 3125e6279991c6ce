"""Candles over HTTP, from anything that has some: an empty series to fill, and candles for one, each once."""

from __future__ import annotations

from flask import Blueprint, request

from annotate.annotations.fields import Fields
from annotate.models import Json
from annotate.store.series import MAX_SYMBOL, create_series, series_json
from annotate.timeframe import name, offered, parse
from annotate.views.services import now_ms, services
from annotate.views.veil import cursor_of

bp = Blueprint("feeding", __name__, url_prefix="/api")


@bp.post("/series/<int:series_id>/candles")
def post_candles(series_id: int) -> Json:
    """Store closed candles, each once, and let a forming one move on the charts; give what became of each."""
    body = request.get_json()
    return {"receipt": services().intake.post(series_id, body, now_ms(), cursor_of(series_id)).to_json()}


def make_series(body: object) -> tuple[Json, int]:
    """Make a series without candles, for a feed to fill."""
    fields = Fields(body)
    fields.only(("symbol", "timeframe"))
    timeframe = name(parse(fields.text("timeframe", 10)))
    parts = services()
    with parts.database.write() as session:
        series = create_series(
            session, symbol=fields.text("symbol", MAX_SYMBOL), timeframe=timeframe, source="feed", created=now_ms()
        )
    shown = series_json(series, parts.candles.bounds(series.id))
    return {"series": {**shown, "timeframes": offered(timeframe)}}, 201
