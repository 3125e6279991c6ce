"""Lessons and their suggestions: kept piece by piece, listed by range, and each one's fate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from sqlalchemy import ColumnElement, CursorResult, Select, delete, func, insert, or_, select, update
from sqlalchemy.orm import Session

from annotate.errors import NotFound
from annotate.models import CheckedMark, Json, Lesson, ReviewedRange, Suggestion

OPEN = "open"
REJECTED = "rejected"
FATES = ("accepted", "corrected", REJECTED, "ignored")
BLOCK = 500  # ids in one query; SQLite takes at most 32,766
LEARNT = ("marks", "model", "best")  # sources of lessons that learnt marks: one's suggestions take the other's place


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """Which suggestions are asked for."""

    series_id: int
    start: int | None = None  # ms UTC: those that touch [start, end)
    end: int | None = None
    fate: str = OPEN
    least_probability: float = 0.0  # a rule's suggestions have none and always pass
    cursor: int | None = None  # under replay: only what was made without a look past it

    @classmethod
    def everything(cls, series_id: int, fate: str) -> Self:
        """Give all of one fate."""
        return cls(series_id=series_id, fate=fate)


def add_lesson(session: Session, **values: Any) -> Lesson:
    """Keep what suggestions are made from; `learnt` comes when it is known."""
    lesson = Lesson(**values)
    session.add(lesson)
    session.flush()
    return lesson


def get_lesson(session: Session, lesson_id: int) -> Lesson:
    """Give a lesson; raise NotFound."""
    lesson = session.get(Lesson, lesson_id)
    if lesson is None:
        raise NotFound(f"there is no lesson {lesson_id}", id=lesson_id)
    return lesson


def list_lessons(session: Session, series_id: int, limit: int, cursor: int | None = None) -> list[Lesson]:
    """Give the newest lessons of a series first; under replay only those that looked no further."""
    query = select(Lesson).where(Lesson.series_id == series_id)
    if cursor is not None:
        query = query.where(Lesson.cursor <= cursor)
    return list(session.scalars(query.order_by(Lesson.id.desc()).limit(limit)))


def lesson_to_json(lesson: Lesson, fates: Mapping[str, int]) -> Json:
    """Give a lesson as the API shows it, with how many of its suggestions met which fate."""
    names = ("id", "series_id", "author", "source", "mode", "cursor", "request", "learnt", "created")
    return {**{name: getattr(lesson, name) for name in names}, "fates": dict(fates)}


def fates_of_lessons(session: Session, lesson_ids: Sequence[int]) -> dict[int, dict[str, int]]:
    """Count the suggestions of lessons by fate."""
    query = select(Suggestion.lesson_id, Suggestion.fate, func.count()).where(Suggestion.lesson_id.in_(lesson_ids))
    counted: dict[int, dict[str, int]] = {lesson_id: {} for lesson_id in lesson_ids}
    for lesson_id, fate, count in session.execute(query.group_by(Suggestion.lesson_id, Suggestion.fate)):
        counted[lesson_id][fate] = count
    return counted


def add_suggestions(session: Session, rows: Sequence[Mapping[str, Any]]) -> None:
    """Keep suggestions, all open."""
    if rows:
        session.execute(insert(Suggestion), [{**row, "fate": OPEN} for row in rows])


def remove_open(session: Session, lesson: Lesson, start: int | None, end: int | None) -> int:
    """Remove the open suggestions of earlier lessons of the same source that touch [start, end); say how many."""
    sources = LEARNT if lesson.source in LEARNT else (lesson.source,)
    same = select(Lesson.id).where(
        Lesson.series_id == lesson.series_id, Lesson.source.in_(sources), Lesson.id != lesson.id
    )
    query = delete(Suggestion).where(Suggestion.fate == OPEN, Suggestion.lesson_id.in_(same))
    done = session.execute(query.where(*_touching(start, end)))
    return done.rowcount if isinstance(done, CursorResult) else 0


def list_suggestions(session: Session, shown: Shown, limit: int) -> list[Suggestion]:
    """Give suggestions by start, then id."""
    query = _of(select(Suggestion), shown).order_by(Suggestion.start, Suggestion.id)
    return list(session.scalars(query.limit(limit)))


def count_suggestions(session: Session, shown: Shown) -> int:
    """Count suggestions."""
    return session.scalar(_of(select(func.count()).select_from(Suggestion), shown)) or 0


def ids_of(session: Session, shown: Shown) -> list[str]:
    """Give the ids of suggestions, by start."""
    return list(session.scalars(_of(select(Suggestion.id), shown).order_by(Suggestion.start)))


def places_of(session: Session, series_id: int, *fates: str) -> list[tuple[str, int, int, int]]:
    """Give kind, label id, start and end of every suggestion that met one of these fates."""
    columns = (Suggestion.kind, Suggestion.label_id, Suggestion.start, Suggestion.end)
    query = select(*columns).where(Suggestion.series_id == series_id, Suggestion.fate.in_(fates))
    return [(kind, label, start, end) for kind, label, start, end in session.execute(query)]


def ranges_of(session: Session, series_id: int, fate: str, cursor: int | None = None) -> list[tuple[int, int]]:
    """Give the ranges of every suggestion that met a fate, by start; under replay of those that looked no further."""
    query = select(Suggestion.start, Suggestion.end).where(Suggestion.series_id == series_id, Suggestion.fate == fate)
    if cursor is not None:
        query = query.where(Suggestion.end <= cursor, Suggestion.lesson.has(Lesson.cursor <= cursor))
    return [(start, end) for start, end in session.execute(query.order_by(Suggestion.start))]


def rejections(session: Session, series_id: int, until: int | None = None, cursor: int | None = None) -> list[Json]:
    """Give `{label, start, end}` of every rejected span once, by start: what someone said is not there.

    `until` (ms UTC) leaves out those that end after it; a replay's cursor those whose lesson looked past it.
    """
    query = select(Suggestion).where(
        Suggestion.series_id == series_id, Suggestion.fate == REJECTED, Suggestion.kind == "span"
    )
    if until is not None:
        query = query.where(Suggestion.end <= until)
    if cursor is not None:
        query = query.where(Suggestion.lesson.has(Lesson.cursor <= cursor))
    found = {(row.start, row.end, row.label.name) for row in session.scalars(query)}
    return [{"label": label, "start": start, "end": end} for start, end, label in sorted(found)]


def reviewed_of(session: Session, series_id: int, cursor: int | None = None) -> list[tuple[int, int]]:
    """Give the ranges that someone looked through, by start; under replay up to its cursor."""
    query = select(ReviewedRange.start, ReviewedRange.end).where(ReviewedRange.series_id == series_id)
    rows = session.execute(query.order_by(ReviewedRange.start))
    cut = [(start, end if cursor is None else min(end, cursor)) for start, end in rows]
    return [(start, end) for start, end in cut if start < end]


def suggestions_by_id(
    session: Session, series_id: int, ids: Sequence[str], cursor: int | None = None
) -> list[Suggestion]:
    """Give these suggestions of a series, in the order asked for; raise NotFound naming the first that is not there.

    Under replay those that looked past its cursor are not there.
    """
    found: dict[str, Suggestion] = {}
    for at in range(0, len(ids), BLOCK):
        query = select(Suggestion).where(Suggestion.id.in_(ids[at : at + BLOCK]), Suggestion.series_id == series_id)
        found |= {row.id: row for row in session.scalars(query) if _is_within(row, cursor)}
    missing = next((one for one in ids if one not in found), None)
    if missing is not None:
        raise NotFound(f"there is no suggestion {missing}; suggest again and take the new ones", id=missing)
    return [found[one] for one in ids]


def decide(session: Session, suggestions: Iterable[Suggestion], fate: str, author: str, now: int) -> None:
    """Give suggestions their fate."""
    for suggestion in suggestions:
        suggestion.fate, suggestion.decided_by, suggestion.decided = fate, author, now
    session.flush()


def set_fates(session: Session, fates: Mapping[str, Sequence[str]], *, back: bool) -> list[str]:
    """Give suggestions the fate before a step, or after it; give their ids. Those that are gone stay gone."""
    by_fate: dict[str, list[str]] = {}
    for name, (before, after) in fates.items():
        by_fate.setdefault(before if back else after, []).append(name)
    for fate, ids in by_fate.items():
        for at in range(0, len(ids), BLOCK):
            session.execute(update(Suggestion).where(Suggestion.id.in_(ids[at : at + BLOCK])).values(fate=fate))
    return list(fates)


def suggestion_to_json(suggestion: Suggestion) -> Json:
    """Give a suggestion as the API shows it: a draft of an annotation, with what it comes from."""
    lesson = suggestion.lesson
    return {
        "id": suggestion.id,
        "kind": suggestion.kind,
        "label": suggestion.label.name,
        **suggestion.geometry,
        "probability": suggestion.probability,
        "fate": suggestion.fate,
        "source": lesson.source,
        "mode": lesson.mode,
        "lesson": lesson.id,
        "created": suggestion.created,
    }


def checked_marks(session: Session) -> dict[str, tuple[int, bool]]:
    """Give the marks that were shown as doubted: the revision shown, and whether they were confirmed."""
    return {row.annotation_id: (row.revision, row.confirmed) for row in session.scalars(select(CheckedMark))}


def check_mark(session: Session, annotation_id: str, revision: int, *, confirmed: bool) -> None:
    """Note that a mark was shown as doubted, or confirmed, at a revision."""
    row = session.get(CheckedMark, annotation_id)
    if row is None:
        session.add(CheckedMark(annotation_id=annotation_id, revision=revision, confirmed=confirmed))
    else:
        row.revision, row.confirmed = revision, confirmed
    session.flush()


def _of(query: Select[Any], shown: Shown) -> Select[Any]:
    query = query.where(Suggestion.series_id == shown.series_id, Suggestion.fate == shown.fate)
    if shown.least_probability > 0:
        probable = Suggestion.probability >= shown.least_probability
        query = query.where(or_(Suggestion.probability.is_(None), probable))
    if shown.cursor is not None:
        query = query.where(Suggestion.lesson.has(Lesson.cursor <= shown.cursor), Suggestion.end <= shown.cursor)
    return query.where(*_touching(shown.start, shown.end))


def _is_within(suggestion: Suggestion, cursor: int | None) -> bool:
    looked = suggestion.lesson.cursor
    return cursor is None or (looked is not None and looked <= cursor and suggestion.end <= cursor)


def _touching(start: int | None, end: int | None) -> list[ColumnElement[bool]]:
    after = [] if start is None else [Suggestion.end > start]
    return after if end is None else [*after, Suggestion.start < end]
