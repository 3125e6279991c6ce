"""Readers: each learns from a lesson and reads spans from a piece of a market. Hindsight: for history, not live use.

`States` classifies each candle by its surroundings and decodes with a stay prior: the plain recipe. `Segments` adds
what the ends and the lengths of marks look like. `Stretches` scores whole stretches between extremes. `Swings` knows
one number, the size of a turn: it mirrors the zigzag rule, and is worth nothing for marks that follow another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from nn.few.chain import best_chain
from nn.few.decoding import viterbi
from nn.few.ground import Turns
from nn.few.habit import Habit, habit, shifted
from nn.few.lesson import CandleModel, EndModel, Lesson
from nn.few.marked import UNKNOWN, Marked
from nn.few.piece import Piece
from nn.few.segmenting import Evidence, best_cut
from nn.few.spans import IOU, Span, moved, runs
from nn.few.stretches import signed

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Read = Callable[[Piece], list[Span]]
Directions = tuple[int | None, int | None]  # the classes of falling and of rising swings

SNAP = 8  # candles within which a state's end moves to the extreme
IMPOSSIBLE = -50.0
MOST_LENGTH = 800  # candles of the longest segment


class Reader(Protocol):
    """A way to read marks."""

    def learn(self, lesson: Lesson) -> Read:
        """Give what reads the spans of a piece, in order; it finds none where the lesson was too short."""
        ...


def _nothing(_: Piece) -> list[Span]:
    return []


NOTHING_READ: Read = _nothing


@dataclass(frozen=True)
class States:
    """The likeliest state of each candle; a state stays with probability `stay`."""

    stay: float
    snap: bool = False

    def learn(self, lesson: Lesson) -> Read:
        """Give a reader by the lesson's model of candles."""
        model = lesson.plain_candles
        return NOTHING_READ if model is None else lambda piece: self._read(model, piece)

    def _read(self, model: CandleModel, piece: Piece) -> list[Span]:
        states = viterbi(model.log_probabilities(piece.surroundings), self.stay)
        spans = moved(runs(states), piece.start)
        if self.snap:
            spans = _snapped(spans, piece.market.log_price)
        return [span for span in spans if span.label < model.classes - 1]


@dataclass(frozen=True)
class Segments:
    """Spans whose candles, ends and length all look like those of marks."""

    weight: float  # of a candle: neighbours say much the same, so each counts for less than one
    ends: float  # weight of the ends
    wide: bool = True

    def learn(self, lesson: Lesson) -> Read:
        """Give a reader by the lesson's models of candles and ends."""
        candles = lesson.wide_candles if self.wide else lesson.plain_candles
        if candles is None:
            return NOTHING_READ
        ends, lengths = lesson.ends, _lengths(lesson.marked)
        return lambda piece: self._read(candles, ends, lengths, lesson.transitions, piece)

    def _read(
        self, candles: CandleModel, ends: EndModel, lengths: Floats, transitions: Floats, piece: Piece
    ) -> list[Span]:
        before = np.concatenate([piece.surroundings[:1], piece.surroundings[:-1]])
        evidence = Evidence(
            candles=self.weight * candles.log_probabilities(piece.surroundings),
            starts=self.ends * ends.log_odds(before, 0),
            ends=self.ends * ends.log_odds(piece.surroundings, 1),
            lengths=lengths,
            transitions=transitions,
        )
        return moved(best_cut(evidence), piece.start)


@dataclass(frozen=True)
class Stretches:
    """Whole stretches between extremes: how like a mark each is, of which class, and which follow each other."""

    bias: float  # log odds added to each stretch: there are far fewer spans than candidates

    def learn(self, lesson: Lesson) -> Read:
        """Give a reader by the lesson's model of stretches."""
        if lesson.likeness is None:
            return NOTHING_READ
        return lambda piece: self._read(lesson, piece)

    def _read(self, lesson: Lesson, piece: Piece) -> list[Span]:
        table, likeness, kind = piece.stretches, lesson.likeness, lesson.kind
        if likeness is None or not len(table.begin):
            return []
        odds = likeness.log_odds(piece.widened) + self.bias
        gains = np.full((len(odds), lesson.marked.n_classes), IMPOSSIBLE)
        if kind is None:
            gains[:, int(lesson.matches.max())] = odds
        else:
            gains[:, kind.classes] = odds[:, None] + kind.log_probabilities(signed(table.looks))
        return shifted(best_chain(table, gains, lesson.transitions), lesson.habit)


@dataclass(frozen=True)
class Swings:
    """Swings that turn by a threshold; the threshold and the meaning of up and down come from the marks."""

    def learn(self, lesson: Lesson) -> Read:
        """Choose the threshold (in slow σ) whose swings agree best with the marks."""
        mine, own = set(lesson.marked.spans), set(lesson.marked.own)
        taught = np.array([span in mine for span in lesson.ground.marked.spans])
        judged = np.array([span in own for span in lesson.ground.marked.spans])
        best, chosen = 0.0, NOTHING_READ
        for threshold in np.arange(2.0, 12.5, 0.5).tolist():
            turns = lesson.ground.turns(threshold)
            labels = _directions(turns, lesson, taught)
            quality = _quality(turns, labels, lesson, judged)
            if quality > best:
                found = _renamed(turns.swings, labels)
                best, chosen = quality, _swings(threshold, labels, habit(found, lesson.marked.spans))
        return chosen


READERS: dict[str, Reader] = {
    "states": States(0.97),
    "states, snapped": States(0.99, snap=True),
    "segments": Segments(0.1, 1.0),
    "segments, plain": Segments(0.1, 1.0, wide=False),
    "segments, ends": Segments(0.05, 1.5),
    "stretches": Stretches(1.0),
    "stretches, sparse": Stretches(0.0),
    "stretches, dense": Stretches(2.0),
    "swings": Swings(),
}


def _lengths(marked: Marked) -> Floats:
    """Give log P(length) (K, D) as a log-normal a class, drawn towards that of all marks where marks are few."""
    logs = np.log([span.end - span.start for span in marked.spans])
    labels = np.array([span.label for span in marked.spans])
    longest = int(np.clip(2 * np.exp(logs.max()), 8, MOST_LENGTH))
    grid = np.log(np.arange(1, longest + 1))
    rows = []
    for label in range(marked.n_classes):
        own = logs[labels == label]
        mean = (own.sum() + 2 * logs.mean()) / (len(own) + 2)
        spread = np.sqrt((np.sum((own - mean) ** 2) + 2 * 0.6**2) / (len(own) + 2))
        density = -0.5 * ((grid - mean) / spread) ** 2 - grid
        rows.append(density - np.log(np.exp(density).sum()))
    return np.array(rows)


def _snapped(spans: Sequence[Span], log_price: Floats) -> list[Span]:
    """Move each end between two spans to the high or low within `SNAP`, by the sign of the move before it."""
    ends = [span.end for span in spans]
    for i, span in enumerate(spans[:-1]):
        low, high = max(span.start + 1, ends[i] - SNAP), min(spans[i + 1].end - 1, ends[i] + SNAP)
        near = log_price[low - 1 : high]
        rising = log_price[ends[i] - 1] >= log_price[span.start]
        if len(near):
            ends[i] = low + int(near.argmax() if rising else near.argmin())
    starts = [spans[0].start, *ends[:-1]] if spans else []
    snapped = zip(spans, starts, ends, strict=True)
    return [Span(start, end, span.label) for span, start, end in snapped if end > start]


def _swings(threshold: float, labels: Directions, of: Habit) -> Read:
    return lambda piece: shifted(_renamed(piece.swings(threshold), labels), of)


def _quality(turns: Turns, labels: Directions, lesson: Lesson, judged: Bools) -> float:
    """Give what `agreement` calls quality, for swings that do not overlap; `judged` (k,) are the marks that count."""
    classes = _classes(turns, labels)
    can = lesson.judging[turns.middles] & (classes != UNKNOWN)
    hits = judged & (turns.iou >= IOU)
    hits[hits] &= can[turns.match[hits]] & (classes[turns.match[hits]] == _labels(lesson)[hits])
    best = np.zeros(len(turns.swings))
    np.maximum.at(best, turns.match[hits], turns.iou[hits])  # a swing is one mark, however many lie on it
    return float(2 * best.sum() / max(1, can.sum() + judged.sum()))


def _directions(turns: Turns, lesson: Lesson, taught: Bools) -> Directions:
    """Give the class that falling and rising swings mostly have in the marks; None where they match no mark."""
    same = taught & (turns.iou >= IOU)
    votes = np.zeros((2, lesson.marked.n_classes))
    np.add.at(votes, (turns.rising[turns.match[same]], _labels(lesson)[same]), 1)
    labels = [int(row.argmax()) if row.any() else None for row in votes]
    return labels[0], labels[1]


def _classes(turns: Turns, labels: Directions) -> Ints:
    return np.array([UNKNOWN if label is None else label for label in labels])[turns.rising]


def _labels(lesson: Lesson) -> Ints:
    return np.array([span.label for span in lesson.ground.marked.spans], np.int64)


def _renamed(found: Sequence[Span], labels: Directions) -> list[Span]:
    renamed = ((swing, labels[swing.label]) for swing in found)
    return [Span(swing.start, swing.end, label) for swing, label in renamed if label is not None]
