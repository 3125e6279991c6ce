"""Uploaded files that wait for a person's word, and their imports in the background, with progress and a way to stop.

A file is kept for an hour in data/uploads; a new start of the server empties the folder.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from uuid import uuid4

from annotate.background import UNDER_WAY, Background, Task
from annotate.candle_store import CandleStore
from annotate.db import Database
from annotate.early_reader import EarlyReader
from annotate.errors import Conflict, NeedsAnswer, NotFound
from annotate.files import unless_done
from annotate.importing import Arriving, preview
from annotate.models import Json
from annotate.store.import_choices import prefilled, remembered, source_of
from annotate.store.series import get_series, series_json
from annotate.upload import Upload, known_series, misfit, store_upload, symbol_question
from annotate.watch import Watch

FOLDER = "uploads"
KEPT_S = 3600.0
KEPT = 20  # files that wait; the oldest goes first


@dataclass(slots=True)
class Held:
    """A received file and what becomes of it."""

    id: str
    filename: str
    path: Path
    sha256: str
    received: float  # monotonic seconds
    state: str = "received"  # received, importing, finished, cancelled, failed
    progress: float = 0.0  # share done, 0 to 1
    error: Json | None = None  # why it failed, in the one error shape
    items: list[Json] = field(default_factory=list)  # each series made or added to, with its report
    task: Task | None = None  # the import in the background

    def to_json(self) -> Json:
        """Give it as the API shows it."""
        return {name: getattr(self, name) for name in ("id", "filename", "state", "progress", "error", "items")}


class Uploads:
    """The files that are not imported yet; any thread may call, one thread imports in the background.

    `changed` is told of each series that took more candles, as those who look at it are of fed ones.
    """

    def __init__(
        self, database: Database, candles: CandleStore, data_dir: Path, changed: Callable[[int, Json], object]
    ) -> None:
        self._database = database
        self._candles = candles
        self._changed = changed
        self._folder = data_dir / FOLDER
        self._folder.mkdir(exist_ok=True)
        self._held: dict[str, Held] = {}
        self._lock = threading.Lock()
        self._imports = Background("import")
        self._early = EarlyReader()
        for left in self._folder.iterdir():
            if left.is_file():
                left.unlink()

    def keep(self, filename: str, chunks: Iterable[bytes]) -> Held:
        """Receive a file part by part; it is hashed on the way, and read where it is large."""
        self._forget_old()
        upload_id = uuid4().hex
        path = self._folder / upload_id
        hashed = hashlib.sha256()
        arriving = Arriving(path)
        with unless_done(lambda: path.unlink(missing_ok=True)), arriving, path.open("wb") as file:
            for chunk in chunks:
                file.write(chunk)
                file.flush()
                arriving.grew(file.tell())
                self._early.begin(upload_id, filename, arriving)
                hashed.update(chunk)
        held = Held(upload_id, filename, path, hashed.hexdigest(), time.monotonic())
        with self._lock:
            self._held[upload_id] = held
        return held

    def get(self, upload_id: str) -> Held:
        """Give an upload; raise NotFound for one that is unknown or over."""
        held = self._held.get(upload_id)
        if held is None:
            raise NotFound(f"there is no upload {upload_id}; files wait for an hour, send it again", upload=upload_id)
        return held

    def preview(self, upload_id: str, answers: Json, series_id: int | None = None) -> Json:
        """Show how the file would be read with these answers; what was said of such files before is filled in.

        `series_id` is the series that it is to be added to; a new one needs a symbol.
        """
        held = self._waiting(upload_id)
        opened = self._early.opened(upload_id)
        shown = preview(held.path, held.filename, answers, sha256=held.sha256, opened=opened)
        if series_id is not None:
            shown["problem"] = self._misfit(shown, series_id)
        elif any(series["symbol"] is None for series in shown["series"]):
            shown["questions"].append(symbol_question(held.filename))
            shown["ready"] = False
        with self._database.read() as session:
            if shown["series"]:
                before = remembered(session, source_of(shown["series"][0]["report"]))
                shown["questions"] = prefilled(shown["questions"], before)
            known = [series.id for series, _report in known_series(session, self._upload(held, answers, series_id))]
        return {**shown, "known_series": known}

    def _misfit(self, shown: Json, series_id: int) -> str | None:
        with self._database.read() as session:
            series = get_series(session, series_id)
            problems = [misfit(each["timeframe"], series) for each in shown["series"]]
        return next(filter(None, [shown["problem"], *problems]), None)

    def store(self, upload_id: str, answers: Json, series_id: int | None, now: int) -> list[Json]:
        """Import the file now and give each series with its report.

        Raises what the importer raises; with NeedsAnswer the file is kept and `details.upload` names it.
        """
        with self._lock:
            held = self._claim(upload_id)
        try:
            items = self._import(held, answers, series_id, now, lambda _share: None)
        except NeedsAnswer as doubt:
            held.state = "received"
            details = {**doubt.details, "questions": self.preview(upload_id, answers, series_id)["questions"]}
            raise NeedsAnswer(doubt.message, **details, upload=upload_id) from None
        except BaseException:
            held.state = "failed"
            raise
        self._finish(held, items)
        return items

    def start(self, upload_id: str, answers: Json, series_id: int | None, now: int) -> Json:
        """Begin the import in the background and give the upload; raise Conflict where one is under way or done."""

        def work(_task: Task, watch: Watch) -> Json:
            def watched(share: float) -> None:
                held.progress = share
                watch(share)

            return {"items": self._import(held, answers, series_id, now, watched)}

        with self._lock:
            held = self._claim(upload_id)
            held.task = self._imports.start({}, work, lambda task: self._over(held, task))
        return held.to_json()

    def cancel(self, upload_id: str) -> Json:
        """Call the import off, or forget the file that waits; what is stored already stays."""
        held = self.get(upload_id)
        with self._lock:
            task = held.task
            if held.state in ("received", "failed"):
                held.state = "cancelled"
                self._drop(held)
        if task is not None and task.state in UNDER_WAY:
            with suppress(NotFound):  # it ended between the two lines
                self._imports.cancel(task.id)
        return held.to_json()

    def close(self) -> None:
        """Call off what is under way and end the threads."""
        self._early.close()
        self._imports.close()

    def _claim(self, upload_id: str) -> Held:
        # Under the lock; from here on neither a full house nor a cancel takes the file away.
        held = self._waiting(upload_id)
        held.state, held.progress, held.error = "importing", 0.0, None
        return held

    def _waiting(self, upload_id: str) -> Held:
        held = self.get(upload_id)
        if held.state not in ("received", "failed"):
            raise Conflict(
                f"upload {upload_id} is {held.state}; send the file again for another import", state=held.state
            )
        return held

    def _upload(self, held: Held, answers: Json, series_id: int | None) -> Upload:
        return Upload(held.path, held.filename, held.sha256, answers, series_id)

    def _import(
        self, held: Held, answers: Json, series_id: int | None, now: int, watch: Callable[[float], None]
    ) -> list[Json]:
        upload = replace(self._upload(held, answers, series_id), opened=self._early.opened(held.id))
        made = store_upload(self._database, self._candles, upload, now, watch)
        bounds = self._candles.all_bounds()
        items = [{"series": series_json(series, bounds[series.id]), "report": report} for series, report in made]
        for item in items:
            if item["report"].get("added"):
                self._tell_added(item["series"])
        return items

    def _tell_added(self, series: Json) -> None:
        counts = {name: series[name] for name in ("first", "last", "candles")}
        notice = {"what": "candles", "id": series["id"], **counts, "newest": None, "previous": None}
        self._changed(series["id"], notice)

    def _over(self, held: Held, task: Task) -> None:
        if task.result is not None:
            self._finish(held, task.result["items"])
        elif task.state == "cancelled":
            self._drop(held)
            held.state = "cancelled"
        else:
            held.error, held.state = task.error, "failed"
        self._imports.forget(task)

    def _finish(self, held: Held, items: list[Json]) -> None:
        self._drop(held)
        held.items, held.progress = items, 1.0
        held.state = "finished"

    def _drop(self, held: Held) -> None:
        self._early.forget(held.id)
        held.path.unlink(missing_ok=True)

    def _forget_old(self) -> None:
        with self._lock:
            idle = [held for held in self._held.values() if held.state != "importing"]
            over = [held for held in idle if time.monotonic() - held.received > KEPT_S]
            for held in {each.id: each for each in [*over, *idle[: max(0, len(idle) - KEPT + 1)]]}.values():
                self._drop(held)
                del self._held[held.id]
