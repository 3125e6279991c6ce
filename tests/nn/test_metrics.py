"""Figures equal the ones of scikit-learn; intervals cover what they should."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, f1_score, matthews_corrcoef

from nn.metrics import (
    accuracy,
    balanced_accuracy,
    block_interval,
    confusion,
    figures,
    macro_f1,
    mcc,
    negative_log_likelihood,
    wilson,
)

DRAW = np.random.default_rng(4)
TARGETS = DRAW.integers(0, 5, 400)
ANSWERS = np.where(DRAW.random(400) < 0.4, TARGETS, DRAW.integers(0, 5, 400))
MATRIX = confusion(TARGETS, ANSWERS, 5)


def test_the_figures_are_those_of_scikit_learn() -> None:
    assert accuracy(MATRIX) == pytest.approx(float(np.mean(TARGETS == ANSWERS)))
    assert balanced_accuracy(MATRIX) == pytest.approx(balanced_accuracy_score(TARGETS, ANSWERS))
    assert mcc(MATRIX) == pytest.approx(matthews_corrcoef(TARGETS, ANSWERS))
    assert macro_f1(MATRIX) == pytest.approx(f1_score(TARGETS, ANSWERS, average="macro"))


def test_a_constant_answer_shows_its_class_share_and_no_skill() -> None:
    matrix = confusion(TARGETS, np.full(400, 3), 5)
    assert accuracy(matrix) == pytest.approx(float(np.mean(TARGETS == 3)))
    assert balanced_accuracy(matrix) == pytest.approx(0.2)
    assert mcc(matrix) == 0


def test_masked_targets_count_for_nothing() -> None:
    masked = np.where(np.arange(400) < 100, -1, TARGETS)
    assert confusion(masked, ANSWERS, 5).sum() == 300
    log_probabilities = np.log(np.full((400, 5), 0.2))
    assert negative_log_likelihood(log_probabilities, masked).sum() == pytest.approx(300 * np.log(5))
    assert figures(masked, log_probabilities, 50)["n"] == 300


def test_of_nothing_there_is_no_figure() -> None:
    nothing = figures(np.full(20, -1), np.log(np.full((20, 5), 0.2)), 5)
    assert nothing == dict.fromkeys(nothing) | {"n": 0}


@pytest.mark.parametrize(("blocks", "least"), [(5, 350), (10, 365), (60, 370)])
def test_the_interval_covers_the_true_mean_about_19_times_in_20_with_few_blocks_too(blocks: int, least: int) -> None:
    draw = np.random.default_rng(8)
    hits = 0
    for trial in range(400):
        interval = block_interval(draw.normal(size=10 * blocks), np.ones(10 * blocks), 10, seed=trial % 3)
        assert interval is not None
        hits += interval[0] <= 0 <= interval[1]
    assert least <= hits <= 395


def test_blocks_widen_the_interval_of_neighbours_that_resemble_each_other() -> None:
    alike = np.repeat(np.random.default_rng(2).normal(size=60), 20)
    single, blocks = (block_interval(alike, np.ones(1200), size) for size in (1, 20))
    assert single is not None
    assert blocks is not None
    assert blocks[1] - blocks[0] > 2 * (single[1] - single[0])


def test_too_few_blocks_give_no_interval() -> None:
    assert block_interval(np.ones(40), np.ones(40), 10) is None


def test_wilson_gives_the_known_interval() -> None:
    low, high = wilson(0.5, 100)
    assert (low, high) == pytest.approx((0.4038, 0.5962), abs=1e-4)
    assert wilson(0.0, 10)[0] == 0.0
