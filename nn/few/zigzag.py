"""Swings of a price path: they end where price turns by a threshold. Hindsight: the last swing is still open."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from nn.few.market import Market
from nn.few.spans import Span

Floats = npt.NDArray[np.float64]

TURNS = (2.0, 3.0, 4.0, 5.0, 6.0, 8.0)  # slow σ


def zigzag(market: Market, threshold: float, start: int = 0, end: int | None = None) -> list[Span]:
    """Give the swings of candles [start, end) that turn by `threshold` slow σ; label 1 rises, 0 falls."""
    path = market.log_price[start:end].tolist()
    limits = (threshold * market.sigma[start:end]).tolist()
    pivots = _pivots(path, limits)
    pairs = itertools.pairwise(pivots)
    return [Span(start + a + 1, start + b + 1, int(path[b] > path[a])) for a, b in pairs if b > a]


def turning(market: Market, start: int, end: int) -> Floats:
    """Give for each of `TURNS` whether price is in a rising (1) or falling (-1) swing, and how far from its extreme.

    (n, 12), distances in slow σ. Causal: a swing is known only once price has turned. A swing that began before
    `start` is not seen at first.
    """
    path, sigma = market.log_price[start:end].tolist(), market.sigma[start:end].tolist()
    columns: list[list[float]] = []
    for turn in TURNS:
        walked = list(_walk(path, [turn * unit for unit in sigma]))
        columns.append([rising for rising, _ in walked])
        columns.append([(v - path[at]) / u for v, u, (_, at) in zip(path, sigma, walked, strict=True)])
    return np.array(columns).T.reshape(-1, 2 * len(TURNS))


def _pivots(path: list[float], limits: list[float]) -> list[int]:
    pivots, before, extreme = [0], 0, 0
    for rising, at in _walk(path, limits):
        if before * rising < 0:
            pivots.append(extreme)
        before, extreme = rising, at
    return [*pivots, len(path) - 1]


def _walk(path: list[float], limits: list[float]) -> Iterator[tuple[int, int]]:
    """Give at each candle whether price is in a rising (1) or falling (-1) swing, and where the swing's extreme is."""
    rising, extreme = 0, 0
    for t, (value, limit) in enumerate(zip(path, limits, strict=True)):
        gone = value - path[extreme]
        if rising == 0:
            if abs(gone) > limit:
                rising, extreme = (1 if gone > 0 else -1), t
        elif gone * rising > 0:
            extreme = t
        elif -gone * rising > limit:
            rising, extreme = -rising, t
        yield rising, extreme
