"""Running prequential figures of one target: the model and what stands beside it, over 100, 1,000 and all candles.

NumPy and SciPy only. Scores enter one by one, each made before its candle was learnt.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

Json = dict[str, Any]
Floats = npt.NDArray[np.float64]

RIVALS = ("start", "majority", "persistence", "logistic")
"""What the model is compared with: itself as it was at the start, frozen; and three that need no network."""

GUESSING = ("majority", "persistence", "logistic")
"""What a model has to beat, each of them, to be better than guessing."""

PREDICTORS = ("model", *RIVALS)
WINDOWS = (100, 1000)
LEAST_BLOCK, LEAST_BLOCKS = 10, 5  # neighbours are alike: doubt is taken from means of blocks, from five on
LEAST_P = 1e-12  # keeps the loss of an impossible outcome finite
Z95 = 1.959963984540054  # 97.5% point of the standard normal


class Figures:
    """Accuracy and NLL of every predictor on the same candles.

    `overlap` is how many candles' targets share outcomes (the horizon), which makes the interval wider and the blocks
    of the comparison longer.
    """

    def __init__(self, overlap: int = 1) -> None:
        self.overlap = overlap
        self.block = max(LEAST_BLOCK, 4 * overlap)
        self.n = 0
        self._gaps = BlockMeans(len(RIVALS), self.block)  # model's NLL less each rival's, since the start
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
        self._gaps.add(self._nll[row, 0] - self._nll[row, 1:])
        self.n += 1

    def accuracy(self, window: int | None = None) -> float | None:
        """Give the model's share of hits over the last `window` candles, or all."""
        return float(self._means(window)[1][0]) if self.n else None

    def to_json(self) -> Json:
        """Give `{"100": {n, accuracy, interval, nll, verdict, baselines}, "1000": …, "all": …}`; empty without a score.

        Each of `baselines` has `{accuracy, nll, gap}`: the 95% interval of the model's NLL less its own, null while
        there are too few candles to say; so is the verdict, `verdict_of` the gaps.
        """
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
            "gaps": self._gaps.state(),
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
        figures._gaps = BlockMeans.restore(state["gaps"], figures.block)
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
        gaps = self._gaps_over(window)
        rivals = {
            name: {"accuracy": _short(accuracy[i]), "nll": _short(nll[i]), "gap": gaps.get(name)}
            for i, name in enumerate(RIVALS, start=1)
        }
        model = {"accuracy": _short(accuracy[0]), "interval": [_short(low), _short(high)], "nll": _short(nll[0])}
        return {"n": n, **model, "verdict": verdict_of(gaps), "baselines": rivals}

    def _gaps_over(self, window: int | None) -> dict[str, list[float]]:
        """Give each rival's gap over the last `window` candles, or all; empty while there are too few."""
        blocks = self._gaps
        if window is not None or self.n <= WINDOWS[-1]:  # the same candles, the same words
            window = window or WINDOWS[-1]
            count = min(window, self.n) // self.block * self.block
            losses = self._last(self._nll, count)
            blocks = BlockMeans.of(losses[:, :1] - losses[:, 1:], self.block)
        return dict(zip(RIVALS, blocks.intervals(), strict=False))


class BlockMeans:
    """Mean and doubt of k running differences, from the means of blocks of neighbours; O(1) memory."""

    def __init__(self, k: int, block: int) -> None:
        self.block = block
        self.blocks = self._open = 0  # whole blocks; members of the one that is not whole
        self._sum = np.zeros(k)
        self._mean, self._squares = np.zeros(k), np.zeros(k)  # of the blocks' means; squares around the mean

    @classmethod
    def of(cls, differences: Floats, block: int) -> Self:
        """Take differences (n, k) at once, n a multiple of `block`."""
        k = differences.shape[1]
        means, made = differences.reshape(-1, block, k).mean(axis=1), cls(k, block)
        made.blocks = len(means)
        if len(means):
            made._mean, made._squares = means.mean(axis=0), len(means) * means.var(axis=0)
        return made

    def add(self, differences: Floats) -> None:
        """Take one difference of each, (k,)."""
        self._sum += differences
        self._open += 1
        if self._open == self.block:
            mean = self._sum / self.block
            self.blocks += 1
            step = mean - self._mean
            self._mean = self._mean + step / self.blocks  # Welford 1962
            self._squares = self._squares + step * (mean - self._mean)
            self._sum, self._open = np.zeros(len(mean)), 0

    def intervals(self) -> list[list[float]]:
        """Give the 95% interval of each mean (Student's t over the blocks); empty under LEAST_BLOCKS blocks."""
        if self.blocks < LEAST_BLOCKS:
            return []
        error = np.sqrt(self._squares / (self.blocks - 1) / self.blocks)
        half = float(stdtrit(self.blocks - 1, 0.975)) * error
        return [[_short(low), _short(high)] for low, high in zip(self._mean - half, self._mean + half, strict=True)]

    def state(self) -> Json:
        """Give everything as JSON; floats survive exactly."""
        numbers = {"sum": self._sum, "mean": self._mean, "squares": self._squares}
        return {"blocks": self.blocks, "open": self._open, **{name: of.tolist() for name, of in numbers.items()}}

    @classmethod
    def restore(cls, state: Json, block: int) -> Self:
        """Rebuild from `state()`."""
        made = cls(len(state["sum"]), block)
        made.blocks, made._open = state["blocks"], state["open"]
        made._sum, made._mean, made._squares = (np.asarray(state[name]) for name in ("sum", "mean", "squares"))
        return made


def verdict_of(gaps: Mapping[str, Sequence[float]]) -> str | None:
    """Say how a model stands to guessing, by the 95% intervals of its NLL less each rival's; None without them.

    Examples
    --------
    >>> verdict_of({"majority": [-0.2, -0.1], "persistence": [-0.3, -0.1], "logistic": [-0.1, 0.1]})
    'not better'
    """
    against = [gaps[name] for name in GUESSING if name in gaps]
    if not against:
        return None
    if all(high < 0 for _, high in against):
        return "better than guessing"
    return "worse" if any(low > 0 for low, _ in against) else "not better"


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
