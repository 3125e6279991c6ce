"""Health and log."""

from __future__ import annotations

from flask import Blueprint, Response, send_file

from annotate import __version__
from annotate.views.services import services

bp = Blueprint("system", __name__)


@bp.get("/health")
def health() -> dict[str, str]:
    """Say that the server answers, and what the trainer does."""
    return {"status": "ok", "version": __version__, "trainer": services().trainer.state()}


@bp.get("/api/log")
def log() -> Response:
    """Give the newest log file as a download."""
    path = services().settings.data_dir / "logs" / "annotate.log"
    return send_file(path, mimetype="text/plain", as_attachment=True, download_name="annotate.log", max_age=0)
