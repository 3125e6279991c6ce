"""Datasets and exports that are built in the background: one after the other, with progress, called off on the way.

A built file stays in data/exports until newer ones take its place or the server ends.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

from annotate.annotations.veil import Veil
from annotate.background import UNDER_WAY, Background, Task
from annotate.candle_store import CandleStore
from annotate.db import Database
from annotate.errors import Conflict
from annotate.exporting.archive import file_name
from annotate.exporting.dataset import snapshot
from annotate.exporting.formats import build, get_format
from annotate.exporting.member import Source
from annotate.exporting.recipe import Recipe
from annotate.exporting.sources import open_source
from annotate.exporting.workspace import Choice, write_workspace
from annotate.files import storage_errors
from annotate.store.datasets import dataset_to_json, get_dataset
from annotate.store.series import get_series
from annotate.watch import Watch

Json = dict[str, Any]
Write = Callable[[IO[bytes], Watch], None]

FOLDER = "exports"
KEPT = 8  # finished builds whose files stay
WORKSPACE = "workspace"  # what stands as the format of an export of everything


def bare(source: Source) -> Source:
    """Give a dataset without what others know of it: the figures of runs and open suggestions."""
    return dataclasses.replace(source, figures=[], suggestions=[])


class Builds:
    """The exports of this instance; any thread may call, one thread builds."""

    def __init__(self, database: Database, candles: CandleStore, data_dir: Path) -> None:
        self._database = database
        self._candles = candles
        self._data_dir = data_dir
        self._folder = data_dir / FOLDER
        self._folder.mkdir(exist_ok=True)
        self._names: dict[int, str] = {}
        self._cursors: dict[int, int | None] = {}  # of the replay in which an export was asked for
        self._background = Background("export")
        self._makings = Background("build")
        for left in self._folder.glob("*.zip"):
            left.unlink()

    def start(self, dataset_id: int, name: str, options: Mapping[str, int], cursor: int | None = None) -> Json:
        """Begin the export of a dataset and give it; raise NotFound for the dataset, InvalidInput for the format.

        One that is asked for in a replay, at its cursor, holds the dataset alone: no figures, no suggestions.
        """
        get_format(name)
        with self._database.read() as session:
            dataset = get_dataset(session, dataset_id)
            called = file_name(dataset.name if name == "dataset" else f"{dataset.name} {name}", dataset.hash)

        def write(file: IO[bytes], watch: Watch) -> None:
            source = open_source(self._database, self._data_dir, dataset_id, options)
            build(name, source if cursor is None else bare(source), file, watch)

        begun = self._start({"dataset_id": dataset_id, "format": name}, called, write)
        self._cursors[begun["id"]] = cursor
        return begun

    def cursor_of(self, build_id: int) -> int | None:
        """Give the cursor of the replay in which an export was asked for; None where it was none."""
        return self._cursors.get(build_id)

    def start_workspace(self, choice: Choice) -> Json:
        """Begin the export of the whole workspace and give it."""

        def write(file: IO[bytes], watch: Watch) -> None:
            write_workspace(self._database, self._candles, file, choice, watch)

        return self._start({"dataset_id": None, "format": WORKSPACE}, "workspace.zip", write)

    def make(self, series_id: int, *, name: str, note: str, recipe: Recipe, veil: Veil | None = None) -> Json:
        """Begin to make a dataset of a series and give the build; raise NotFound for the series."""
        with self._database.read() as session:
            get_series(session, series_id)

        def work(_task: Task, watch: Watch) -> Json:
            where = (self._database, self._candles, self._data_dir, series_id)
            how: Json = {"name": name, "note": note, "recipe": recipe, "veil": veil}
            return dataset_to_json(snapshot(*where, **how, kept=True, watch=watch))

        return self._made(self._makings.start({"series_id": series_id, "name": name}, work, self._forget_makings))

    def making(self, build_id: int) -> Json:
        """Give the build of a dataset, with the dataset once it is finished; raise NotFound."""
        return self._made(self._makings.get(build_id))

    def cancel_making(self, build_id: int) -> Json:
        """Call the build of a dataset off; a finished one stays."""
        return self._made(self._makings.cancel(build_id))

    def get(self, build_id: int) -> Json:
        """Give an export; raise NotFound."""
        return self._shown(self._background.get(build_id))

    def cancel(self, build_id: int) -> Json:
        """Call an export off; a finished one loses its file. Gives it."""
        task = self._background.cancel(build_id)
        if task.state == "finished":
            task.state = "cancelled"
            self._over(task)
        return self._shown(task)

    def file(self, build_id: int) -> tuple[Path, str]:
        """Give the file of a finished export and the name to download it as; raise Conflict where it is not there."""
        task = self._background.get(build_id)
        if task.state != "finished":
            raise Conflict(f"export {build_id} is {task.state}; wait until it is finished", state=task.state)
        return self._path(task), self._names[task.id]

    def close(self) -> None:
        """Call off what is under way and end the thread."""
        self._background.close()
        self._makings.close()

    def _start(self, facts: Json, called: str, write: Write) -> Json:
        def work(task: Task, watch: Watch) -> None:
            with storage_errors(self._path(task)), self._path(task).open("wb") as file:
                write(file, watch)

        task = self._background.start(facts, work, self._over)
        self._names[task.id] = called
        return self._shown(task)

    def _shown(self, task: Task) -> Json:
        return {**task.to_json(), "bytes": self._path(task).stat().st_size if task.state == "finished" else None}

    def _made(self, task: Task) -> Json:
        return {**task.to_json(), "error": task.error, "dataset": task.result}

    def _forget_makings(self, _task: Task) -> None:
        for old in self._makings.finished()[:-KEPT]:
            self._makings.forget(old)

    def _path(self, task: Task) -> Path:
        return self._folder / f"{task.id}.zip"

    def _over(self, task: Task) -> None:
        if task.state not in ("finished", *UNDER_WAY):
            self._path(task).unlink(missing_ok=True)
        for old in self._background.finished()[:-KEPT]:
            self._path(old).unlink(missing_ok=True)
            self._background.forget(old)
            self._names.pop(old.id, None)
            self._cursors.pop(old.id, None)
