"""What needs no neural network: majority class, persistence, 12-candle momentum, logistic regression. No torch."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nn.features import FEATURES

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.float32]
Classes = npt.NDArray[np.int64]

MAX_ROWS = 20_000  # enough for some hundred coefficients, and fitted in well under a second
MAX_ITERATIONS = 100
LONGEST = 5.0  # standard deviations; a clock that stood still in the train rows may be a thousand away later
MOMENTUM = "displacement_12"  # the feature whose sign is the momentum rule's


@dataclass(frozen=True, slots=True)
class Answers:
    """A baseline's answers for n rows."""

    log_probabilities: Floats  # (n, k)
    predicted: Classes  # (n,)


@dataclass(frozen=True, slots=True)
class Persistence:
    """Says again the class that came last; how far that is to be trusted was counted on the train rows."""

    table: Floats  # (states + 1, k): log P(class | last class); the last row is for an unknown last class

    @classmethod
    def fit(cls, last: Classes, targets: Classes, k: int, states: int | None = None) -> Persistence:
        """Count which class followed which; `last` below 0 is unknown. One is added to each count.

        `last` may be another state than a class, of so many `states`.
        """
        states = k if states is None else states
        counts = np.ones((states + 1, k))
        good = targets >= 0
        known = good & (last >= 0)
        np.add.at(counts, (last[known], targets[known]), 1.0)
        np.add.at(counts, (np.full(good.sum(), states), targets[good]), 1.0)
        return cls(np.log(counts / counts.sum(axis=1, keepdims=True)))

    def answer(self, last: Classes) -> Answers:
        """Answer for rows whose last class is `last`."""
        log_probabilities = self._likely(last)
        return Answers(log_probabilities, np.where(last >= 0, last, self.table[-1].argmax()).astype(np.int64))

    def likeliest(self, states: Classes) -> Answers:
        """Answer with the class that most often followed each state."""
        log_probabilities = self._likely(states)
        return Answers(log_probabilities, log_probabilities.argmax(axis=1).astype(np.int64))

    def _likely(self, states: Classes) -> Floats:
        return self.table[np.where(states >= 0, states, len(self.table) - 1)]


@dataclass(frozen=True, slots=True)
class Logistic:
    """Multinomial logistic regression on the features of one candle.

    It is as sure as its rows allow: to what they say of a class one more row of each class is added, and a feature
    counts as far as LONGEST standard deviations of theirs. So few rows make no rival that is easily beaten.
    """

    mean: Floats  # (F,)
    scale: Floats  # (F,)
    weight: Floats  # (F, k)
    bias: Floats  # (k,): −inf for a class that no train row had
    count: int  # train rows

    @classmethod
    def fit(cls, rows: Rows, targets: Classes, k: int, seed: int = 0) -> Logistic:
        """Fit on the rows that count, on an evenly drawn MAX_ROWS of them at most."""
        chosen = np.flatnonzero(targets >= 0)
        if len(chosen) > MAX_ROWS:
            chosen = np.sort(np.random.default_rng(seed).choice(chosen, MAX_ROWS, replace=False))
        x, y = rows[chosen].astype(np.float64), targets[chosen]
        mean, scale = (x.mean(axis=0), x.std(axis=0)) if len(x) else (np.zeros(rows.shape[1]), np.ones(rows.shape[1]))
        scale = np.where(scale > 0, scale, 1.0)
        weight, bias = np.zeros((rows.shape[1], k)), _log_frequencies(y, k)
        if len(np.unique(y)) > 1:
            weight, bias = _fitted(np.clip((x - mean) / scale, -LONGEST, LONGEST), y, k)
        return cls(mean, scale, weight, bias, len(y))

    def answer(self, rows: Rows) -> Answers:
        """Answer for rows (n, F)."""
        x = np.clip((rows - self.mean) / self.scale, -LONGEST, LONGEST)
        scores = x @ self.weight + self.bias
        scores -= scores.max(axis=1, keepdims=True)
        shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        k = shares.shape[1]
        return Answers(np.log((self.count * shares + 1) / (self.count + k)), shares.argmax(axis=1))


def majority(targets: Classes, k: int) -> Answers:
    """Answer every row with the class frequencies of these very rows: the best that any constant answer could do."""
    frequencies = np.maximum(_log_frequencies(targets[targets >= 0], k), -30.0)
    n = len(targets)
    return Answers(np.tile(frequencies, (n, 1)), np.full(n, int(frequencies.argmax()), np.int64))


def momentum(rows: Rows) -> Classes:
    """Give the direction in which price stands from where it was 12 candles ago: 0 below, 1 above, −1 the same, (n,).

    `Persistence` fitted on it makes it a rule: after a rise the class that most often followed one.
    """
    moved = rows[:, FEATURES.index(MOMENTUM)]
    return np.where(moved > 0, 1, np.where(moved < 0, 0, -1)).astype(np.int64)


def last_classes(targets: Classes, horizon: int) -> Classes:
    """Give for each row the newest class of its kind that was known then: the target of `horizon` rows earlier."""
    last = np.full(len(targets), -1, np.int64)
    last[horizon:] = targets[:-horizon]
    return last


def _log_frequencies(classes: Classes, k: int) -> Floats:
    counts = np.bincount(classes, minlength=k).astype(float)
    with np.errstate(divide="ignore"):
        return np.log(counts / max(1.0, counts.sum())) if len(classes) else np.full(k, -np.log(k))


def _fitted(x: Floats, y: Classes, k: int) -> tuple[Floats, Floats]:
    # Here, since they take over a second to load, which no first batch should wait for.
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(max_iter=MAX_ITERATIONS, tol=1e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a bounded number of iterations is meant
        model.fit(x, y)
    weight, bias = np.zeros((x.shape[1], k)), np.full(k, -np.inf)
    if len(model.classes_) == 2:  # scikit-learn keeps one row of coefficients for two classes
        weight[:, model.classes_[1]], bias[model.classes_] = model.coef_[0], np.array([0.0, model.intercept_[0]])
    else:
        weight[:, model.classes_], bias[model.classes_] = model.coef_.T, model.intercept_
    return weight, bias
