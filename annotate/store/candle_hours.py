"""Per-candle events fold into one row an hour of candles once they are old; nothing else of a run is ever removed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from annotate.models import CandleHour, Event, Json, Run
from annotate.store.events import AFTER_CANDLE, CANDLE, last_seq

HOUR = 3_600_000
KEEP_NEWEST = 3_000  # events of a run that stay whatever their age: a resume and a page look at the newest
AT_ONCE = 3_000  # events of one transaction, so that nobody waits long for the database


class Told(NamedTuple):
    """A per-candle event."""

    seq: int
    type: str
    body: Json


def fold(session: Session, run_id: int, before: int) -> int:
    """Fold the oldest per-candle events of a run that were said before a moment, ms UTC; give how many, 0 at the end.

    At most AT_ONCE; the caller commits and calls again.
    """
    newest = last_seq(session, run_id) - KEEP_NEWEST
    query = select(Event.seq, Event.type, Event.body).where(Event.run_id == run_id, Event.seq <= newest)
    query = query.where(Event.type >= CANDLE, Event.type < AFTER_CANDLE, Event.time < before)
    rows = session.execute(query.order_by(Event.seq).limit(AT_ONCE)).all()
    by_hour: dict[int, list[Told]] = {}
    for row in rows:
        by_hour.setdefault(row.body["candle_time"] // HOUR * HOUR, []).append(Told(row.seq, row.type, row.body))
    for hour, events in by_hour.items():
        _add(session, run_id, hour, events)
    if rows:
        folded = delete(Event).where(Event.run_id == run_id, Event.seq <= rows[-1].seq)
        session.execute(folded.where(Event.type >= CANDLE, Event.type < AFTER_CANDLE))
    return len(rows)


def list_hours(session: Session, run_id: int) -> list[Json]:
    """List the folded hours of a run, `{hour, last_seq, …}`, oldest first."""
    query = select(CandleHour).where(CandleHour.run_id == run_id).order_by(CandleHour.hour)
    return [{"hour": row.hour, "last_seq": row.last_seq, **row.body} for row in session.scalars(query)]


def add_hours(session: Session, run_id: int, hours: Iterable[Json]) -> None:
    """Store folded hours of a run that has none, as `list_hours` gives them."""
    for given in hours:
        body = {name: value for name, value in given.items() if name not in ("hour", "last_seq")}
        session.add(CandleHour(run_id=run_id, hour=given["hour"], last_seq=given["last_seq"], body=body))
    session.flush()


def live_run_ids(session: Session) -> list[int]:
    """List the live runs, oldest first."""
    return list(session.scalars(select(Run.id).where(Run.mode == "live").order_by(Run.id)))


def _add(session: Session, run_id: int, hour: int, events: Iterable[Told]) -> None:
    row = session.get(CandleHour, (run_id, hour)) or CandleHour(run_id=run_id, hour=hour, last_seq=0, body=_empty())
    body: Json = {**row.body, "skipped": dict(row.body["skipped"])}  # a new object: the column sees that it changed
    for event in events:
        _COUNT[event.type](body, event.body)
        row.last_seq = event.seq
    row.body = body
    session.add(row)
    session.flush()


def _empty() -> Json:
    """Give an hour in which nothing happened; sums stand beside the counts that they are of."""
    counts = dict.fromkeys(("predicted", "scored", "unseen", "hits", "trends", "trend_hits", "learnt"), 0)
    return {**counts, "loss_sum": 0.0, "learnt_loss_sum": 0.0, "skipped": {}, "candle_time": None, "figures": None}


def _predicted(hour: Json, _event: Json) -> None:
    hour["predicted"] += 1


def _scored(hour: Json, event: Json) -> None:
    """Count hits and losses of unseen candles alone, as every prequential figure does."""
    hour["candle_time"], hour["figures"] = event["candle_time"], event["figures"]
    hour["scored"] += event["correct"] is not None
    if event["seen"]:
        return
    if event["correct"] is not None:
        hour["unseen"] += 1
        hour["hits"] += event["correct"]
        hour["loss_sum"] += event["loss"]
    if event["trend_correct"] is not None:
        hour["trends"] += 1
        hour["trend_hits"] += event["trend_correct"]


def _learnt(hour: Json, event: Json) -> None:
    if event["loss"] is None:
        reason = event["skipped"] or "not told"
        hour["skipped"][reason] = hour["skipped"].get(reason, 0) + 1
        return
    hour["learnt"] += 1
    hour["learnt_loss_sum"] += event["loss"]


_COUNT = {"candle_predicted": _predicted, "candle_scored": _scored, "candle_learnt": _learnt}
