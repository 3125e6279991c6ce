"""Markets that follow a rule which no linear model can see: the next sign is a product of things that are past."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from nn import events
from nn.config import BatchConfig
from nn.dataset_dir import Candles, DatasetDir
from tests.nn.simulated import trained

Signs = npt.NDArray[np.int64]

LIKELY = 0.9  # how often the next sign is the rule's
SIZE = 1e-3  # of a candle's log return
HOUR, DAY, WEEK = 60, 24, 7  # candles of an hour, hours, days
LAG = 48
SPREAD = 0.4  # of the logarithm of sizes and volumes

Rule = Callable[[Signs, Signs, Signs, int], int]

RULES: dict[str, Rule] = {
    "two_signs": lambda sign, heavy, wick, t: int(sign[t] * sign[t - 1]),
    "three_signs": lambda sign, heavy, wick, t: int(sign[t] * sign[t - 1] * sign[t - 2]),
    "far_sign": lambda sign, heavy, wick, t: int(sign[t] * sign[t - 5]),
    "volume": lambda sign, heavy, wick, t: int(sign[t] * heavy[t]),
    "hour": lambda sign, heavy, wick, t: int(sign[t]) if t // HOUR % DAY < DAY // 2 else -int(sign[t]),
    "wick": lambda sign, heavy, wick, t: int(sign[t] * wick[t]),
    "volume_before": lambda sign, heavy, wick, t: int(sign[t] * heavy[t - 2]),
    "three_apart": lambda sign, heavy, wick, t: int(sign[t] * sign[t - 2] * sign[t - 7]),
    "lag": lambda sign, heavy, wick, t: int(sign[t] * sign[t - LAG]),
    "weekday": lambda sign, heavy, wick, t: int(sign[t]) * (1 if t // (HOUR * DAY) % WEEK % 2 else -1),
}
"""Name → the likely next sign from the candles up to t: their signs, heaviness and longer wick (upper 1, lower −1)."""


def market(rule: str, seed: int, rows: int) -> DatasetDir:
    """Make candles whose next sign is the rule's with a chance of LIKELY; sizes and volumes are drawn independently."""
    draw = np.random.default_rng([seed, list(RULES).index(rule)])
    heavy, obeys = draw.choice([-1, 1], rows), np.where(draw.random(rows) < LIKELY, 1, -1)
    sign: Signs = draw.choice([-1, 1], rows)
    size = SIZE * np.exp(SPREAD * draw.standard_normal(rows))
    reach = np.abs(draw.standard_normal((2, rows))) * SIZE / 2
    wick = np.where(reach[0] > reach[1], 1, -1)
    for t in range(LAG, rows - 1):
        sign[t + 1] = RULES[rule](sign, heavy, wick, t) * obeys[t + 1]
    close = 100 * np.exp(np.cumsum(sign * size))
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
