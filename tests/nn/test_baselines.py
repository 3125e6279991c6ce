"""Baselines: each says what it should on data where the right answer is known."""

from __future__ import annotations

import time

import numpy as np
import pytest

from nn.baselines import Logistic, Persistence, last_classes, majority
from nn.metrics import negative_log_likelihood

DRAW = np.random.default_rng(6)


def test_the_majority_says_the_most_frequent_class_of_these_very_rows() -> None:
    targets = np.array([2, 2, 2, 0, 1, -1, -1, -1, -1])
    answers = majority(targets, 3)
    assert set(answers.predicted.tolist()) == {2}
    assert np.exp(answers.log_probabilities[0]) == pytest.approx([0.2, 0.2, 0.6])


def test_persistence_says_the_last_class_and_knows_how_often_it_stayed() -> None:
    targets = np.repeat(DRAW.integers(0, 3, 200), 5)
    last = last_classes(targets, 1)
    answers = Persistence.fit(last, targets, 3).answer(last)
    assert np.array_equal(answers.predicted[1:], targets[:-1])
    assert np.exp(answers.log_probabilities[1:]).max(axis=1) == pytest.approx(0.86, abs=0.05)
    assert negative_log_likelihood(answers.log_probabilities, targets).mean() < np.log(3) / 2


def test_an_unknown_last_class_gets_the_frequencies() -> None:
    targets = np.array([1, 1, 1, 0])
    fitted = Persistence.fit(np.full(4, -1), targets, 2)
    assert fitted.answer(np.array([-1])).predicted.tolist() == [1]


def test_the_last_class_of_a_trend_is_the_one_that_fell_due() -> None:
    assert last_classes(np.array([1, 0, 1, 0, 1]), 3).tolist() == [-1, -1, -1, 1, 0]


def test_logistic_regression_learns_a_linear_rule() -> None:
    rows = DRAW.normal(size=(3000, 4)).astype(np.float32)
    targets = (rows @ np.array([[1, 0, 0], [0, 2, 0], [0, 0, 1], [1, 1, 1]])).argmax(axis=1)
    answers = Logistic.fit(rows[:2000], targets[:2000], 3).answer(rows[2000:])
    assert np.mean(answers.predicted == targets[2000:]) > 0.9
    assert np.exp(answers.log_probabilities).sum(axis=1) == pytest.approx(np.ones(1000))


@pytest.mark.parametrize("targets", [np.full(50, -1), np.full(50, 2), np.r_[np.zeros(25, int), np.full(25, 3)]])
def test_logistic_regression_takes_rows_with_few_classes(targets: np.ndarray[tuple[int], np.dtype[np.int64]]) -> None:
    rows = DRAW.normal(size=(50, 3)).astype(np.float32)
    rows[:, 2] = 1.0  # a feature that never changes
    answers = Logistic.fit(rows, targets, 4).answer(rows)
    assert np.isfinite(answers.log_probabilities).all()
    assert set(answers.predicted.tolist()) <= set(targets[targets >= 0].tolist()) | {0}


@pytest.mark.parametrize("count", [12, 40, 400])
def test_logistic_regression_of_few_rows_stays_about_as_good_as_their_frequencies(count: int) -> None:
    draw = np.random.default_rng(4)
    rows, targets = draw.normal(size=(count + 2000, 6)).astype(np.float32), draw.integers(0, 5, count + 2000)
    rows[:, 5] = np.arange(len(rows)) / 1e4  # a clock, which hardly moves in the train rows and goes far after them
    answers = Logistic.fit(rows[:count], np.minimum(targets[:count], 3), 5).answer(rows[count:])
    loss = negative_log_likelihood(answers.log_probabilities, targets[count:]).mean()
    assert loss < np.log(5) + 1.2
    assert loss < np.log(count + 5)  # what nothing but the row that was added would cost


def test_a_large_series_is_fitted_on_a_part_of_it_in_little_time() -> None:
    rows, targets = DRAW.normal(size=(300_000, 21)).astype(np.float32), DRAW.integers(0, 5, 300_000)
    start = time.process_time()
    Logistic.fit(rows, targets, 5)
    assert time.process_time() - start < 5
