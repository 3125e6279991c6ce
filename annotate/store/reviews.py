"""Reviews: a second person's verdict on a mark; the mark and its correction are both kept."""

from __future__ import annotations

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from annotate.errors import InvalidInput, NotFound
from annotate.models import Annotation, Json


def review_annotation(
    session: Session, series_id: int, annotation_id: str, verdict: Json | None, author: str, now: int
) -> Annotation:
    """Give a mark a verdict, or take it back with None; its revision and undo stay as they are.

    Raises NotFound for the mark, InvalidInput for a correction that is not a mark of the series.
    """
    row = session.get(Annotation, annotation_id)
    if row is None or row.series_id != series_id:
        raise NotFound(f"there is no annotation {annotation_id} on series {series_id}", id=annotation_id)
    correction = verdict and verdict["correction"]
    right = session.get(Annotation, correction) if correction else None
    if correction and (right is None or right.series_id != series_id or right.id == annotation_id):
        raise InvalidInput(
            f"correction = {correction}: store the right mark on series {series_id} first", field="correction"
        )
    row.review = None if verdict is None else {**verdict, "by": author, "at": now}
    session.flush()
    session.refresh(row)
    return row


def authors_of(session: Session, series_id: int) -> list[Json]:
    """List who has marks on a series: `{author, marks, first, last}`, the times when their marks were made."""
    columns = (Annotation.author, func.count(), func.min(Annotation.created), func.max(Annotation.created))
    query = select(*columns).where(Annotation.series_id == series_id).group_by(Annotation.author)
    return [
        {"author": author, "marks": marks, "first": first, "last": last}
        for author, marks, first, last in session.execute(query.order_by(Annotation.author))
    ]
