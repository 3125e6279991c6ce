"""Series over HTTP: listed, renamed, deleted with a way back, and their candles to draw."""

from __future__ import annotations

from flask import Blueprint, Response, request
from sqlalchemy.orm import Session

from annotate.annotations.fields import EARLIEST_MS, LATEST_MS, Fields
from annotate.candle_levels import Window
from annotate.candle_store import MAX_WINDOW
from annotate.candles import COLUMNS
from annotate.errors import InvalidInput
from annotate.models import Json, Series
from annotate.store.candle_catalogue import Bounds
from annotate.store.imports import newest_report
from annotate.store.label_sets import assign_label_set
from annotate.store.runs import MAX_ID
from annotate.store.series import (
    MAX_SYMBOL,
    delete_series,
    get_series,
    list_series,
    purge_deleted,
    rename_series,
    restore_series,
    series_json,
)
from annotate.timeframe import offered
from annotate.views.columns import binary_json, encoder
from annotate.views.services import now_ms, services
from annotate.views.veil import cursor_of, refusal, veil_of

bp = Blueprint("series", __name__, url_prefix="/api/series")

DEFAULT_POINTS = 2_000
PARAMETERS = ("from", "to", "beside", "timeframe", "max_points", "encoding")


@bp.get("")
def get_all() -> Json:
    """List the series by id."""
    parts = services()
    with parts.database.read() as session:
        every, bounds = list_series(session), parts.candles.all_bounds()
        return {"items": [_seen(series, bounds[series.id]) for series in every]}


@bp.get("/<int:series_id>")
def get_one(series_id: int) -> Json:
    """Give a series with the timeframes that it can be shown in."""
    with services().database.read() as session:
        return _shown(session, series_id)


@bp.patch("/<int:series_id>")
def patch_series(series_id: int) -> Json:
    """Rename a series, or let it use another label set."""
    fields = Fields(request.get_json())
    fields.only(("symbol", "label_set_id"))
    veil = veil_of(series_id)
    if fields.has("label_set_id") and not veil.is_open:  # whether it is taken tells which labels hidden marks have
        raise refusal(series_id, veil)
    with services().database.write() as session:
        if fields.has("label_set_id"):
            assign_label_set(session, get_series(session, series_id), fields.whole("label_set_id", 1, MAX_ID))
        if fields.has("symbol") or not fields.has("label_set_id"):
            rename_series(session, series_id, fields.text("symbol", MAX_SYMBOL))
        return _shown(session, series_id)


@bp.delete("/<int:series_id>")
def remove_series(series_id: int) -> Json:
    """Delete a series; it can be restored within a minute."""
    parts, now = services(), now_ms()
    with parts.database.write() as session:
        delete_series(session, series_id, now)
        over = purge_deleted(session, now)
    parts.candles.deleted(series_id)
    parts.veils.reload()  # an id may be given again
    for purged in over:
        parts.candles.delete_files(purged)
    return {"deleted": series_id}


@bp.post("/<int:series_id>/restore")
def restore(series_id: int) -> Json:
    """Bring back a series that was deleted within the last minute."""
    with services().database.write() as session:
        restore_series(session, series_id, now_ms())
        return _shown(session, series_id)


@bp.get("/<int:series_id>/report")
def get_report(series_id: int) -> Json:
    """Give the report of the newest upload of a series."""
    with services().database.read() as session:
        get_series(session, series_id)
        stored = newest_report(session, series_id)
        return {"report": stored.report, "sha256": stored.sha256, "created": stored.created}


@bp.get("/<int:series_id>/candles")
def get_candles(series_id: int) -> Json | Response:
    """Give the candles of a stretch in the timeframe asked for, or a coarser level where they are too many."""
    unknown = sorted(set(request.args) - set(PARAMETERS))
    if unknown:
        raise InvalidInput(f"unknown parameter {unknown[0]}; known are {', '.join(PARAMETERS)}", field=unknown[0])
    start, end = _time("from"), _time("to")
    if start is not None and end is not None and start > end:
        raise InvalidInput(f"from={start} is after to={end}", field="from")
    most, beside = _whole("max_points"), _whole("beside") or 0
    if not 0 <= beside <= MAX_WINDOW:
        raise InvalidInput(f"beside={beside}: ask for 0 to {MAX_WINDOW} candles", field="beside")
    services().candles.require(series_id)
    timeframe = request.args.get("timeframe")
    # More than the limit is no error: the answer is coarser and says so.
    window = services().candles.window(
        series_id,
        start,
        end,
        timeframe,
        min(DEFAULT_POINTS if most is None else most, MAX_WINDOW),
        beside=beside,
        before=cursor_of(series_id),
    )
    return _window_reply(window, request.args.get("encoding", "binary"))


def _shown(session: Session, series_id: int) -> Json:
    series = get_series(session, series_id)
    shown = _seen(series, services().candles.bounds(series_id))
    return {"series": {**shown, "timeframes": offered(series.timeframe)}}


def _seen(series: Series, bounds: Bounds) -> Json:
    """Give a series as its author sees it: in a replay as long as the cursor lets it be."""
    cursor = cursor_of(series.id)
    if cursor is None:
        return series_json(series, bounds)
    shown = series_json(series, services().candles.bounds(series.id, before=cursor))
    return {**shown, "facts": {"precision": shown["precision"]}}


def _window_reply(window: Window, encoding: str) -> Json | Response:
    encode = encoder(encoding)
    head: Json = {"timeframe": window.timeframe, "level": window.level, "partial": list(window.partial)}
    columns = {name: getattr(window.candles, name) for name in COLUMNS}
    if encoding == "binary":
        return Response(binary_json(head, columns), mimetype="application/json")
    return {**head, **{name: encode(column) for name, column in columns.items()}}


def _time(name: str) -> int | None:
    time = _whole(name)
    if time is not None and not EARLIEST_MS <= time <= LATEST_MS:
        raise InvalidInput(f"{name}={time}: a time is in ms UTC and in the years 1 to 9999", field=name)
    return time


def _whole(name: str) -> int | None:
    text = request.args.get(name)
    if text is None:
        return None
    try:
        return int(text)
    except ValueError:
        raise InvalidInput(f"{name}={text}: a whole number is needed", field=name) from None
