"""The veil over every answer: in a replay or a blind pass, only routes that know how to hide may speak of a series.

A route that is not named here is refused for a series under a veil, so a new route leaks nothing until someone has
thought about it. `tests/web/test_replay_traffic.py` walks every route and looks for numbers of the future.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from flask import Response, g, jsonify, request

from annotate.annotations.veil import Veil
from annotate.errors import AnnotateError, Conflict, NotFound
from annotate.models import Json
from annotate.store.datasets import get_dataset
from annotate.store.marks import mark_to_json, marks_by_id
from annotate.store.runs import get_run
from annotate.views.services import AUTHOR_COOKIE, author, author_cookie, services

if TYPE_CHECKING:
    from flask import Flask
    from sqlalchemy.orm import Session

SILENT = frozenset({"pages", "label_sets", "replay"})  # blueprints that never speak of candles or others' marks
HIDING = frozenset(
    {
        *("system.health", "feeding.post_candles", "models.get_models", "datasets.get_datasets"),
        *("series.get_all", "series.get_one", "series.patch_series", "series.remove_series", "series.restore"),
        *("series.get_candles", "reviewed.get_reviewed", "reviewed.put_reviewed", "views.get_view", "views.put_view"),
        *("annotations.get_annotations", "annotations.put_annotation", "annotations.remove_annotation"),
        *("annotations.post_bulk", "annotations.patch_annotations"),
        *("annotations.get_undo", "annotations.post_undo", "annotations.post_redo"),
        *("runs.get_runs", "runs.get_one_run", "runs.stop_run", "runs.pause_run", "runs.get_events", "runs.predict"),
        "run_figures.post_memory",
        *("worth.get_worth", "worth.get_costs", "worth.put_costs"),
        *("indicators.get_indicators", "indicators.get_offers"),
        *("suggestions.get_offers", "suggestions.post_suggestions", "suggestions.get_suggestions"),
        *("suggestions.get_task", "suggestions.cancel_task", "suggestions.post_decision", "suggestions.get_lessons"),
        *("suggestions.post_places", "suggestions.get_doubts", "suggestions.confirm_doubt"),
        *("suggestions.get_curve", "suggestions.get_state"),
    }
)
"""Endpoints that hide by themselves what the veil covers."""
CUT = frozenset(
    {
        *("datasets.post_dataset", "datasets.preview_dataset", "datasets.get_one_dataset", "datasets.get_formats"),
        *("datasets.post_build", "datasets.get_build", "datasets.cancel_build", "datasets.download_dataset"),
        *("datasets.post_export", "datasets.get_export", "datasets.cancel_export", "datasets.download_export"),
    }
)
"""Endpoints that cut at a replay's cursor, or refuse what reaches past it; in a blind pass they are refused."""
OF_MARKS = frozenset(
    {"annotations", "datasets", "workspace", "suggestions", "together", "worth", "runs", "run_figures"}
)
"""Blueprints whose answers may tell of others' marks, or of what was learnt from them; the rest may speak in a blind
pass without a replay."""


def register(app: Flask) -> None:
    """Put the veil over every request of the app."""
    app.before_request(_refuse)
    app.after_request(_finish)


def veil_of(series_id: int) -> Veil:
    """Give what the author of this request sees of a series."""
    return services().veils.of(series_id, author())


def cursor_of(series_id: int) -> int | None:
    """Give the cursor of the author's replay of a series; None where there is none."""
    return veil_of(series_id).cursor


def shown_marks(series_id: int, marks: Iterable[Json]) -> list[Json]:
    """Leave out the marks that the author may not see."""
    veil = veil_of(series_id)
    return [mark for mark in marks if veil.shows(mark)]


def refuse_hidden(session: Session, series_id: int, mark_ids: Iterable[str]) -> None:
    """Raise Conflict for a mark that is stored but hidden from the author; it says nothing about the mark."""
    veil = veil_of(series_id)
    if veil.is_open:
        return
    for mark_id, (on_series, mark, label) in marks_by_id(session, list(mark_ids)).items():
        if on_series == series_id and not veil.shows(mark_to_json(mark, label)):
            raise Conflict(
                f"annotation {mark_id} is hidden now; end the {_what(veil)} first", code="hidden", id=mark_id
            )


def under_veil(series_id: int, error: AnnotateError) -> AnnotateError:
    """Give an error as the author may see it: under a veil without what its details tell of stored marks."""
    veil = veil_of(series_id)
    if veil.is_open or not isinstance(error, Conflict) or error.code == "hidden":
        return error
    told = [error.details, *error.details.get("conflicts", ())]
    marks = [mark for each in told for mark in (each.get("yours"), each.get("stored")) if mark and "known_at" in mark]
    if all(veil.shows(mark) for mark in marks):
        return error
    message = f"a mark changed since in a way that is hidden now; end the {_what(veil)} first"
    return Conflict(message, code=error.code)


def _refuse() -> None:
    """Refuse what does not know how to hide, before it is asked."""
    if not request.path.startswith("/api/"):
        return
    endpoint = request.endpoint or ""
    blueprint = endpoint.partition(".")[0]
    g.author = author()
    g.generation = services().veils.generation(g.author)
    hidden = services().veils.hidden_series(g.author)
    if not hidden or blueprint in SILENT or endpoint in HIDING:
        return
    series_id = _series_id()
    for veiled, veil in hidden.items():
        if endpoint in CUT and veil.hides is None:
            continue
        if series_id in (None, veiled) and (veil.cursor is not None or blueprint in OF_MARKS):
            raise refusal(veiled, veil)


def refusal(series_id: int, veil: Veil) -> Conflict:
    """Make the error for what might tell an author what is hidden from them."""
    return Conflict(
        f"series {series_id} is under a {_what(veil)} by {veil.author}, and this answer might tell what it hides; "
        "end it first, on its chart",
        code=_what(veil).replace(" ", "_"),
        series_id=series_id,
        end=f"DELETE /api/series/{series_id}/{_what(veil).split()[0]}",
    )


def _finish(response: Response) -> Response:
    if not request.path.startswith("/api/"):
        return response
    response.headers["Cache-Control"] = "no-store"
    if _is_stale():
        response = _stale_answer()
        response.headers["Cache-Control"] = "no-store"
    if (
        "author" in g
        and "X-Author" in request.headers
        and request.cookies
        and request.cookies.get(AUTHOR_COOKIE) != author_cookie()
    ):
        # Downloads and sockets cannot send the header; they are this author's too.
        response.set_cookie(AUTHOR_COOKIE, author_cookie(), samesite="Strict", httponly=True)
    return response


def _stale_answer() -> Response:
    error = Conflict("a replay or a blind pass began, or went back, while this was answered; ask again", code="replay")
    answer = jsonify(error.to_json())
    answer.status_code = error.status
    return answer


def _is_stale() -> bool:
    """Tell whether the author came to see less while this answer was made."""
    known = g.get("generation")
    moved = known is not None and services().veils.generation(g.author) != known
    return moved and (request.endpoint or "").partition(".")[0] != "replay"


def _series_id() -> int | None:
    """Give the series that a request is about; None where it may be any."""
    given: dict[str, Any] = dict(request.view_args or {})
    body = request.get_json(silent=True) if request.is_json else None
    given |= body if isinstance(body, dict) else {}
    if isinstance(given.get("series_id"), int):
        return int(given["series_id"])
    try:
        with services().database.read() as session:
            if isinstance(given.get("run_id"), int):
                return get_run(session, given["run_id"]).series_id
            if isinstance(given.get("dataset_id"), int):
                return get_dataset(session, given["dataset_id"]).series_id
    except NotFound:
        return None
    return None


def _what(veil: Veil) -> str:
    return "replay" if veil.cursor is not None else "blind pass"


def veiled_gesture(series_id: int) -> Json:
    """Give the fields of a gesture that a veil sets: the mode of its marks, and which marks it sees."""
    veil = veil_of(series_id)
    mode = "hindsight" if veil.cursor is None else "replay"
    return {"mode": mode, "sees_from": veil.sees_from, "sees_until": veil.cursor}
