"""What live learning is worth: each policy against not learning, and all of it against river's validation.

Every market is trained on up to a moment, then played candle by candle, as in a live run, on candles that nothing saw.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from river import linear_model, optim, preprocessing

from annotate import simulator
from annotate.sample import MARKETS, read_sample
from bench.few_labels import LARGE
from bench.report import Measure
from nn.checkpoint import Weights
from nn.config import BatchConfig, LiveConfig
from nn.dataset_dir import COLUMNS, Candles, DatasetDir
from nn.device import choose
from nn.events import CandleScored
from nn.figures import BlockMeans, nll
from nn.fit import Control, fit
from nn.job import Job
from nn.live_session import Session, Setting
from nn.tape import targets_at
from nn.targets import BUCKETS, MASKED

Floats = npt.NDArray[np.float64]

FEED = 1_000
EPOCHS = {"SIM/USDT 1s": 3, "EUR/USD 1h": 8, "L1": 3}
HISTORY = {"SIM/USDT 1s": 20_000, "EUR/USD 1h": 5_000, "L1": 20_000}
SEEDS = {"EUR/USD 1h": 5}  # there a model hardly knows more than logistic regression, and the seed says which is ahead
L1 = "L1_kraken_XBTUSD_60.csv"
BLOCK = 20  # candles; neighbours are alike
POLICIES: dict[str, Mapping[str, Any]] = {
    "replay": {},
    "replay without a running mean": {"ema_decay": 0.0},
    "replay at 1e-3": {"learning_rate": 1e-3},
    "replay every candle": {"learn_every": 1},
    "last": {"policy": "last", "learning_rate": 1e-4},
    "last at 1e-3": {"policy": "last", "learning_rate": 1e-3},
}
MOST = 1.01  # the default may cost a hundredth of the loss where there is nothing to learn, no more


@dataclass(frozen=True, slots=True)
class Market:
    """Candles before the feed, those of the feed, and weights trained on the former."""

    name: str
    timeframe_ms: int
    history: Candles
    feed: Candles
    weights: Weights


def measures() -> Iterator[Measure]:
    """Measure each market; those of the folder of facts only where it is there."""
    torch.set_num_threads(1)
    for name, timeframe_ms, candles in _markets():
        market, *others = (_trained(name, timeframe_ms, candles, seed) for seed in range(SEEDS.get(name, 1)))
        still = played(market, {"policy": "none"})
        for policy, changes in POLICIES.items():
            losses = played(market, changes)
            yield _against(f"{name}: NLL learning by {policy}", "not learning", losses, still, _bar(policy))
            if policy == "replay":
                each = np.stack([losses, *(played(other, changes) for other in others)])  # (seeds, n)
                told = f"{name}: prequential NLL, mean of {len(each)} seeds"
                yield _against(told, "river's softmax regression", each.mean(axis=0), rival(market), 1.0)


def played(market: Market, changes: Mapping[str, Any]) -> Floats:
    """Give the candle's NLL of each candle of the feed, (n,), NaN where it was not scored."""
    run, losses = _session(market, changes), list[float]()
    run.open(int(market.feed.time[0]), 0.0)
    following = [*market.feed.time[1:].tolist(), None]
    for row, next_time in enumerate(following):
        said = run.step(market.feed.slice(row, row + 1), next_time, 0.0)
        (scored,) = [event for event in said if isinstance(event, CandleScored)]
        losses.append(np.nan if scored.loss is None else scored.loss)
    return np.array(losses)


def rival(market: Market) -> Floats:
    """Give what river's softmax regression loses on the same candles, features and classes, scored before it learns.

    It learns the history first, one candle after the other, as it goes on to do; of two step sizes the better counts.
    """
    run = _session(market, {"policy": "none"})
    first = len(run.tape)
    for row in range(len(market.feed)):
        run.tape.append(market.feed.slice(row, row + 1))
    rows = np.arange(len(run.tape))
    classes = targets_at(run.tape, rows, int(rows[-1]), run.learner.edges, run.config.trend_horizon)["candle"]
    both = [_progressive(run.tape.rows.values, classes, rate)[first - 1 : -1] for rate in (0.01, 0.003)]
    return min(both, key=lambda losses: float(np.nanmean(losses)))


def _progressive(rows: npt.NDArray[np.float32], classes: npt.NDArray[np.int64], rate: float) -> Floats:
    """Give the NLL at each row (n,) before that row is learnt; NaN where it has no class."""
    model = preprocessing.StandardScaler() | linear_model.SoftmaxRegression(optim.SGD(rate))
    losses = np.full(len(rows), np.nan)
    for row, outcome in enumerate(classes.tolist()):
        if outcome == MASKED:
            continue
        x = dict(enumerate(rows[row].tolist()))
        said = model.predict_proba_one(x)
        p = [max(said.get(k, 0.0), 1e-3) for k in range(BUCKETS)]  # a class that it has not met yet is not impossible
        losses[row] = nll([each / sum(p) for each in p], outcome)
        model.learn_one(x, outcome)
    return losses


def _against(name: str, peer: str, ours: Floats, theirs: Floats, bar: float) -> Measure:
    both = np.isfinite(ours) & np.isfinite(theirs)
    a, b = ours[both], theirs[both]
    count = len(a) // BLOCK * BLOCK
    ((low, high),) = BlockMeans.of((a - b)[:count, None], BLOCK).intervals()
    change = f"difference {a.mean() - b.mean():+.3f} [{low:+.3f}, {high:+.3f}]"
    note = f"n {len(a)}, {a.mean():.3f} and {b.mean():.3f} nats, {change}"
    return Measure(name, peer, [float(a.mean() / b.mean())], bar, "at most", note)


def _bar(policy: str) -> float:
    return MOST if policy == "replay" else 10.0  # the others are measured, not recommended


def _markets() -> Iterator[tuple[str, int, Candles]]:
    simulated = simulator.simulate(rows=HISTORY["SIM/USDT 1s"] + FEED)
    yield "SIM/USDT 1s", 1000, Candles(**{name: getattr(simulated, name) for name in COLUMNS})
    sample = read_sample(MARKETS[0])
    yield "EUR/USD 1h", 3_600_000, Candles(*(getattr(sample, name) for name in COLUMNS))
    if (LARGE / L1).is_file():
        rows = np.loadtxt(LARGE / L1, delimiter=",", skiprows=1, usecols=range(6))
        yield "L1", 3_600_000, Candles((rows[:, 0] * 1000).astype(np.int64), *(rows[:, i].copy() for i in range(1, 6)))


def _trained(name: str, timeframe_ms: int, candles: Candles, seed: int) -> Market:
    first = len(candles) - FEED
    history = candles.slice(max(0, first - HISTORY[name]), first)
    dataset = DatasetDir({"timeframe_ms": timeframe_ms, "timeframe": "", "symbol": name, "labels": []}, history, [])
    config = BatchConfig(epochs=EPOCHS[name], split=[85, 15, 0], seed=seed)
    steps = fit(Job(run_id=1, config=config, dataset=dataset, device=choose("cpu"), threads=1), Control())
    while True:
        try:
            next(steps)
        except StopIteration as end:
            weights: Weights = end.value
            break
    return Market(name, timeframe_ms, history, candles.slice(first, len(candles)), weights)


def _session(market: Market, changes: Mapping[str, Any]) -> Session:
    manifest = {"timeframe_ms": market.timeframe_ms, "timeframe": "", "symbol": market.name, "labels": []}
    return Session(
        Setting(
            run_id=1,
            config=LiveConfig.from_json(dict(changes)),
            history=DatasetDir(manifest, market.history, []),
            device=choose("cpu"),
            threads=1,
            clock=lambda: 0,
            weights=market.weights,
        )
    )
