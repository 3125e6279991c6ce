"""Label sets over HTTP."""

from __future__ import annotations

from flask import Blueprint, request

from annotate.annotations.labels import LabelSetDraft
from annotate.models import Json
from annotate.store.label_sets import (
    create_label_set,
    get_label_set,
    label_set_to_json,
    list_label_sets,
    save_label_set,
    series_using,
)
from annotate.views.services import services
from annotate.views.veil import veil_of

bp = Blueprint("label_sets", __name__, url_prefix="/api/label-sets")


@bp.get("")
def get_label_sets() -> Json:
    """List every label set with its labels."""
    with services().database.read() as session:
        return {"items": [label_set_to_json(session, label_set) for label_set in list_label_sets(session)]}


@bp.post("")
def post_label_set() -> tuple[Json, int]:
    """Make a label set."""
    draft = LabelSetDraft.from_json(request.get_json())
    with services().database.write() as session:
        return label_set_to_json(session, create_label_set(session, draft)), 201


@bp.get("/<int:label_set_id>")
def get_one_label_set(label_set_id: int) -> Json:
    """Give a label set with its labels in order, and the series that use it."""
    with services().database.read() as session:
        return label_set_to_json(session, get_label_set(session, label_set_id))


@bp.put("/<int:label_set_id>")
def put_label_set(label_set_id: int) -> Json:
    """Store a label set whole, as its next revision."""
    draft = LabelSetDraft.from_json(request.get_json())
    with services().database.write() as session:
        hides = any(not veil_of(series_id).is_open for series_id in series_using(session, label_set_id))
        label_set = label_set_to_json(session, save_label_set(session, label_set_id, draft, archive_all=hides))
    for series_id in label_set["used_by"]:
        body = {"what": "label_set", "id": label_set_id, "label_set": label_set}
        services().publisher.series_changed(series_id, body)
    return label_set
