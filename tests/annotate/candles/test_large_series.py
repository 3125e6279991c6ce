"""A series of a million candles is as quick to open as one of a thousand."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from annotate.candle_store import MAX_WINDOW
from annotate.candles import Candles
from annotate.timeframe import USER_TIMEFRAMES
from tests.annotate.candles.builders import Shelf, ms

ROWS = 1_000_000


def seconds(rows: int) -> Candles:
    time = ms("2024-01-01T00:00:00") + 1000 * np.arange(rows, dtype=np.int64)
    price = 100 + np.arange(rows) % 1000 / 10
    return Candles(time, price, price + 1, price - 1, price, np.ones(rows))


def test_a_million_candles_are_capped_whole_and_quick(shelf: Shelf) -> None:
    large, small = shelf.series(seconds(ROWS), "1s"), shelf.series(seconds(1_000), "1s")
    for timeframe in USER_TIMEFRAMES:
        window = shelf.store.window(large, None, None, timeframe, MAX_WINDOW)
        assert len(window.candles) <= MAX_WINDOW
        assert window.candles.volume.sum() == ROWS
    ratio = _best(lambda: _open(shelf, large)) / _best(lambda: _open(shelf, small))
    assert ratio < 20  # a few more files to map; reading them would cost a thousand times as much


def _open(shelf: Shelf, series_id: int) -> None:
    store = shelf.reopened()
    bounds = store.bounds(series_id)
    assert bounds.last is not None
    store.window(series_id, bounds.last - 300_000, None, None, 1_000)
    store.window(series_id, None, None, None, 1_000)


def _best(call: Callable[[], None]) -> float:
    times = []
    for _ in range(7):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)
