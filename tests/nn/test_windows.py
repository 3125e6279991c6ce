"""Windows are views: right rows in right order, and no copy of the series for each."""

from __future__ import annotations

import numpy as np
import torch

from nn.device import resident_bytes
from nn.features import FEATURES
from nn.windows import Windows


def test_a_batch_holds_the_rows_that_start_where_it_was_asked() -> None:
    rows = np.arange(50 * 3, dtype=np.float32).reshape(50, 3)
    windows = Windows(rows, {"candle": np.arange(50)}, 10)
    batch = windows.batch(np.array([40, 0, 7]))
    assert len(windows) == 41
    assert batch.x.shape == (3, 10, 3)
    assert np.array_equal(batch.x[0].numpy(), rows[40:50])
    assert np.array_equal(batch.x[2].numpy(), rows[7:17])
    assert batch.targets["candle"][1].tolist() == list(range(10))


def test_a_batch_is_a_copy_that_the_next_step_may_change() -> None:
    windows = Windows(np.zeros((30, 2), np.float32), {"candle": np.zeros(30, np.int64)}, 5)
    batch = windows.batch(np.array([0]))
    batch.x.add_(1)
    batch.targets["candle"].add_(1)
    again = windows.batch(np.array([0]))
    assert not again.x.any()
    assert not again.targets["candle"].any()


def test_a_large_series_is_held_once_not_once_a_window() -> None:
    rows = np.zeros((200_000, len(FEATURES)), np.float32)
    rows[:] = 1.0
    before = resident_bytes()
    windows = Windows(rows, {"candle": np.zeros(200_000, np.int64)}, 200)
    assert bool(torch.isfinite(windows.batch(np.arange(16)).x).all())
    assert resident_bytes() - before < 4 * rows.nbytes  # written out they would be 200 times as much
