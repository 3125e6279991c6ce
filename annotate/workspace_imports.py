"""Workspaces that are imported in the background: the received file waits in data/uploads until it is taken in."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

from annotate.background import Background, Task
from annotate.candle_store import CandleStore
from annotate.db import Database
from annotate.exporting.workspace_import import SCRATCH, import_workspace
from annotate.files import unless_done
from annotate.store.undo import Gesture
from annotate.watch import Watch

Json = dict[str, Any]

FOLDER = "uploads"
SUFFIX = ".workspace"
KEPT = 20  # reports that can still be asked for


class WorkspaceImports:
    """The imports of this instance; any thread may call, one thread imports.

    `changed` is told of each series that took something, with what happened to it.
    """

    def __init__(
        self, database: Database, candles: CandleStore, data_dir: Path, changed: Callable[[int, Json], object]
    ) -> None:
        self._database = database
        self._candles = candles
        self._folder = data_dir / FOLDER
        self._folder.mkdir(exist_ok=True)
        self._changed = changed
        self._background = Background("import")
        for left in self._folder.glob(f"{SCRATCH}*"):
            shutil.rmtree(left, ignore_errors=True)

    def start(self, name: str, save: Callable[[Path], object], gesture: Gesture, *, runs: bool) -> Json:
        """Receive a file, `save` writes it where it is told, and begin to import it; gives the import."""
        path = self._folder / f"{uuid4().hex}{SUFFIX}"
        with unless_done(lambda: path.unlink(missing_ok=True)):
            save(path)

        def work(_task: Task, watch: Watch) -> Json:
            return self.take(path, gesture, runs=runs, watch=watch)

        def over(_task: Task) -> None:
            path.unlink(missing_ok=True)
            for old in self._background.finished()[:-KEPT]:
                self._background.forget(old)

        return self._shown(self._background.start({"filename": name}, work, over))

    def take(self, path: Path, gesture: Gesture, *, runs: bool, watch: Watch = lambda _share: None) -> Json:
        """Import a file now and give the report; raises as `import_workspace` does."""
        where = (self._database, self._candles, path, self._folder)
        report = import_workspace(*where, gesture, runs=runs, watch=watch)
        for series in report["series"]:
            self._changed(series["id"], {"what": "annotations", "id": series["id"], "author": gesture.author})
        return report

    def get(self, import_id: int) -> Json:
        """Give an import with its state, and its report once it is finished; raise NotFound."""
        return self._shown(self._background.get(import_id))

    def cancel(self, import_id: int) -> Json:
        """Call an import off; one that is over stays as it is."""
        return self._shown(self._background.cancel(import_id))

    def close(self) -> None:
        """Call off what is under way and end the thread."""
        self._background.close()

    def _shown(self, task: Task) -> Json:
        return {**task.to_json(), "error": task.error, "report": task.result}
