"""What the live model is compared with and needs no network: majority, persistence, logistic regression.

Each is kept up to date and answers before it learns the outcome. NumPy and scikit-learn only.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from nn.baselines import Logistic
from nn.targets import MASKED

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.float32]
Classes = npt.NDArray[np.int64]
Json = dict[str, Any]


class Rivals:
    """The three baselines of one head with k classes."""

    def __init__(self, k: int, logistic: Logistic) -> None:
        self.k = k
        self.logistic = logistic
        # Counts of (class before, class), one added to each; the last row counts every class whatever came before.
        self._follows = np.ones((k + 1, k))

    @classmethod
    def of(cls, k: int, rows: Rows, classes: Classes, last: Classes) -> Self:
        """Start from past candles: features (n, F), the target at each and the newest class known at each."""
        rivals = cls(k, Logistic.fit(rows, classes, k))
        known = classes != MASKED
        both = known & (last != MASKED)
        np.add.at(rivals._follows, (last[both], classes[both]), 1.0)
        rivals._follows[k] += np.bincount(classes[known], minlength=k)
        return rivals

    def answer(self, row: Rows, last: int) -> dict[str, Floats]:
        """Give each baseline's P(class), (k,), for features (F,); `last` is the newest known class, or MASKED."""
        frequencies = self._follows[self.k] / self._follows[self.k].sum()
        follows = self._follows[last] if last != MASKED else self._follows[self.k]
        logistic = np.exp(self.logistic.answer(row[None]).log_probabilities[0])
        return {"majority": frequencies, "persistence": follows / follows.sum(), "logistic": logistic}

    def learn(self, last: int, outcome: int) -> None:
        """Count one outcome."""
        self._follows[self.k, outcome] += 1
        if last != MASKED:
            self._follows[last, outcome] += 1

    def state(self) -> Json:
        """Give everything as plain data, for a checkpoint; floats survive exactly."""
        fitted = {name: getattr(self.logistic, name).tolist() for name in ("mean", "scale", "weight", "bias")}
        return {"follows": self._follows.tolist(), "logistic": {**fitted, "count": self.logistic.count}}

    @classmethod
    def restore(cls, state: Json) -> Self:
        """Rebuild from `state()`."""
        kept: Json = dict(state["logistic"])
        count = kept.pop("count")
        logistic = Logistic(**{name: np.asarray(values, np.float64) for name, values in kept.items()}, count=count)
        rivals = cls(len(state["follows"]) - 1, logistic)
        rivals._follows = np.asarray(state["follows"], np.float64)
        return rivals
