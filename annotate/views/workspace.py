"""The whole workspace over HTTP: out as one zip, and in again."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from flask import Blueprint, Response, request, send_file

from annotate.errors import InvalidInput
from annotate.exporting.workspace import Choice, write_workspace
from annotate.exporting.workspace_import import import_workspace
from annotate.models import Json
from annotate.store.undo import Gesture
from annotate.views.received import received_file
from annotate.views.services import author, now_ms, services

bp = Blueprint("workspace", __name__, url_prefix="/api/workspace")

MAX_VIEWS = 20_000


@bp.get("/download")
def download_workspace() -> Response:
    """Give series, label sets, marks, `?views` and with `?runs=1` the runs as a zip."""
    parts = services()
    choice = Choice(runs=request.args.get("runs") == "1", views=_views(request.args.get("views", "")))
    file = tempfile.TemporaryFile(dir=parts.settings.data_dir / "exports")  # noqa: SIM115 - the answer closes it
    write_workspace(parts.database, parts.candles, file, choice, lambda _share: None)
    file.seek(0)
    return send_file(file, mimetype="application/zip", as_attachment=True, download_name="workspace.zip", max_age=0)


@bp.post("")
def post_workspace() -> tuple[Json, int]:
    """Take a workspace's or a dataset's zip in; what stands here stays as it is."""
    parts = services()
    uploads = parts.settings.data_dir / "uploads"
    gesture = Gesture(author=author(), now=now_ms())
    runs = request.form.get("runs", "1") in ("1", "true")
    with received_file(uploads) as path, tempfile.TemporaryDirectory(dir=uploads) as scratch:
        report = import_workspace(parts.database, parts.candles, path, Path(scratch), gesture, runs=runs)
    for series in report["series"]:
        body = {"what": "annotations", "id": series["id"], "author": author()}
        parts.publisher.series_changed(series["id"], body)
    return {"report": report}, 201


def _views(text: str) -> Json | None:
    if not text:
        return None
    try:
        views = json.loads(text)
    except ValueError:
        views = None
    if not isinstance(views, dict) or len(text) > MAX_VIEWS:
        raise InvalidInput(f"views: a JSON object of at most {MAX_VIEWS} characters is needed", field="views")
    return views
