"""What people have on a series beside their marks: ranges looked through, blind passes, views, rejections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotate.models import BlindPass, Json, ViewState
from annotate.store.rejected import add_rejected, list_rejected
from annotate.store.reviewed import list_reviewed, ranges_of, set_ranges

PASS = ("author", "hides", "started", "ended")
VIEW = ("author", "place", "value", "updated")


def people_of(session: Session, series_id: int) -> dict[str, list[Json]]:
    """Give all of it by kind, in an order that no id decides; `rejected` only where there are some."""
    rejected = list_rejected(session, series_id)
    return {
        **({"rejected": rejected} if rejected else {}),
        "reviewed": list_reviewed(session, series_id),
        "passes": _rows(session, series_id, BlindPass, PASS),
        "views": _rows(session, series_id, ViewState, VIEW),
    }


def add_people(session: Session, series_id: int, people: Mapping[str, Sequence[Json]], now: int) -> None:
    """Add what the series does not have; a view that stands there stays."""
    add_rejected(session, series_id, people.get("rejected", ()), now)
    reviewed = people.get("reviewed", ())
    for author in dict.fromkeys(each["author"] for each in reviewed):
        given = [(each["start"], each["end"]) for each in reviewed if each["author"] == author]
        set_ranges(session, series_id, author, [*ranges_of(session, series_id, author), *given])
    passes = _rows(session, series_id, BlindPass, PASS)
    session.add_all(BlindPass(series_id=series_id, **row) for row in people.get("passes", ()) if row not in passes)
    views = {(row["author"], row["place"]) for row in _rows(session, series_id, ViewState, VIEW)}
    new = [row for row in people.get("views", ()) if (row["author"], row["place"]) not in views]
    session.add_all(ViewState(series_id=series_id, **row) for row in new)
    session.flush()


def _rows(session: Session, series_id: int, table: type[Any], columns: Sequence[str]) -> list[Json]:
    found = session.execute(select(*(getattr(table, name) for name in columns)).where(table.series_id == series_id))
    rows = [dict(zip(columns, row, strict=True)) for row in found]
    return sorted(rows, key=lambda row: str([row[name] for name in columns]))
