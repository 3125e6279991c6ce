"""Reviewed ranges: the candles that an author has looked through, so that no mark there means nothing is there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from annotate.annotations.ranges import Range, joined
from annotate.models import Json, ReviewedRange


def list_reviewed(session: Session, series_id: int, until: int | None = None) -> list[Json]:
    """List `{author, start, end}` of a series by author and time; those before `until` (ms UTC), cut there."""
    columns = (ReviewedRange.author, ReviewedRange.start, ReviewedRange.end)
    query = select(*columns).where(ReviewedRange.series_id == series_id).order_by(columns[0], columns[1])
    rows = ((author, start, end if until is None else min(end, until)) for author, start, end in session.execute(query))
    return [{"author": author, "start": start, "end": end} for author, start, end in rows if start < end]


def ranges_of(session: Session, series_id: int, author: str) -> list[Range]:
    """Give an author's ranges by time; none touches another."""
    query = select(ReviewedRange.start, ReviewedRange.end).where(
        ReviewedRange.series_id == series_id, ReviewedRange.author == author
    )
    return [(start, end) for start, end in session.execute(query.order_by(ReviewedRange.start))]


def set_ranges(session: Session, series_id: int, author: str, ranges: Iterable[Sequence[int]]) -> None:
    """Make these the ranges that an author has looked through."""
    session.execute(delete(ReviewedRange).where(ReviewedRange.series_id == series_id, ReviewedRange.author == author))
    whole = joined((start, end) for start, end in ranges)
    session.add_all(ReviewedRange(series_id=series_id, author=author, start=start, end=end) for start, end in whole)
    session.flush()
