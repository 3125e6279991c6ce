"""Inputs of the models: what is known of a candle when it has closed, from it and earlier candles only. No torch.

Streaming and exact: candles computed in one go, in parts or one by one give bit-equal rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nn.dataset_dir import Candles

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.float32]

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
WEEK_MS = 7 * DAY_MS
MONDAY_MS = 3 * DAY_MS  # 1970-01-01 was a Thursday: a week's place counts from the Monday before it
SPAN = 100  # candles over which σ fades
SPANS = {"fast": 20, "sigma": SPAN, "slow": 1000}
DISPLACEMENTS = (3, 6, 12, 24, 48, 96)
PLACES = (24, 96)
LONGEST = max(*DISPLACEMENTS, *PLACES)
CLIP = 5.0
LEAST_SIGMA = 1e-12  # a market that never moved has no σ; dividing by this and clipping keeps every number finite

FEATURES: tuple[str, ...] = (
    "return", "body", "upper_wick", "lower_wick", "range", "volume", "volume_known", "sigma_fast", "sigma_level",
    "hour_sin", "hour_cos", "day_sin", "day_cos", "week_sin", "week_cos",
    *(f"displacement_{k}" for k in DISPLACEMENTS),
    *(f"place_{k}" for k in PLACES),
)  # fmt: skip

USUAL: dict[str, tuple[float, float]] = {
    "upper_wick": (0.36, 0.4),
    "lower_wick": (0.36, 0.4),
    "range": (1.4, 0.9),
    "sigma_fast": (0.0, 0.25),
    "sigma_level": (0.0, 0.25),
    **{name: (0.0, 0.7) for name in FEATURES if name.endswith(("_sin", "_cos"))},
    "hour_cos": (1.0, 0.7),  # candles of an hour or longer see nothing of the hour: 0, not a lasting 1
    **{f"place_{k}": (0.0, 0.6) for k in PLACES},
}
"""Mean and spread, on hourly EUR/USD and XBT/USD, of what does not lie about 0 with a spread of 1 by itself. Networks
learn late what small inputs tell (docs/training-log.md), so a row holds how many spreads they lie above the mean."""
_MEANS, _SPREADS = np.array([USUAL.get(name, (0.0, 1.0)) for name in FEATURES]).T


@dataclass(frozen=True, slots=True)
class FeatureState:
    """What the next candle needs of all earlier ones: the newest prices and the state of each fading average."""

    close: Floats  # (LONGEST,), newest last
    high: Floats
    low: Floats
    sigma: float
    filters: dict[str, Floats]


class Computed(NamedTuple):
    """Features of n candles, σ of the return at each, and the state after the last."""

    rows: Rows  # (n, len(FEATURES))
    sigma: Floats  # (n,): expected size of the next candle's log return, seen from this one; above 0
    state: FeatureState | None


def compute(candles: Candles, state: FeatureState | None = None) -> Computed:
    """Compute the rows of `candles`, which follow those that `state` has seen; always finite.

    A null volume gives 0 with `volume_known` 0. Where prices are not above 0 a return is the symmetric relative
    difference in place of the logarithm's.
    """
    n = len(candles)
    if n == 0:
        return Computed(np.empty((0, len(FEATURES)), np.float32), np.empty(0), state)
    before = state or _start(candles)
    close = np.concatenate([before.close, candles.close])
    high, low = np.concatenate([before.high, candles.high]), np.concatenate([before.low, candles.low])
    filters = dict(before.filters)
    moves = move(close[LONGEST - 1 : -1], candles.close)
    sigmas = {name: np.sqrt(_fading(moves * moves, span, name, filters)) for name, span in SPANS.items()}
    sigma = np.maximum(sigmas["sigma"], LEAST_SIGMA)
    previous = np.concatenate([[before.sigma], sigma[:-1]])
    columns = [
        moves / previous,
        *_shape(candles, previous),
        *_volume(candles.volume, filters),
        _log_ratio(sigmas["fast"], sigma),
        _log_ratio(sigma, sigmas["slow"]),
        *_clock(candles.time),
        *(move(close[LONGEST - k : -k], candles.close) / (sigma * np.sqrt(k)) for k in DISPLACEMENTS),
        *(_place(candles.close, high, low, k) for k in PLACES),
    ]
    rows = np.clip((np.stack(columns, axis=1) - _MEANS) / _SPREADS, -CLIP, CLIP).astype(np.float32)
    after = FeatureState(
        close[-LONGEST:].copy(), high[-LONGEST:].copy(), low[-LONGEST:].copy(), float(sigma[-1]), filters
    )
    return Computed(rows, sigma, after)


def move(before: npt.ArrayLike, after: npt.ArrayLike) -> Floats:
    """Give the log return from one price to another; a symmetric relative difference where one is not above 0."""
    a, b = np.asarray(before, np.float64), np.asarray(after, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(b) - np.log(a)
        size = np.abs(a) / 4 + np.abs(b) / 4
        relative = np.where(size > 0, (b / 2 - a / 2) / np.where(size > 0, size, 1.0), 0.0)
        result = np.where((a > 0) & (b > 0), logs, relative)
    return np.where(np.isfinite(result), result, 0.0)


def _start(candles: Candles) -> FeatureState:
    # Before the first candle the market is taken to have stood at its open.
    first = float(candles.open[0])
    names = (*SPANS, "sigma:weight", "fast:weight", "slow:weight", "volume", "volume:weight", "spread", "spread:weight")
    return FeatureState(
        close=np.full(LONGEST, first),
        high=np.full(LONGEST, -np.inf),
        low=np.full(LONGEST, np.inf),
        sigma=LEAST_SIGMA,
        filters={name: np.zeros(1) for name in names},
    )


def _fading(values: Floats, span: int, name: str, filters: dict[str, Floats], known: Floats | None = None) -> Floats:
    """Average with weights that fade over `span` candles, of the known values only; carries its state in `filters`."""
    weights = np.ones(len(values)) if known is None else known
    total = _filtered(values * weights, span, name, filters)
    weight = _filtered(weights, span, name + ":weight", filters)
    return np.where(weight > 0, total / np.where(weight > 0, weight, 1.0), 0.0)


def _filtered(values: Floats, span: int, name: str, filters: dict[str, Floats]) -> Floats:
    from scipy.signal import lfilter  # takes over a second to load, which a server's start should not wait for

    alpha = 2 / (span + 1)
    result, filters[name] = lfilter([alpha], [1.0, alpha - 1.0], values, zi=filters[name])
    return np.asarray(result)


def _shape(candles: Candles, sigma: Floats) -> list[Floats]:
    top, bottom = np.maximum(candles.open, candles.close), np.minimum(candles.open, candles.close)
    return [
        move(candles.open, candles.close) / sigma,
        move(top, candles.high) / sigma,
        move(candles.low, bottom) / sigma,
        move(candles.low, candles.high) / sigma,
    ]


def _volume(volume: Floats, filters: dict[str, Floats]) -> list[Floats]:
    known = np.isfinite(volume) & (volume >= 0)
    size = np.log1p(np.where(known, volume, 0.0))
    weight = known.astype(np.float64)
    away = size - _fading(size, SPAN, "volume", filters, weight)
    spread = np.sqrt(_fading(away * away, SPAN, "spread", filters, weight))
    return [np.where(known & (spread > 0), away / np.where(spread > 0, spread, 1.0), 0.0), weight]


def _log_ratio(above: Floats, below: Floats) -> Floats:
    return np.log(np.maximum(above, LEAST_SIGMA)) - np.log(np.maximum(below, LEAST_SIGMA))


def _clock(time: npt.NDArray[np.int64]) -> list[Floats]:
    angles = [((time + MONDAY_MS) % cycle) * (2 * np.pi / cycle) for cycle in (HOUR_MS, DAY_MS, WEEK_MS)]
    return [wave(angle) for angle in angles for wave in (np.sin, np.cos)]


def _place(close: Floats, high: Floats, low: Floats, span: int) -> Floats:
    """Place of the close in the range of the last `span` candles, from −1 at the low to 1 at the high."""
    windows = slice(LONGEST - span + 1, None)
    top = np.lib.stride_tricks.sliding_window_view(high[windows], span).max(axis=1) / 2
    bottom = np.lib.stride_tricks.sliding_window_view(low[windows], span).min(axis=1) / 2
    width = top - bottom
    good = np.isfinite(width) & (width > 0)
    inside = np.clip(close / 2, bottom, top)  # a close may break the high/low rule
    above = inside - np.where(good, bottom, 0.0)
    return np.where(good, 2 * (above / np.where(good, width, 1.0)) - 1, 0.0)
