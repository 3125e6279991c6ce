"""How an author last looked at a series: what the page wants to find again, as it gave it."""

from __future__ import annotations

from sqlalchemy.orm import Session

from annotate.models import Json, ViewState


def get_view(session: Session, series_id: int, author: str, place: str) -> Json:
    """Give what was kept, empty where nothing was."""
    row = session.get(ViewState, (series_id, author, place))
    return dict(row.value) if row else {}


def put_view(session: Session, series_id: int, author: str, place: str, value: Json, now: int) -> None:
    """Keep a view whole, in place of the one before."""
    session.merge(ViewState(series_id=series_id, author=author, place=place, value=value, updated=now))
    session.flush()
