"""Running figures: exact means over 100, 1,000 and all candles, intervals, and a state that survives exactly."""

import json
import math

import numpy as np
import pytest
from scipy.stats import binomtest, ttest_1samp

from nn.figures import PREDICTORS, RIVALS, BlockMeans, Figures, nll, verdict_of, wilson


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


def test_the_gap_to_each_rival_is_students_interval_of_block_means() -> None:
    figures, p, outcomes = filled(1301)
    losses = -np.log(p[np.arange(1301), :, outcomes])
    for window, rows in (("100", losses[-100:]), ("1000", losses[-1000:]), ("all", losses[:1300])):
        told = figures.to_json()[window]["baselines"]
        for column, name in enumerate(RIVALS, start=1):
            means = (rows[:, 0] - rows[:, column]).reshape(-1, 10).mean(axis=1)
            interval = ttest_1samp(means, 0).confidence_interval(0.95)
            assert told[name]["gap"] == pytest.approx([interval.low, interval.high], abs=2e-5), (window, name)


def test_too_few_candles_give_no_verdict() -> None:
    figures, _, _ = filled(49)
    told = figures.to_json()["100"]
    assert (told["verdict"], told["baselines"]["start"]["gap"]) == (None, None)
    assert filled(50)[0].to_json()["100"]["verdict"] is not None


@pytest.mark.parametrize("n", [55, 100, 996])
def test_windows_over_the_same_candles_say_the_same(n: int) -> None:
    told = filled(n)[0].to_json()
    assert told["1000"] == told["all"]
    assert (told["100"] == told["all"]) == (n <= 100)


def test_targets_that_overlap_are_judged_by_longer_blocks() -> None:
    assert (Figures().block, Figures(overlap=5).block) == (10, 20)


@pytest.mark.parametrize(("model", "verdict"), [(0.6, "better than guessing"), (0.2, "not better"), (0.05, "worse")])
def test_the_words_say_how_the_model_stands_to_guessing(model: float, verdict: str) -> None:
    draw, figures = np.random.default_rng(4), Figures()
    for outcome in draw.integers(0, 5, 200).tolist():
        rest = (1 - model) / 4
        said = all_say([0.2] * 5) | {"model": [model if k == outcome else rest for k in range(5)]}
        figures.add(said, 0, outcome)
    told = figures.to_json()
    assert {window["verdict"] for window in told.values()} == {verdict}


def test_the_start_model_alone_decides_no_verdict() -> None:
    ahead = {name: [-0.2, -0.1] for name in ("majority", "persistence", "logistic")}
    assert verdict_of({"start": [0.1, 0.2], **ahead}) == "better than guessing"


def test_a_random_walk_is_seldom_called_better_than_guessing() -> None:
    calls = 0
    for seed in range(100):
        draw, figures = np.random.default_rng(seed), Figures()
        p, outcomes = draw.dirichlet(np.full(5, 50.0), size=(100, len(PREDICTORS))), draw.integers(0, 5, 100)
        for row, outcome in zip(p, outcomes, strict=True):
            figures.add(dict(zip(PREDICTORS, row.tolist(), strict=True)), 2, int(outcome))
        calls += figures.to_json()["100"]["verdict"] == "better than guessing"
    assert calls <= 5


def test_block_means_taken_one_by_one_and_at_once_are_the_same() -> None:
    differences = np.random.default_rng(1).normal(size=(120, 3))
    single = BlockMeans(3, 10)
    for row in differences:
        single.add(row)
    assert np.allclose(single.intervals(), BlockMeans.of(differences, 10).intervals(), atol=1e-5)
