"""A piece of a market with what readers ask of it, computed once."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from nn.few.market import Market
from nn.few.spans import Span
from nn.few.stretches import Stretches, stretches, widened
from nn.few.surroundings import hindsight
from nn.few.zigzag import zigzag

Floats = npt.NDArray[np.float64]


class Piece:
    """Candles [start, end) of a market with what readers ask of them, computed when asked first."""

    def __init__(self, market: Market, start: int, end: int) -> None:
        self.market, self.start, self.end = market, start, end
        self._swings: dict[float, list[Span]] = {}

    def __len__(self) -> int:
        return max(0, self.end - self.start)

    @cached_property
    def surroundings(self) -> Floats:
        """Give the hindsight columns (n, F)."""
        return hindsight(self.market, self.start, self.end)

    @cached_property
    def stretches(self) -> Stretches:
        """Give the stretches between extremes."""
        return stretches(self.market, self.start, self.end)

    @cached_property
    def widened(self) -> Floats:
        """Give the stretches' widened looks."""
        return widened(self.stretches.looks)

    def swings(self, threshold: float) -> list[Span]:
        """Give the swings that turn by `threshold` σ; the first and the last are cut by the piece."""
        if threshold not in self._swings:
            self._swings[threshold] = zigzag(self.market, threshold, self.start, self.end)
        return self._swings[threshold]

    def part(self, start: int, end: int) -> Piece:
        """Give a part of it that shares what was computed."""
        return _Part(self, max(start, self.start), min(end, self.end))


class _Part(Piece):
    """Candles of a piece; what it computed is cut out when asked first."""

    def __init__(self, whole: Piece, start: int, end: int) -> None:
        super().__init__(whole.market, start, end)
        self._whole = whole

    @cached_property
    def surroundings(self) -> Floats:
        return self._whole.surroundings[self.start - self._whole.start : self.end - self._whole.start]

    @cached_property
    def _rows(self) -> npt.NDArray[np.bool_]:
        every = self._whole.stretches
        return np.asarray((every.begin >= self.start) & (every.end < self.end))

    @cached_property
    def stretches(self) -> Stretches:
        return self._whole.stretches.only(self._rows)

    @cached_property
    def widened(self) -> Floats:
        return self._whole.widened[self._rows]
