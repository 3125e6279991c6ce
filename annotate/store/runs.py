"""Run rows: made, changed and listed. The trainer thread alone changes them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotate.errors import NotFound
from annotate.models import Json, Run

SHOWN = (
    "id", "mode", "series_id", "dataset_id", "state", "cause", "config", "created", "started", "ended", "summary",
    "note",
)  # fmt: skip
MAX_ID = 2**53  # every whole number up to it is exact in a browser
UNFINISHED = ("queued", "running", "paused", "stopping")


def add_run(session: Session, *, mode: str, series_id: int, dataset_id: int | None, config: Json, created: int) -> Run:
    """Add a queued run and give it with its id."""
    run = Run(mode=mode, series_id=series_id, dataset_id=dataset_id, config=config, created=created)
    run.state, run.summary = "queued", {}
    session.add(run)
    session.flush()
    return run


def get_run(session: Session, run_id: int) -> Run:
    """Give the run; raise NotFound."""
    run = session.get(Run, run_id)
    if run is None:
        raise NotFound(f"there is no run {run_id}", run_id=run_id)
    return run


def list_runs(session: Session, series_id: int | None = None, limit: int | None = None) -> list[Run]:
    """List runs, newest first; of one series where it is given."""
    query = select(Run).order_by(Run.id.desc()).limit(limit)
    if series_id is not None:
        query = query.where(Run.series_id == series_id)
    return list(session.scalars(query))


def every_run_id(session: Session) -> set[int]:
    """Give the numbers of all runs."""
    return set(session.scalars(select(Run.id)))


def newest_run_on(session: Session, dataset_id: int) -> Run | None:
    """Give the newest run that learnt from a dataset, or None."""
    return session.scalar(select(Run).where(Run.dataset_id == dataset_id).order_by(Run.id.desc()).limit(1))


def unfinished_runs(session: Session) -> list[Run]:
    """List the runs that a death of this process left unfinished, oldest first."""
    return list(session.scalars(select(Run).where(Run.state.in_(UNFINISHED)).order_by(Run.id)))


def change_run(session: Session, run_id: int, **changes: Any) -> Run:
    """Set columns of a run and give it; raise NotFound."""
    run = get_run(session, run_id)
    for name, value in changes.items():
        setattr(run, name, value)
    session.flush()
    return run


def run_to_json(run: Run) -> Json:
    """Give a run as the API shows it."""
    return {name: getattr(run, name) for name in SHOWN}
