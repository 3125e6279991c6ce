"""Indicators over HTTP: lines for the very candles that a chart asked for, computed from the series' first one on."""

from __future__ import annotations

import numpy as np
from flask import Blueprint, request

from annotate.annotations.fields import EARLIEST_MS, LATEST_MS, query_number
from annotate.candle_store import MAX_WINDOW
from annotate.errors import InvalidInput
from annotate.indicators import offers, parse_names, shown
from annotate.models import Json
from annotate.store.series import get_series
from annotate.views.columns import encoder
from annotate.views.services import services
from annotate.views.veil import cursor_of

bp = Blueprint("indicators", __name__, url_prefix="/api")

DEFAULT_POINTS = 2_000
PARAMETERS = ("names", "from", "to", "timeframe", "max_points", "encoding")


@bp.get("/indicators")
def get_offers() -> Json:
    """List the indicators with their parameters."""
    return {"items": offers()}


@bp.get("/series/<int:series_id>/indicators")
def get_indicators(series_id: int) -> Json:
    """Give lines for the candles that `GET …/candles` gives for the same range, timeframe and number of points."""
    unknown = sorted(set(request.args) - set(PARAMETERS))
    if unknown:
        raise InvalidInput(f"unknown parameter {unknown[0]}; known are {', '.join(PARAMETERS)}", field=unknown[0])
    asked, encode = parse_names(request.args.get("names", "")), encoder(request.args.get("encoding", "binary"))
    start, end = (query_number(request.args, name, EARLIEST_MS, LATEST_MS) for name in ("from", "to"))
    most = query_number(request.args, "max_points", 2, LATEST_MS) or DEFAULT_POINTS
    with services().database.read() as session:
        get_series(session, series_id)
    store, before = services().candles, cursor_of(series_id)
    window = store.window(series_id, start, end, request.args.get("timeframe"), min(most, MAX_WINDOW), before=before)
    history = store.history(series_id, window.level, end, before=before)
    times = window.candles.time
    first = int(np.searchsorted(history.time, times[0])) if len(times) else len(history)
    items = shown(asked, history, first)
    for item in items:
        item["lines"] = {name: encode(line) for name, line in item["lines"].items()}
    return {"timeframe": window.timeframe, "level": window.level, "time": encode(times), "items": items}
