"""Warnings of a training that goes nowhere, each with a control that must stay silent."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from nn.learner import StepResult
from nn.watch import STUCK_STEPS, Watch


def test_a_loss_of_0_is_said_at_once_and_once() -> None:
    watch = Watch()
    assert [code for code, _ in watch.after_step(step(0.0))] == ["loss_zero"]
    assert watch.after_step(step(0.0)) == []


def test_a_loss_that_stands_still_for_50_steps_is_said() -> None:
    assert codes(Watch(), [step(1.5)] * STUCK_STEPS) == []
    assert codes(Watch(), [step(1.5)] * (STUCK_STEPS + 1)) == ["loss_stuck"]


def test_a_loss_that_moves_is_not() -> None:
    assert codes(Watch(), [step(1.5 - 1e-4 * i) for i in range(200)]) == []


def test_one_class_for_every_candle_of_50_steps_is_said() -> None:
    one = np.array([[3, 0], [4, 0]])
    assert codes(Watch(), [step(1 + 0.1 * i, one) for i in range(STUCK_STEPS)]) == ["one_class"]


@pytest.mark.parametrize("every", [2, STUCK_STEPS - 1])
def test_one_class_now_and_then_is_not(every: int) -> None:
    one, both = np.array([[3, 0], [4, 0]]), np.array([[3, 1], [4, 0]])
    matrices = [both if i % every == 0 else one for i in range(200)]
    assert codes(Watch(), [step(1 + 0.1 * i, matrix) for i, matrix in enumerate(matrices)]) == []


def test_one_class_where_every_target_is_of_it_is_right() -> None:
    alike = np.array([[7, 0], [0, 0]])
    assert codes(Watch(), [step(1 + 0.1 * i, alike) for i in range(2 * STUCK_STEPS)]) == []


def test_a_skipped_step_is_said_once_with_its_cause() -> None:
    watch = Watch()
    assert watch.after_step(step(float("nan"), skipped="loss not finite"))[0][0] == "non_finite"
    assert watch.after_step(step(float("nan"), skipped="loss not finite")) == []


def test_a_resumed_watch_says_nothing_twice_and_goes_on_counting() -> None:
    watch = Watch()
    assert codes(watch, [step(0.0), *[step(1.5)] * 30]) == ["loss_zero"]
    resumed = Watch.from_json(watch.to_json())
    assert codes(resumed, [step(0.0)]) == []
    assert codes(resumed, [step(1.5)] * (STUCK_STEPS + 1)) == ["loss_stuck"]


def codes(watch: Watch, steps: list[StepResult]) -> list[str]:
    return [code for result in steps for code, _ in watch.after_step(result)]


def step(loss: float, trend: npt.NDArray[np.int64] | None = None, skipped: str | None = None) -> StepResult:
    matrix = np.array([[3, 2], [4, 1]]) if trend is None else trend
    return StepResult(
        loss=loss,
        head_losses={},
        confusion={"trend": matrix},
        gradient_norm=1.0,
        learning_rate=1e-3,
        skipped=skipped,
        losses={},
    )
