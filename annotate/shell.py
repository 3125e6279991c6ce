"""What the page does with series, datasets and files, from a shell: on a data folder that no server holds.

Each command gives plain data, an object a line.
"""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from annotate import data_folder
from annotate.candle_store import CandleStore
from annotate.data_folder import FolderLock
from annotate.db import Database
from annotate.errors import NotFound
from annotate.exporting.dataset import preview, remove_files, snapshot
from annotate.exporting.formats import build, get_format
from annotate.exporting.recipe import Recipe
from annotate.exporting.sources import changes_since, changes_to_dataset, losses, open_source
from annotate.exporting.workspace import Choice, write_workspace
from annotate.exporting.workspace_import import import_workspace
from annotate.files import TEMPORARY, storage_errors, unless_done
from annotate.mark_files import Chart, read_marks
from annotate.mark_import import Import, import_marks
from annotate.migrate import migrate
from annotate.models import Json
from annotate.store.datasets import change_dataset, dataset_to_json, delete_dataset, list_datasets
from annotate.store.series import delete_series, get_series, list_series, rename_series, series_json
from annotate.store.undo import Gesture
from annotate.upload import Upload, store_upload
from annotate.zips import DAMAGED


@dataclass(frozen=True, slots=True)
class Shell:
    """A data folder in the hands of one shell command."""

    data_dir: Path
    database: Database
    candles: CandleStore

    def series(self) -> list[Json]:
        """List the series."""
        with self.database.read() as session:
            bounds = self.candles.all_bounds()
            return [series_json(each, bounds[each.id]) for each in list_series(session)]

    def rename_series(self, series_id: int, symbol: str) -> Json:
        """Give a series another symbol."""
        with self.database.write() as session:
            series = rename_series(session, series_id, symbol)
        return series_json(series, self.candles.all_bounds()[series.id])

    def delete_series(self, series_id: int, now: int) -> Json:
        """Remove a series; the next command, or start of the server, a minute later removes its files."""
        with self.database.write() as session:
            delete_series(session, series_id, now)
        return {"deleted": series_id}

    def datasets(self, series_id: int | None) -> list[Json]:
        """List the datasets that people made, newest first."""
        with self.database.read() as session:
            return [dataset_to_json(each) for each in list_datasets(session, series_id)]

    def preview_dataset(self, series_id: int, recipe: Recipe) -> Json:
        """Say what a dataset made now would hold."""
        return preview(self.database, self.candles, series_id, recipe)

    def make_dataset(self, series_id: int, name: str, *, kept: bool, recipe: Recipe, note: str = "") -> Json:
        """Store a series as it is now."""
        where = (self.database, self.candles, self.data_dir, series_id)
        return dataset_to_json(snapshot(*where, name=name, note=note, kept=kept, recipe=recipe))

    def changes(self, dataset_id: int, later_id: int | None) -> Json:
        """Say what changed since a dataset, up to now or to a later one."""
        if later_id is not None:
            return changes_to_dataset(self.database, self.data_dir, dataset_id, later_id)
        return changes_since(self.database, self.candles, self.data_dir, dataset_id)

    def change_dataset(self, dataset_id: int, name: str | None, note: str | None) -> Json:
        """Change what a dataset is called and what is noted of it."""
        with self.database.write() as session:
            return dataset_to_json(change_dataset(session, dataset_id, name, note))

    def delete_dataset(self, dataset_id: int) -> Json:
        """Remove a dataset, unless a run needs it."""
        with self.database.write() as session:
            delete_dataset(session, dataset_id)
        remove_files(self.data_dir, dataset_id)
        return {"deleted": dataset_id}

    def export(self, dataset_id: int, name: str, out: Path, options: Mapping[str, int]) -> Json:
        """Write a dataset in a format; say what was lost."""
        known = get_format(name).options
        source = open_source(self.database, self.data_dir, dataset_id, {k: v for k, v in options.items() if k in known})
        with _written(out) as file:
            build(name, source, file, lambda _share: None)
        return {"file": str(out), "bytes": out.stat().st_size, "format": name, "lost": losses(source)[name]}

    def export_workspace(self, out: Path, *, runs: bool) -> Json:
        """Write the whole workspace."""
        with _written(out) as file:
            write_workspace(self.database, self.candles, file, Choice(runs=runs), lambda _share: None)
        return {"file": str(out), "bytes": out.stat().st_size}

    def import_file(self, path: Path, answers: Json, gesture: Gesture, into: int | None) -> Json:
        """Take a file in: a workspace's or dataset's zip, else candles, as a new series or added to the one named."""
        if into is None and _is_ours(path):
            return import_workspace(self.database, self.candles, path, self.data_dir / "uploads", gesture)
        with path.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        made = store_upload(self.database, self.candles, Upload(path, path.name, sha256, answers, into), gesture.now)
        return {"series": [{"id": series.id, "symbol": series.symbol, "report": report} for series, report in made]}

    def import_marks(
        self, path: Path, series_id: int, answers: Json, gesture: Gesture, *, dry_run: bool, replace: bool
    ) -> Json:
        """Take the marks of a file onto a series; a dry run only says what would come of them."""
        with self.database.read() as session:
            chart = Chart(self.candles.read(series_id), get_series(session, series_id).timeframe)
        found = read_marks(path.read_bytes(), path.name, chart, answers)
        with self.database.write() as session, session.begin_nested() as savepoint:
            report = import_marks(session, series_id, chart, found, Import(gesture, replace))
            if dry_run:
                savepoint.rollback()
        return {**report, "stored": not dry_run}


@contextmanager
def opened(data_dir: Path, *, make: bool) -> Iterator[Shell]:
    """Hold a data folder for as long as the block lasts; `make` makes one where there is none.

    Raises Conflict while a server or another command holds it, NotFound where there is none.
    """
    if not make and not (data_dir / "annotate.db").is_file():
        raise NotFound(f"{data_dir} is no data folder of Annotate; set ANNOTATE_DATA_DIR to the one that you mean")
    folder = data_folder.prepare(data_dir)
    lock = FolderLock.take(folder)
    database = Database(folder / "annotate.db")
    try:
        migrate(database, folder)
        candles = CandleStore(folder, database)
        candles.recover()
        yield Shell(folder, database, candles)
    finally:
        database.close()
        lock.release()


@contextmanager
def _written(out: Path) -> Iterator[IO[bytes]]:
    """Open a file to write; it gets its name once it is whole, and what stood there before stays until then."""
    making = out.with_name(out.name + TEMPORARY)
    with unless_done(lambda: making.unlink(missing_ok=True)), storage_errors(out):
        with making.open("wb") as file:
            yield file
        making.replace(out)


def _is_ours(path: Path) -> bool:
    """Tell whether a file is a zip that this product wrote."""
    try:
        with zipfile.ZipFile(path) as archive:
            return bool({"workspace.json", "annotations.jsonl"} & set(archive.namelist()))
    except DAMAGED:
        return False  # the importer of candles says what it is
