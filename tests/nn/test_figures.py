"""Running figures: exact means over 100, 1,000 and all candles, intervals, and a state that survives exactly."""

import json
import math

import numpy as np
import pytest
from scipy.stats import binomtest

from nn.figures import PREDICTORS, RIVALS, Figures, nll, wilson


def filled(n: int, seed: int = 0) -> tuple[Figures, np.ndarray, np.ndarray]:
    """Add n outcomes; give the figures, the model's P(class) of each and the outcomes."""
    draw, figures = np.random.default_rng(seed), Figures()
    p, outcomes = draw.dirichlet(np.ones(5), size=(n, len(PREDICTORS))), draw.integers(0, 5, n)
    for row, outcome in zip(p, outcomes, strict=True):
        figures.add(dict(zip(PREDICTORS, row.tolist(), strict=True)), 2, int(outcome))
    return figures, p, outcomes


def all_say(p: list[float]) -> dict[str, list[float]]:
    """Let every predictor give the same P(class)."""
    return dict.fromkeys(PREDICTORS, p)


def test_there_are_no_figures_before_the_first_score() -> None:
    assert Figures().to_json() == {}
    assert Figures().accuracy() is None


@pytest.mark.parametrize("n", [1, 99, 100, 101, 1000, 1301])
def test_each_window_holds_the_newest_candles_only(n: int) -> None:
    figures, p, outcomes = filled(n)
    hits, losses = p[:, 0].argmax(axis=1) == outcomes, -np.log(p[np.arange(n), 0, outcomes])
    for name, size in (("100", 100), ("1000", 1000), ("all", n)):
        told = figures.to_json()[name]
        assert told["n"] == min(size, n)
        assert told["accuracy"] == pytest.approx(hits[-size:].mean(), abs=1e-5)
        assert told["nll"] == pytest.approx(losses[-size:].mean(), abs=1e-5)
    assert figures.accuracy(100) == hits[-100:].mean()


def test_every_rival_is_scored_on_the_same_candles() -> None:
    figures, p, outcomes = filled(50)
    told = figures.to_json()["all"]["baselines"]
    for column, name in enumerate(RIVALS, start=1):
        assert told[name]["nll"] == pytest.approx(-np.log(p[np.arange(50), column, outcomes]).mean(), abs=1e-5)


def test_persistence_chooses_the_class_that_came_last() -> None:
    figures = Figures()
    certain = all_say([0.9, 0.05, 0.05])
    figures.add(certain, 1, 1)
    told = figures.to_json()["all"]
    assert told["baselines"]["persistence"]["accuracy"] == 1.0
    assert told["accuracy"] == told["baselines"]["majority"]["accuracy"] == 0.0


def test_without_a_last_class_persistence_takes_its_likeliest() -> None:
    figures = Figures()
    figures.add(all_say([0.9, 0.05, 0.05]), -1, 0)
    assert figures.to_json()["all"]["baselines"]["persistence"]["accuracy"] == 1.0


@pytest.mark.parametrize(("hits", "n"), [(0, 10), (20, 100), (33, 100), (100, 100)])
def test_the_interval_is_wilsons(hits: int, n: int) -> None:
    known = binomtest(hits, n).proportion_ci(method="wilson")
    assert wilson(hits / n, n) == pytest.approx((known.low, known.high))


def test_overlapping_targets_widen_the_interval() -> None:
    alone, overlapping = Figures(), Figures(overlap=5)
    for figures in (alone, overlapping):
        for i in range(60):
            figures.add(all_say([0.4, 0.6]), 0, i % 2)
    narrow, wide = (figures.to_json()["all"]["interval"] for figures in (alone, overlapping))
    assert wide[0] < narrow[0] < 0.5 < narrow[1] < wide[1]


def test_an_impossible_outcome_costs_much_but_not_infinity() -> None:
    assert nll([1.0, 0.0], 1) == pytest.approx(-math.log(1e-12))


@pytest.mark.parametrize("n", [0, 7, 1301])
def test_the_state_survives_as_text_exactly(n: int) -> None:
    figures, _, _ = filled(n)
    again = Figures.restore(json.loads(json.dumps(figures.state())))
    assert again.to_json() == figures.to_json()
    for each in (figures, again):
        each.add(all_say([0.2] * 5), 1, 3)
    assert again.to_json() == figures.to_json()
