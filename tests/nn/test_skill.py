"""The default Transformer learns what can be learnt of the simulated market, and nothing where nothing can be."""

from __future__ import annotations

import pytest

from nn.config import BatchConfig
from tests.nn.simulated import dataset, skill, trained

ROWS = 20_000


@pytest.mark.slow
def test_three_epochs_come_near_the_best_possible_accuracy() -> None:
    data, config = dataset(1, ROWS), BatchConfig(epochs=3, seed=1)
    run = trained(config, data)
    assert run.weights is not None
    reached = skill(1, config, data, run.weights)
    assert reached.candle >= 0.92
    assert reached.trend >= 0.95
    assert run.epochs[-1].verdict == "better than the baselines"


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_shuffled_targets_are_memorised_and_called_no_better_than_the_baselines() -> None:
    run = trained(BatchConfig(epochs=6, seed=1, shuffle_targets=True), dataset(1, ROWS))
    validated = [epoch.validation for epoch in run.epochs if epoch.validation]
    assert run.epochs[-1].train["candle_accuracy"] > 0.3
    best = min(validated, key=lambda part: float(part["heads"]["candle"]["nll"]))
    _, high = best["heads"]["candle"]["against"]["majority"]["interval"]
    assert high >= 0
    assert all(epoch.verdict == "not better than the baselines" for epoch in run.epochs)
    assert "not_better" in run.warnings
    assert run.weights is None
