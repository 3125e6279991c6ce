"""Builders for tests of live learning: a seeded market, dataset directories, small configs, commands."""

from pathlib import Path
from typing import Any

import numpy as np

from nn import commands
from nn.dataset_dir import Candles, write

MINUTE = 60_000
START = 1_700_000_040_000  # a Tuesday; no timetable shows in so short a series


def market(n: int, seed: int = 0, *, start: int = START) -> Candles:
    """Give n one-minute candles of a random walk with momentum, so that there is something to learn."""
    draw = np.random.default_rng(seed)
    returns, last = np.empty(n), 0.0
    for i, noise in enumerate(draw.normal(size=n)):
        last = 0.5 * last + noise
        returns[i] = last * 1e-3
    close = 100 * np.exp(np.cumsum(returns))
    open_ = np.concatenate([[100.0], close[:-1]])
    wick = np.abs(draw.normal(size=(2, n))) * 3e-4
    high, low = np.maximum(open_, close) * (1 + wick[0]), np.minimum(open_, close) * (1 - wick[1])
    return Candles(
        start + MINUTE * np.arange(n, dtype=np.int64), open_, high, low, close, 1 + np.abs(draw.normal(size=n))
    )


def dataset(
    folder: Path, candles: Candles, labels: tuple[str, ...] = (), marks: tuple[dict[str, Any], ...] = ()
) -> Path:
    """Write a dataset directory and give it."""
    manifest = {
        "symbol": "TEST/USDT",
        "timeframe": "1m",
        "timeframe_ms": MINUTE,
        "simulated": True,
        "labels": list(labels),
    }
    write(folder, manifest, candles, marks)
    return folder


def small(**changes: Any) -> dict[str, Any]:
    """Give the fields of a small model; tests that need another size change it."""
    return {"d_model": 16, "n_layers": 1, "n_heads": 2, "sequence_length": 24, "trend_horizon": 3, "seed": 1} | changes


def live(**changes: Any) -> dict[str, Any]:
    """Give the config of a live run of a small model."""
    return small(batch_size=4, learn_every=4, feed={"kind": "replay", "from": None, "speed": "max"}) | changes


def batch(**changes: Any) -> dict[str, Any]:
    """Give the config of a batch run of a small model."""
    return small(batch_size=8, epochs=2, stride=4) | changes


def candle_commands(run_id: int, candles: Candles) -> list[commands.CandleClosed]:
    """Give the command of each candle."""
    following = [*candles.time[1:].tolist(), None]
    return [
        commands.CandleClosed(
            run_id=run_id,
            time=int(candles.time[i]),
            open=float(candles.open[i]),
            high=float(candles.high[i]),
            low=float(candles.low[i]),
            close=float(candles.close[i]),
            volume=float(candles.volume[i]),
            next_time=following[i],
        )
        for i in range(len(candles))
    ]
