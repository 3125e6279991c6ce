"""One series' candles as its files and its tail hold them: ranges of any level, exact. Immutable; no database.

The source level is the files and the live tail. A stored coarser level holds whole buckets only, those before the
bucket of the last candle in a file; what comes after is built from the level below, so no bucket is in two places.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from annotate.candle_files import MappedFile
from annotate.candles import Candles, aggregate
from annotate.timeframe import PYRAMID, USER_TIMEFRAMES, ceil, close_of, coarser, floor, name, nests, parse

# Coarser than anyone chooses; drawn where a window spans centuries.
DRAWN = (*USER_TIMEFRAMES, "3mo", "12mo", "120mo")


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A catalogue row: an immutable file and the open times of its first and last candle."""

    path: Path
    first: int
    last: int
    rows: int


@dataclass(frozen=True, slots=True)
class Window:
    """Candles to draw: in the timeframe that was asked for, or in a coarser level where those were too many."""

    timeframe: str  # what the person chose
    level: str  # what the candles are
    candles: Candles
    partial: tuple[int, ...]  # open times of drawn candles that stick out of the series at an end


@dataclass(frozen=True, slots=True)
class Levels:
    """A series at one moment; readers keep it while the store goes on to the next."""

    timeframe: str
    files: Mapping[str, tuple[StoredFile, ...]]  # by level; the source level is `timeframe`
    tail: Candles
    open_file: Callable[[Path], MappedFile]
    _rests: dict[str, Candles] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def first(self) -> int | None:
        """Open time of the first candle."""
        source = self._files(self.timeframe)
        return source[0].first if source else self._tail_edge(0)

    @property
    def last(self) -> int | None:
        """Open time of the last candle."""
        source = self._files(self.timeframe)
        return self._tail_edge(-1) if len(self.tail) or not source else source[-1].last

    @property
    def rows(self) -> int:
        """How many candles there are, the live tail included."""
        return sum(file.rows for file in self._files(self.timeframe)) + len(self.tail)

    def extended(self, candles: Candles) -> Levels:
        """Add live candles to the tail; those that are already here are left out."""
        last = self.last
        fresh = candles if last is None else candles.between(last + 1, None)
        return replace(self, tail=Candles.concat([self.tail, fresh]))

    def before(self, cut: int) -> Levels:
        """Give the series as it was before `cut`: nothing that opens at or after it; coarser ones are of the rest."""
        source = self._files_before(self.timeframe, cut)
        files = {self.timeframe: source} if source else {}
        for level in self.files if source else ():
            whole = self._files_before(level, floor(source[-1].last, level))
            if level != self.timeframe and whole:
                files[level] = whole
        return replace(self, files=files, tail=self.tail.between(None, cut))

    def read(self, level: str, start: int | None = None, end: int | None = None) -> Candles:
        """Give the candles of a level whose open time is in [start, end), each whole whatever the range cuts."""
        if level == self.timeframe:
            tail = [self.tail.between(start, end)] if len(self.tail) else []
            return Candles.concat([*self._stored(level, start, end), *tail])
        start = None if start is None else ceil(start, level)
        end = None if end is None else ceil(end, level)
        if level not in self.files:
            return aggregate(self.read(self.base_of(level), start, end), level)
        return Candles.concat([*self._stored(level, start, end), self._rest(level).between(start, end)])

    def _rest(self, level: str) -> Candles:
        """Give the candles of a stored level that its files do not have yet; made once, for every window asks."""
        rest = self._rests.get(level)
        if rest is None:
            rest = aggregate(self.read(self.base_of(level), self.covered(level)), level)
            self._rests[level] = rest
        return rest

    def covered(self, level: str) -> int:
        """Give the time before which the files of a coarser level are complete; needs files of the source."""
        return floor(self._files(self.timeframe)[-1].last, level)

    def base_of(self, level: str) -> str:
        """Name the coarsest stored level that a finer-built level is made from; the source where there is none."""
        below = [each for each in self.files if parse(each) < parse(level) and nests(each, level)]
        return max(below, key=parse, default=self.timeframe)

    def window(self, start: int | None, end: int | None, timeframe: str, max_points: int) -> Window:
        """Give at most `max_points` candles (2 or more) of the finest level, from `timeframe` up, that fits."""
        levels = self._drawable(timeframe)
        level = next(levels)
        while (
            self._surely_over(level, start, end, max_points)
            or len(candles := self.read(level, start, end)) > max_points
        ):
            level = next(levels)
        return Window(timeframe, level, candles, self._partial(level, candles))

    def widened(self, start: int, end: int, rows: int) -> tuple[int | None, int | None]:
        """Give a stretch with what lies beside it: as long again on each side, and `rows` candles at least.

        Gaps count for nothing, however long they are; None stands for an end of the series.
        """
        length = end - start
        earlier, later = self._row_before(start, rows), self._row_after(end, rows)
        return (
            None if earlier is None else min(earlier, start - length),
            None if later is None else max(later, end + length),
        )

    def _row_before(self, time: int, rows: int) -> int | None:
        """Give the open time of the candle so many rows before a time; None where the series begins later."""
        for times in reversed(self._times()):
            opened = int(np.searchsorted(times, time))
            if opened > rows:
                return int(times[opened - rows])
            rows -= opened
        return None

    def _row_after(self, time: int, rows: int) -> int | None:
        """Give the open time of the candle so many rows after a time; None where the series ends before."""
        for times in self._times():
            opened = int(np.searchsorted(times, time))
            if opened + rows < len(times):
                return int(times[opened + rows])
            rows -= len(times) - opened
        return None

    def _times(self) -> list[npt.NDArray[np.int64]]:
        source = self._files(self.timeframe)
        return [*(self.open_file(file.path).time[: file.rows] for file in source), self.tail.time]

    def _drawable(self, timeframe: str) -> Iterator[str]:
        yield timeframe
        level = timeframe
        for level in coarser(timeframe, DRAWN):
            yield level
        while True:  # for a timeframe that nests in no common one, or a window of more centuries
            level = name(2 * parse(level))
            yield level

    def _surely_over(self, level: str, start: int | None, end: int | None, max_points: int) -> bool:
        """Tell without reading whether a level has too many candles: a bucket holds a bounded number of finer ones."""
        base = level if level == self.timeframe or level in self.files else self.base_of(level)
        stored = sum(self._open_count(file, start, end) for file in self._files(base))
        if base == self.timeframe and len(self.tail):
            stored += len(self.tail.between(start, end))
        # 31/30 for months, whose name counts 30 days; plus two, since the range may cut the buckets at its ends.
        most = max_points if base == level else (max_points + 2) * parse(level) * 31 // 30 // parse(base)
        return stored > most

    def _partial(self, level: str, candles: Candles) -> tuple[int, ...]:
        first, last = self.first, self.last
        if level == self.timeframe or first is None or last is None or not len(candles):
            return ()
        ends = {floor(first, level): floor(first, level) < first}
        opened = floor(last, level)
        ends[opened] = ends.get(opened, False) or close_of(last, self.timeframe) < close_of(opened, level)
        drawn = {int(candles.time[0]), int(candles.time[-1])}
        return tuple(sorted(time for time, sticks_out in ends.items() if sticks_out and time in drawn))

    def _stored(self, level: str, start: int | None, end: int | None) -> Iterator[Candles]:
        for file in self._files(level):
            if (start is None or file.last >= start) and (end is None or file.first < end):
                yield self.open_file(file.path).between(start, _within(file, end))

    def _open_count(self, file: StoredFile, start: int | None, end: int | None) -> int:
        if (start is not None and file.last < start) or (end is not None and file.first >= end):
            return 0
        if (start is None or file.first >= start) and (end is None or file.last < end):
            return file.rows
        return self.open_file(file.path).count(start, _within(file, end))

    def _files_before(self, level: str, cut: int) -> tuple[StoredFile, ...]:
        """Give the files of a level as far as their candles open before `cut`; the last one may be cut short."""
        kept = [file for file in self._files(level) if file.first < cut]
        if kept and kept[-1].last >= cut:
            times = self.open_file(kept[-1].path).time
            rows = int(np.searchsorted(times, cut))
            kept[-1] = replace(kept[-1], last=int(times[rows - 1]), rows=rows)
        return tuple(kept)

    def _files(self, level: str) -> tuple[StoredFile, ...]:
        return self.files.get(level, ())

    def _tail_edge(self, row: int) -> int | None:
        return int(self.tail.time[row]) if len(self.tail) else None


def _within(file: StoredFile, end: int | None) -> int:
    """Give where a file ends at the latest: one that was cut short holds more than it shows."""
    return file.last + 1 if end is None else min(end, file.last + 1)


def levels_of(timeframe: str, candles: Candles) -> Iterator[tuple[str, Candles]]:
    """Give the candles of a new series, then its coarser levels, of whole buckets, those that have any."""
    if not len(candles):
        return
    levels = {timeframe: candles}
    yield timeframe, candles
    for level in pyramid_of(timeframe):
        base = max((each for each in levels if nests(each, level)), key=parse)
        whole = aggregate(levels[base].between(None, floor(int(candles.time[-1]), level)), level)
        if len(whole):
            levels[level] = whole
            yield level, whole


def pyramid_of(timeframe: str) -> list[str]:
    """Name the coarser levels that are stored beside a source, finest first."""
    return coarser(timeframe, PYRAMID)
