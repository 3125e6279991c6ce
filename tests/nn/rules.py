"""Markets that follow a rule which no linear model can see: the next sign is a product of things that are past."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nn import events
from nn.config import BatchConfig
from nn.dataset_dir import Candles, DatasetDir
from tests.nn.simulated import trained

Signs = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

LIKELY = 0.9  # how often the next sign is the rule's
SIZE = 1e-3  # of a candle's log return
HOUR, DAY, WEEK = 60, 24, 7  # candles of an hour, hours, days
LAG = 48
SPREAD = 0.4  # of the logarithm of sizes and volumes
LIKE = 0.95  # spreads between two sizes: half of all pairs lie nearer


class Past(NamedTuple):
    """What a rule may look at; each by candle."""

    sign: Signs
    heavy: Signs  # volume: 1 much, −1 little
    wick: Signs  # the longer one: 1 upper, −1 lower
    size: Floats  # of the return: spreads of its logarithm above its mean


Rule = Callable[[Past, int], int]

RULES: dict[str, Rule] = {
    "two_signs": lambda past, t: past.sign[t] * past.sign[t - 1],
    "three_signs": lambda past, t: past.sign[t] * past.sign[t - 1] * past.sign[t - 2],
    "far_sign": lambda past, t: past.sign[t] * past.sign[t - 5],
    "volume": lambda past, t: past.sign[t] * past.heavy[t],
    "hour": lambda past, t: past.sign[t] * either(t // HOUR % DAY < DAY // 2),
    "wick": lambda past, t: past.sign[t] * past.wick[t],
    "volume_before": lambda past, t: past.sign[t] * past.heavy[t - 2],
    "three_apart": lambda past, t: past.sign[t] * past.sign[t - 2] * past.sign[t - 7],
    "lag": lambda past, t: past.sign[t] * past.sign[t - LAG],
    "weekday": lambda past, t: past.sign[t] * either(t // (HOUR * DAY) % WEEK % 2),
    "two_wicks": lambda past, t: past.wick[t] * past.wick[t - 1],
    "like_sizes": lambda past, t: past.sign[t] * either(abs(past.size[t] - past.size[t - 1]) < LIKE),
    "half_hour": lambda past, t: past.sign[t] * either(t % HOUR < HOUR // 2),
}
"""Name → the likely next sign, from the candles up to t."""


def either(so: object) -> int:
    """Give 1 where something is so, else −1."""
    return 1 if so else -1


def market(rule: str, seed: int, rows: int) -> DatasetDir:
    """Make candles whose next sign is the rule's with a chance of LIKELY; sizes and volumes are drawn independently."""
    draw = np.random.default_rng([seed, list(RULES).index(rule)])
    heavy, obeys = draw.choice([-1, 1], rows), np.where(draw.random(rows) < LIKELY, 1, -1)
    sign: Signs = draw.choice([-1, 1], rows)
    spreads = draw.standard_normal(rows)
    reach = np.abs(draw.standard_normal((2, rows))) * SIZE / 2
    past = Past(sign, heavy, np.where(reach[0] > reach[1], 1, -1), spreads)
    for t in range(LAG, rows - 1):
        sign[t + 1] = RULES[rule](past, t) * obeys[t + 1]
    close = 100 * np.exp(np.cumsum(sign * SIZE * np.exp(SPREAD * spreads)))
    start = np.concatenate([[100.0], close[:-1]])
    high, low = np.maximum(start, close) * (1 + reach[0]), np.minimum(start, close) * (1 - reach[1])
    volume = np.exp(heavy + SPREAD * draw.standard_normal(rows))
    candles = Candles(np.arange(rows, dtype=np.int64) * 60_000, start, high, low, close, volume)
    manifest = {"symbol": rule, "timeframe": "1m", "timeframe_ms": 60_000, "labels": []}
    return DatasetDir(manifest, candles, [])


def share_of_possible(rule: str, config: BatchConfig, seed: int, rows: int) -> tuple[float, float]:
    """Give the validation accuracy of the next sign over LIKELY, of the network and of logistic regression.

    The trend over one candle is its sign, and nobody can foretell more than LIKELY of them.
    """
    run = trained(config, market(rule, seed, rows))
    best = _best(run.epochs)
    logistic = float(best["baselines"]["trend"]["logistic"]["accuracy"])
    return float(best["heads"]["trend"]["accuracy"]) / LIKELY, logistic / LIKELY


def _best(epochs: list[events.EpochDone]) -> events.Json:
    validated = [epoch.validation for epoch in epochs if epoch.validation and epoch.best]
    return validated[-1]
