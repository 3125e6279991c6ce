"""What a kill at any moment leaves behind is put right at the next start, and no acknowledged candle is lost."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from annotate import candle_store
from annotate.candle_store import FOLD_ROWS
from annotate.candles import Candles, aggregate
from annotate.errors import NotFound, StorageFailed
from annotate.models import Series
from annotate.store.candle_catalogue import files_of
from annotate.store.series import delete_series
from tests.annotate.candles.builders import Shelf, random_candles, rows_of

ROOT = Path(__file__).resolve().parents[3]


def test_an_orphan_and_a_half_written_file_are_removed(shelf: Shelf) -> None:
    series_id = shelf.series(random_candles(100))
    named = shelf.files()
    folder = shelf.folder / "candles" / str(series_id)
    (folder / ("0" * 64 + ".arrow")).write_bytes(b"never named by the catalogue")
    (folder / ("1" * 64 + ".arrow.tmp")).write_bytes(b"half")
    stranger = shelf.folder / "candles" / "99"
    stranger.mkdir()
    (stranger / ("2" * 64 + ".arrow")).write_bytes(b"of a series that is not there")
    shelf.reopened().recover()
    assert shelf.files() == named


def test_lost_coarser_levels_are_built_again_from_the_source(shelf: Shelf) -> None:
    candles = random_candles(20_000, "1s")
    series_id = shelf.series(candles, "1s")
    before = shelf.files()
    for path in sorted(before, key=lambda path: path.stat().st_size)[:-1]:
        path.unlink()
    store = shelf.reopened()
    store.recover()
    assert shelf.files() == before
    assert rows_of(store.window(series_id, None, None, "1h", 100).candles) == rows_of(aggregate(candles, "1h"))


def test_a_lost_source_file_is_named_and_nothing_is_made_up(shelf: Shelf) -> None:
    series_id = shelf.series(random_candles(20))
    for path in shelf.files():
        path.unlink()
    store = shelf.reopened()
    store.recover()
    with pytest.raises(StorageFailed, match=r"series 1 has lost the candle file .*restore it from a backup"):
        store.read(series_id)


def test_a_damaged_file_is_named(shelf: Shelf) -> None:
    series_id = shelf.series(random_candles(20))
    path = max(shelf.files(), key=lambda path: path.stat().st_size)
    damaged = path.with_suffix(".copy")
    damaged.write_bytes(path.read_bytes()[:-20])
    damaged.replace(path)
    with pytest.raises(StorageFailed, match="is damaged; restore it from a backup"):
        shelf.reopened().read(series_id)


def test_a_rolled_back_write_changes_nothing(shelf: Shelf) -> None:
    candles = random_candles(100)
    series_id = shelf.series(candles)
    before = shelf.files()
    with pytest.raises(NotFound, match="no series 7"), shelf.database.write() as session:  # noqa: PT012
        shelf.store.write_series(session, series_id, "1m", random_candles(50, seed=9))
        delete_series(session, 7, 0)
    assert rows_of(shelf.store.read(series_id)) == rows_of(candles)
    shelf.reopened().recover()
    assert shelf.files() == before


def test_replaced_files_go_once_nothing_names_them(shelf: Shelf) -> None:
    series_id = shelf.series(random_candles(100))
    before = shelf.files()
    other = random_candles(100, seed=9)
    with shelf.database.write() as session:
        shelf.store.write_series(session, series_id, "1m", other)
    assert not shelf.files() & before
    assert rows_of(shelf.store.read(series_id)) == rows_of(other)


def test_rewriting_the_same_candles_keeps_their_files(shelf: Shelf) -> None:
    candles = random_candles(100)
    series_id = shelf.series(candles)
    before = shelf.files()
    with shelf.database.write() as session:
        shelf.store.write_series(session, series_id, "1m", candles)
    assert shelf.files() == before


def test_a_reader_keeps_its_candles_while_their_file_is_replaced(shelf: Shelf) -> None:
    candles = random_candles(1_000)
    series_id = shelf.series(candles)
    held = shelf.store.read(series_id)
    with shelf.database.write() as session:
        shelf.store.write_series(session, series_id, "1m", random_candles(1_000, seed=9))
    assert rows_of(held) == rows_of(candles)


def test_a_full_disk_stores_nothing_and_leaves_no_file(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    candles = random_candles(20_000, "1s")
    series_id = shelf.series(candles.slice(0, 5_000), "1s")
    before = shelf.files()
    _fill_the_disk_after(2, monkeypatch)
    with pytest.raises(StorageFailed, match="disk is full"), shelf.database.write() as session:
        shelf.store.write_series(session, series_id, "1s", candles)
    assert shelf.files() == before
    assert rows_of(shelf.store.read(series_id)) == rows_of(candles.slice(0, 5_000))


def test_a_fold_on_a_full_disk_keeps_the_tail(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    candles = random_candles(300)
    series_id = shelf.series(candles.slice(0, 200))
    shelf.store.append(series_id, candles.slice(200, 300))
    _fill_the_disk_after(0, monkeypatch)
    with pytest.raises(StorageFailed, match="disk is full"):
        shelf.store.fold(series_id)
    assert rows_of(shelf.store.read(series_id)) == rows_of(candles)
    assert rows_of(shelf.reopened().read(series_id)) == rows_of(candles)


def _fill_the_disk_after(writes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    synced = os.fsync
    left = [writes]

    def fsync(descriptor: int) -> None:
        if not os.path.isdir(f"/proc/self/fd/{descriptor}"):  # noqa: PTH112
            if not left[0]:
                raise OSError(28, "No space left on device")
            left[0] -= 1
        synced(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)


def test_a_deleted_series_is_purged_at_start_once_its_minute_is_over(shelf: Shelf) -> None:
    kept, gone = shelf.series(random_candles(50)), shelf.series(random_candles(60))
    now = time.time_ns() // 1_000_000
    with shelf.database.write() as session:
        delete_series(session, kept, now)
        delete_series(session, gone, now - 61_000)
    store = shelf.reopened()
    store.recover()
    with pytest.raises(NotFound):
        store.read(gone)
    assert {path.parent.name for path in shelf.files()} == {str(kept)}


def test_the_files_of_a_purged_series_go_but_not_those_of_its_successor(shelf: Shelf) -> None:
    series_id = shelf.series(random_candles(50))
    with shelf.database.write() as session:
        session.delete(session.get_one(Series, series_id))
    candles = random_candles(50, seed=9)
    assert shelf.series(candles) == series_id  # SQLite gives a freed number again
    shelf.store.delete_files(series_id)
    assert rows_of(shelf.store.read(series_id)) == rows_of(candles)
    assert shelf.files() == _files_named(shelf, series_id)


def _files_named(shelf: Shelf, series_id: int) -> set[Path]:
    with shelf.database.read() as session:
        rows = files_of(session, series_id)
    return {shelf.folder / "candles" / str(series_id) / f"{row.sha256}.arrow" for row in rows}


APPENDING = """
import sys
from pathlib import Path
from annotate.candle_store import CandleStore
from annotate.db import Database
from tests.annotate.candles.builders import random_candles
folder = Path(sys.argv[1])
store = CandleStore(folder, Database(folder / "annotate.db"))
candles = random_candles(40_000, "1s", kept=0.5)
for start in range(0, len(candles), 150):
    store.append(1, candles.slice(start, start + 150))
    print(start + 150, flush=True)
"""


@pytest.mark.parametrize("after", [FOLD_ROWS // 2, 2 * FOLD_ROWS])
def test_a_kill_loses_no_acknowledged_candle(shelf: Shelf, after: int) -> None:
    series_id = shelf.series(Candles.empty(), "1s")
    acknowledged = _append_and_kill(shelf.folder, after)
    store = shelf.reopened()
    store.recover()
    candles = random_candles(40_000, "1s", kept=0.5)
    stored = store.read(series_id)
    assert len(stored) in (acknowledged, acknowledged + 150)  # the last one may be stored, its word not yet given
    assert rows_of(stored) == rows_of(candles.slice(0, len(stored)))
    coarse = aggregate(stored, "1h")
    assert rows_of(store.window(series_id, None, None, "1h", 5_000).candles) == rows_of(coarse)
    assert not [path for path in shelf.files() if path.suffix != ".arrow"]


def _append_and_kill(folder: Path, after: int) -> int:
    process = subprocess.Popen(
        [sys.executable, "-c", APPENDING, str(folder)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    acknowledged = 0
    with process.stdout as lines:
        for line in lines:
            acknowledged = int(line)
            if acknowledged >= after:
                process.send_signal(signal.SIGKILL)
                break
        for line in lines:
            acknowledged = int(line)
    assert process.wait(10) == -signal.SIGKILL
    return acknowledged


def test_the_whole_folder_may_move(shelf: Shelf, tmp_path: Path) -> None:
    candles = random_candles(300)
    series_id = shelf.series(candles)
    moved = tmp_path / "elsewhere"
    shutil.copytree(shelf.folder / "candles", moved / "candles")
    store = candle_store.CandleStore(moved, shelf.database)
    assert rows_of(store.read(series_id)) == rows_of(candles)
