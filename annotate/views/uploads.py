"""Uploads over HTTP: a candle file is looked at first, then imported in the background with progress and cancel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import IO

from flask import Blueprint, request

from annotate.annotations.fields import Fields
from annotate.errors import AnnotateError, InvalidInput
from annotate.models import Json
from annotate.store.runs import MAX_ID
from annotate.upload import answers_of, series_id_of
from annotate.uploads import Held
from annotate.views.feeding import make_series
from annotate.views.services import now_ms, services

bp = Blueprint("uploads", __name__, url_prefix="/api")

FORM_FIELDS = ("symbol", "timeframe", "zone", "series_id", "answers", "upload")
RAW = "application/octet-stream"
CHUNK = 1024 * 1024


@bp.post("/series")
def post_series() -> tuple[Json, int]:
    """Take a candle file, or one that waits: make a series of it, or add it to the one that `series_id` names.

    A JSON body makes an empty series instead, for a feed.
    """
    if request.is_json:
        return make_series(request.get_json())
    form = sent_fields()
    answers, series_id = answers_of(form), series_id_of(form)
    uploads = services().uploads
    # A file that came with this call waits on only for answers; one that waited before waits on.
    held = uploads.get(form["upload"]) if "upload" in form else received()
    try:
        items = uploads.store(held.id, answers, series_id, now_ms())
    except AnnotateError as error:
        if "upload" not in form and error.code != "needs_answer":
            uploads.cancel(held.id)
        raise
    return {**items[0], "items": items}, 201


@bp.post("/uploads")
def post_upload() -> tuple[Json, int]:
    """Take a candle file and keep it for an hour; what is in it is said later."""
    form = sent_fields()
    if form:
        raise InvalidInput(f"field {min(form)}: it goes with the preview or the commit of the file", field=min(form))
    return {"upload": received().to_json()}, 201


@bp.post("/series/preview")
def post_preview() -> tuple[Json, int]:
    """Take a candle file, keep it for an hour and show how it would be read; nothing is stored."""
    form = sent_fields()
    answers, series_id = answers_of(form), series_id_of(form)
    held = received()
    try:
        return {"upload": held.to_json(), "preview": services().uploads.preview(held.id, answers, series_id)}, 201
    except AnnotateError:
        services().uploads.cancel(held.id)
        raise


@bp.get("/uploads/<upload_id>")
def get_upload(upload_id: str) -> Json:
    """Give an upload with its state and progress, and what came of it."""
    return {"upload": services().uploads.get(upload_id).to_json()}


@bp.delete("/uploads/<upload_id>")
def cancel_upload(upload_id: str) -> Json:
    """Call the import off, or forget the file."""
    return {"upload": services().uploads.cancel(upload_id)}


@bp.post("/uploads/<upload_id>/preview")
def preview_upload(upload_id: str) -> Json:
    """Show how a waiting file would be read with other answers."""
    answers, series_id = _choices()
    uploads = services().uploads
    return {"upload": uploads.get(upload_id).to_json(), "preview": uploads.preview(upload_id, answers, series_id)}


@bp.post("/uploads/<upload_id>/commit")
def commit_upload(upload_id: str) -> tuple[Json, int]:
    """Begin to import a waiting file, whole or not at all."""
    answers, series_id = _choices()
    return {"upload": services().uploads.start(upload_id, answers, series_id, now_ms())}, 202


def sent_fields() -> Mapping[str, str]:
    """Give what came beside a file: form fields, or the query of a raw body; raise InvalidInput for an unknown one."""
    is_raw = request.mimetype == RAW
    form = {name: text for name, text in request.args.items() if name != "filename"} if is_raw else request.form
    unknown = sorted(set(form) - set(FORM_FIELDS))
    if unknown:
        raise InvalidInput(f"unknown field {unknown[0]}; known are {', '.join(FORM_FIELDS)}", field=unknown[0])
    return form


def received() -> Held:
    """Keep the file of this request: multipart field `file`, or the body with `?filename=`."""
    if request.mimetype == RAW:
        filename = request.args.get("filename", "").strip()
        if not filename:
            raise InvalidInput("no filename: send a raw body with ?filename=", field="filename")
        return services().uploads.keep(filename, _parts(request.stream))
    file = request.files.get("file")
    if file is None or not file.filename:
        raise InvalidInput("no file: send the candle file as multipart field `file`", field="file")
    return services().uploads.keep(file.filename, _parts(file.stream))


def _parts(stream: IO[bytes]) -> Iterator[bytes]:
    while chunk := stream.read(CHUNK):
        yield chunk


def _choices() -> tuple[Json, int | None]:
    body = request.get_json()
    fields = Fields(body)
    fields.only(("answers", "series_id"))
    answers = body.get("answers") or {}
    if not isinstance(answers, dict):
        raise InvalidInput("answers: a JSON object of names and answers is needed", field="answers")
    series_id = fields.whole("series_id", 1, MAX_ID) if body.get("series_id") is not None else None
    return answers, series_id
