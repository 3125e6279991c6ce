"""Runs over HTTP: asked for, listed, steered; their events and figures; predictions."""

from __future__ import annotations

from typing import cast

from flask import Blueprint, request

from annotate.annotations.fields import EARLIEST_MS, LATEST_MS, Fields, query_number
from annotate.errors import AnnotateError, Conflict, InvalidInput
from annotate.figures import figures_of
from annotate.models import Json
from annotate.store.candle_hours import list_hours
from annotate.store.events import events_after, first_seq
from annotate.store.runs import MAX_ID, get_run, list_runs, run_to_json
from annotate.store.series import get_series
from annotate.timeframe import close_of
from annotate.training import RunMode
from annotate.views.incoming import optional_json
from annotate.views.services import author, services
from annotate.views.veil import veil_of

bp = Blueprint("runs", __name__, url_prefix="/api")


@bp.get("/runs")
def get_runs() -> Json:
    """List runs, newest first; `?series_id` for those of one series, `?limit` for so many."""
    series_id, limit = (query_number(request.args, name, 1, MAX_ID) for name in ("series_id", "limit"))
    with services().database.read() as session:
        return {"items": [_seen(run_to_json(run)) for run in list_runs(session, series_id, limit)]}


@bp.post("/runs")
def post_run() -> tuple[Json, int]:
    """Ask for a batch or a live run on a series or on a dataset, or for an audit of what a batch run would learn."""
    fields = Fields(request.get_json())
    fields.only(("mode", "series_id", "dataset_id", "config"))
    mode = cast("RunMode", fields.choice("mode", ("batch", "live", "skill", "leaks")))
    ids = {name: fields.whole(name, 1, MAX_ID) for name in ("series_id", "dataset_id") if fields.has(name)}
    return {"run": services().trainer.submit(mode, fields.value("config") or {}, **ids)}, 202


@bp.get("/runs/<int:run_id>")
def get_one_run(run_id: int) -> Json:
    """Give a run."""
    with services().database.read() as session:
        return {"run": _seen(run_to_json(get_run(session, run_id)))}


@bp.post("/runs/<int:run_id>/stop")
def stop_run(run_id: int) -> Json:
    """Stop a run after its present step."""
    return {"run": _seen(services().trainer.stop_run(run_id))}


@bp.post("/runs/<int:run_id>/pause")
def pause_run(run_id: int) -> Json:
    """Hold a run after its present step."""
    return {"run": _seen(services().trainer.pause(run_id))}


@bp.post("/runs/<int:run_id>/resume")
def resume_run(run_id: int) -> Json:
    """Let a paused or interrupted run go on, as the same run."""
    return {"run": services().trainer.resume(run_id)}


@bp.get("/runs/<int:run_id>/snapshots")
def get_snapshots(run_id: int) -> Json:
    """List the snapshots that a live run keeps, and the room that they take."""
    return services().trainer.snapshots(run_id)


@bp.post("/runs/<int:run_id>/forget")
def forget(run_id: int) -> tuple[Json, int]:
    """Have a live run go back to a kept snapshot, as if it had learnt no candle from `since` on."""
    fields = Fields(request.get_json())
    fields.only(("since", "snapshot"))
    since = fields.whole("since", EARLIEST_MS, LATEST_MS) if fields.has("since") else None
    snapshot = fields.whole("snapshot", 1, MAX_ID) if fields.has("snapshot") else None
    return services().trainer.forget(run_id, since, snapshot), 202


@bp.get("/runs/<int:run_id>/events")
def get_events(run_id: int) -> Json:
    """Give the events above `?after`, all unless `?limit` is given; `?candles` bounds the per-candle ones."""
    after = query_number(request.args, "after", 0, MAX_ID) or 0
    limit, candles = (query_number(request.args, name, 1, MAX_ID) for name in ("limit", "candles"))
    with services().database.read() as session:
        get_run(session, run_id)
        items = services().veils.events(author(), run_id, events_after(session, run_id, after, limit, candles))
        return {"items": items, "first_seq": first_seq(session, run_id)}


@bp.get("/runs/<int:run_id>/hours")
def get_hours(run_id: int) -> Json:
    """Give what old per-candle events were folded into: one row an hour of candles."""
    with services().database.read() as session:
        get_run(session, run_id)
        return {"items": list_hours(session, run_id)}


@bp.get("/runs/<int:run_id>/figures")
def get_figures(run_id: int) -> Json:
    """Give the Plotly figures of a run, each figure beside its baselines."""
    with services().database.read() as session:
        return {"items": figures_of(session, get_run(session, run_id))}


@bp.post("/series/<int:series_id>/predict")
def predict(series_id: int) -> Json:
    """Say what the newest snapshot makes of the window that ends with candle `as_of`, the newest by default."""
    with services().database.read() as session:
        get_series(session, series_id)
    fields = Fields(optional_json())
    fields.only(("model", "as_of"))
    model = fields.text("model", 50) if fields.has("model") else None
    as_of = fields.whole("as_of", EARLIEST_MS, LATEST_MS) if fields.has("as_of") else None
    veil = veil_of(series_id)
    if veil.cursor is None:
        said = services().trainer.predict(series_id, model, as_of)
    else:
        said = _predict_in_replay(series_id, model, as_of, veil.cursor)
    return said if veil.hides is None else {**said, "label_probabilities": None}


def _predict_in_replay(series_id: int, model: str | None, as_of: int | None, cursor: int) -> Json:
    """Let a snapshot speak that has learnt from no candle after the cursor, of a window that ends before it."""
    newest = services().candles.bounds(series_id, before=cursor).last
    asked = newest if as_of is None else as_of
    if asked is None or newest is None or asked > newest:
        raise InvalidInput(f"as_of = {asked}: it is after the replay's cursor at {cursor}", field="as_of")
    try:
        said = services().trainer.predict(series_id, model, asked)
    except AnnotateError as error:  # its words may tell how many candles there are
        raise Conflict("no snapshot can speak of this window in the replay", code="replay") from error
    with services().database.read() as session:
        timeframe = get_series(session, series_id).timeframe
    cut = said["data_cut"]
    if cut is not None and close_of(cut, timeframe) > cursor:
        raise Conflict("the model has learnt from candles after the replay's cursor; it may not speak", code="replay")
    return said


def _seen(run: Json) -> Json:
    return services().veils.run(author(), run)
