"""The candle store: Arrow files, their coarser levels and the live tail; the only reader and writer of data/candles.

Files are made whole before the catalogue names them, and removed after it no longer does; a mapped reader keeps its
pages. Whoever writes holds the database's write lock and goes by what the database says; memory mirrors it for readers.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from sqlalchemy import event
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from annotate.candle_files import SUFFIX, map_candles, write_candles
from annotate.candle_levels import Levels, StoredFile, Window, levels_of, pyramid_of
from annotate.candles import COLUMNS, Candles, aggregate, check_storable
from annotate.db import Database
from annotate.errors import InvalidInput, StorageFailed
from annotate.store import candle_catalogue as catalogue
from annotate.store.candle_catalogue import Bounds
from annotate.store.series import purge_deleted, require_series
from annotate.timeframe import floor, name, offered, parse

log = logging.getLogger(__name__)
Found = TypeVar("Found")

FOLD_ROWS = 4_096  # a tail of this length becomes a file; a shorter last file is merged with what follows
MAX_WINDOW = 5_000
WRITERS = 4  # files written at once
OPEN_FILES = 256  # mapped files kept at hand; the pages are the kernel's


@dataclass(slots=True)
class _Change:
    """What a transaction does to a series' files."""

    series_id: int
    made: list[Path] = field(default_factory=list)
    replaced: list[Path] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Merged:
    """What adding candles to a series came to."""

    added: int
    same: int
    changed: Candles  # as the file had them; the stored ones stay


class CandleStore:
    """Closed candles of every series. Any number of threads may read; writers take turns."""

    def __init__(self, data_dir: Path, database: Database) -> None:
        self._folder = data_dir / "candles"
        self._database = database
        self._mirror: dict[int, Levels] = {}
        self._mirror_lock = threading.Lock()
        self._known: set[int] = set()  # series that are there and not deleted
        self._deletions = 0
        self._writer = threading.RLock()  # taken before the database's write lock, never inside of it
        self._open_file = lru_cache(maxsize=OPEN_FILES)(map_candles)

    def require(self, series_id: int) -> None:
        """Raise NotFound unless the series is there; every window of the chart asks this, so memory knows it."""
        if series_id in self._known:
            return
        deletions = self._deletions
        with self._database.read() as session:
            require_series(session, series_id)
        with self._mirror_lock:
            if deletions == self._deletions:
                self._known.add(series_id)

    def deleted(self, series_id: int) -> None:
        """Take note that a series was deleted; to be told after that is committed."""
        with self._mirror_lock:
            self._deletions += 1
            self._known.discard(series_id)

    def read(
        self, series_id: int, start: int | None = None, end: int | None = None, *, before: int | None = None
    ) -> Candles:
        """Give the source candles whose open time is in [start, end), the live tail included.

        Views of mapped pages where the range lies in one file without null volumes; never to be written to. `before`
        (ms UTC) gives the series as it was then: nothing that opens at or after it.
        """
        return self._reading(series_id, lambda levels: levels.read(levels.timeframe, start, end), before)

    def window(
        self,
        series_id: int,
        start: int | None,
        end: int | None,
        timeframe: str | None,
        max_points: int,
        *,
        beside: int = 0,
        before: int | None = None,
    ) -> Window:
        """Give candles to draw: those of `timeframe` (the source's by default) whose open time is in [start, end).

        With `beside` what lies on each side of the stretch comes along: as much time again, and over gaps as many of
        the series' own candles at least. Where these are more than `max_points` (2 to 5,000), those of the finest
        coarser level that fits. Raises InvalidInput for a timeframe that the series does not nest in.
        """
        if not 2 <= max_points <= MAX_WINDOW:
            raise InvalidInput(f"max_points {max_points}: ask for 2 to {MAX_WINDOW} candles", name="max_points")

        def drawn(levels: Levels) -> Window:
            stretch = (start, end)
            if beside and start is not None and end is not None:
                stretch = levels.widened(start, end, beside)
            return levels.window(*stretch, _offered(levels, timeframe), max_points)

        return self._reading(series_id, drawn, before)

    def history(self, series_id: int, level: str, end: int | None, *, before: int | None = None) -> Candles:
        """Give the candles of a level from the first one on, those that open before `end`."""
        return self._reading(series_id, lambda levels: levels.read(level, None, end), before)

    def bounds(self, series_id: int, *, before: int | None = None) -> Bounds:
        """Give the open times of the first and last candle and their number; `before` as `read` has it."""
        return self._reading(series_id, lambda levels: Bounds(levels.first, levels.last, levels.rows), before)

    def only_file(self, series_id: int) -> Path | None:
        """Give the file that holds every candle of a series; None where there are several or a live tail."""
        return self._reading(series_id, _only_file)

    def all_bounds(self) -> dict[int, Bounds]:
        """Give the bounds of every series."""
        with self._database.read() as session:
            return catalogue.all_bounds(session)

    def write_series(self, session: Session, series_id: int, timeframe: str, candles: Candles) -> None:
        """Make these the candles of a series, whatever it had; they count once the caller's transaction commits.

        Raises InvalidInput where times do not rise or a price is not finite, StorageFailed where the disk refuses.
        """
        check_storable(candles)
        change = self._change(session, series_id)
        change.replaced.extend(file.path for files in self._files_of(session, series_id).values() for file in files)
        catalogue.delete_levels(session, series_id)
        catalogue.delete_tail(session, series_id)
        with _removed_when_it_fails(change):
            for level, file in self._write_files(levels_of(timeframe, candles), change).items():
                row = catalogue.FileRow(parse(level), file.first, file.last, file.rows, file.path.stem)
                catalogue.put_file(session, series_id, row)

    def merge(self, session: Session, series_id: int, candles: Candles) -> Merged:
        """Add candles to a series, at any place, in the caller's transaction.

        A stored candle is closed and stays as it is; those that the new ones contradict are given back.
        """
        check_storable(candles)
        levels = self._load(session, series_id)
        stored = levels.read(levels.timeframe)
        known = np.isin(candles.time, stored.time)
        new, seen = candles.take(~known), candles.take(known)
        changed = seen.take(_differ(seen, stored.take(np.searchsorted(stored.time, seen.time))))
        if len(new):
            every = Candles.concat([stored, new])
            self.write_series(session, series_id, levels.timeframe, every.take(np.argsort(every.time, kind="stable")))
        return Merged(len(new), len(seen) - len(changed), changed)

    def append(self, series_id: int, candles: Candles) -> int:
        """Store closed live candles durably, in order, each once; give how many were new.

        Those not after the last stored one are known already. Must not be called inside a write transaction.
        """
        check_storable(candles)
        with self._writer:
            with self._database.write() as session:
                catalogue.timeframe_of(session, series_id)
                last = catalogue.last_time(session, series_id)
                fresh = candles if last is None else candles.between(last + 1, None)
                catalogue.add_tail(session, series_id, fresh)
                waiting = catalogue.tail_rows(session, series_id)
            with self._mirror_lock:
                if series_id in self._mirror:
                    self._mirror[series_id] = self._mirror[series_id].extended(fresh)
            if waiting >= FOLD_ROWS:
                self.fold(series_id)
        return len(fresh)

    def fold(self, series_id: int) -> None:
        """Move the live tail into files. Must not be called inside a write transaction."""
        with self._writer, self._database.write() as session:
            levels = self._load(session, series_id)
            if len(levels.tail):
                catalogue.delete_tail(session, series_id)
                change = self._change(session, series_id)
                self._add_to_files(session, replace(levels, tail=Candles.empty()), levels.tail, change)

    def close(self) -> None:
        """Move every live tail into files."""
        with self._database.read() as session:
            waiting = catalogue.series_with_tail(session)
        for series_id in waiting:
            self.fold(series_id)

    def delete_files(self, series_id: int) -> None:
        """Remove the files of a series that the database no longer has; what stays behind goes at the next start."""
        self._forget(series_id)
        # Under the write lock: the id may go to a new series, whose files are named before they are seen here.
        with self._database.write() as session:
            named = {self._path(series_id, row.sha256) for row in catalogue.files_of(session, series_id)}
            for path in set((self._folder / str(series_id)).glob("*")) - named:
                path.unlink(missing_ok=True)

    def recover(self) -> None:
        """Bring the folder in line with the database: purges, orphans, temporary files, lost coarser levels.

        Called once at start, by the one process that holds the data folder.
        """
        with self._database.write() as session:
            purge_deleted(session, time.time_ns() // 1_000_000)
            known = {self._path(series_id, sha256) for series_id, sha256 in catalogue.every_file(session)}
            stored = {path for path in self._folder.glob("*/*") if path.is_file()}
            for orphan in stored - known:
                orphan.unlink()
            for series_id in sorted({int(path.parent.name) for path in known - stored}):
                self._repair(session, series_id)

    def _repair(self, session: Session, series_id: int) -> None:
        levels = self._load(session, series_id)
        lost = [level for level, files in levels.files.items() if not all(file.path.exists() for file in files)]
        if levels.timeframe in lost:
            log.error(
                "series %d has lost candle files; restore %s from a backup", series_id, self._folder / str(series_id)
            )
            return
        catalogue.delete_levels(session, series_id, [parse(level) for level in lost])
        change = self._change(session, series_id)
        levels = replace(levels, files={level: files for level, files in levels.files.items() if level not in lost})
        for level in sorted(lost, key=parse):
            levels = self._build(session, levels, level, None, change)

    def _write_files(self, levels: Iterable[tuple[str, Candles]], change: _Change) -> dict[str, StoredFile]:
        """Write a file a level, side by side, and while the next one is built: each waits long for the disk."""
        folder = self._folder / str(change.series_id)
        written: dict[str, tuple[Candles, Future[tuple[Path, bool]]]] = {}
        with ThreadPoolExecutor(WRITERS) as pool:
            for level, candles in levels:
                # Levels of the same times are the same candles, and one file.
                same = [future for made, future in written.values() if np.array_equal(made.time, candles.time)]
                written[level] = candles, same[0] if same else pool.submit(write_candles, folder, candles)
        done = {future.result() for _, future in written.values() if future.exception() is None}
        change.made.extend(path for path, made in done if made)
        return {
            level: StoredFile(future.result()[0], int(candles.time[0]), int(candles.time[-1]), len(candles))
            for level, (candles, future) in written.items()
        }

    def _add_to_files(self, session: Session, levels: Levels, candles: Candles, change: _Change) -> None:
        before = levels.last
        with _removed_when_it_fails(change):
            levels = self._grow(session, levels, levels.timeframe, candles, change)
            for level in pyramid_of(levels.timeframe) if len(candles) else ():
                levels = self._build(session, levels, level, before, change)

    def _build(self, session: Session, levels: Levels, level: str, before: int | None, change: _Change) -> Levels:
        """Add to a coarser level the buckets that were completed since the candle at `before` was a file's last."""
        start = floor(before, level) if before is not None and level in levels.files else None
        finer = levels.read(levels.base_of(level), start, levels.covered(level))
        return self._grow(session, levels, level, aggregate(finer, level), change)

    def _grow(self, session: Session, levels: Levels, level: str, candles: Candles, change: _Change) -> Levels:
        if not len(candles):
            return levels
        files = levels.files.get(level, ())
        if files and files[-1].rows < FOLD_ROWS:
            change.replaced.append(files[-1].path)
            candles = Candles.concat([self._open_file(files[-1].path).between(None, None), candles])
            files = files[:-1]
        path, made = write_candles(self._folder / str(change.series_id), candles)
        if made:
            change.made.append(path)
        file = StoredFile(path, int(candles.time[0]), int(candles.time[-1]), len(candles))
        row = catalogue.FileRow(parse(level), file.first, file.last, file.rows, path.stem)
        catalogue.put_file(session, change.series_id, row)
        return replace(levels, files={**levels.files, level: (*files, file)})

    def _change(self, session: Session, series_id: int) -> _Change:
        change = _Change(series_id)
        event.listen(session, "after_commit", lambda _session: self._settle(change), once=True)
        return change

    def _settle(self, change: _Change) -> None:
        """Show readers the committed state, then remove the files that it no longer names."""
        self._forget(change.series_id)
        if not change.replaced:
            return
        try:
            # Under the write lock no other thread can be about to name a file of the same content.
            with self._database.write() as session:
                files = self._files_of(session, change.series_id)
                named = {file.path for level in files.values() for file in level}
                for path in set(change.replaced) - named:
                    path.unlink(missing_ok=True)
        except OperationalError as error:
            log.warning("replaced candle files of series %d stay until the next start: %s", change.series_id, error)

    def _reading(self, series_id: int, question: Callable[[Levels], Found], before: int | None = None) -> Found:
        def ask() -> Found:
            levels = self._current(series_id)
            return question(levels if before is None else levels.before(before))

        try:
            return ask()
        except FileNotFoundError:  # folded or rewritten meanwhile: other files hold the same candles now
            self._forget(series_id)
        try:
            return ask()
        except FileNotFoundError as error:
            raise StorageFailed(
                f"series {series_id} has lost the candle file {error.filename}; restore it from a backup"
            ) from error

    def _current(self, series_id: int) -> Levels:
        levels = self._mirror.get(series_id)
        if levels is None:
            # The lock spans the query, so that what commits meanwhile is mirrored after it and never overwritten.
            with self._mirror_lock, self._database.read() as session:
                levels = self._mirror[series_id] = self._load(session, series_id)
        return levels

    def _forget(self, series_id: int) -> None:
        with self._mirror_lock:
            self._mirror.pop(series_id, None)
        self._open_file.cache_clear()

    def _load(self, session: Session, series_id: int) -> Levels:
        timeframe = catalogue.timeframe_of(session, series_id)
        files = self._files_of(session, series_id)
        return Levels(timeframe, files, catalogue.tail_of(session, series_id), self._open_file)

    def _files_of(self, session: Session, series_id: int) -> dict[str, tuple[StoredFile, ...]]:
        files: dict[str, tuple[StoredFile, ...]] = {}
        for row in catalogue.files_of(session, series_id):
            file = StoredFile(self._path(series_id, row.sha256), row.first, row.last, row.rows)
            files[name(row.level_ms)] = (*files.get(name(row.level_ms), ()), file)
        return files

    def _path(self, series_id: int, sha256: str) -> Path:
        return self._folder / str(series_id) / f"{sha256}{SUFFIX}"


@contextmanager
def _removed_when_it_fails(change: _Change) -> Iterator[None]:
    """Remove the files that a change has made where the disk refuses the next: a full one shall not stay full."""
    try:
        yield
    except StorageFailed:
        for path in change.made:
            path.unlink(missing_ok=True)
        raise


def _only_file(levels: Levels) -> Path | None:
    files = levels.files.get(levels.timeframe, ())
    return files[0].path if len(files) == 1 and not len(levels.tail) else None


def _offered(levels: Levels, timeframe: str | None) -> str:
    if timeframe is None:
        return levels.timeframe
    choices = offered(levels.timeframe)
    if timeframe not in choices:
        raise InvalidInput(
            f"timeframe {timeframe!r}: this series is of {levels.timeframe}; choose {', '.join(choices)}",
            name="timeframe",
        )
    return timeframe


def _differ(candles: Candles, stored: Candles) -> npt.NDArray[np.bool_]:
    """Tell row by row whether two candles of the same time differ; a null volume equals a null one."""
    differ = np.zeros(len(candles), np.bool_)
    for column in COLUMNS[1:]:
        mine, theirs = getattr(candles, column), getattr(stored, column)
        differ |= (mine != theirs) & ~(np.isnan(mine) & np.isnan(theirs))
    return differ
