"""A logistic regression folded into one matrix, so that reading a million candles is one product a piece."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import LogisticRegression

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

LEAST = -12.0  # log probability of what is as good as impossible
MOST_OTHERS = 2_000  # rows drawn from those that are not what is looked for
MOST_ITERATIONS = 1_000


class Scale(NamedTuple):
    """Mean and spread of columns."""

    mean: Floats  # (F,)
    spread: Floats  # (F,), above 0

    @classmethod
    def of(cls, rows: Floats) -> Scale:
        """Measure rows (n, F)."""
        spread = rows.std(axis=0) if len(rows) else np.ones(rows.shape[1])
        return cls(rows.mean(axis=0) if len(rows) else np.zeros_like(spread), np.where(spread > 0, spread, 1.0))


@dataclass(frozen=True, slots=True)
class Linear:
    """Scores of classes, linear in a row's columns."""

    classes: Ints  # (K,): the classes that it knows, in order
    weight: Floats  # (F, K)
    bias: Floats  # (K,)

    @classmethod
    def fit(cls, rows: Floats, targets: Ints, scale: Scale, strength: float, weights: Floats | None = None) -> Linear:
        """Fit rows (n, F) to targets (n,) of two classes or more; `strength` is the inverse of the regularisation."""
        model = LogisticRegression(C=strength, max_iter=MOST_ITERATIONS)
        model.fit((rows - scale.mean) / scale.spread, targets, weights)
        weight, bias = model.coef_.T, model.intercept_
        if len(model.classes_) == 2:  # scikit-learn keeps one column of coefficients for two classes
            weight, bias = np.column_stack([np.zeros(len(weight)), weight]), np.array([0.0, *bias])
        weight = weight / scale.spread[:, None]
        return cls(np.asarray(model.classes_, np.int64), weight, bias - scale.mean @ weight)

    def log_odds(self, rows: Floats) -> Floats:
        """Give the log odds (n,) of the second of two classes."""
        odds: Floats = rows @ (self.weight[:, 1] - self.weight[:, 0]) + (self.bias[1] - self.bias[0])
        return odds

    def log_probabilities(self, rows: Floats) -> Floats:
        """Give log P(class) (n, K), not below LEAST."""
        scores = rows @ self.weight + self.bias
        scores -= scores.max(axis=1, keepdims=True)
        scores -= np.log(np.exp(scores).sum(axis=1, keepdims=True))
        return np.maximum(scores, LEAST)


def with_drawn(wanted: Ints, others: Ints) -> tuple[Ints, Floats]:
    """Give the wanted rows and an even draw of the others, and weights that make up for those not drawn."""
    drawn = others
    if len(others) > MOST_OTHERS:
        drawn = np.random.default_rng(0).choice(others, MOST_OTHERS, replace=False)
    weights = np.concatenate([np.ones(len(wanted)), np.full(len(drawn), len(others) / max(1, len(drawn)))])
    return np.concatenate([wanted, drawn]), weights
