"""Runs looked at, over HTTP: beside each other, as a table and as a report to keep; a person's note on each."""

from __future__ import annotations

from typing import cast

from flask import Blueprint, Response, request

from annotate.annotations.fields import Fields
from annotate.comparison import compare
from annotate.errors import InvalidInput
from annotate.figures import figures_of
from annotate.models import Json
from annotate.run_config import FormMode
from annotate.run_report import as_html, as_table, comparison_as_html
from annotate.store.runs import MAX_ID, change_run, get_run, run_to_json
from annotate.views.services import services

bp = Blueprint("run_figures", __name__, url_prefix="/api")

MOST_COMPARED = 20
MAX_NOTE = 2000


@bp.get("/runs/compare")
def get_comparison() -> Json:
    """Lay the runs of `?ids=1,2` beside each other: curves in one figure each, and where their configs differ."""
    return _compared()


@bp.get("/runs/compare.csv")
def get_comparison_table() -> Response:
    """Give every point of the compared runs' curves as one table."""
    return _kept(as_table(_compared()["items"]), "text/csv; charset=utf-8", _compared_name("csv"))


@bp.get("/runs/compare.html")
def get_comparison_page() -> Response:
    """Give the comparison as one page that needs no server and no network."""
    return _kept(comparison_as_html(_compared()), "text/html; charset=utf-8", _compared_name("html"))


@bp.get("/runs/<int:run_id>/figures.csv")
def get_table(run_id: int) -> Response:
    """Give every point of the figures of a run as one table."""
    with services().database.read() as session:
        run = get_run(session, run_id)
        return _kept(as_table(figures_of(session, run)), "text/csv; charset=utf-8", f"run-{run.id}.csv")


@bp.get("/runs/<int:run_id>/report.html")
def get_report(run_id: int) -> Response:
    """Give the figures of a run as one page that needs no server and no network."""
    with services().database.read() as session:
        run = get_run(session, run_id)
        page = as_html(run_to_json(run), figures_of(session, run))
        return _kept(page, "text/html; charset=utf-8", f"run-{run.id}.html")


@bp.put("/runs/<int:run_id>/note")
def put_note(run_id: int) -> Json:
    """Keep a person's note on a run."""
    fields = Fields(request.get_json())
    fields.only(("note",))
    note = fields.text("note", MAX_NOTE, default="")
    with services().database.write() as session:
        return {"run": run_to_json(change_run(session, run_id, note=note.strip() or None))}


@bp.post("/memory")
def post_memory() -> Json:
    """Say what a run with this config will need, and what to change where it does not fit."""
    fields = Fields(request.get_json())
    fields.only(("mode", "config"))
    mode = fields.choice("mode", ("load", "batch", "live", "skill")) if fields.has("mode") else "batch"
    return services().trainer.memory(cast("FormMode", mode), fields.value("config") or {})


def _compared() -> Json:
    ids = _ids(request.args.get("ids", ""))
    with services().database.read() as session:
        return compare(session, [get_run(session, run_id) for run_id in ids])


def _compared_name(ending: str) -> str:
    return f"runs-{'-'.join(map(str, _ids(request.args.get('ids', ''))))}.{ending}"


def _ids(given: str) -> list[int]:
    parts = given.split(",")
    numbers = [int(part) for part in parts if part.isascii() and part.isdigit() and 0 < len(part) < 16]
    if len(numbers) != len(parts) or not 2 <= len(set(numbers)) == len(numbers) <= MOST_COMPARED:
        raise InvalidInput(
            f"ids = {given[:100]!r}: name 2 to {MOST_COMPARED} different runs, such as ids=3,5", field="ids"
        )
    if any(number > MAX_ID for number in numbers):
        raise InvalidInput(f"ids = {given[:100]!r}: a run has no such number", field="ids")
    return numbers


def _kept(body: str, kind: str, name: str) -> Response:
    response = Response(body, content_type=kind)
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
