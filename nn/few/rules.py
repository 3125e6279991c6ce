"""Marks by rule, for a person to accept or reject: zigzag, triple barrier, moving-average cross, candle patterns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
import numpy.typing as npt
import talib

from nn.few.market import Market
from nn.few.spans import Span, runs
from nn.few.zigzag import zigzag
from nn.offers import PATTERNS, checked_parameters

Floats = npt.NDArray[np.float64]

FALLING, RISING = 0, 1


def swings(market: Market, turn: float) -> list[Span]:
    """Give the swings that end where price turns by `turn` slow σ. Hindsight; the last one is still open."""
    return zigzag(market, turn)


def triple_barrier(market: Market, up: float, down: float, horizon: float) -> list[Span]:
    """Give the spans after which price first rose by `up` or fell by `down` slow σ, within `horizon` candles.

    A span begins after the candle whose close is the base and ends with the one that touches; spans do not overlap.
    A base from which neither is touched gives none (López de Prado, Advances in Financial Machine Learning, 3.4).
    """
    after, label = _first_touch(market.log_price, up * market.sigma, down * market.sigma, int(horizon))
    spans: list[Span] = []
    base, bases = 0, np.flatnonzero(after)
    while (index := int(np.searchsorted(bases, base))) < len(bases):
        base = int(bases[index])
        end = base + int(after[base])
        spans.append(Span(base + 1, end + 1, int(label[base])))
        base = end
    return spans


def moving_average_cross(market: Market, fast: float, slow: float) -> list[Span]:
    """Give the runs in which the mean close of `fast` candles is above, or below, that of `slow` candles. Causal."""
    if fast >= slow:
        raise ValueError(f"fast {fast:g} is not below slow {slow:g}; the fast average holds fewer candles")
    close, since = market.candles.close, int(slow) - 1
    if len(close) <= since:
        return []
    above = _means(close, int(fast))[since:] > _means(close, int(slow))[since:]
    return [Span(span.start + since, span.end + since, span.label) for span in runs(above.astype(np.int64))]


def candle_pattern(name: str, market: Market, **parameters: float) -> list[Span]:
    """Give the last candle of each place where a pattern of TA-Lib stands, rising where it is bullish. Causal."""
    rows = market.candles
    sign = np.asarray(getattr(talib, name)(rows.open, rows.high, rows.low, rows.close, **parameters))
    return [Span(at, at + 1, RISING if sign[at] > 0 else FALLING) for at in np.flatnonzero(sign).tolist()]


SPANS: dict[str, Callable[..., list[Span]]] = {
    "zigzag": swings,
    "triple_barrier": triple_barrier,
    "moving_average_cross": moving_average_cross,
    **{name: partial(candle_pattern, name) for name in PATTERNS},
}


def by_rule(market: Market, name: str, given: Mapping[str, float]) -> list[Span]:
    """Give the spans of a rule; what is not given takes its default. Raises ValueError naming what is wrong."""
    values = checked_parameters(name, dict(given))
    return SPANS[name](market, **values) if len(market) > 1 else []


def _first_touch(path: Floats, up: Floats, down: Floats, horizon: int) -> tuple[npt.NDArray[np.int64], Floats]:
    """Give for each candle after how many candles a barrier is first touched (0: none), and 1 for the upper one."""
    after, label = np.zeros(len(path), np.int64), np.zeros(len(path))
    for ahead in range(1, min(horizon, len(path) - 1) + 1):
        move = path[ahead:] - path[:-ahead]
        rose, fell = move >= up[:-ahead], move <= -down[:-ahead]
        new = (after[:-ahead] == 0) & (rose | fell)
        after[:-ahead][new] = ahead
        label[:-ahead][new] = rose[new]
    return after, label


def _means(values: Floats, width: int) -> Floats:
    """Give the mean of the last `width` values at each (n,); NaN before there are as many."""
    total = np.concatenate([[0.0], np.cumsum(values)])
    means = np.full(len(values), np.nan)
    means[width - 1 :] = (total[width:] - total[:-width]) / width
    return means
