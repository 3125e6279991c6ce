"""What readers learn from: the marks outside of a held-out range, and models that several readers share."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nn.few.ground import EDGE, NOT_A_SPAN, Ground
from nn.few.habit import Habit, habit
from nn.few.linear import LEAST, Linear, Scale, with_drawn
from nn.few.marked import UNKNOWN, Range, transitions
from nn.few.spans import Span
from nn.few.stretches import signed
from nn.few.surroundings import PLAIN

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

MOST_ODDS = 8.0
MOST_CANDLES = 3_000  # known candles that are learnt: neighbours say much the same
PLAIN_STRENGTH, WIDE_STRENGTH, LIKENESS_STRENGTH, END_STRENGTH = 1.0, 0.1, 0.1, 2.0  # inverses of the regularisation


class Lesson:
    """The marks outside of a held-out range, and models of candles, ends and stretches that were learnt from them."""

    def __init__(self, ground: Ground, held_out: Range = (0, 0), kept: Sequence[Span] | None = None) -> None:
        """Leave out a range, and, where `kept` is given, all marks but those, with what lies far from them."""
        self.ground = ground
        start, end = held_out
        outside = [span for span in ground.marked.spans if not start <= span.middle < end]
        self.marked = ground.marked._replace(spans=list(outside if kept is None else kept))
        left_out = (ground.rows >= start) & (ground.rows < end)
        if kept is not None:
            left_out |= ~self._near_kept()
        self.left_out = left_out
        self.classes: Ints = np.where(left_out, UNKNOWN, ground.classes)
        self.held_out = held_out

    def _near_kept(self) -> Bools:
        """Tell which candles lie in a kept mark, or in no mark and no further from one than a mark's length."""
        marked, near = self.ground.marked, np.zeros(len(self.ground.market), np.bool_)
        for span in self.marked.spans:
            near[max(0, span.start - marked.typical) : span.end + marked.typical] = True
        for dropped in set(marked.spans) - set(self.marked.spans):
            near[dropped.start : dropped.end] = False
        return near[self.ground.rows]

    def judged(self, spans: Sequence[Span]) -> list[Span]:
        """Keep the spans that can be judged by the lesson's marks."""
        return [span for span in spans if self.judging[span.middle]]

    @cached_property
    def judging(self) -> Bools:
        """Tell of each candle (n,) whether a span with its middle there can be judged by the lesson's marks."""
        can = self.ground.judging(self.classes)
        can[slice(*self.held_out)] = False
        return can

    @cached_property
    def transitions(self) -> Floats:
        """Give the log odds that a class follows another."""
        return transitions(self.marked)

    @cached_property
    def plain_candles(self) -> CandleModel | None:
        """Learn the class of a candle from displacements and places; None where only one class is known."""
        return self._candles(PLAIN, PLAIN_STRENGTH)

    @cached_property
    def wide_candles(self) -> CandleModel | None:
        """Learn the class of a candle from all columns; None where only one class is known."""
        return self._candles(self.ground.surroundings.shape[1], WIDE_STRENGTH)

    def _candles(self, columns: int, strength: float) -> CandleModel | None:
        known = np.flatnonzero(self.classes != UNKNOWN)
        known = known[:: max(1, -(-len(known) // MOST_CANDLES))]
        targets = self.classes[known]
        if len(np.unique(targets)) < 2:
            return None
        rows = self.ground.surroundings[known]
        scale = self.ground.candle_scale
        narrow = Scale(scale.mean[:columns], scale.spread[:columns])
        model = Linear.fit(rows[:, :columns], targets, narrow, strength, self.ground.weights[known])
        return CandleModel(columns, self.marked.n_classes + 1, model)

    @cached_property
    def ends(self) -> EndModel:
        """Learn what the first and the last candle of a span look like."""
        return EndModel.fit(self)

    @cached_property
    def matches(self) -> Ints:
        """Give for each stretch the class of the mark that it is, NOT_A_SPAN, or UNKNOWN, as all that is left out."""
        table = self.ground.stretches
        left_out = np.zeros(len(self.ground.market) + 1, np.int64)
        left_out[self.ground.rows + 1] = self.left_out
        total = np.cumsum(left_out)
        touched = total[table.end + 1] > total[table.begin + 1]
        return np.where(touched, UNKNOWN, self.ground.matches)

    @cached_property
    def likeness(self) -> Linear | None:
        """Learn how like a span a stretch is; None where no stretch is, or every one."""
        same, others = np.flatnonzero(self.matches >= 0), np.flatnonzero(self.matches == NOT_A_SPAN)
        if not len(same) or not len(others):
            return None
        rows, weights = with_drawn(same, others)
        weights[: len(same)] = self._stretch_weights(same)
        is_span = (self.matches[rows] >= 0).astype(np.int64)
        return Linear.fit(self.ground.widened[rows], is_span, self.ground.stretch_scale, LIKENESS_STRENGTH, weights)

    @cached_property
    def kind(self) -> Linear | None:
        """Learn the class of a stretch that is a span; None where the marks have one class."""
        same = np.flatnonzero(self.matches >= 0)
        if len(np.unique(self.matches[same])) < 2:
            return None
        rows = signed(self.ground.stretches.looks[same])
        return Linear.fit(rows, self.matches[same], Scale.of(rows), PLAIN_STRENGTH, self._stretch_weights(same))

    @cached_property
    def habit(self) -> Habit:
        """Measure by how much the marks' ends lie off the extremes that they mean."""
        same, table = np.flatnonzero(self.matches >= 0), self.ground.stretches
        ends = zip(table.begin[same].tolist(), table.end[same].tolist(), self.matches[same].tolist(), strict=True)
        return habit([Span(begin + 1, end + 1, label) for begin, end, label in ends], self.marked.spans)

    def _stretch_weights(self, rows: Ints) -> Floats:
        ends = self.ground.stretches.end[rows]
        return self.ground.weights[np.searchsorted(self.ground.rows, ends)]


class CandleModel(NamedTuple):
    """Class probabilities of candles by the leading columns of their surroundings."""

    columns: int
    classes: int  # K + 1: the last is nothing
    model: Linear

    def log_probabilities(self, surroundings: Floats) -> Floats:
        """Give log P(class) (n, K + 1); a class that no mark has is as good as impossible."""
        found = np.full((len(surroundings), self.classes), LEAST)
        found[:, self.model.classes] = self.model.log_probabilities(surroundings[:, : self.columns])
        return found


class EndModel(NamedTuple):
    """Log odds against the usual that a candle is the last before, or the last of, a span of each class."""

    classes: int
    models: dict[tuple[int, int], Linear]  # (side, class): side 0 the candle before the first, side 1 the last

    @classmethod
    def fit(cls, lesson: Lesson) -> EndModel:
        """Learn from the ends of marks against known candles that are not near one."""
        known = np.flatnonzero(lesson.classes != UNKNOWN)
        models = {}
        for label in sorted({span.label for span in lesson.marked.spans}):
            mine = [span for span in lesson.marked.spans if span.label == label]
            sides = ([max(0, span.start - 1) for span in mine], [span.end - 1 for span in mine])
            for side, places in enumerate(sides):
                model = _end(lesson.ground, np.unique(np.searchsorted(lesson.ground.rows, places)), known)
                if model is not None:
                    models[side, label] = model
        return cls(lesson.marked.n_classes, models)

    def log_odds(self, surroundings: Floats, side: int) -> Floats:
        """Give the log odds (n, K); 0 where a class has no marks."""
        odds = np.zeros((len(surroundings), self.classes))
        for (of, label), model in self.models.items():
            if of == side:
                odds[:, label] = model.log_odds(surroundings)
        return np.clip(odds, -MOST_ODDS, MOST_ODDS)


def _end(ground: Ground, at: Ints, known: Ints) -> Linear | None:
    """Tell the rows `at` from the known ones that are not near them; None where nothing else is known."""
    at = at[at < len(ground.rows)]
    near = np.zeros(len(ground.rows), np.bool_)
    for shift in range(-EDGE, EDGE + 1):
        near[np.clip(at + shift, 0, len(near) - 1)] = True
    far = known[~near[known]]
    if not len(at) or not len(far):
        return None
    rows, weights = with_drawn(at, far)
    share = ground.weights[at]
    weights[: len(at)] = share * len(far) / share.sum()  # both weigh the same, so that the odds are against the usual
    is_end = np.concatenate([np.ones(len(at), np.int64), np.zeros(len(rows) - len(at), np.int64)])
    return Linear.fit(ground.surroundings[rows], is_end, ground.candle_scale, END_STRENGTH / len(far), weights)
