"""Rules that no linear model sees, and what patches of candles cost and gain."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import torch

from bench.report import Measure, alternate, ratios
from nn.config import BatchConfig, ModelConfig
from nn.learner import Learner, Schedule
from nn.targets import head_classes
from nn.windows import noise
from tests.nn.rules import RULES, share_of_possible

ROWS = 60_000
EPOCHS = 4
SEEDS = (1, 2, 3)
STEPS = 6
PATCH = 4


def measures() -> Iterator[Measure]:
    """Measure speed first, on one thread, then learn each rule on each seed, one token a candle and one for four."""
    torch.set_num_threads(1)
    yield _patches()
    for patch in (1, PATCH):
        for rule in RULES:
            yield _rule(rule, patch)


def _patches() -> Measure:
    rates = [_rate(ModelConfig(patch_size=patch)) for patch in (PATCH, 1)]
    pairs = alternate(rates[0], rates[1])
    return Measure(
        f"windows a CPU second, one token for {PATCH} candles", "one token a candle", ratios(pairs), 2.0, "at least"
    )


def _rate(config: ModelConfig) -> Callable[[], float]:
    learner, batch = Learner(config, Schedule(2e-3)), noise(config, head_classes(()))

    def measured() -> float:
        began = time.process_time()
        for _ in range(STEPS):
            learner.step(batch)
        return STEPS / (time.process_time() - began)

    return measured


def _rule(rule: str, patch: int) -> Measure:
    reached, linear = [], []
    for seed in SEEDS:
        config = BatchConfig(epochs=EPOCHS, seed=seed, trend_horizon=1, patch_size=patch)
        ours, logistic = share_of_possible(rule, config, seed, ROWS)
        reached.append(ours)
        linear.append(logistic)
    note = f"logistic regression {max(linear):.3g} at most; patch_size {patch}"
    return Measure(f"rule {rule}, {EPOCHS} epochs, accuracy", "what is possible", reached, 0.97, "at least", note)
