"""Builders for tests of live learning: a seeded market, dataset directories, small configs, commands."""

from pathlib import Path
from typing import Any

import numpy as np

from nn import commands
from nn.checkpoint import Kept, Weights
from nn.config import LiveConfig
from nn.dataset_dir import COLUMNS, Candles, DatasetDir, write
from nn.device import choose
from nn.live_session import Session, Setting

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


def session(candles: Candles, *, weights: Weights | None = None, kept: Kept | None = None, **changes: Any) -> Session:
    """Open a live session on a history, without worker or files."""
    labels = list(changes.pop("labels", ()))
    manifest = {"symbol": "TEST/USDT", "timeframe": "1m", "timeframe_ms": MINUTE, "labels": labels}
    recorded = changes.pop("recorded", {})
    return Session(
        Setting(
            run_id=1,
            config=LiveConfig.from_json(live(**changes)),
            history=DatasetDir(manifest, candles, []),
            device=choose("cpu"),
            threads=1,
            clock=lambda: 0,
            weights=weights,
            kept=kept,
            recorded=recorded,
        )
    )


def play(run: Session, candles: Candles, *, first: bool = True) -> list[Any]:
    """Step through candles as a replay at speed max does; give every event."""
    events: list[Any] = run.open(int(candles.time[0]), 0.0) if first else []
    following = [*candles.time[1:].tolist(), None]
    for i, next_time in enumerate(following):
        events += run.step(candles.slice(i, i + 1), next_time, 0.0)
    return events


def joined(*parts: Candles) -> Candles:
    """Put stretches of candles one after the other."""
    return Candles(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in COLUMNS})


def of(kind: type[Any], events: list[Any]) -> list[Any]:
    """Give the events of one kind."""
    return [event for event in events if isinstance(event, kind)]
