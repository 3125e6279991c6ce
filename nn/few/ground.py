"""The candles near marks with all that readers ask of them, computed once for every fold and reader."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.ndimage import maximum_filter1d

from nn.few.linear import Scale
from nn.few.marked import GROUP_GAP, UNKNOWN, Marked, Range, candle_classes, merged
from nn.few.market import Market
from nn.few.piece import Piece
from nn.few.spans import Span
from nn.few.stretches import LONGEST, SIZE, Stretches

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

PAD = 200  # candles to either side of a mark that are prepared with it: a decoder needs a run-up
EDGE = 3  # candles by which a hand-drawn end may miss the place that it means
PART = 500  # candles of the parts into which long reviewed ranges are cut
MOST_REVIEWED = 20_000  # reviewed candles that are learnt from: an even draw of parts where there are more
SAME = 0.8  # a stretch that shares this much with a mark is neither it nor its opposite
NOT_A_SPAN = -2  # what a stretch is that lies among known candles and is no mark


class Turns(NamedTuple):
    """Swings by one threshold, (m,) each, and what each mark has to do with them, (k,) each."""

    swings: list[Span]
    middles: Ints
    rising: Ints  # 1 or 0
    match: Ints  # the swing that holds the mark's middle; no other can share half of their union with it
    iou: Floats  # with that swing

    @classmethod
    def of(cls, swings: list[Span], marks: Sequence[Span]) -> Turns:
        """Match marks to swings that do not overlap."""
        start, end, rising = np.array(swings, np.int64).reshape(-1, 3).T
        first, last, _ = np.array(marks, np.int64).reshape(-1, 3).T
        match = np.maximum(0, np.searchsorted(start, (first + last) // 2, side="right") - 1)
        if not len(start):
            return cls(swings, start, rising, match, np.zeros(len(first)))
        shared = np.minimum(end[match], last) - np.maximum(start[match], first)
        union = np.maximum(end[match], last) - np.minimum(start[match], first)
        return cls(swings, (start + end) // 2, rising, match, np.maximum(0, shared) / union)


class Ground:
    """The candles near marks, as pieces and as rows of all pieces in order."""

    def __init__(self, market: Market, marked: Marked) -> None:
        self.market, self.marked = market, marked
        n = len(market)
        near = [(max(0, span.start - PAD), min(n, span.end + PAD)) for span in marked.spans]
        areas = merged([*near, *_thinned([(max(0, start), min(n, end)) for start, end in marked.reviewed])])
        self.pieces = [Piece(market, start, end) for start, end in areas if start < end]
        self._turns: dict[float, Turns] = {}

    @cached_property
    def rows(self) -> Ints:
        """Give the positions of the candles (m,)."""
        return np.concatenate([np.arange(piece.start, piece.end) for piece in self.pieces])

    @cached_property
    def classes(self) -> Ints:
        """Give what is known of each candle (m,)."""
        return candle_classes(self.marked, len(self.market))[self.rows]

    @cached_property
    def weights(self) -> Floats:
        """Give by how much each candle counts (m,): less than one in marks of less weight."""
        weights = np.ones(len(self.market))
        for span, weight in self.marked.weights.items():
            weights[span.start : span.end] = weight
        return weights[self.rows]

    @cached_property
    def surroundings(self) -> Floats:
        """Give the hindsight columns of each candle (m, F)."""
        return np.concatenate([piece.surroundings for piece in self.pieces])

    @cached_property
    def candle_scale(self) -> Scale:
        """Measure the hindsight columns."""
        return Scale.of(self.surroundings)

    @cached_property
    def stretches(self) -> Stretches:
        """Give the stretches of all pieces."""
        return Stretches(*(np.concatenate(part) for part in zip(*(p.stretches for p in self.pieces), strict=True)))

    @cached_property
    def widened(self) -> Floats:
        """Give the widened looks of all stretches."""
        return np.concatenate([piece.widened for piece in self.pieces])

    @cached_property
    def stretch_scale(self) -> Scale:
        """Measure the widened looks."""
        return Scale.of(self.widened)

    @cached_property
    def matches(self) -> Ints:
        """Give for each stretch the class of the mark that it is, NOT_A_SPAN or UNKNOWN."""
        known = np.zeros(len(self.market) + 1, np.int64)
        known[self.rows[self.classes != UNKNOWN] + 1] = 1
        known = np.cumsum(known)
        first, last = self.stretches.begin + 1, self.stretches.end + 1
        matches = np.where(known[last] - known[first] > (last - first) / 2, NOT_A_SPAN, UNKNOWN)
        for span in self.marked.spans:
            self._match(span, first, last, matches)
        return matches

    def judged(self, spans: Sequence[Span], classes: Ints) -> list[Span]:
        """Keep the spans whose middle can be judged by `classes` (m,)."""
        middles = np.array([span.middle for span in spans], np.int64)
        return [span for span, kept in zip(spans, self.judging(classes)[middles].tolist(), strict=True) if kept]

    def judging(self, classes: Ints) -> npt.NDArray[np.bool_]:
        """Tell of each candle (n,) whether it lies at or near known ones of `classes` (m,): elsewhere nobody knows.

        Nor is judged what lies in marks of less weight: a model's own marks do not speak for it.
        """
        known, can = np.zeros((2, len(self.market)), np.bool_)
        known[self.rows] = classes != UNKNOWN
        for piece in self.pieces:  # not the whole series: it may be long
            near = slice(max(0, piece.start - GROUP_GAP), piece.end + GROUP_GAP)
            can[near] |= maximum_filter1d(known[near], 2 * GROUP_GAP + 1)
        for span in set(self.marked.spans) - set(self.marked.own):
            can[span.start : span.end] = False
        return can

    def turns(self, threshold: float) -> Turns:
        """Give the swings of all pieces that turn by `threshold` σ, and which of them each mark is."""
        if threshold not in self._turns:
            found = [swing for piece in self.pieces for swing in piece.swings(threshold)]
            self._turns[threshold] = Turns.of(found, self.marked.spans)
        return self._turns[threshold]

    def _match(self, span: Span, first: Ints, last: Ints, matches: Ints) -> None:
        # Stretches are in order of their beginning, and none is longer than LONGEST.
        near = slice(*np.searchsorted(first, [span.start - LONGEST, span.end]))
        a, b = first[near], last[near]
        shared = np.minimum(b, span.end) - np.maximum(a, span.start)
        union = np.maximum(b, span.end) - np.minimum(a, span.start)
        fits = (np.abs(a - span.start) <= EDGE) & (np.abs(b - span.end) <= EDGE)
        matches[near][(shared > SAME * union) | fits] = UNKNOWN
        if fits.any():
            # Of the stretches that a shaky hand may have meant, the one with the largest move.
            misses = np.abs(a - span.start) + np.abs(b - span.end)
            worth = np.where(fits, self.stretches.looks[near, SIZE] - 0.2 * misses, -np.inf)
            matches[near][int(worth.argmax())] = span.label


def _thinned(reviewed: Sequence[Range]) -> list[Range]:
    """Draw evenly from reviewed ranges, so that a wholly reviewed series takes no more than a part of it."""
    parts = [(at, min(at + PART, end)) for start, end in reviewed for at in range(start, end, PART)]
    return parts[:: max(1, -(-len(parts) * PART // MOST_REVIEWED))]
