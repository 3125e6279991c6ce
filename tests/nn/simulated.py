"""Batch runs on the simulated market, scored under its true law, which takes the luck of the labels out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from annotate.simulator import expected_accuracy, simulate_law
from nn import events
from nn.checkpoint import Weights
from nn.config import BatchConfig
from nn.dataset_dir import COLUMNS, Candles, DatasetDir
from nn.device import choose
from nn.features import compute
from nn.fit import Control, fit
from nn.job import Job
from nn.judging import judge
from nn.snapshot import Snapshot
from nn.training_data import prepare
from nn.windows import Windows


class Trained(NamedTuple):
    """A finished run: its epochs, what it warned of, the weights that it chose."""

    epochs: list[events.EpochDone]
    warnings: list[str]
    weights: Weights | None


class Skill(NamedTuple):
    """Expected accuracy on the validation candles under the true law, over the best possible one, a head."""

    candle: float
    trend: float


def dataset(seed: int, rows: int) -> DatasetDir:
    """Make a dataset of the first rows of SIM/USDT, unlabelled."""
    full = simulate_law(seed).candles
    candles = Candles(*(np.asarray(getattr(full, name))[:rows] for name in COLUMNS))
    manifest = {"symbol": "SIM/USDT", "timeframe": "1s", "timeframe_ms": 1000, "labels": [], "simulated": True}
    return DatasetDir(manifest, candles, [])


def trained(config: BatchConfig, data: DatasetDir) -> Trained:
    """Run a batch run to its end in this thread, one CPU thread."""
    job = Job(run_id=1, config=config, dataset=data, device=choose("cpu"), threads=1)
    run = fit(job, Control())
    said: list[events.Event | events.Message | None] = []
    while True:
        try:
            said.append(next(run))
        except StopIteration as end:
            weights: Weights | None = end.value
            break
    epochs = [event for event in said if isinstance(event, events.EpochDone)]
    return Trained(epochs, [event.code for event in said if isinstance(event, events.Warned)], weights)


def skill(seed: int, config: BatchConfig, data: DatasetDir, weights: Weights) -> Skill:
    """Score weights on the validation candles of their own split by the law that made the candles."""
    law = simulate_law(seed)
    prepared = prepare(config, data, weights.meta.edges)
    validation = prepared.split.validation
    assert validation is not None
    snapshot = Snapshot(
        number=1, step=0, data_cut=None, created_ms=0, params=weights.params, config=config,
        edges=weights.meta.edges, labels=(),
    )  # fmt: skip
    windows = Windows(prepared.rows, prepared.targets, config.sequence_length)
    judging = judge(snapshot, windows, prepared, validation, config.stride)
    while True:
        try:
            next(judging)
        except StopIteration as end:
            judged = end.value
            break
    rows = judged.rows
    sigma = np.ones(len(law.candles))
    sigma[: len(data.candles)] = compute(data.candles).sigma
    candle = law.candle_bayes(np.array(weights.meta.edges.candle), sigma)[rows]
    up = law.trend_up_probability(config.trend_horizon, 256, rows)
    trend = np.stack([1 - up, up], axis=1)
    told = {head: judged.log_probabilities[head].argmax(axis=1) for head in ("candle", "trend")}
    return Skill(
        expected_accuracy(told["candle"], candle) / float(candle.max(axis=1).mean()),
        expected_accuracy(told["trend"], trend) / float(trend.max(axis=1).mean()),
    )
