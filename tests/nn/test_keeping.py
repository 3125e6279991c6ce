"""Kept snapshots: which stay, that keeping writes nothing, and that the room they take is bounded."""

from pathlib import Path

import pytest

from nn.checkpoint import load, save, weights_of
from nn.keeping import DAY, HOUR, Keeping, KeptSnapshot, worth_keeping
from nn.snapshot import Snapshot
from tests.nn.live_market import market, session

MINUTE = 60_000


def numbers(kept: list[KeptSnapshot]) -> list[int]:
    return [each.number for each in kept]


def test_the_newest_twenty_stay_however_near_they_are() -> None:
    kept = worth_keeping([KeptSnapshot(n, DAY + n * 1000) for n in range(1, 101)])
    assert numbers(kept) == [*range(100, 80, -1), 1]


def test_of_the_last_day_the_last_of_each_hour_stays_and_of_days_before_the_last_of_each() -> None:
    every_ten_minutes = [KeptSnapshot(n, n * 10 * MINUTE) for n in range(1, 6 * 24 * 4 + 1)]
    kept = worth_keeping(every_ten_minutes)
    newest = 6 * 24 * 4
    older = [each for each in kept if each.number <= newest - 20 and each.number != 1]
    of_the_day = [each for each in older if newest * 10 * MINUTE - (each.data_cut or 0) < DAY]
    assert all(((each.data_cut or 0) + 10 * MINUTE) % HOUR == 0 for each in of_the_day)
    assert len(of_the_day) == 20  # of 24 hours, the last four of which the newest 20 cover
    days = [each for each in older if each not in of_the_day]
    assert [((each.data_cut or 0) // DAY) for each in days] == [3, 2, 1, 0]


def test_the_start_always_stays() -> None:
    assert 1 in numbers(worth_keeping([KeptSnapshot(1, None), *(KeptSnapshot(n, n) for n in range(2, 300))]))


@pytest.fixture
def snapshot() -> Snapshot:
    return session(market(60)).learning.newest


def checkpoint(folder: Path, snapshot: Snapshot) -> Path:
    save(folder, weights_of(snapshot, symbol="", timeframe="", threads=1), {})
    return folder


def test_a_kept_snapshot_can_be_loaded_and_shares_its_bytes_with_the_checkpoint(
    tmp_path: Path, snapshot: Snapshot
) -> None:
    last = checkpoint(tmp_path / "last", snapshot)
    keeping = Keeping(tmp_path, 1 << 30)
    keeping.keep(1, None, last)
    assert load(keeping.path(1)).params.keys() == snapshot.params.keys()
    assert (last / "model.safetensors").stat().st_nlink == 2
    checkpoint(tmp_path / "last", snapshot)  # the next one takes its place, not its bytes
    assert load(keeping.path(1)).meta.step == snapshot.step


def test_beyond_its_room_the_oldest_go_first_but_never_the_start(tmp_path: Path, snapshot: Snapshot) -> None:
    last = checkpoint(tmp_path / "last", snapshot)
    size = sum((last / name).stat().st_size for name in ("model.safetensors", "meta.json"))
    keeping = Keeping(tmp_path, 5 * size)
    for number in range(1, 12):
        keeping.keep(number, number * HOUR, last)
    assert sorted(keeping.cuts()) == [1, 8, 9, 10, 11]
    assert {path.name for path in (tmp_path / "kept").iterdir()} == {"1", "8", "9", "10", "11"}


def test_a_run_that_goes_on_keeps_what_its_checkpoint_knew_of(tmp_path: Path, snapshot: Snapshot) -> None:
    last = checkpoint(tmp_path / "last", snapshot)
    first = Keeping(tmp_path, 1 << 30)
    for number in (1, 2, 3):
        first.keep(number, number * HOUR, last)
    second = Keeping(tmp_path, 1 << 30)
    second.go_on({1: HOUR, 2: 2 * HOUR, 9: 9 * HOUR})  # 3 was kept after that checkpoint; of 9 nothing is left
    assert second.cuts() == {1: HOUR, 2: 2 * HOUR}
    assert not second.path(3).exists()
