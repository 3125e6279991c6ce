"""Whose weights: which model a run takes where none is named, the checkpoints to try, and how far they have seen.

One loaded model a series and model name. The worker holds it; this remembers what it said.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from annotate.store import checkpoints as store
from annotate.store.runs import every_run_id

if TYPE_CHECKING:
    from annotate.db import Database

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Loaded:
    """Weights that the worker holds for a series and model name."""

    config: Json  # of the run that loaded or left them
    data_cut: int | None  # open time of the last candle they learnt from or were chosen on, ms UTC


class Weights:
    """Used by the trainer thread alone. `shape` names the config fields in which weights must be equal to fit."""

    def __init__(self, database: Database, folder: Path, shape: Sequence[str]) -> None:
        self._database = database
        self._folder = folder
        self._shape = tuple(shape)
        self._loaded: dict[tuple[int, str], Loaded] = {}
        self._wanted: dict[int, str] = {}  # series → model of its last load or run

    def directory(self, run_id: int, name: str | None = None) -> Path:
        """Give the folder of a run's checkpoints, or of one of them."""
        return self._folder / str(run_id) / (name or "")

    def default_model(self, series_id: int) -> str | None:
        """Give the model that a series used last, else that of its newest checkpoint; None where it has neither."""
        if series_id in self._wanted:
            return self._wanted[series_id]
        with self._database.read() as session:
            rows = store.result_checkpoints(session, series_id)
        return rows[0].model if rows else None

    def want(self, series_id: int, model: str) -> None:
        """Note the model that a series uses from now on."""
        self._wanted[series_id] = model

    def candidates(self, series_id: int, model: str) -> list[str]:
        """List the directories of checkpoints that a run may start from, newest first."""
        with self._database.read() as session:
            rows = store.result_checkpoints(session, series_id, model)
        return [str(self.directory(row.run_id, row.name)) for row in rows]

    def data_cut(self, series_id: int, config: Json) -> int | None:
        """Give the data cut of the weights that a run with this config starts from; None for fresh ones."""
        loaded = self._loaded.get((series_id, config["model"]))
        if loaded is not None and self._fits(loaded.config, config):
            return loaded.data_cut
        with self._database.read() as session:
            rows = store.result_checkpoints(session, series_id, config["model"])
        return next((row.data_cut for row in rows if self._fits(row.meta.get("config", {}), config)), None)

    def loaded(self, series_id: int, config: Json, data_cut: int | None) -> None:
        """Note what the worker holds from now on."""
        self._loaded[series_id, config["model"]] = Loaded(config, data_cut)

    def result_of(self, run: Json) -> None:
        """Note that the result of an ended run, if it left one, is what the worker holds from now on."""
        with self._database.read() as session:
            rows = store.result_checkpoints(session, run["series_id"], run["config"]["model"])
        left = next((row for row in rows if row.run_id == run["id"]), None)
        if left is not None:
            self.loaded(run["series_id"], run["config"], left.data_cut)

    def worker_is_gone(self) -> None:
        """Forget what the worker held."""
        self._loaded.clear()

    def discard(self, series_id: int, model: str | None) -> int:
        """Delete the checkpoints of a series, of one model where it is named; give how many there were."""
        with self._database.write() as session:
            paths = store.delete_checkpoints(session, series_id, model)
        for path in paths:
            shutil.rmtree(self._folder / path, ignore_errors=True)
        for key in [key for key in self._loaded if key[0] == series_id and model in (None, key[1])]:
            del self._loaded[key]
        self._wanted.pop(series_id, None)
        return len(paths)

    def remove_orphans(self) -> None:
        """Remove the folders of runs that are gone, with their series. Called at start, when no run is under way."""
        with self._database.read() as session:
            known = {str(run_id) for run_id in every_run_id(session)}
        for folder in self._folder.iterdir() if self._folder.is_dir() else ():
            if folder.name not in known:
                shutil.rmtree(folder, ignore_errors=True)

    def _fits(self, have: Json, want: Json) -> bool:
        return all(have.get(name) == want.get(name) for name in self._shape)
