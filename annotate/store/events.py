"""Event rows: stored in batches, read in order. An event is its columns and, in `body`, the rest of its fields."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import func, insert, or_, select
from sqlalchemy.orm import Session

from annotate.models import CandleHour, Event, Json

COLUMNS = ("run_id", "seq", "time", "type")
LATE = "late"  # the reason for which an event skips a candle that came after a newer one
CANDLE, AFTER_CANDLE = "candle_", "candle`"  # the types of per-candle events, and no other, lie between these


def add_events(session: Session, events: Iterable[Json]) -> None:
    """Store events, each `{run_id, seq, time, type, …}`; raises where a (run, seq) is stored already."""
    rows = [_row(event) for event in events]
    if rows:
        session.execute(insert(Event), rows)


def events_after(
    session: Session, run_id: int, after: int, limit: int | None = None, candles: int | None = None
) -> list[Json]:
    """Give the events of a run with a `seq` above `after`, in order, at most `limit` of them.

    With `candles`, per-candle events come only where they are among the newest so many events of the run.
    """
    query = select(Event.seq, Event.time, Event.type, Event.body).where(Event.run_id == run_id, Event.seq > after)
    if candles is not None:
        newest = Event.seq > last_seq(session, run_id) - candles
        query = query.where(or_(newest, Event.type < CANDLE, Event.type >= AFTER_CANDLE))
    rows = session.execute(query.order_by(Event.seq).limit(limit))
    return [{"run_id": run_id, "seq": row.seq, "time": row.time, "type": row.type, **row.body} for row in rows]


def first_seq(session: Session, run_id: int) -> int | None:
    """Give the number of the event from which on all are kept, None where there is none."""
    folded = session.scalar(select(func.max(CandleHour.last_seq)).where(CandleHour.run_id == run_id))
    query = select(func.min(Event.seq)).where(Event.run_id == run_id)
    return session.scalar(query if folded is None else query.where(Event.seq > folded))


def last_seq(session: Session, run_id: int) -> int:
    """Give the number of the newest event, 0 where there is none."""
    return session.scalar(select(func.max(Event.seq)).where(Event.run_id == run_id)) or 0


def newest_value(session: Session, run_id: int, event_type: str, name: str) -> Any:
    """Give field `name` of the newest event of a type, None where there is none."""
    query = select(Event.body).where(Event.run_id == run_id, Event.type == event_type)
    body = session.scalar(query.order_by(Event.seq.desc()).limit(1))
    return None if body is None else body.get(name)


def newest_candle(session: Session, run_id: int, event_type: str) -> int | None:
    """Give the open time of the newest candle that an event of a type tells of; a late one is not the newest."""
    skipped = func.json_extract(Event.body, "$.skipped")
    query = select(func.json_extract(Event.body, "$.candle_time")).where(Event.run_id == run_id)
    query = query.where(Event.type == event_type, or_(skipped.is_(None), skipped != LATE))
    return session.scalar(query.order_by(Event.seq.desc()).limit(1))


def late_candles(session: Session, run_id: int, event_type: str) -> list[int]:
    """List the open times of the candles that came too late for a run, as far as events of a type tell of them."""
    skipped = func.json_extract(Event.body, "$.skipped")
    query = select(func.json_extract(Event.body, "$.candle_time")).where(Event.run_id == run_id)
    return list(session.scalars(query.where(Event.type == event_type, skipped == LATE).order_by(Event.seq)))


def told_candles(session: Session, run_id: int) -> tuple[int | None, set[int]]:
    """Give the open times of the candles that a run has scored or learnt, and from which one on these are all.

    None for the first where no event was folded: then these are all there were.
    """
    fields = [func.json_extract(Event.body, path) for path in ("$.candle_time", "$.skipped")]
    query = select(*fields).where(Event.run_id == run_id, Event.type.in_(("candle_scored", "candle_learnt")))
    rows = session.execute(query.order_by(Event.seq)).all()
    in_order = (time for time, skipped in rows if skipped != LATE)
    return None if first_seq(session, run_id) == 1 else next(in_order, None), {time for time, _ in rows}


def candles_after_no_trade(session: Session, run_id: int) -> list[int]:
    """List the open times of the candles before which nobody had traded, as far as events of a run tell of them."""
    query = select(func.json_extract(Event.body, "$.candle_time")).where(Event.run_id == run_id)
    query = query.where(Event.type == "candle_scored", func.json_extract(Event.body, "$.after_no_trade"))
    return list(session.scalars(query.order_by(Event.seq)))


def read_fields(session: Session, run_id: int, event_type: str, paths: Sequence[str]) -> list[list[Any]]:
    """Give columns of fields, in order of `seq`; a path such as `figures.candle.all.nll` reaches into objects.

    SQLite takes the fields out, so that the bodies of a long run never stand in memory all at once.
    """
    fields = [func.json_extract(Event.body, "$." + path) for path in paths]
    query = select(*fields).where(Event.run_id == run_id, Event.type == event_type).order_by(Event.seq)
    rows = session.execute(query).all()
    return [[_plain(row[column]) for row in rows] for column in range(len(paths))]


def sample_events(session: Session, run_id: int, event_type: str, most: int) -> list[Json]:
    """Give at most `most` events of a type, evenly spaced, the newest among them, in order; bodies without columns."""
    place = func.row_number().over(order_by=Event.seq.desc()) - 1
    ranked = select(Event.seq, place.label("place")).where(Event.run_id == run_id, Event.type == event_type).subquery()
    count = session.scalar(select(func.count()).select_from(ranked)) or 0
    step = max(1, -(-count // most))
    query = select(Event.body).join(ranked, (Event.run_id == run_id) & (Event.seq == ranked.c.seq))
    return list(session.scalars(query.where(ranked.c.place % step == 0).order_by(Event.seq)))


def _row(event: Json) -> Json:
    body = {name: value for name, value in event.items() if name not in COLUMNS}
    return {**{name: event[name] for name in COLUMNS}, "body": body}


def _plain(value: Any) -> Any:
    # json_extract gives an object or a list as text, numbers and null as they are.
    return json.loads(value) if isinstance(value, str) and value[:1] in "{[" else value
