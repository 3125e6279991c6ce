"""Checks over parsed rows: order, duplicates, gaps, the high/low rule. They find and list; they repair nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotate.candles import rows_where

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

KEEP_RULES = ("last", "first", "larger_volume")


@dataclass(frozen=True, slots=True)
class Order:
    """How a file is sorted, and the rows that stand before an earlier one (or, newest first, a later one)."""

    name: str
    misplaced: Ints

    @property
    def sorted(self) -> bool:
        """Tell whether the rows already rise."""
        return self.name == "ascending"


def find_order(time: Ints) -> Order:
    """Name the order of a file: ascending, descending or unsorted."""
    if np.all(time[1:] >= time[:-1]):
        return Order("ascending", np.zeros(0, dtype=np.int64))
    steps = np.diff(time)
    rising, falling = np.flatnonzero(steps > 0), np.flatnonzero(steps < 0)
    if len(rising) == 0:
        return Order("descending", rising)
    against = falling if len(falling) <= len(rising) else rising
    return Order("unsorted", against + 1)


@dataclass(frozen=True, slots=True)
class Duplicates:
    """Rows that share a time: `kept` are all rows to keep, by number and in order of time."""

    kept: Ints
    exact: Ints
    conflicting: Ints
    groups: list[tuple[int, Ints, int]]  # time, its conflicting rows, the one kept


def find_duplicates(time: Ints, values: Mapping[str, Floats], order: Ints, rule: str) -> Duplicates:
    """Choose one row for each time; `order` sorts the rows by time and, within a time, by their place in the file."""
    none = np.zeros(0, dtype=np.int64)
    if np.all(time[1:] > time[:-1]):  # as nearly all files are
        return Duplicates(order, none, none, [])
    rising = time[order]
    new = np.append(True, rising[1:] != rising[:-1])
    if new.all():
        return Duplicates(order, none, none, [])
    starts = np.flatnonzero(new)
    ends = np.append(starts[1:], len(order))
    keep, groups = new.copy(), []
    exact: list[int] = []
    conflicting: list[int] = []
    for start, end in zip(starts[ends - starts > 1], ends[ends - starts > 1], strict=True):
        rows = order[start:end]
        same = _all_equal(rows, values)
        chosen = 0 if same else _chosen(rows, values["volume"], rule)
        keep[start:end] = np.arange(end - start) == chosen
        others = np.delete(rows, chosen)
        (exact if same else conflicting).extend(others.tolist())
        if not same:
            groups.append((int(rising[start]), rows, int(rows[chosen])))
    return Duplicates(order[keep], np.array(exact, dtype=np.int64), np.array(conflicting, dtype=np.int64), groups)


def _all_equal(rows: Ints, values: Mapping[str, Floats]) -> bool:
    return all(
        bool(np.all((column[rows] == column[rows[0]]) | (np.isnan(column[rows]) & np.isnan(column[rows[0]]))))
        for column in values.values()
    )


def _chosen(rows: Ints, volume: Floats, rule: str) -> int:
    if rule == "first":
        return 0
    if rule == "larger_volume":
        sizes = np.nan_to_num(volume[rows], nan=-1.0)
        return int(np.flatnonzero(sizes == sizes.max())[-1])
    return len(rows) - 1


def off_grid(time: Ints, length: int) -> Ints:
    """Give the rows that do not start where most do, as seen from multiples of the timeframe."""
    usual = time[0] % length
    if not len(rows_where(len(time), lambda rows: time[rows] % length != usual)):
        return np.zeros(0, dtype=np.int64)
    offset = time % length
    offsets, counts = np.unique(offset, return_counts=True)
    return np.flatnonzero(offset != offsets[np.argmax(counts)])
