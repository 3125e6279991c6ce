"""Calibration: honest answers are left alone, too sure ones are cooled by what made them so."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from nn.calibration import calibration, cooled, error_of, fit_temperature, reliability

Floats = npt.NDArray[np.float64]
Classes = npt.NDArray[np.int64]

N = 20_000


def honest(seed: int = 0, k: int = 3) -> tuple[Floats, Classes]:
    """Make answers, and targets that are drawn from just these probabilities."""
    draw = np.random.default_rng(seed)
    scores = draw.normal(0, 1.5, (N, k))
    log_probabilities = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    places = np.exp(log_probabilities).cumsum(axis=1)
    return log_probabilities, (draw.random(N)[:, None] > places).sum(axis=1).clip(0, k - 1)


def test_honest_answers_are_hardly_off_and_keep_their_temperature() -> None:
    found = calibration(*honest())
    assert found is not None
    assert found["ece"] < 0.015
    assert found["temperature"] == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize("factor", [0.5, 3.0])
def test_answers_that_are_too_sure_or_too_shy_get_the_temperature_that_undoes_it(factor: float) -> None:
    told, came = honest()
    wrong = cooled(told, 1 / factor)
    found = calibration(wrong, came)
    assert found is not None
    assert found["temperature"] == pytest.approx(factor, rel=0.05)
    assert found["ece"] > 0.06
    assert found["ece_after"] < 0.015
    assert np.allclose(cooled(wrong, found["temperature"]), told, atol=0.15)


def test_bins_count_every_answer_once_and_hold_what_was_told_and_came() -> None:
    told = np.log(np.array([[0.9, 0.1], [0.9, 0.1], [0.45, 0.55], [0.5, 0.5]]))
    bins = reliability(told, np.array([0, 1, 1, 0]))
    assert [(of["told"], of["came"], of["n"]) for of in bins] == [
        (pytest.approx(0.525), 1.0, 2),
        (pytest.approx(0.9), 0.5, 2),
    ]
    assert error_of(bins) == pytest.approx((0.475 * 2 + 0.4 * 2) / 4)


def test_targets_that_do_not_count_are_left_out() -> None:
    told, came = honest()
    masked = np.where(np.arange(N) % 2, came, -1)
    assert calibration(told, masked) == calibration(told[1::2], came[1::2])


def test_there_is_no_calibration_of_nothing_or_of_numbers_that_are_not_finite() -> None:
    told, came = honest()
    assert calibration(told, np.full(N, -1)) is None
    assert calibration(np.where(np.arange(N)[:, None] == 7, np.nan, told), came) is None
    assert fit_temperature(told[:0], came[:0]) == 1.0
