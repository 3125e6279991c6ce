"""Half-open ranges of time: joined, taken away, clipped. Pure; no database."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Range = tuple[int, int]


def joined(ranges: Iterable[Range]) -> list[Range]:
    """Give the fewest ranges that cover the same, in order of time.

    Examples
    --------
    >>> joined([(10, 20), (0, 5), (20, 30), (4, 6)])
    [(0, 6), (10, 30)]
    """
    out: list[Range] = []
    for start, end in sorted(ranges):
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], end))
        elif start < end:
            out.append((start, end))
    return out


def without(ranges: Iterable[Range], taken: Range) -> list[Range]:
    """Give what is left of ranges, each cut by itself, when `taken` is taken away.

    Examples
    --------
    >>> without([(0, 100)], (70, 120)), without([(0, 100)], (20, 30)), without([(5, 6)], (0, 10))
    ([(0, 70)], [(0, 20), (30, 100)], [])
    """
    first, last = taken
    left: list[Range] = []
    for start, end in ranges:
        left += [(start, min(end, first)), (max(start, last), end)]
    return [(start, end) for start, end in left if start < end]


def within(ranges: Sequence[Range], end: int | None) -> list[Range]:
    """Give the parts of ranges that lie before `end`; all of them without one."""
    return list(ranges) if end is None else without(ranges, (end, max([end, *(last for _, last in ranges)])))
