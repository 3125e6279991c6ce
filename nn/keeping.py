"""Snapshots of a live run that stay on the disk, to go back to: which are worth it, and the room that they take.

Each is a checkpoint folder without a state, `kept/<number>`; its files are hard links to those of the run's
checkpoint, so that keeping one writes nothing.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nn.checkpoint import META, MODEL

NEWEST = 20
HOUR, DAY = 3_600_000, 86_400_000
START = 1  # number of the snapshot that a run starts with; it always stays


@dataclass(frozen=True, slots=True)
class KeptSnapshot:
    """What decides whether a snapshot stays."""

    number: int
    data_cut: int | None  # ms UTC


def worth_keeping(snapshots: Sequence[KeptSnapshot]) -> list[KeptSnapshot]:
    """Give those that stay, newest first: the start, the newest 20, one an hour of the last day, one a day before that.

    Time is the candles' own: the hour or day is that of the newest candle learnt, and its last snapshot stays.

    Examples
    --------
    >>> hours = [KeptSnapshot(n, n * HOUR // 4) for n in range(1, 200)]
    >>> len(worth_keeping(hours))
    42
    """
    ordered = sorted(snapshots, key=lambda kept: -kept.number)
    newest = max((kept.data_cut for kept in ordered if kept.data_cut is not None), default=0)
    stays, stretches = list[KeptSnapshot](), set[tuple[int, int]]()
    for place, kept in enumerate(ordered):
        cut = kept.data_cut or 0
        stretch = (HOUR, cut // HOUR) if newest - cut < DAY else (DAY, cut // DAY)
        if place < NEWEST or kept.number == START or stretch not in stretches:
            stays.append(kept)
        stretches.add(stretch)
    return stays


class Keeping:
    """The kept snapshots of one run. `most_bytes` bounds them: beyond it the oldest go first, but never the start."""

    def __init__(self, folder: Path, most_bytes: int) -> None:
        self._folder, self._most_bytes = folder / "kept", most_bytes
        self._kept: dict[int, KeptSnapshot] = {}

    def go_on(self, cuts: dict[int, int | None]) -> None:
        """Take over what an earlier part of the run left, by number; what it kept beyond these is removed."""
        for path in self._folder.iterdir() if self._folder.is_dir() else ():
            number = int(path.name) if path.name.isdecimal() else -1
            if number not in cuts:
                shutil.rmtree(path, ignore_errors=True)
        self._kept = {n: KeptSnapshot(n, cut) for n, cut in cuts.items() if self.path(n).is_dir()}

    def path(self, number: int) -> Path:
        """Give the folder of a kept snapshot."""
        return self._folder / str(number)

    def cuts(self) -> dict[int, int | None]:
        """Give the data cut of each kept snapshot, by number, for a checkpoint."""
        return {number: kept.data_cut for number, kept in self._kept.items()}

    def keep(self, number: int, data_cut: int | None, checkpoint: Path) -> None:
        """Keep the weights that stand in a checkpoint folder, and let go of what is no longer worth its room."""
        if number not in self._kept:
            self.path(number).mkdir(parents=True, exist_ok=True)
            for name in (MODEL, META):
                _link(checkpoint / name, self.path(number) / name)
            self._kept[number] = KeptSnapshot(number, data_cut)
        stays = {kept.number for kept in self._within_room(worth_keeping(list(self._kept.values())))}
        for number in self._kept.keys() - stays:
            shutil.rmtree(self.path(number), ignore_errors=True)
            del self._kept[number]

    def _within_room(self, stays: list[KeptSnapshot]) -> list[KeptSnapshot]:
        newest = self.path(stays[0].number)
        size = sum((newest / name).stat().st_size for name in (MODEL, META))  # all have the same shape
        most = max(2, self._most_bytes // size)
        return stays if len(stays) <= most else [*stays[: most - 1], stays[-1]]


def _link(source: Path, target: Path) -> None:
    target.unlink(missing_ok=True)
    try:
        target.hardlink_to(source)
    except OSError:  # a disk without hard links
        shutil.copyfile(source, target)
