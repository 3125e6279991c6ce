"""From a stored dataset to what an export is made of, and the comparison of two of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from annotate.candle_store import CandleStore
from annotate.db import Database
from annotate.errors import NotFound
from annotate.exporting.changes import changes
from annotate.exporting.content import read_content
from annotate.exporting.dataset import dataset_path
from annotate.exporting.description import label_set_of
from annotate.exporting.formats import FORMATS
from annotate.exporting.member import Source
from annotate.exporting.recipe import Recipe
from annotate.figures import figures_of
from annotate.models import Dataset, Json, Suggestion
from annotate.store.datasets import get_dataset
from annotate.store.runs import newest_run_on
from annotate.store.suggestions import OPEN, Shown, list_suggestions
from nn import dataset_dir

MOST_SUGGESTIONS = 10_000


def open_source(
    database: Database, data_dir: Path, dataset_id: int, options: Mapping[str, Any] | None = None
) -> Source:
    """Give a dataset with the figures of the run that last learnt from it; raise NotFound, also for lost files."""
    with database.read() as session:
        dataset = get_dataset(session, dataset_id)
        figures, suggestions = _figures(session, dataset), _suggestions(session, dataset.series_id)
    return Source(*_files(data_dir, dataset), figures, suggestions, **(options or {}))


def losses(source: Source) -> dict[str, list[str]]:
    """Say for each format what it cannot hold of a dataset."""
    return {name: each.lost(source) for name, each in FORMATS.items()}


def changes_to_dataset(database: Database, data_dir: Path, dataset_id: int, later_id: int) -> Json:
    """Say what changed from one dataset to another; raise NotFound."""
    with database.read() as session:
        both = [get_dataset(session, each) for each in (dataset_id, later_id)]
    before, after = (_files(data_dir, dataset)[1] for dataset in both)
    return changes(before, after)


def changes_since(database: Database, candles: CandleStore, data_dir: Path, dataset_id: int) -> Json:
    """Say what changed on the series since a dataset was made of it; raise NotFound."""
    with database.read() as session:
        dataset = get_dataset(session, dataset_id)
        # A dataset that left marks of hindsight out is compared with the others alone.
        recipe = Recipe(without_hindsight=dataset.manifest["gate"]["left_out"] > 0)
        content = read_content(session, dataset.series_id, recipe)
    stored = candles.read(dataset.series_id)
    columns = dataset_dir.Candles(*(getattr(stored, name) for name in dataset_dir.COLUMNS))
    facts = {"symbol": content.facts["symbol"], "labels": [label["name"] for label in content.labels]}
    facts |= {"label_set": label_set_of(content), "reviewed_ranges": content.reviewed, "rejected": content.rejected}
    return changes(_files(data_dir, dataset)[1], dataset_dir.DatasetDir(facts, columns, content.annotations))


def _files(data_dir: Path, dataset: Dataset) -> tuple[Path, dataset_dir.DatasetDir]:
    folder = dataset_path(data_dir, dataset.id)
    if not folder.is_dir():
        raise NotFound(f"the files of dataset {dataset.id} are gone from the data folder; restore them from a backup")
    try:
        return folder, dataset_dir.read(folder)
    except dataset_dir.DatasetError as error:
        raise NotFound(f"the files of dataset {dataset.id} are damaged: {error}; restore them from a backup") from None


def _suggestions(session: Session, series_id: int) -> list[Json]:
    """Give the open suggestions of a series as marks, those of a lesson together."""
    shown = Shown.everything(series_id, OPEN)
    rows = sorted(list_suggestions(session, shown, MOST_SUGGESTIONS), key=lambda row: row.lesson_id)
    return [_suggested(row) for row in rows]


def _suggested(row: Suggestion) -> Json:
    said = {"comment": "", "confidence": row.probability, "lesson": f"{row.lesson.source} {row.lesson_id}"}
    return {"id": row.id, "kind": row.kind, "label": row.label.name, **row.geometry, **said}


def _figures(session: Session, dataset: Dataset) -> list[Json]:
    run = newest_run_on(session, dataset.id)
    return [] if run is None else figures_of(session, run)
