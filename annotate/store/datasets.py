"""Dataset rows; their files stand in data/datasets/<id>/."""

from __future__ import annotations

import time

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from annotate.errors import Conflict, NotFound
from annotate.models import Checkpoint, Dataset, Json, Run, Setting
from annotate.store.runs import UNFINISHED


def add_dataset(session: Session, *, series_id: int, name: str, kept: bool, manifest: Json, note: str = "") -> Dataset:
    """Add a row and give it with its id; one to keep gets the next version number of its series."""
    dataset = Dataset(
        series_id=series_id,
        name=name,
        note=note,
        kept=kept,
        version=_next_version(session, series_id) if kept else None,
        manifest=manifest,
        hash=manifest["hash"],
        created=time.time_ns() // 1_000_000,
    )
    session.add(dataset)
    session.flush()
    return dataset


def get_dataset(session: Session, dataset_id: int) -> Dataset:
    """Give the dataset; raise NotFound."""
    dataset = session.get(Dataset, dataset_id)
    if dataset is None:
        raise NotFound(f"there is no dataset {dataset_id}", dataset_id=dataset_id)
    return dataset


def hash_of_dataset(session: Session, dataset_id: int | None) -> str | None:
    """Give the hash of a dataset, None where there is none."""
    return session.scalar(select(Dataset.hash).where(Dataset.id == dataset_id))


def find_dataset(session: Session, series_id: int, content_hash: str) -> Dataset | None:
    """Give the oldest dataset of the series with this content, or None."""
    query = select(Dataset).where(Dataset.series_id == series_id, Dataset.hash == content_hash)
    return session.scalar(query.order_by(Dataset.id).limit(1))


def list_datasets(session: Session, series_id: int | None = None) -> list[Dataset]:
    """List the datasets that people made, newest first, of one series where it is given; those of runs are left out."""
    query = select(Dataset).where(Dataset.kept.is_(True)).order_by(Dataset.id.desc())
    return list(session.scalars(query if series_id is None else query.where(Dataset.series_id == series_id)))


def every_dataset_id(session: Session) -> set[int]:
    """Give the ids of all datasets."""
    return set(session.scalars(select(Dataset.id)))


def delete_dataset(session: Session, dataset_id: int) -> None:
    """Remove the row; raise NotFound, or Conflict naming the runs that still need the files.

    A run needs them while it is unfinished or has a checkpoint; other runs keep their results and lose the name of
    the dataset.
    """
    dataset = get_dataset(session, dataset_id)
    runs = select(Run.id).where(Run.dataset_id == dataset_id).order_by(Run.id)
    with_checkpoint = select(Checkpoint.run_id)
    needing = list(session.scalars(runs.where(Run.state.in_(UNFINISHED) | Run.id.in_(with_checkpoint))))
    if needing:
        numbers = ", ".join(map(str, needing))
        raise Conflict(
            f"dataset {dataset_id} is needed by run {numbers}; stop it and discard its checkpoints first", runs=needing
        )
    session.execute(update(Run).where(Run.dataset_id == dataset_id).values(dataset_id=None))
    session.delete(dataset)
    session.flush()


def change_dataset(session: Session, dataset_id: int, name: str | None, note: str | None) -> Dataset:
    """Change what people call a dataset; what it holds never changes. Raises NotFound."""
    dataset = get_dataset(session, dataset_id)
    dataset.name = dataset.name if name is None else name
    dataset.note = dataset.note if note is None else note
    session.flush()
    return dataset


def dataset_to_json(dataset: Dataset) -> Json:
    """Give a dataset as the API shows it; the manifest says what it holds."""
    names = ("id", "series_id", "version", "name", "note", "hash", "kept", "created", "manifest")
    return {name: getattr(dataset, name) for name in names}


def _next_version(session: Session, series_id: int) -> int:
    """Count on from the last number that was given, that of a deleted dataset too."""
    name = f"dataset_version_{series_id}"
    highest = session.scalar(select(func.max(Dataset.version)).where(Dataset.series_id == series_id)) or 0
    given = session.get(Setting, name)
    version = 1 + max(highest, given.value if given else 0)
    session.merge(Setting(name=name, value=version))
    return version
