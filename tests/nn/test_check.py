"""`python -m nn check`: a right step passes, a wrong one would not, and memory is a peak."""

from __future__ import annotations

import dataclasses

import pytest

from nn import check
from nn.config import ModelConfig
from nn.device import choose

SMALL = ModelConfig(d_model=16, n_layers=1, n_heads=2, sequence_length=32, batch_size=4)


def test_the_gradient_of_a_step_is_that_of_float64() -> None:
    assert check.gradient_error(SMALL, choose("cpu")) < 1e-5


def test_the_reference_is_the_slope_of_the_loss() -> None:
    assert check.slope_error(SMALL) < 1e-7


def test_a_step_in_less_precision_shows_in_the_error() -> None:
    rough = dataclasses.replace(choose("cpu"), dtype="bfloat16")
    assert check.gradient_error(SMALL, rough) > 1e-3


def test_gradient_checkpointing_lowers_the_peak() -> None:
    on, off = check.peak_bytes(dataclasses.replace(SMALL, d_model=64, n_layers=4, sequence_length=100), "cpu")
    assert 0 < on < 0.9 * off


@pytest.mark.gpu
def test_this_card_passes_the_whole_check() -> None:
    said: list[str] = []
    assert check.check("cuda", said.append) == 0
    assert any(line == "training step: right" for line in said)
