"""Checkpoint rows: what weights stand on the disk, whose they are, which may be started from."""

from __future__ import annotations

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from annotate.errors import NotFound
from annotate.models import Checkpoint, Json, Run


def save_checkpoint(
    session: Session, *, run_id: int, name: str, step: int, data_cut: int | None, result: bool, created: int, meta: Json
) -> Checkpoint:
    """Add the checkpoint of a run, or renew the one of that name; series and model are the run's."""
    row = session.scalar(select(Checkpoint).where(Checkpoint.run_id == run_id, Checkpoint.name == name))
    if row is None:
        run = session.get_one(Run, run_id)
        row = Checkpoint(run_id=run_id, series_id=run.series_id, model=run.config["model"], name=name)
        session.add(row)
    row.step, row.data_cut, row.result, row.created, row.meta = step, data_cut, result, created, meta
    session.flush()
    return row


def list_checkpoints(session: Session, series_id: int | None = None, model: str | None = None) -> list[Checkpoint]:
    """List checkpoints, newest first; of one series and one model where they are given."""
    query = select(Checkpoint).order_by(Checkpoint.created.desc(), Checkpoint.id.desc())
    if series_id is not None:
        query = query.where(Checkpoint.series_id == series_id)
    if model is not None:
        query = query.where(Checkpoint.model == model)
    return list(session.scalars(query))


def result_checkpoints(session: Session, series_id: int, model: str | None = None) -> list[Checkpoint]:
    """List the checkpoints that later runs of a series may start from, newest first."""
    return [row for row in list_checkpoints(session, series_id, model) if row.result]


def get_checkpoint(session: Session, checkpoint_id: int) -> Checkpoint:
    """Give the checkpoint; raise NotFound."""
    row = session.get(Checkpoint, checkpoint_id)
    if row is None:
        raise NotFound(f"there is no checkpoint {checkpoint_id}", checkpoint_id=checkpoint_id)
    return row


def delete_checkpoints(session: Session, series_id: int, model: str | None = None) -> list[str]:
    """Delete the rows of a series; give their directories, relative to data/checkpoints."""
    rows = list_checkpoints(session, series_id, model)
    session.execute(delete(Checkpoint).where(Checkpoint.id.in_([row.id for row in rows])))
    return [checkpoint_path(row) for row in rows]


def checkpoint_path(row: Checkpoint) -> str:
    """Give the directory of a checkpoint, relative to data/checkpoints."""
    return f"{row.run_id}/{row.name}"


def checkpoint_to_json(row: Checkpoint) -> Json:
    """Give a checkpoint as the API shows it."""
    names = ("id", "run_id", "series_id", "model", "name", "step", "data_cut", "result", "created")
    return {name: getattr(row, name) for name in names}
