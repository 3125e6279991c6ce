"""Running prequential figures of one target: the model and what stands beside it, over 100, 1,000 and all candles.

NumPy only. Scores enter one by one, each made before its candle was learnt.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

Json = dict[str, Any]
Floats = npt.NDArray[np.float64]

RIVALS = ("start", "majority", "persistence", "logistic")
"""What the model is compared with: itself as it was at the start, frozen; and three that need no network."""

PREDICTORS = ("model", *RIVALS)
WINDOWS = (100, 1000)
LEAST_P = 1e-12  # keeps the loss of an impossible outcome finite
Z95 = 1.959963984540054  # 97.5% point of the standard normal


class Figures:
    """Accuracy and NLL of every predictor on the same candles.

    `overlap` is how many candles' targets share outcomes (the horizon), which makes the interval wider.
    """

    def __init__(self, overlap: int = 1) -> None:
        self.overlap = overlap
        self.n = 0
        self._correct = np.zeros((WINDOWS[-1], len(PREDICTORS)), dtype=np.bool_)  # rings of the last 1,000
        self._nll = np.zeros((WINDOWS[-1], len(PREDICTORS)))
        self._sum_correct = np.zeros(len(PREDICTORS), dtype=np.int64)
        self._sum_nll = np.zeros(len(PREDICTORS))

    def add(self, probabilities: Mapping[str, Sequence[float]], last: int, outcome: int) -> None:
        """Score every predictor's P(class) on one outcome; persistence chooses `last` where it is a class."""
        row = self.n % WINDOWS[-1]
        for column, name in enumerate(PREDICTORS):
            p = probabilities[name]
            choice = last if name == "persistence" and last >= 0 else int(np.argmax(p))
            self._correct[row, column] = choice == outcome
            self._nll[row, column] = nll(p, outcome)
        self._sum_correct += self._correct[row]
        self._sum_nll += self._nll[row]
        self.n += 1

    def accuracy(self, window: int | None = None) -> float | None:
        """Give the model's share of hits over the last `window` candles, or all."""
        return float(self._means(window)[1][0]) if self.n else None

    def to_json(self) -> Json:
        """Give `{"100": {n, accuracy, interval, nll, baselines}, "1000": …, "all": …}`; empty without a score."""
        if not self.n:
            return {}
        return {str(window or "all"): self._over(window) for window in (*WINDOWS, None)}

    def state(self) -> Json:
        """Give everything as JSON, for a checkpoint; floats survive exactly."""
        return {
            "n": self.n,
            "correct": self._last(self._correct, min(self.n, WINDOWS[-1])).tolist(),
            "nll": self._last(self._nll, min(self.n, WINDOWS[-1])).tolist(),
            "sum_correct": self._sum_correct.tolist(),
            "sum_nll": self._sum_nll.tolist(),
        }

    @classmethod
    def restore(cls, state: Json, overlap: int = 1) -> Self:
        """Rebuild from `state()`."""
        figures = cls(overlap)
        figures.n = state["n"]
        rows = np.arange(figures.n - len(state["nll"]), figures.n) % WINDOWS[-1]
        figures._correct[rows] = np.asarray(state["correct"], dtype=np.bool_).reshape(len(rows), len(PREDICTORS))
        figures._nll[rows] = np.asarray(state["nll"]).reshape(len(rows), len(PREDICTORS))
        figures._sum_correct[:] = state["sum_correct"]
        figures._sum_nll[:] = state["sum_nll"]
        return figures

    def _last(self, ring: npt.NDArray[Any], count: int) -> npt.NDArray[Any]:
        rows: npt.NDArray[Any] = ring[
            np.arange(self.n - count, self.n) % WINDOWS[-1]
        ]  # (count, predictors), oldest first
        return rows

    def _means(self, window: int | None) -> tuple[int, npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        if window is None:
            return self.n, self._sum_correct / self.n, self._sum_nll / self.n
        n = min(window, self.n)
        return n, self._last(self._correct, n).mean(axis=0), self._last(self._nll, n).mean(axis=0)

    def _over(self, window: int | None) -> Json:
        n, accuracy, nll = self._means(window)
        low, high = wilson(float(accuracy[0]), n / self.overlap)
        rivals = {
            name: {"accuracy": _short(accuracy[i]), "nll": _short(nll[i])} for i, name in enumerate(RIVALS, start=1)
        }
        model = {"accuracy": _short(accuracy[0]), "interval": [_short(low), _short(high)], "nll": _short(nll[0])}
        return {"n": n, **model, "baselines": rivals}


def nll(probabilities: Sequence[float], outcome: int) -> float:
    """Give −log P(outcome)."""
    return -math.log(max(probabilities[outcome], LEAST_P))


def wilson(share: float, n: float) -> tuple[float, float]:
    """Give the 95% interval of a share seen in n independent cases (Wilson 1927)."""
    z2 = Z95 * Z95
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = Z95 / (1 + z2 / n) * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)


def _short(value: float) -> float:
    """Five digits after the point: an event a candle is stored for weeks."""
    return round(float(value), 5)
