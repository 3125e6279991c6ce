"""Baselines that live beside the model: they answer with what they counted before, and then count on."""

import numpy as np
import pytest

from nn.rivals import Rivals
from nn.targets import MASKED

ROW = np.zeros(2, np.float32)


def rivals(classes: list[int], last: list[int], k: int = 2) -> Rivals:
    rows = np.random.default_rng(0).normal(size=(len(classes), 2)).astype(np.float32)
    return Rivals.of(k, rows, np.array(classes), np.array(last))


def test_majority_answers_with_the_frequencies_of_all_past_outcomes() -> None:
    answers = rivals([0, 1, 1, 1, MASKED], [MASKED] * 5).answer(ROW, MASKED)
    assert answers["majority"] == pytest.approx([2 / 6, 4 / 6])  # one is added to each count


def test_persistence_answers_with_what_followed_the_last_class() -> None:
    some = rivals([0, 0, 0, 1], [1, 1, 0, 0])
    assert some.answer(ROW, 1)["persistence"] == pytest.approx([3 / 4, 1 / 4])
    assert some.answer(ROW, 0)["persistence"] == pytest.approx([2 / 4, 2 / 4])
    assert some.answer(ROW, MASKED)["persistence"] == pytest.approx(some.answer(ROW, MASKED)["majority"])


def test_an_outcome_counts_from_the_next_answer_on() -> None:
    some = rivals([0, 1], [0, 0])
    before = some.answer(ROW, 0)
    some.learn(0, 1)
    after = some.answer(ROW, 0)
    assert after["majority"][1] > before["majority"][1]
    assert after["persistence"][1] > before["persistence"][1]


def test_logistic_regression_learns_what_the_features_tell() -> None:
    rows = np.random.default_rng(1).normal(size=(400, 2)).astype(np.float32)
    classes = (rows[:, 0] > 0).astype(np.int64)
    some = Rivals.of(2, rows, classes, np.full(400, MASKED))
    assert some.answer(np.array([2.0, 0.0], np.float32), MASKED)["logistic"][1] > 0.95
    assert some.answer(np.array([-2.0, 0.0], np.float32), MASKED)["logistic"][1] < 0.05


def test_without_a_past_every_class_is_as_likely() -> None:
    answers = Rivals.of(5, np.empty((0, 2), np.float32), np.empty(0, np.int64), np.empty(0, np.int64)).answer(ROW, 3)
    assert all(p == pytest.approx([0.2] * 5) for p in answers.values())


def test_the_state_survives_exactly() -> None:
    some = rivals([0, 1, 1, 0, 1, 0], [1, 0, 0, 1, 1, 0])
    some.learn(1, 0)
    again = Rivals.restore(some.state())
    for last in (0, 1, MASKED):
        for name, p in some.answer(ROW, last).items():
            assert np.array_equal(p, again.answer(ROW, last)[name]), name
