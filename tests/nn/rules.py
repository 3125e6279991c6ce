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
SPREAD = 0.4  # of the logarithm of sizes and volumes

RULES: dict[str, Callable[[Signs, Signs, int], int]] = {
    "two_signs": lambda sign, heavy, t: int(sign[t] * sign[t - 1]),
    "three_signs": lambda sign, heavy, t: int(sign[t] * sign[t - 1] * sign[t - 2]),
    "far_sign": lambda sign, heavy, t: int(sign[t] * sign[t - 5]),
    "volume": lambda sign, heavy, t: int(sign[t] * heavy[t]),
}
"""Name → the likely next sign from the signs and the heaviness (±1) of the candles up to t."""


def market(rule: str, seed: int, rows: int) -> DatasetDir:
    """Make candles whose next sign is the rule's with a chance of LIKELY; sizes and volumes are drawn independently."""
    draw = np.random.default_rng([seed, list(RULES).index(rule)])
    heavy, obeys = draw.choice([-1, 1], rows), np.where(draw.random(rows) < LIKELY, 1, -1)
    sign: Signs = draw.choice([-1, 1], rows)
    for t in range(5, rows - 1):
        sign[t + 1] = RULES[rule](sign, heavy, t) * obeys[t + 1]
    move = sign * SIZE * np.exp(SPREAD * draw.standard_normal(rows))
    close = 100 * np.exp(np.cumsum(move))
    start = np.concatenate([[100.0], close[:-1]])
    reach = np.abs(draw.standard_normal((2, rows))) * SIZE / 2
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
