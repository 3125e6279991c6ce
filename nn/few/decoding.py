"""From probabilities of candles to states: Viterbi for history, a filter for the live edge."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def viterbi(log_probabilities: Floats, stay: float) -> Ints:
    """Give the likeliest states (n,) for log P(state | candle) (n, K) when a state stays with probability `stay`.

    It looks at all candles, later ones too: for history only.
    """
    n, states = log_probabilities.shape
    if states == 1 or not n:
        return np.zeros(n, np.int64)
    # Plain numbers in lists: for a handful of states they are several times as quick as small arrays.
    leave, hold = float(np.log((1 - stay) / (states - 1))), float(np.log(stay))
    score = [0.0] * states
    best, came = 0, []
    for row in log_probabilities.tolist():
        entered = score[best] + leave
        came.append([k if held + hold >= entered else best for k, held in enumerate(score)])
        score = [max(held + hold, entered) + gain for held, gain in zip(score, row, strict=True)]
        best = score.index(max(score))
    path = [best]
    for sources in reversed(came[1:]):
        path.append(sources[path[-1]])
    return np.array(path[::-1], np.int64)


def sticky_filter(probabilities: Floats, stay: float) -> Floats:
    """Give P(state | this and earlier candles) (n, K): a forward filter with a stay prior, so fit for the live edge."""
    states = probabilities.shape[1]
    if states == 1:
        return probabilities
    leave = (1 - stay) / (states - 1)
    now = [1 / states] * states
    beliefs = []
    for row in probabilities.tolist():
        now = [(old * (stay - leave) + leave) * seen for old, seen in zip(now, row, strict=True)]
        total = max(sum(now), 1e-300)
        now = [value / total for value in now]
        beliefs.append(now)
    return np.array(beliefs).reshape(-1, states)
