"""Suggestions over HTTP: asked for, listed, decided; lessons; what to mark next and which marks are doubted."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, request

from annotate.annotations.draft import AnnotationDraft
from annotate.annotations.fields import EARLIEST_MS, LATEST_MS, Fields, query_number
from annotate.annotations.veil import Veil
from annotate.errors import Conflict, InvalidInput, NotFound
from annotate.models import Json, Suggestion
from annotate.store.series import get_series
from annotate.store.suggestions import (
    Shown,
    check_mark,
    count_suggestions,
    fates_of_lessons,
    ids_of,
    lesson_to_json,
    list_lessons,
    list_suggestions,
    suggestion_to_json,
    suggestions_by_id,
)
from annotate.store.undo import undo_state
from annotate.suggesting.deciding import VERBS, accept, correct, put_aside
from annotate.suggesting.door import check_order, offers
from annotate.suggesting.doubting import open_doubts
from annotate.suggesting.tasks import Task
from annotate.suggesting.wanted import MOST_PLACES, MOST_SEED, Wanted, weight_of
from annotate.views.annotations import gesture_of, tell_marks, tell_suggestions, timeline_of
from annotate.views.incoming import optional_json
from annotate.views.services import services
from annotate.views.veil import refuse_hidden, veil_of

bp = Blueprint("suggestions", __name__, url_prefix="/api")

MAX_LIST = 5_000
MAX_IDS = 100_000
MAX_ID = 36
DECISIONS = tuple(VERBS.values())
FATE_OF = {verb: fate for fate, verb in VERBS.items()}


@bp.get("/suggestion-offers")
def get_offers() -> Json:
    """List the rules with their parameters, and the orders of asking."""
    return offers()


@bp.post("/series/<int:series_id>/suggestions")
def post_suggestions(series_id: int) -> tuple[Json, int]:
    """Begin to suggest, from what the marks teach or by a rule; the task goes on by itself."""
    wanted = Wanted.from_fields(Fields(optional_json()))
    return {"task": services().suggester.suggest(series_id, _veil(series_id), wanted)}, 202


@bp.get("/series/<int:series_id>/suggestions")
def get_suggestions(series_id: int) -> Json:
    """List the open suggestions that touch a range, by start, with how many there are, and the tasks under way."""
    shown = _shown(series_id, Fields(_numbers_of_query()))
    limit = query_number(request.args, "limit", 1, MAX_LIST) or MAX_LIST
    with services().database.read() as session:
        get_series(session, series_id)
        items = [suggestion_to_json(row) for row in list_suggestions(session, shown, limit)]
        count = count_suggestions(session, shown)
    return {"items": items, "count": count, "tasks": services().suggester.running(series_id, shown.cursor)}


@bp.get("/suggestion-tasks/<int:task_id>")
def get_task(task_id: int) -> Json:
    """Say how far a task is."""
    return {"task": _task(task_id).to_json()}


@bp.delete("/suggestion-tasks/<int:task_id>")
def cancel_task(task_id: int) -> Json:
    """Call a task off; what it found stays."""
    return {"task": services().suggester.cancel(_task(task_id).id)}


@bp.post("/series/<int:series_id>/suggestions/decisions")
def post_decision(series_id: int) -> Json:
    """Accept, correct, reject or ignore suggestions: those named, or all in a range above a probability; one undo."""
    fields = Fields(request.get_json())
    fields.only(("decision", "ids", "mark", "from", "to", "least_probability"))
    fate = FATE_OF[fields.choice("decision", DECISIONS)]
    timeline, gesture = timeline_of(series_id), gesture_of(series_id)
    with services().database.write() as session:
        get_series(session, series_id)
        ids = _ids(fields) if fields.has("ids") else ids_of(session, _shown(series_id, fields))
        chosen = suggestions_by_id(session, series_id, ids, _veil(series_id).cursor)
        marks: list[Json] = []
        if fate == "accepted":
            marks = accept(session, series_id, chosen, timeline, gesture)
        elif fate == "corrected":
            marks = correct(session, series_id, _only(chosen), _draft(fields, ids), timeline, gesture)
        else:
            put_aside(session, series_id, chosen, fate, gesture)
        undo = undo_state(session, series_id, gesture.author)
    tell_marks(series_id, marks, [])
    tell_suggestions(series_id, ids)
    return {"annotations": marks, "decided": ids, **undo}


@bp.get("/series/<int:series_id>/lessons")
def get_lessons(series_id: int) -> Json:
    """List what was learnt from, the newest first: marks by source, weights, readers, scores, fates of what came."""
    limit = query_number(request.args, "limit", 1, MAX_LIST) or 20
    cursor = _veil(series_id).cursor
    with services().database.read() as session:
        get_series(session, series_id)
        lessons = list_lessons(session, series_id, limit, cursor)
        fates = fates_of_lessons(session, [lesson.id for lesson in lessons])
        return {"items": [lesson_to_json(lesson, fates[lesson.id]) for lesson in lessons]}


@bp.post("/series/<int:series_id>/places")
def post_places(series_id: int) -> Json:
    """Say where a mark would teach most, by an order; spread over time, without what is marked or reviewed."""
    fields = Fields(optional_json())
    fields.only(("order", "count", "seed", "from", "to", "cursor", "accepted_weight"))
    asked = _asked(fields) | {
        "order": check_order(fields.text("order", MAX_ID) if fields.has("order") else "random"),
        "count": fields.whole("count", 1, MOST_PLACES) if fields.has("count") else 10,
        "seed": fields.whole("seed", 0, MOST_SEED) if fields.has("seed") else 0,
    }
    return {"items": services().suggester.ask(series_id, _veil(series_id), "places", asked)}


@bp.get("/series/<int:series_id>/doubts")
def get_doubts(series_id: int) -> Json:
    """List the marks that are doubted most, with why and what was read instead; not those confirmed or changed."""
    count = query_number(request.args, "count", 1, MAX_LIST) or 20
    found = services().suggester.ask(series_id, _veil(series_id), "doubts", {}, MAX_LIST)
    with services().database.write() as session:
        return {"items": open_doubts(session, found, count)}


@bp.post("/series/<int:series_id>/doubts/<uuid:annotation_id>/confirm")
def confirm_doubt(series_id: int, annotation_id: Any) -> Json:
    """Say that a doubted mark is right; it leaves the list until it is changed."""
    fields = Fields(request.get_json())
    fields.only(("revision",))
    revision = fields.whole("revision", 1, LATEST_MS)
    with services().database.write() as session:
        get_series(session, series_id)
        refuse_hidden(session, series_id, [str(annotation_id)])
        check_mark(session, str(annotation_id), revision, confirmed=True)
    return {"confirmed": str(annotation_id)}


@bp.get("/series/<int:series_id>/learning-curve")
def get_curve(series_id: int) -> Json:
    """Say how well marks of other blocks of time are read as marks grow in number, and whether more still help."""
    curve: Json = services().suggester.ask(series_id, _veil(series_id), "curve", {})
    return curve


@bp.get("/series/<int:series_id>/state")
def get_state(series_id: int) -> Json:
    """Say what the causal model makes of the newest candles: probabilities of the classes, nothing later looked at."""
    count = query_number(request.args, "count", 1, MAX_LIST) or 100
    return {"items": services().suggester.ask(series_id, _veil(series_id), "live", {}, count)}


def _asked(fields: Fields) -> Json:
    given = {"start": "from", "end": "to", "cursor": "cursor"}
    times = {name: fields.time(field) for name, field in given.items() if fields.has(field)}
    return {**times, "accepted_weight": weight_of(fields)}


def _shown(series_id: int, fields: Fields) -> Shown:
    start, end = (fields.time(name) if fields.has(name) else None for name in ("from", "to"))
    least = fields.number("least_probability") if fields.has("least_probability") else 0.0
    cursors = [_veil(series_id).cursor, fields.time("cursor") if fields.has("cursor") else None]
    cursor = min((each for each in cursors if each is not None), default=None)
    return Shown(series_id=series_id, start=start, end=end, least_probability=least, cursor=cursor)


def _veil(series_id: int) -> Veil:
    """Give what the author sees of a series; raise Conflict in a blind pass: suggestions tell of hidden marks."""
    veil = veil_of(series_id)
    if veil.hides is not None:
        raise Conflict(
            "suggestions are learnt from marks that are hidden in a blind pass; end the pass first", code="blind_pass"
        )
    return veil


def _task(task_id: int) -> Task:
    """Give a task that the author may hear of; raise NotFound."""
    task = services().suggester.task(task_id)
    if not task.is_within(_veil(task.series_id).cursor):
        raise NotFound(f"there is no suggestion task {task_id} within the replay", id=task_id)
    return task


def _numbers_of_query() -> Json:
    """Give the query's times and its least probability as numbers; raise InvalidInput naming one that is none."""
    times = {name: query_number(request.args, name, EARLIEST_MS, LATEST_MS) for name in ("from", "to", "cursor")}
    least = request.args.get("least_probability")
    try:
        return {**times, "least_probability": None if least is None else float(least)}
    except ValueError:
        raise InvalidInput(f"least_probability = {least!r}: must be a number", field="least_probability") from None


def _ids(fields: Fields) -> list[str]:
    ids = fields.value("ids")
    if not isinstance(ids, list) or not all(isinstance(one, str) and len(one) <= MAX_ID for one in ids):
        raise fields.bad("ids", "must be a list of ids of suggestions")
    if len(ids) > MAX_IDS:
        raise InvalidInput(f"ids: {len(ids)} at once; send at most {MAX_IDS}", field="ids")
    return list(dict.fromkeys(ids))


def _only(chosen: list[Suggestion]) -> Suggestion:
    if len(chosen) != 1:
        raise InvalidInput(f"ids: a correction is of one suggestion, you sent {len(chosen)}", field="ids")
    return chosen[0]


def _draft(fields: Fields, ids: list[str]) -> AnnotationDraft:
    mark = fields.value("mark")
    body = {name: value for name, value in mark.items() if name != "revision"} if isinstance(mark, dict) else mark
    return AnnotationDraft.from_json(body, ids[0])
