"""A rule that multiplies signs, which no linear model sees, is learnt; `python -m bench rules` holds the full bars."""

from __future__ import annotations

import pytest

from nn.config import BatchConfig
from tests.nn.rules import share_of_possible

ROWS = 20_000


@pytest.mark.slow
def test_a_product_of_two_signs_five_candles_apart_is_learnt_in_four_epochs() -> None:
    config = BatchConfig(epochs=4, seed=1, trend_horizon=1, patch_size=4)
    ours, logistic = share_of_possible("far_sign", config, 1, ROWS)
    assert ours >= 0.93
    assert logistic <= 0.6
