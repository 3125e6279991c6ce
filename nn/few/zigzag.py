"""Swings of a price path: they end where price turns by a threshold. Hindsight: the last swing is still open."""

from __future__ import annotations

import itertools

from nn.few.market import Market
from nn.few.spans import Span


def zigzag(market: Market, threshold: float, start: int = 0, end: int | None = None) -> list[Span]:
    """Give the swings of candles [start, end) that turn by `threshold` slow σ; label 1 rises, 0 falls."""
    path = market.log_price[start:end].tolist()
    limits = (threshold * market.sigma[start:end]).tolist()
    pivots = _pivots(path, limits)
    pairs = itertools.pairwise(pivots)
    return [Span(start + a + 1, start + b + 1, int(path[b] > path[a])) for a, b in pairs if b > a]


def _pivots(path: list[float], limits: list[float]) -> list[int]:
    pivots, extreme, rising = [0], 0, 0
    for t, (value, limit) in enumerate(zip(path, limits, strict=True)):
        gone = value - path[extreme]
        if rising == 0:
            if abs(gone) > limit:
                rising, extreme = (1 if gone > 0 else -1), t
        elif gone * rising > 0:
            extreme = t
        elif -gone * rising > limit:
            pivots.append(extreme)
            rising, extreme = -rising, t
    return [*pivots, len(path) - 1]
