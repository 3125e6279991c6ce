"""How far told probabilities can be trusted: reliability, expected calibration error, temperature. No torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar

Floats = npt.NDArray[np.float64]
Classes = npt.NDArray[np.int64]
Json = dict[str, Any]

BINS = 10
COLDEST, HOTTEST = 0.05, 20.0  # temperatures beyond say only that there is too little to fit on


def calibration(log_probabilities: Floats, targets: Classes) -> Json | None:
    """Give `{bins, ece, temperature, ece_after}` of answers (n, k) in order of time.

    None where no target counts or an answer is not finite.

    A bin is `{told, came, n}`: the mean probability of the chosen class, how often it came, of how many answers.
    `temperature` divides the logits so that the NLL is least (Guo et al. 2017): above 1 the answers were too sure.
    `ece_after` is honest: each half of the answers is cooled by what was fitted on the other.
    """
    counts = targets >= 0
    told, came = log_probabilities[counts], targets[counts]
    if not len(came) or not np.isfinite(told).all():
        return None
    bins = reliability(told, came)
    return {
        "bins": bins,
        "ece": error_of(bins),
        "temperature": fit_temperature(told, came),
        "ece_after": error_of(reliability(cooled_by_halves(told, came), came)),
    }


def reliability(log_probabilities: Floats, targets: Classes) -> list[Json]:
    """Give the filled ones of BINS equal stretches of probability, lowest first; Niculescu-Mizil and Caruana 2005."""
    sure = np.exp(log_probabilities.max(axis=1))
    right = log_probabilities.argmax(axis=1) == targets
    place = np.minimum((sure * BINS).astype(np.int64), BINS - 1)
    found = []
    for number in np.unique(place):
        inside = place == number
        found.append({"told": float(sure[inside].mean()), "came": float(right[inside].mean()), "n": int(inside.sum())})
    return found


def error_of(bins: list[Json]) -> float:
    """Give the expected calibration error: the mean distance of told and came, weighted by n."""
    total = sum(of["n"] for of in bins)
    return float(sum(of["n"] * abs(of["told"] - of["came"]) for of in bins) / total)


def fit_temperature(log_probabilities: Floats, targets: Classes) -> float:
    """Give the temperature at which the NLL of (n, k) answers is least; 1 of none."""
    if not len(targets):
        return 1.0

    def loss(log_temperature: float) -> float:
        cooled_answers = cooled(log_probabilities, float(np.exp(log_temperature)))
        return -float(cooled_answers[np.arange(len(targets)), targets].mean())

    found = minimize_scalar(loss, bounds=(np.log(COLDEST), np.log(HOTTEST)), method="bounded")
    return float(np.exp(found.x))


def cooled(log_probabilities: Floats, temperature: float) -> Floats:
    """Give log P (n, k) with the logits divided by a temperature."""
    scores = log_probabilities / temperature
    scores = scores - scores.max(axis=1, keepdims=True)
    result: Floats = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    return result


def cooled_by_halves(told: Floats, came: Classes) -> Floats:
    """Give log P (n, k) of answers in order of time, each half cooled by the temperature that fits the other best."""
    half = len(came) // 2
    first, second = slice(0, half), slice(half, None)
    return np.concatenate(
        [
            cooled(told[first], fit_temperature(told[second], came[second])),
            cooled(told[second], fit_temperature(told[first], came[first])),
        ]
    )
