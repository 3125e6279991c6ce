"""Exports that are built in the background: one after the other, with progress, called off at any block.

A built file stays in data/exports until newer ones take its place or the server ends.
"""

from __future__ import annotations

import itertools
import logging
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotate.actor import Actor
from annotate.db import Database
from annotate.errors import AnnotateError, Conflict, NotFound
from annotate.exporting.archive import file_name
from annotate.exporting.formats import build, get_format
from annotate.exporting.sources import open_source
from annotate.files import storage_errors
from annotate.store.datasets import get_dataset

log = logging.getLogger(__name__)

Json = dict[str, Any]

FOLDER = "exports"
KEPT = 8  # finished builds whose files stay
CLOSE_S = 10.0


class _CalledOff(Exception):
    """Stops a build at its next block."""


@dataclass(slots=True)
class Build:
    """One export under way or done."""

    id: int
    dataset_id: int
    format: str
    options: Mapping[str, int]
    path: Path
    file_name: str
    state: str = "queued"  # queued, running, finished, cancelled, failed
    progress: float = 0.0  # share done, 0 to 1
    cause: str | None = None  # why it failed
    called_off: threading.Event = field(default_factory=threading.Event)

    def to_json(self) -> Json:
        """Give it as the API shows it."""
        shown = {name: getattr(self, name) for name in ("id", "dataset_id", "format", "state", "progress", "cause")}
        return {**shown, "bytes": self.path.stat().st_size if self.state == "finished" else None}


class Builds:
    """The exports of this instance; any thread may call, one thread builds."""

    def __init__(self, database: Database, data_dir: Path) -> None:
        self._database = database
        self._data_dir = data_dir
        self._folder = data_dir / FOLDER
        self._folder.mkdir(exist_ok=True)
        self._numbers = itertools.count(1)
        self._builds: dict[int, Build] = {}
        self._actor = Actor("exports")
        for left in self._folder.glob("*.zip"):
            left.unlink()

    def start(self, dataset_id: int, name: str, options: Mapping[str, int]) -> Json:
        """Begin an export and give it; raise NotFound for the dataset, InvalidInput for the format."""
        get_format(name)
        with self._database.read() as session:
            dataset = get_dataset(session, dataset_id)
            called = file_name(f"{dataset.name} {name}", dataset.hash)
        number = next(self._numbers)
        made = Build(number, dataset_id, name, options, self._folder / f"{number}.zip", called)
        self._builds[number] = made
        self._actor.start()
        self._actor.tell(lambda: self._run(made))
        return made.to_json()

    def get(self, build_id: int) -> Json:
        """Give an export; raise NotFound."""
        return self._known(build_id).to_json()

    def cancel(self, build_id: int) -> Json:
        """Call an export off; a finished one loses its file. Gives it."""
        made = self._known(build_id)
        made.called_off.set()
        if made.state in ("queued", "finished"):
            made.state = "cancelled"
            made.path.unlink(missing_ok=True)
        return made.to_json()

    def file(self, build_id: int) -> tuple[Path, str]:
        """Give the file of a finished export and the name to download it as; raise Conflict where it is not there."""
        made = self._known(build_id)
        if made.state != "finished":
            raise Conflict(f"export {build_id} is {made.state}; wait until it is finished", state=made.state)
        return made.path, made.file_name

    def close(self) -> None:
        """Call off what is under way and end the thread."""
        for made in list(self._builds.values()):
            made.called_off.set()
        self._actor.stop(CLOSE_S)

    def _known(self, build_id: int) -> Build:
        made = self._builds.get(build_id)
        if made is None:
            raise NotFound(f"there is no export {build_id}; a new start of the server forgets them", export_id=build_id)
        return made

    def _run(self, made: Build) -> None:
        if made.called_off.is_set():
            made.state = "cancelled"
            return
        made.state = "running"
        try:
            self._write(made)
        except _CalledOff:
            made.state = "cancelled"
        except AnnotateError as error:
            made.state, made.cause = "failed", error.message
        except Exception as error:  # the thread must outlive one export, and its state must not stay "running"
            log.exception("export %d failed", made.id)
            made.state, made.cause = "failed", f"unexpected {type(error).__name__}; the log has the whole story"
        else:
            made.state, made.progress = "finished", 1.0
            self._forget_old()
        if made.state != "finished":
            made.path.unlink(missing_ok=True)

    def _write(self, made: Build) -> None:
        def watch(share: float) -> None:
            made.progress = share
            if made.called_off.is_set():
                raise _CalledOff

        source = open_source(self._database, self._data_dir, made.dataset_id, made.options)
        with storage_errors(made.path), made.path.open("wb") as file:
            build(made.format, source, file, watch)

    def _forget_old(self) -> None:
        finished = [made for made in self._builds.values() if made.state == "finished"]
        for made in finished[:-KEPT]:
            made.path.unlink(missing_ok=True)
            del self._builds[made.id]
