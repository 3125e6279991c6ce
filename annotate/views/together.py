"""Several people on one series over HTTP: who marked, how far they agree, and reviews of each other's marks."""

from __future__ import annotations

from uuid import UUID

from flask import Blueprint, request

from annotate.annotations.agreement import MOST_TOLERANCE, TOLERANCE, Side, agreement, is_comparable
from annotate.annotations.classes import CandleTimes
from annotate.annotations.fields import Fields, query_number, shown
from annotate.annotations.labels import layers_of
from annotate.annotations.review import read_verdict
from annotate.errors import InvalidInput
from annotate.models import BlindPass, Json
from annotate.store.annotations import list_annotations
from annotate.store.hiding import get_pass
from annotate.store.label_sets import labels_to_json
from annotate.store.marks import annotation_to_json
from annotate.store.reviewed import list_reviewed
from annotate.store.reviews import authors_of, review_annotation
from annotate.store.runs import MAX_ID
from annotate.store.series import get_series
from annotate.views.annotations import tell_marks
from annotate.views.services import MAX_AUTHOR, author, now_ms, services

bp = Blueprint("together", __name__, url_prefix="/api/series/<int:series_id>")


@bp.get("/authors")
def get_authors(series_id: int) -> Json:
    """List who has marks on the series."""
    with services().database.read() as session:
        get_series(session, series_id)
        return {"items": authors_of(session, series_id)}


@bp.get("/agreement")
def get_agreement(series_id: int) -> Json:
    """Compare the marks of `?first` and `?second`, or with `?pass` those from before a blind pass and those of it."""
    tolerance = query_number(request.args, "tolerance", 0, MOST_TOLERANCE)
    pass_id = query_number(request.args, "pass", 1, MAX_ID)
    with services().database.read() as session:
        series = get_series(session, series_id)
        layers = layers_of(labels_to_json(series.label_set.labels))
        marks = [mark for mark in list_annotations(session, series_id) if is_comparable(mark)]
        ranges = list_reviewed(session, series_id)
        blind = None if pass_id is None else get_pass(session, series_id, pass_id)
    names = (_name("first", blind), _name("second", blind))
    if names[0] == names[1] and blind is None:
        raise InvalidInput(f"second = {names[1]}: name two people, or the blind pass of one", field="second")
    first, second = (_side(name, place, blind, marks, ranges) for place, name in enumerate(names))
    rows = CandleTimes(services().candles.read(series_id).time, series.timeframe)
    figures = agreement(first, second, rows, layers, TOLERANCE if tolerance is None else tolerance)
    return {"first": names[0], "second": names[1], "pass": pass_id, **figures}


@bp.put("/annotations/<uuid:annotation_id>/review")
def put_review(series_id: int, annotation_id: UUID) -> Json:
    """Accept, correct or reject a mark, or take the verdict back with null; the mark stays as it is."""
    fields = Fields(request.get_json())
    fields.only(("verdict", "comment", "correction"))
    verdict = read_verdict(fields) if fields.has("verdict") else None
    with services().database.write() as session:
        get_series(session, series_id)
        row = review_annotation(session, series_id, str(annotation_id), verdict, author(), now_ms())
        mark = annotation_to_json(row)
    tell_marks(series_id, [mark], [])
    return mark


def _name(which: str, blind: BlindPass | None) -> str:
    given = request.args.get(which) or (blind.author if blind else None)
    if given is None:
        raise InvalidInput(f"{which} is missing: name an author, or a blind pass by its number in pass", field=which)
    if len(given) > MAX_AUTHOR:
        raise InvalidInput(f"{which} = {shown(given)}: a name has at most {MAX_AUTHOR} characters", field=which)
    return given


def _side(name: str, place: int, blind: BlindPass | None, marks: list[Json], ranges: list[Json]) -> Side:
    """Give what one of the two has marked; of the author of a blind pass, second what they marked in it."""
    own = [{**mark, "review": None} for mark in marks if mark["author"] == name]  # as they were marked
    if blind is not None and name == blind.author:
        ended = blind.ended or now_ms()
        in_pass = [mark for mark in own if blind.started <= mark["created"] <= ended]
        own = in_pass if place == 1 else [mark for mark in own if mark["created"] < blind.started]
    return Side(own, [each for each in ranges if each["author"] == name])
