"""How well marks of other blocks are read as marks grow in number, with intervals: do more still help?"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nn.few.choice import Chosen, Fold, out_of_fold
from nn.few.lesson import Lesson
from nn.few.marked import inside
from nn.few.readers import Reader
from nn.few.spans import Span, pairs
from nn.metrics import block_interval

SIZES = (5, 10, 20, 40, 80, 160, 320)
LEAST = 5
BLOCK = 4  # marks of a block of the bootstrap
FLAT = 0.02  # F1 by which twice the marks must have helped for more to be worth it


class Point(NamedTuple):
    """What some marks taught: F1 on marks of other blocks of time."""

    marks: int  # mean number learnt from
    f1: float
    interval: tuple[float, float] | None  # 95%, by drawing blocks of four neighbouring marks


class Curve(NamedTuple):
    """Marks → F1; `saturated` where the last step helped by less than 0.02, None where there are too few to tell."""

    points: list[Point]
    saturated: bool | None


def learning_curve(chosen: Chosen, seed: int = 0) -> Curve:
    """Teach the chosen reader by parts of the marks outside of each block of time, and read the block."""
    most = max(len(fold.lesson.marked.spans) for fold in chosen.folds)
    sizes = [size for size in SIZES if size < most] + [most]
    points = [_point(chosen.folds, chosen.reader, size, seed) for size in sizes if size >= LEAST]
    saturated = points[-1].f1 - points[-2].f1 < FLAT if len(points) >= 2 else None
    return Curve(points, saturated)


def _point(folds: list[Fold], reader: Reader, size: int, seed: int) -> Point:
    hits, counts, used = [], [], []
    for number, fold in enumerate(folds):
        kept = _drawn(fold, size, seed + number)
        read = out_of_fold(reader, Fold(fold.held_out, Lesson(fold.lesson.ground, fold.held_out, kept)))
        marks = inside(sorted(fold.lesson.ground.marked.own), *fold.held_out)
        found = {pair.true for pair in pairs(read, marks)}
        # F1 is 2·hits / (marks + read): a sum over marks when what was read is shared out among them.
        hits += [2.0 * (i in found) for i in range(len(marks))]
        counts += [1 + len(read) / max(1, len(marks))] * len(marks)
        used.append(len(kept))
    interval = block_interval(np.array(hits), np.array(counts), BLOCK)
    f1 = sum(hits) / max(1.0, sum(counts))
    return Point(round(float(np.mean(used))), f1, (interval[0], interval[1]) if interval else None)


def _drawn(fold: Fold, size: int, seed: int) -> list[Span]:
    """Draw marks in runs of neighbours: people mark a stretch of chart, not scattered spans."""
    spans = sorted(fold.lesson.marked.spans)
    runs = [spans[i : i + BLOCK] for i in range(0, len(spans), BLOCK)]
    order = np.random.default_rng(seed).permutation(len(runs)).tolist()
    return [span for i in order for span in runs[i]][:size]
