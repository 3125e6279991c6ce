"""The whole workspace over HTTP: out as one zip, and in again, at once or in the background."""

from __future__ import annotations

import json
import tempfile
from typing import Any

from flask import Blueprint, Response, request, send_file

from annotate.annotations.fields import Fields
from annotate.errors import InvalidInput
from annotate.exporting.workspace import Choice, write_workspace
from annotate.models import Json
from annotate.store.undo import Gesture
from annotate.views.received import received_file, sent_file
from annotate.views.services import author, now_ms, services
from annotate.zips import parsed_json

bp = Blueprint("workspace", __name__, url_prefix="/api/workspace")

MAX_VIEWS = 20_000


@bp.get("/download")
def download_workspace() -> Response:
    """Give series, label sets, marks, `?views` and with `?runs=1` the runs as a zip."""
    parts = services()
    given = request.args.get("views", "")
    choice = Choice(runs=request.args.get("runs") == "1", views=_views(parsed_json(given, "views")) if given else None)
    file = tempfile.TemporaryFile(dir=parts.settings.data_dir / "exports")  # noqa: SIM115 - the answer closes it
    write_workspace(parts.database, parts.candles, file, choice, lambda _share: None)
    file.seek(0)
    return send_file(file, mimetype="application/zip", as_attachment=True, download_name="workspace.zip", max_age=0)


@bp.post("/exports")
def post_export() -> tuple[Json, int]:
    """Begin to build the zip in the background."""
    fields = Fields(request.get_json())
    fields.only(("runs", "views"))
    views = _views(fields.value("views")) if fields.has("views") else None
    return {"export": services().exports.start_workspace(Choice(runs=fields.flag("runs"), views=views))}, 202


@bp.post("")
def post_workspace() -> tuple[Json, int]:
    """Take a workspace's or a dataset's zip in; what stands here stays as it is."""
    parts = services()
    with received_file(parts.settings.data_dir / "uploads") as path:
        report = parts.workspaces.take(path, _gesture(), runs=_with_runs())
    return {"report": report}, 201


@bp.post("/imports")
def post_import() -> tuple[Json, int]:
    """Begin to take a zip in, in the background."""
    file = sent_file()
    begun = services().workspaces.start(str(file.filename), file.save, _gesture(), runs=_with_runs())
    return {"import": begun}, 202


@bp.get("/imports/<int:import_id>")
def get_import(import_id: int) -> Json:
    """Give an import with its state and progress, and its report once it is finished."""
    return {"import": services().workspaces.get(import_id)}


@bp.delete("/imports/<int:import_id>")
def cancel_import(import_id: int) -> Json:
    """Call an import off; nothing of it is stored."""
    return {"import": services().workspaces.cancel(import_id)}


def _gesture() -> Gesture:
    return Gesture(author=author(), now=now_ms())


def _with_runs() -> bool:
    return request.form.get("runs", "1") in ("1", "true")


def _views(views: Any) -> Json:
    if not isinstance(views, dict) or len(json.dumps(views)) > MAX_VIEWS:
        raise InvalidInput(f"views: a JSON object of at most {MAX_VIEWS} characters is needed", field="views")
    return views
