"""A market as the few-label model sees it: log price in units of its slow σ, so that quiet and wild ones look alike."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.ndimage import maximum_filter1d, minimum_filter1d

from nn.dataset_dir import Candles

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

SLOW = 288  # candles of the slow σ
REACH = 4  # an extreme is the highest or lowest of this many candles to either side
TINY = 1e-12


class Market:
    """The price path of a series; a few arrays of one number a candle, however much is asked of it."""

    def __init__(self, candles: Candles) -> None:
        self.candles = candles
        self.log_price: Floats = np.log(np.maximum(candles.close, 1e-300))
        self.sigma = slow_sigma(self.log_price)

    def __len__(self) -> int:
        return len(self.log_price)

    @cached_property
    def places(self) -> Ints:
        """Give the positions of local highs and lows of the close; spans of swings begin and end at such."""
        width = 2 * REACH + 1
        high = maximum_filter1d(self.log_price, width) == self.log_price
        low = minimum_filter1d(self.log_price, width) == self.log_price
        return np.flatnonzero(high | low)


def slow_sigma(log_price: Floats) -> Floats:
    """Give the standard deviation of the last 288 log returns at each candle (n,), of fewer at first; above 0."""
    if not len(log_price):
        return np.empty(0)
    moves = np.diff(log_price, prepend=log_price[:1])
    count = np.minimum(np.arange(1, len(moves) + 1), SLOW)
    mean = _rolling_sum(moves) / count
    return np.asarray(np.sqrt(np.maximum(_rolling_sum(moves * moves) / count - mean * mean, TINY**2)))


def _rolling_sum(values: Floats) -> Floats:
    total = np.cumsum(values)
    total[SLOW:] = total[SLOW:] - total[:-SLOW]
    return total
