"""Rejected suggestions as what people said is not there: read without ids, and added where they are not known yet."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import uuid4

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotate.models import Json, Lesson, Suggestion
from annotate.store.series import get_series
from annotate.store.suggestions import REJECTED

IMPORT = "import"  # source of the lesson that rejections of another instance stand under
COLUMNS = ("kind", "start", "end", "geometry", "probability")


def list_rejected(session: Session, series_id: int) -> list[Json]:
    """Give `{author, decided, label, kind, start, end, geometry, probability}` of each, in an order without ids."""
    query = select(Suggestion).where(Suggestion.series_id == series_id, Suggestion.fate == REJECTED)
    return sorted((_row(one) for one in session.scalars(query)), key=_place)


def add_rejected(session: Session, series_id: int, rejected: Sequence[Json], now: int) -> None:
    """Add those that are not rejected here already and whose label the series has."""
    here = {
        place for one in list_rejected(session, series_id) for place in (_place(one), _place({**one, "author": ""}))
    }
    labels = {label.name: label.id for label in get_series(session, series_id).label_set.labels}
    new = [one for one in rejected if _place(one) not in here and one["label"] in labels]
    if not new:
        return
    lesson = Lesson(
        series_id=series_id, author="", source=IMPORT, mode="rule", cursor=None, request={}, learnt=[], created=now
    )
    session.add(lesson)
    session.flush()
    for one in new:
        columns = {name: one[name] for name in COLUMNS}
        fate = {"fate": REJECTED, "decided_by": one["author"] or None, "decided": one["decided"], "created": now}
        place = {"series_id": series_id, "lesson_id": lesson.id, "label_id": labels[one["label"]]}
        session.add(Suggestion(id=str(uuid4()), **place, **columns, **fate))
    session.flush()


def _row(one: Suggestion) -> Json:
    said = {"author": one.decided_by or "", "decided": one.decided, "label": one.label.name}
    return {**said, **{name: getattr(one, name) for name in COLUMNS}}


def _place(one: Json) -> tuple[int, int, str, str, str]:
    return int(one["start"]), int(one["end"]), one["kind"], one["label"], one["author"]
