"""Drift alarms: a rise of the loss is heard, steady noise is not, and the dummy beside it means nothing."""

import json

import numpy as np
import pytest

from nn.drift import DUMMY_EVERY, Drift


def losses(n: int, mean: float, seed: int = 0) -> list[float]:
    return [mean + 0.5 * noise for noise in np.random.default_rng(seed).normal(size=n).tolist()]


def alarms(drift: Drift, stream: list[float]) -> list[int]:
    return [i for i, loss in enumerate(stream) if drift.update(loss)]


def test_a_loss_that_rises_for_good_gives_an_alarm_soon_after() -> None:
    (heard,) = alarms(Drift(), losses(1000, 1.5) + losses(300, 1.9, seed=1))
    assert 1000 < heard < 1200


@pytest.mark.parametrize("seed", range(5))
def test_steady_noise_gives_none(seed: int) -> None:
    assert alarms(Drift(), losses(4000, 1.5, seed)) == []


def test_a_loss_that_falls_is_no_alarm() -> None:
    assert alarms(Drift(), losses(500, 1.9) + losses(500, 1.4, seed=1)) == []


def test_after_a_true_alarm_the_loss_is_higher_after_the_dummys_it_is_not() -> None:
    drift = Drift()
    alarms(drift, losses(2200, 1.5) + losses(800, 2.1, seed=1))
    told = drift.to_json()
    assert told["alarms"] == 1
    assert told["dummy"]["alarms"] == 3000 // DUMMY_EVERY
    assert told["rise"] > 0.3 > told["dummy"]["rise"]


def test_the_state_survives_as_text_exactly() -> None:
    whole, stream = Drift(), losses(700, 1.5) + losses(400, 1.9, seed=1)
    expected = alarms(whole, stream)
    first = Drift()
    before = alarms(first, stream[:730])
    second = Drift.restore(json.loads(json.dumps(first.state())))
    assert before + [730 + i for i in alarms(second, stream[730:])] == expected != []
    assert second.to_json() == whole.to_json()
    assert second.state() == whole.state()


def test_the_mean_losses_around_an_alarm_are_those_of_the_last_candles_and_those_before() -> None:
    drift = Drift()
    alarms(drift, [1.0] * 100 + [2.0] * 100)
    assert drift.losses() == (2.0, 1.0)
