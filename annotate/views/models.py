"""Models over HTTP: which there are, their fields, their checkpoints; load and discard."""

from __future__ import annotations

from typing import Literal, cast

from flask import Blueprint, request
from sqlalchemy.orm import Session

from annotate.annotations.fields import Fields, query_number
from annotate.feeds.exchanges import EXCHANGES
from annotate.models import Checkpoint, Json
from annotate.run_config import catalogue
from annotate.store.checkpoints import checkpoint_to_json, list_checkpoints
from annotate.store.runs import MAX_ID
from annotate.store.series import get_series
from annotate.timeframe import close_of
from annotate.views.services import services
from annotate.views.veil import cursor_of

bp = Blueprint("models", __name__, url_prefix="/api")

MAX_MODEL_NAME = 50


@bp.get("/models")
def get_models() -> Json:
    """List models, the fields of each mode's config, and the checkpoints; `?series_id` for those of one series."""
    series_id = query_number(request.args, "series_id", 1, MAX_ID)
    with services().database.read() as session:
        rows = [checkpoint_to_json(row) for row in list_checkpoints(session, series_id) if _may_be_told(session, row)]
    listed = {**catalogue(), "exchanges": dict(EXCHANGES)}
    for model in listed["items"]:
        model["checkpoints"] = [row for row in rows if row["model"] == model["name"]]
    return listed


@bp.post("/models/load")
def load_model() -> tuple[Json, int]:
    """Load weights for a series: the newest checkpoint that fits, a new model, or the checkpoint of an id."""
    fields = Fields(request.get_json())
    fields.only(("model", "series_id", "checkpoint", "config"))
    model = fields.text("model", MAX_MODEL_NAME) if fields.has("model") else None
    config = fields.value("config") or {}
    run = services().trainer.load(fields.whole("series_id", 1, MAX_ID), model, _checkpoint(fields), config)
    return {"run": run}, 202


@bp.delete("/series/<int:series_id>/checkpoints")
def discard_checkpoints(series_id: int) -> Json:
    """Delete the checkpoints of a series, of one `?model` where it is named; the next run starts fresh."""
    with services().database.read() as session:
        get_series(session, series_id)
    return {"deleted": services().trainer.discard(series_id, request.args.get("model"))}


def _checkpoint(fields: Fields) -> Literal["latest", "new"] | int:
    if isinstance(fields.value("checkpoint"), str):
        return cast("Literal['latest', 'new']", fields.choice("checkpoint", ("latest", "new")))
    return fields.whole("checkpoint", 1, MAX_ID) if fields.has("checkpoint") else "latest"


def _may_be_told(session: Session, row: Checkpoint) -> bool:
    """Tell whether weights may be named: in a replay only those that knew no candle after its cursor."""
    cursor = cursor_of(row.series_id)
    if cursor is None or row.data_cut is None:
        return True
    return close_of(row.data_cut, get_series(session, row.series_id).timeframe) <= cursor
