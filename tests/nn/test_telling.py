"""How long a run will still take: by the pace of all that goes on, deaf to a pause, judging told beforehand."""

from __future__ import annotations

import numpy as np
import pytest

from nn.config import BatchConfig
from nn.events import BatchDone
from nn.learner import Learner, Schedule, StepResult
from nn.progress import Progress
from nn.telling import ANSWERING, Telling
from nn.training_data import prepare
from tests.nn.test_fit import N, job

STEP_S, BESIDE_S, PAUSE_S = 1.0, 3.0, 10_000.0  # of a step, of live work beside each, of a pause
BATCHES = [40, 40, 40]


def test_the_time_that_is_left_is_that_of_the_steps_with_what_goes_on_between_them_and_of_judging() -> None:
    telling, clock = told(paused_at=15)
    telling.judging_s = 7.0
    assert eta(telling, batch=20) == pytest.approx((120 - 20) * (STEP_S + BESIDE_S) + (3 + TEST_SHARE) * 7.0)
    assert clock.now > PAUSE_S


def test_the_pace_is_that_of_the_steps_alone() -> None:
    telling, _ = told(paused_at=15)
    assert said(telling, batch=20).windows_per_s == pytest.approx(8 / STEP_S)


def test_before_anything_was_judged_it_is_reckoned_with() -> None:
    telling, _ = told(paused_at=None)
    answers = VALIDATION_ROWS / CONFIG.stride * STEP_S / 8 * ANSWERING
    assert eta(telling, batch=20) == pytest.approx(100 * (STEP_S + BESIDE_S) + (3 + TEST_SHARE) * answers)


CONFIG = BatchConfig.from_json(job().config.to_json() | {"epochs": 3})
DATA = prepare(CONFIG, job().dataset)
VALIDATION_ROWS = round(N * 0.85) - round(N * 0.7) - 2 * 3  # less purge and embargo of three candles
TEST_SHARE = (N - round(N * 0.85) - 3) / VALIDATION_ROWS


class Clock:
    """A clock that is moved by hand."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def told(paused_at: int | None) -> tuple[Telling, Clock]:
    """Take 20 steps, each with work beside it, and one pause where it is asked for."""
    clock = Clock()
    telling = Telling(job(epochs=3), DATA, BATCHES, clock)
    telling.epoch_begins()
    for step in range(20):
        clock.now += BESIDE_S + STEP_S + (PAUSE_S if step == paused_at else 0.0)
        telling.took(8, STEP_S)
    return telling, clock


def said(telling: Telling, batch: int) -> BatchDone:
    result = StepResult(1.0, {}, {"candle": np.eye(5, dtype=np.int64)}, 1.0, 1e-3, None, {})
    return telling.batch_done(Progress(batch=batch), result, Learner(CONFIG, Schedule(1e-3)))


def eta(telling: Telling, batch: int) -> float:
    return said(telling, batch).eta_s
