"""Which reader reads a person's marks best: cross-validation over blocks of time, then one fit on all marks."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

from nn.few.ground import PAD, Ground
from nn.few.lesson import Lesson
from nn.few.marked import Marked, Range, inside
from nn.few.market import Market
from nn.few.readers import READERS, Read, Reader
from nn.few.spans import Agreement, Span, agreement

FOLDS = 5
LEAD = 0.05  # cross-validated quality by which another reader must beat the first, the plain recipe
ENOUGH = 70  # judged marks after which a reader that is far behind is left out
BEHIND = 0.1


class Fold(NamedTuple):
    """A block of time, and the lesson of the marks outside of it."""

    held_out: Range
    lesson: Lesson


class Score(NamedTuple):
    """How a reader did on marks that it had not seen: on all of them, or, far behind the best, on the first."""

    name: str
    agreement: Agreement


class Chosen(NamedTuple):
    """The reader that read the marks best, taught by all of them, and what it read out of fold."""

    name: str
    reader: Reader
    read: Read
    lesson: Lesson
    folds: list[Fold]
    unseen: list[list[Span]]  # a list a fold: what it read there before it saw the fold's marks
    scores: list[Score]

    @property
    def score(self) -> Agreement:
        """Give how the chosen reader did on marks that it had not seen."""
        return next(score.agreement for score in self.scores if score.name == self.name)


def choose(market: Market, marked: Marked, readers: Mapping[str, Reader] = READERS) -> Chosen:
    """Cross-validate the readers and teach the best by all marks.

    The first reader stays unless another beats it by more than `LEAD`. Raises ValueError where there are no marks.
    """
    if not marked.spans:
        raise ValueError("no marked spans; draw some first")
    ground = Ground(market, marked)
    folds = [Fold(block, Lesson(ground, block)) for block in blocks(marked, len(market))]
    read: dict[str, list[list[Span]]] = {name: [] for name in readers}
    racing = list(readers)
    for done, fold in enumerate(folds, start=1):
        for name in racing:
            read[name].append(out_of_fold(readers[name], fold))
        racing = _still_racing(racing, read, folds[:done], marked)
    scores = [Score(name, _agreement(parts, folds, marked)) for name, parts in read.items()]
    first = next(iter(readers))
    best = max(racing, key=lambda name: _agreement(read[name], folds, marked).quality - LEAD * (name != first))
    whole = Lesson(ground)
    return Chosen(best, readers[best], readers[best].learn(whole), whole, folds, read[best], scores)


def blocks(marked: Marked, n: int) -> list[Range]:
    """Cut time into at most five ranges with as many marks each; a cut lies half way between two marks."""
    spans = sorted(marked.spans)
    count = min(FOLDS, len(spans))
    firsts = [len(spans) * k // count for k in range(1, count)]
    cuts = [(spans[i - 1].end + spans[i].start) // 2 for i in firsts]
    return [(a, b) for a, b in pairwise([0, *cuts, n]) if a < b]


def out_of_fold(reader: Reader, fold: Fold) -> list[Span]:
    """Read the held-out candles, where something is known of them, by what the other marks teach."""
    start, end = fold.held_out
    if not fold.lesson.marked.spans:
        return []
    read, ground = reader.learn(fold.lesson), fold.lesson.ground
    parts = [part for piece in ground.pieces if len(part := piece.part(start - PAD, end + PAD)) > 0]
    found = [span for part in parts for span in read(part)]
    return inside(ground.judged(found, ground.classes), start, end)


def _agreement(parts: list[list[Span]], folds: list[Fold], marked: Marked) -> Agreement:
    seen = folds[: len(parts)]
    wanted = [span for fold in seen for span in inside(marked.own, *fold.held_out)]
    return agreement([span for part in parts for span in part], wanted)


def _still_racing(racing: list[str], read: dict[str, list[list[Span]]], folds: list[Fold], marked: Marked) -> list[str]:
    scores = {name: _agreement(read[name], folds, marked) for name in racing}
    best = max(scores.values(), key=lambda score: score.quality)
    if best.true < ENOUGH:
        return racing
    return [name for name in racing if scores[name].quality >= best.quality - BEHIND]
