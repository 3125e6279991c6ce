"""What the surroundings of candles look like at several scales.

The causal columns use the candle and earlier ones; the hindsight columns add the same looks ahead, for history.
Displacements are in units of the slow σ and of the scale's root, so 1 is an ordinary move.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.ndimage import maximum_filter1d, minimum_filter1d

from nn.few.market import TINY, Market
from nn.few.zigzag import TURNS, turning

Floats = npt.NDArray[np.float64]

SCALES = (3, 6, 12, 24, 48, 96)
HALO = SCALES[-1]  # candles to either side that a row looks at
BUSY = (3, 6, 12, 24, 48)  # candles whose mean absolute move is looked at
CLIP = 6.0
NARROW = 0.05  # added to widths before their logarithm
PLAIN = 4 * len(SCALES)  # leading columns of `hindsight` that are displacement and place alone
PLAIN_CAUSAL = 2 * len(SCALES)  # the same of `causal`
TURNING_CAUSAL = PLAIN_CAUSAL + 2 * len(TURNS)  # these, and how far price has turned
RUN_UP = 800  # candles after which it no longer matters where the turning began


def causal(market: Market, start: int, end: int) -> Floats:
    """Describe candles [start, end) by what led to them: (n, 32), the `PLAIN_CAUSAL` columns first."""
    first = max(0, start - RUN_UP)
    path, sigma = market.log_price[first:end], market.sigma[first:end]
    looks = [_looks(path, sigma, scale) for scale in SCALES]
    turns = list(turning(market, first, end).T)
    columns = [*(column for look in looks for column in look[:2]), *turns, *(look[2] for look in looks)]
    columns += [_body(market, first, end), _activity(market, first, end)]
    return _clipped(columns)[start - first :]


def hindsight(market: Market, start: int, end: int) -> Floats:
    """Describe candles [start, end) by what led to them and what came of them: (n, 62), the `PLAIN` columns first."""
    first, last = max(0, start - HALO), min(len(market), end + HALO)
    path, sigma = market.log_price[first:last], market.sigma[first:last]
    before = [_looks(path, sigma, scale) for scale in SCALES]
    after = [[column[::-1] for column in _looks(path[::-1], sigma[::-1], scale)] for scale in SCALES]
    plain = [column for look in (*before, *after) for column in look[:2]]
    wide = [look[2] for look in (*before, *after)] + [np.abs(look[0]) for look in (*before, *after)]
    step = np.diff(path, prepend=path[:1]) / sigma
    columns = [
        *plain,
        *wide,
        step,
        np.append(step[1:], 0.0),
        _body(market, first, last),
        _activity(market, first, last),
    ]
    return _clipped(columns)[start - first : end - first]


def _looks(path: Floats, sigma: Floats, scale: int) -> tuple[Floats, Floats, Floats]:
    """Give displacement over, place in, and log width of the last `scale` candles."""
    unit = sigma * np.sqrt(scale)
    displacement = np.zeros_like(path)
    displacement[scale:] = path[scale:] - path[:-scale]
    # The filter's window, moved by its origin, ends with the candle itself.
    high = maximum_filter1d(path, scale + 1, origin=scale // 2, mode="nearest")
    low = minimum_filter1d(path, scale + 1, origin=scale // 2, mode="nearest")
    place = (path - low) / np.maximum(high - low, TINY) - 0.5
    return displacement / unit, place, np.log((high - low) / unit + NARROW)


def _mean(values: Floats, width: int) -> Floats:
    """Give the log mean of the last `width` values at each, of those there are at first."""
    total = np.concatenate([[0.0], np.cumsum(values)])
    at = np.arange(1, len(total))
    first = np.maximum(at - width, 0)
    return np.asarray(np.log((total[at] - total[first]) / (at - first) + NARROW))


def _body(market: Market, start: int, end: int) -> Floats:
    """Give the candle's range in σ, as a logarithm."""
    high, low = market.candles.high[start:end], market.candles.low[start:end]
    spread = np.log(np.maximum(high, 1e-300)) - np.log(np.maximum(low, 1e-300))
    return np.asarray(np.log(np.maximum(spread, 0) / market.sigma[start:end] + NARROW))


def _activity(market: Market, start: int, end: int) -> Floats:
    """Give log volume against its mean over the last 96 candles of the range; 0 where there is none."""
    volume = np.log1p(np.maximum(np.nan_to_num(market.candles.volume[start:end]), 0))
    total = np.cumsum(np.concatenate([[0.0], volume]))
    at = np.arange(1, len(total))
    first = np.maximum(at - HALO, 0)
    return np.asarray(volume - (total[at] - total[first]) / (at - first))


def _clipped(columns: list[Floats]) -> Floats:
    return np.clip(np.nan_to_num(np.stack(columns, axis=1)), -CLIP, CLIP)
