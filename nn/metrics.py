"""Figures of answers: confusion, accuracy, balanced accuracy, MCC, F1, and intervals by block bootstrap. No torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, stdtrit

Floats = npt.NDArray[np.float64]
Classes = npt.NDArray[np.int64]
Json = dict[str, Any]

DRAWS = 1000
LEAST_BLOCKS = 5
COVERAGE = 0.95


def confusion(targets: Classes, predicted: Classes, k: int) -> Classes:
    """Count pairs, (k, k): row the target, column the answer. Targets below 0 do not count."""
    counts = targets >= 0
    flat = np.bincount(targets[counts] * k + predicted[counts], minlength=k * k)
    return flat.reshape(k, k).astype(np.int64)


def accuracy(matrix: Classes) -> float | None:
    """Give the share of right answers; None of none."""
    total = int(matrix.sum())
    return float(np.trace(matrix)) / total if total else None


def balanced_accuracy(matrix: Classes) -> float | None:
    """Give the mean recall over the classes that occur; a constant answer gets 1/k."""
    occurs = matrix.sum(axis=1) > 0
    if not occurs.any():
        return None
    return float(np.mean(np.diag(matrix)[occurs] / matrix.sum(axis=1)[occurs]))


def mcc(matrix: Classes) -> float | None:
    """Give Matthews' correlation for k classes (Gorodkin 2004); 0 for a constant answer."""
    total = float(matrix.sum())
    if not total:
        return None
    true, said = matrix.sum(axis=1).astype(float), matrix.sum(axis=0).astype(float)
    spread = np.sqrt((total**2 - np.sum(said**2)) * (total**2 - np.sum(true**2)))
    return float((np.trace(matrix) * total - np.sum(true * said)) / spread) if spread > 0 else 0.0


def macro_f1(matrix: Classes) -> float | None:
    """Give the mean F1 over the classes that occur as target or answer."""
    size = matrix.sum(axis=1) + matrix.sum(axis=0)
    occurs = size > 0
    return float(np.mean(2 * np.diag(matrix)[occurs] / size[occurs])) if occurs.any() else None


def negative_log_likelihood(log_probabilities: Floats, targets: Classes) -> Floats:
    """Give −log P(target) of each row, (n,); 0 where the target does not count."""
    counts = targets >= 0
    picked = log_probabilities[np.arange(len(targets)), np.where(counts, targets, 0)]
    return np.where(counts, -picked, 0.0)


def block_interval(values: Floats, counts: Floats, block: int, seed: int = 0) -> list[float] | None:
    """Give the 95% interval of sum(values) / sum(counts), drawing blocks of `block` neighbours with replacement.

    Neighbours in time resemble each other, so rows are not drawn singly. Few blocks spread less than what they were
    drawn from, so the quantiles lie further out (`_tail`). None with fewer than 5 blocks.
    """
    edges = np.arange(0, len(values), max(1, block))
    if len(edges) < LEAST_BLOCKS or not counts.sum():
        return None
    sums, sizes = np.add.reduceat(values, edges), np.add.reduceat(counts, edges)
    drawn = _drawn_blocks(len(edges), seed)
    total = drawn @ sizes
    ratios = (drawn @ sums)[total > 0] / total[total > 0]
    tail = _tail(len(edges))
    low, high = np.quantile(ratios, [tail, 1 - tail])
    return [float(low), float(high)]


def _tail(blocks: int) -> float:
    """Give the share of draws beyond each end: that of an expanded percentile interval (Hesterberg 2015).

    Examples
    --------
    >>> [round(_tail(blocks), 4) for blocks in (5, 20, 1000)]
    [0.001, 0.0159, 0.0248]
    """
    reach = stdtrit(blocks - 1, (1 + COVERAGE) / 2) * np.sqrt(blocks / (blocks - 1))
    return float(ndtr(-reach))


@lru_cache(maxsize=4)
def _drawn_blocks(count: int, seed: int) -> Classes:
    """Draw how often each of `count` blocks is taken, (DRAWS, count); the figures of an epoch share their draws."""
    drawn = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), size=DRAWS).astype(np.int64)
    drawn.flags.writeable = False
    return drawn


def wilson(share: float, n: float) -> tuple[float, float]:
    """Give the 95% interval of a share of n independent answers (Wilson 1927); n may be an effective number."""
    z = 1.959964
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return max(0.0, float(centre - half)), min(1.0, float(centre + half))


def figures(targets: Classes, log_probabilities: Floats, block: int) -> Json:
    """Give `{n, accuracy, interval, balanced_accuracy, mcc, nll, f1}` of one head's answers in order of time."""
    k = log_probabilities.shape[1]
    predicted = log_probabilities.argmax(axis=1)
    counts = (targets >= 0).astype(float)
    n = int(counts.sum())
    nll = float(negative_log_likelihood(log_probabilities, targets).sum() / n) if n else None
    interval = block_interval((predicted == targets) * counts, counts, block)
    return {"interval": interval, "nll": nll, **summary(confusion(targets, predicted, k))}


def per_class(matrix: Classes, names: Sequence[str]) -> list[Json]:
    """Give `{name, n, precision, recall, f1}` of each class; None where a share would be one of nothing."""
    true, said, hit = matrix.sum(axis=1), matrix.sum(axis=0), np.diag(matrix)
    return [
        {
            "name": name,
            "n": int(true[i]),
            "precision": float(hit[i] / said[i]) if said[i] else None,
            "recall": float(hit[i] / true[i]) if true[i] else None,
            "f1": float(2 * hit[i] / (true[i] + said[i])) if true[i] + said[i] else None,
        }
        for i, name in enumerate(names)
    ]


def summary(matrix: Classes) -> Json:
    """Give what a confusion matrix tells: `{n, accuracy, balanced_accuracy, mcc, f1}`."""
    named: dict[str, Callable[[Classes], float | None]] = {
        "accuracy": accuracy, "balanced_accuracy": balanced_accuracy, "mcc": mcc, "f1": macro_f1,
    }  # fmt: skip
    return {"n": int(matrix.sum()), **{name: figure(matrix) for name, figure in named.items()}}
