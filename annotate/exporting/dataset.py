"""Dataset snapshots: candles and marks of a series at one moment, written once and never changed.

Files are made in a folder of their own, outside of any transaction, and get their final name as the row is stored.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from annotate.annotations.veil import Veil
from annotate.candle_store import CandleStore
from annotate.db import Database
from annotate.errors import InvalidInput
from annotate.exporting.content import Content, read_content
from annotate.exporting.description import describe, warnings_of
from annotate.exporting.recipe import Recipe
from annotate.files import storage_errors, sync_folder
from annotate.models import Dataset, Json
from annotate.store.datasets import add_dataset, every_dataset_id, find_dataset
from annotate.store.series import get_series
from annotate.watch import Watch
from nn import dataset_dir

FOLDER = "datasets"
CONTENT, CANDLES, DESCRIBED = 0.2, 0.6, 0.9  # share done once marks are read, candles in place, facts known
MAKING = ".making-"  # prefix of a folder that is not whole yet


DEFAULT = Recipe()


def snapshot(
    database: Database,
    candles: CandleStore,
    data_dir: Path,
    series_id: int,
    *,
    name: str,
    kept: bool,
    note: str = "",
    until: int | None = None,
    recipe: Recipe = DEFAULT,
    veil: Veil | None = None,
    watch: Watch = lambda _share: None,
) -> Dataset:
    """Store the series as it is now; give the row of the dataset.

    `until` (ms UTC) leaves out the candles that open at or after it and the marks that were not known by then, `veil`
    what its author may not see in a replay. With `kept` False, a dataset of the series that holds the same already is
    given instead of a second one. Raises NotFound for the series, InvalidInput where one to keep would hold no candle,
    Leak with the ids of the marks that the leak gate refuses, StorageFailed where the disk refuses, and what `watch`
    raises.
    """
    until = until if veil is None or veil.cursor is None else min(until or veil.cursor, veil.cursor)
    with database.read() as session:
        content = read_content(session, series_id, recipe, until, veil)
    watch(CONTENT)
    root = data_dir / FOLDER
    with storage_errors(root / "dataset"), _folder_in_making(root) as folder:
        found, sha256 = _place_candles(folder / "candles.arrow", candles, series_id, until)
        if kept and not len(found):
            raise InvalidInput(f"series {series_id} has no candles to make a dataset of", field="series_id")
        watch(CANDLES)
        lines = dataset_dir.jsonl(content.annotations)
        manifest = _manifest(content, found, sha256, hashlib.sha256(lines).hexdigest(), recipe)
        if not kept and (same := _same(database, root, series_id, manifest["hash"])):
            return same
        watch(DESCRIBED)
        dataset_dir.write_around_candles(folder, manifest, lines)
        with database.write() as session:
            get_series(session, series_id)
            dataset = add_dataset(session, series_id=series_id, name=name, note=note, kept=kept, manifest=manifest)
            _give_name(folder, root / str(dataset.id))
    return dataset


def preview(database: Database, candles: CandleStore, series_id: int, recipe: Recipe, veil: Veil | None = None) -> Json:
    """Say what a dataset made now would hold, `{facts, warnings}`; nothing is written. Raises as `snapshot` does."""
    until = None if veil is None else veil.cursor
    with database.read() as session:
        content = read_content(session, series_id, recipe, until, veil)
    facts = describe(content, candles.read(series_id, None, until).time, recipe)
    return {"facts": facts, "warnings": warnings_of(facts)}


def dataset_path(data_dir: Path, dataset_id: int) -> Path:
    """Give the folder of a dataset."""
    return data_dir / FOLDER / str(dataset_id)


def remove_files(data_dir: Path, dataset_id: int) -> None:
    """Remove the files of a dataset whose row is gone."""
    shutil.rmtree(dataset_path(data_dir, dataset_id), ignore_errors=True)


def remove_orphans(database: Database, data_dir: Path) -> None:
    """Remove what a death left behind: half made folders, and numbered ones that no row names. Called at start."""
    with database.read() as session:
        known = {str(dataset_id) for dataset_id in every_dataset_id(session)}
    for folder in (data_dir / FOLDER).iterdir():
        if folder.name.startswith(MAKING) or (folder.name.isdecimal() and folder.name not in known):
            shutil.rmtree(folder, ignore_errors=True)


def _place_candles(
    path: Path, store: CandleStore, series_id: int, until: int | None
) -> tuple[dataset_dir.Candles, str]:
    """Give the dataset its candle file, a hard link where one file of the store holds just these; and its SHA-256."""
    only = store.only_file(series_id)
    if only and _linked(only, path):
        linked = dataset_dir.read_candles(path)
        if until is None or not np.count_nonzero(linked.time >= until):
            return linked, only.stem
        path.unlink()
    stored = store.read(series_id, None, until)
    candles = dataset_dir.Candles(*(getattr(stored, column) for column in dataset_dir.COLUMNS))
    return candles, dataset_dir.write_candles(path, candles)


def _linked(source: Path, target: Path) -> bool:
    try:
        target.hardlink_to(source)
    except OSError:  # replaced by a newer file meanwhile, or a disk without hard links: a copy does as well
        return False
    return True


def _manifest(
    content: Content, candles: dataset_dir.Candles, candles_sha256: str, marks_sha256: str, recipe: Recipe
) -> Json:
    """Say what the dataset holds. Neither id, name nor clock is inside: the same content gives the same hash."""
    manifest = {
        "format": dataset_dir.FORMAT,
        **describe(content, candles.time, recipe),
        "candles": {
            "rows": len(candles),
            "first": int(candles.time[0]) if len(candles) else None,
            "last": int(candles.time[-1]) if len(candles) else None,
            "sha256": candles_sha256,
        },
        "annotations": {"rows": len(content.annotations), "sha256": marks_sha256},
    }
    return {**manifest, "hash": hashlib.sha256(dataset_dir.canonical(manifest).encode()).hexdigest()}


def _same(database: Database, root: Path, series_id: int, content_hash: str) -> Dataset | None:
    with database.read() as session:
        dataset = find_dataset(session, series_id, content_hash)
    return dataset if dataset and (root / str(dataset.id)).is_dir() else None


@contextmanager
def _folder_in_making(root: Path) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix=MAKING, dir=root))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _give_name(folder: Path, final: Path) -> None:
    """Put a whole folder in its place; what stands there belongs to no row and is left from a death."""
    shutil.rmtree(final, ignore_errors=True)
    folder.replace(final)
    sync_folder(final.parent)
