"""Targets: what a model should have said of the candles that came; for a whole series or one due candle.

candle  5 classes of the next candle's return/σ        trend  up (1) or down (0) over the next `trend_horizon` candles
range   5 classes of the next candle's range/σ         label  class of the annotation that covers the candle itself
No torch. A target that does not count is MASKED.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from nn.dataset_dir import Candles
from nn.features import move

Floats = npt.NDArray[np.float64]
Classes = npt.NDArray[np.int64]
Json = dict[str, Any]

MASKED = -1
ACCEPTED = "model_accepted"  # source of a mark that a model made and a person let pass unchanged
BUCKETS = 5
LEAST_CANDLES = 500  # fewer give no trustworthy quintiles
NORMAL_QUINTILES = (-0.8416212335729143, -0.2533471031357997, 0.2533471031357997, 0.8416212335729143)
# Quintiles of the range of a Brownian motion over one unit of time; density of Feller, Ann. Math. Stat. 22 (1951), 427.
BROWNIAN_RANGE_QUINTILES = (1.19203, 1.40559, 1.63429, 1.95823)


@dataclass(frozen=True, slots=True)
class Edges:
    """The four borders between five classes, in units of σ. They stay with the weights that learnt on them."""

    candle: tuple[float, ...] = NORMAL_QUINTILES
    range: tuple[float, ...] = BROWNIAN_RANGE_QUINTILES
    source: str = "quintiles of the standard normal"

    def to_json(self) -> Json:
        """Give plain data."""
        return {"candle": list(self.candle), "range": list(self.range), "source": self.source}

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Self:
        """Rebuild; raise ValueError unless there are four rising finite numbers for each."""
        return cls(_four(given["candle"], "candle"), _four(given["range"], "range"), str(given["source"]))


@dataclass(frozen=True, slots=True)
class Targets:
    """The target of each head at each candle, int64 (n,), MASKED where none counts; and how many trends were ties."""

    classes: dict[str, Classes]
    ties: int


@dataclass(frozen=True, slots=True)
class LabelTargets:
    """Class of each candle by its annotations; `known_at` (ms UTC) is when the newest mark on it was known."""

    classes: Classes  # (n,)
    known_at: npt.NDArray[np.int64]  # (n,)
    overlapped: int  # candles that more than one span covers
    accepted: npt.NDArray[np.bool_]  # (n,): the class comes from a mark that a model made and a person accepted


def head_classes(labels: Sequence[str]) -> dict[str, int]:
    """Give the heads and how many classes each tells apart; no label head without labels."""
    classes = {"candle": BUCKETS, "trend": 2, "range": BUCKETS}
    return classes | {"label": len(labels)} if labels else classes


def class_names(labels: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Name the classes of each head, in their order, as a person reads them."""
    names: dict[str, tuple[str, ...]] = {
        "candle": ("strong fall", "fall", "still", "rise", "strong rise"),
        "trend": ("down", "up"),
        "range": ("very small", "small", "middling", "large", "very large"),
    }
    return names | {"label": tuple(labels)} if labels else names


def bucket(z: npt.ArrayLike, edges: Sequence[float]) -> Classes:
    """Give the class of each standardised value: how many edges are at or below it."""
    return np.searchsorted(np.asarray(edges), np.asarray(z, np.float64), side="right").astype(np.int64)


def candle_class(close: npt.ArrayLike, next_close: npt.ArrayLike, sigma: npt.ArrayLike, edges: Edges) -> Classes:
    """Give the class of the move from `close` to `next_close`, with σ as it stood at `close`."""
    return bucket(move(close, next_close) / np.asarray(sigma), edges.candle)


def trend_class(close: npt.ArrayLike, later_close: npt.ArrayLike) -> Classes:
    """Give 1 for up, 0 for down, MASKED for no move."""
    before, after = np.asarray(close, np.float64), np.asarray(later_close, np.float64)
    return np.where(after > before, 1, np.where(after < before, 0, MASKED)).astype(np.int64)


def range_class(next_low: npt.ArrayLike, next_high: npt.ArrayLike, sigma: npt.ArrayLike, edges: Edges) -> Classes:
    """Give the class of the next candle's range, with σ as it stood before it."""
    return bucket(move(next_low, next_high) / np.asarray(sigma), edges.range)


def targets(candles: Candles, sigma: Floats, edges: Edges, trend_horizon: int, segment: Classes) -> Targets:
    """Give candle, trend and range targets; MASKED where the future is missing or lies beyond a gap.

    `segment` (n,) numbers the stretches without a gap, as `split.segment_ids` gives them.
    """
    n = len(candles)
    classes = {head: np.full(n, MASKED, np.int64) for head in ("candle", "trend", "range")}
    ties = 0
    if n > 1:
        whole = segment[1:] == segment[:-1]
        classes["candle"][:-1] = np.where(
            whole, candle_class(candles.close[:-1], candles.close[1:], sigma[:-1], edges), MASKED
        )
        classes["range"][:-1] = np.where(
            whole, range_class(candles.low[1:], candles.high[1:], sigma[:-1], edges), MASKED
        )
    if n > trend_horizon:
        whole = segment[trend_horizon:] == segment[:-trend_horizon]
        trend = trend_class(candles.close[:-trend_horizon], candles.close[trend_horizon:])
        ties = int(np.sum(whole & (trend == MASKED)))
        classes["trend"][:-trend_horizon] = np.where(whole, trend, MASKED)
    return Targets(classes, ties)


def fit_edges(candles: Candles, sigma: Floats) -> Edges:
    """Take the quintiles of these candles; those of a standard normal when there are under LEAST_CANDLES."""
    if len(candles) < LEAST_CANDLES:
        return Edges()
    returns = move(candles.close[:-1], candles.close[1:]) / sigma[:-1]
    ranges = move(candles.low[1:], candles.high[1:]) / sigma[:-1]
    return Edges(
        _quintiles(returns, NORMAL_QUINTILES),
        _quintiles(ranges, BROWNIAN_RANGE_QUINTILES),
        f"quintiles of {len(candles)} candles",
    )


def label_targets(
    marks: Sequence[Mapping[str, Any]], labels: Sequence[str], time: Classes, timeframe_ms: int
) -> LabelTargets:
    """Give each candle its own class or that of the span over it; the last updated wins; MASKED where none does."""
    classes, known_at = np.full(len(time), MASKED, np.int64), np.zeros(len(time), np.int64)
    covered, accepted = np.zeros(len(time), np.int64), np.zeros(len(time), np.bool_)
    number = {name: i for i, name in enumerate(labels)}
    for mark in sorted((m for m in marks if gives_class(m) and m.get("label") in number), key=_updated):
        first, end = covered_rows(mark, time, timeframe_ms)
        classes[first:end] = number[mark["label"]]
        known_at[first:end] = np.maximum(known_at[first:end], mark.get("known_at") or mark["end"])
        covered[first:end] += 1
        accepted[first:end] = mark.get("source") == ACCEPTED
    return LabelTargets(classes, known_at, int(np.sum(covered > 1)), accepted)


def covered_rows(mark: Mapping[str, Any], time: Classes, timeframe_ms: int) -> tuple[int, int]:
    """Give the rows [first, end) of the candles that a span covers, the one that holds its start included."""
    first = int(np.searchsorted(time, mark["start"] - timeframe_ms, side="right"))
    return first, int(np.searchsorted(time, mark["end"], side="left"))


def gives_class(mark: Mapping[str, Any]) -> bool:
    """Tell whether a mark gives candles a class: neither a draft nor one that a reviewer found wrong."""
    found_wrong = (mark.get("review") or {}).get("verdict") in ("correct", "reject")
    return mark.get("kind") in ("span", "candle_class") and mark.get("status") != "draft" and not found_wrong


def _updated(mark: Mapping[str, Any]) -> int:
    return int(mark.get("updated") or 0)


def _quintiles(values: Floats, default: tuple[float, ...]) -> tuple[float, ...]:
    """Place four edges between distinct values, as near to the fifths as ties allow: equal values share a class."""
    distinct, counts = np.unique(values, return_counts=True)
    if len(distinct) < BUCKETS:
        return default
    below = np.cumsum(counts)[:-1] / len(values)  # share of values under the border after each distinct value
    chosen: list[int] = []
    for k in range(1, BUCKETS):
        least = chosen[-1] + 1 if chosen else 0
        most = len(below) - (BUCKETS - 1 - k)
        chosen.append(least + int(np.argmin(np.abs(below[least:most] - k / BUCKETS))))
    return tuple(_between(float(distinct[i]), float(distinct[i + 1])) for i in chosen)


def _between(low: float, high: float) -> float:
    middle = low / 2 + high / 2
    return middle if low < middle <= high else high


def _four(values: Any, name: str) -> tuple[float, ...]:
    edges = tuple(float(value) for value in values)
    if len(edges) != BUCKETS - 1 or not all(np.isfinite(edges)) or any(a >= b for a, b in pairwise(edges)):
        raise ValueError(f"edges of {name} = {edges}: {BUCKETS - 1} finite rising numbers are needed")
    return edges
