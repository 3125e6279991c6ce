"""Judging weights on rows they did not learn: figures of each head, the baselines beside them, and the verdict."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from nn.baselines import Answers, Logistic, Persistence, majority, momentum
from nn.calibration import calibration, cooled_by_halves
from nn.few.spans import agreement, runs
from nn.metrics import block_interval, confusion, figures, macro_f1, negative_log_likelihood, per_class
from nn.snapshot import Snapshot, logits_of, without_doubt
from nn.split import Part
from nn.targets import MASKED, class_names, head_classes
from nn.training_data import Stretch, TrainingData, stretches
from nn.windows import Windows

Floats = npt.NDArray[np.float64]
Classes = npt.NDArray[np.int64]
Json = dict[str, Any]

BETTER = "better than the baselines"
NOT_BETTER = "not better than the baselines"
WINDOWS_AT_ONCE = 16  # fixed, so that figures do not depend on the batch size of the training
LEAST_BLOCK = 50  # neighbours kept together when an interval is drawn


@dataclass(frozen=True, slots=True)
class Rivals:
    """The baselines of each head, fitted on the train rows."""

    persistence: dict[str, Persistence]
    momentum: dict[str, Persistence]  # of the classes after a rise and after a fall over 12 candles
    logistic: dict[str, Logistic]

    def answers(self, data: TrainingData, head: str, rows: Classes) -> dict[str, Answers]:
        """Give each baseline's answers for these rows."""
        k = head_classes(data.labels)[head]
        answers = {"majority": majority(data.targets[head][rows], k)}
        if head in self.persistence:
            answers["persistence"] = self.persistence[head].answer(data.last[head][rows])
        answers["momentum"] = self.momentum[head].likeliest(momentum(data.rows[rows]))
        return answers | {"logistic": self.logistic[head].answer(data.rows[rows])}

    def on_train(self, data: TrainingData) -> Generator[None, None, dict[str, dict[str, Json]]]:
        """Give each baseline's `{accuracy, nll, f1}` on the train rows that count, {head: {baseline: …}}."""
        every = np.arange(data.split.train.first, data.split.train.last)
        found = {}
        for head, classes in data.targets.items():
            rows = every[classes[every] >= 0]
            if len(rows):
                answers = self.answers(data, head, rows)
                found[head] = {name: _short(classes[rows], given, _block(data)) for name, given in answers.items()}
            yield
        return found


def fit_rivals(data: TrainingData, seed: int) -> Generator[None, None, Rivals]:
    """Fit the baselines head by head, so that the loop may do other work between; returns them all."""
    train = data.split.train
    rows = slice(train.first, train.last)
    persistence, after, logistic = {}, {}, {}
    for head, classes in data.targets.items():
        k = head_classes(data.labels)[head]
        if head in data.last:
            persistence[head] = Persistence.fit(data.last[head][rows], classes[rows], k)
        after[head] = Persistence.fit(momentum(data.rows[rows]), classes[rows], k, states=2)
        yield
        logistic[head] = Logistic.fit(data.rows[rows], classes[rows], k, seed)
        yield
    return Rivals(persistence, after, logistic)


@dataclass(frozen=True, slots=True)
class Judged:
    """The answers of one snapshot for the rows of a part that count."""

    rows: Classes  # (m,), rising
    log_probabilities: dict[str, Floats]  # head → (m, K)
    undoubted: Mapping[str, Floats] = field(
        default_factory=dict
    )  # the same without the uncertainty head, if it has one


def judge(
    snapshot: Snapshot, windows: Windows, data: TrainingData, part: Part, stride: int
) -> Generator[None, None, Judged]:
    """Answer for the rows of a part, a few windows at a time, so that the loop may do other work between."""
    plan = stretches(data, part, windows.length, stride)
    rows = np.concatenate([np.arange(s.first, s.end) for s in plan]) if plan else np.empty(0, np.int64)
    told = [snapshot, *([without_doubt(snapshot)] if snapshot.config.use_uncertainty_estimation else [])]
    parts: list[dict[str, list[Floats]]] = [{head: [] for head in data.targets} for _ in told]
    for at in range(0, len(plan), WINDOWS_AT_ONCE):
        for each, found in zip(told, parts, strict=True):
            _answer(each, windows, plan[at : at + WINDOWS_AT_ONCE], found)
        yield
    return Judged(rows, *({head: np.concatenate(of) for head, of in found.items() if of} for found in parts))


def _answer(snapshot: Snapshot, windows: Windows, plan: list[Stretch], parts: Mapping[str, list[Floats]]) -> None:
    logits = logits_of(snapshot, windows.batch(np.array([s.start for s in plan])).x)
    for head, found in parts.items():
        values = logits[head].double().log_softmax(-1).cpu().numpy()
        found += [values[i, s.first - s.start : s.end - s.start] for i, s in enumerate(plan)]


def report(judged: Judged, data: TrainingData, rivals: Rivals, weights: Mapping[str, float]) -> Json | None:
    """Give `{loss, candle_accuracy, trend_accuracy, n, baselines, heads, verdict}`; None where no target counts.

    `loss` is the weighted NLL, as in training. `heads[head]["against"]` holds the difference of the NLL from each
    baseline's, with its interval: below 0 is better than the baseline. Beside its figures a head has its `confusion`
    matrix (row the target, column the answer), `classes` and `calibration`, the label head `spans`. With an uncertainty
    head `uncertainty` holds the difference that it makes to the NLL, with its interval: below 0 it helps.
    """
    block, names = _block(data), class_names(data.labels)
    heads: dict[str, Json] = {}
    baselines: dict[str, Json] = {}
    excess = np.zeros(len(judged.rows))  # of the weighted NLL over that of each head's best baseline
    for head, answers in judged.log_probabilities.items():
        targets = data.targets[head][judged.rows]
        counts = (targets >= 0).astype(float)
        if not counts.any():
            continue
        given = rivals.answers(data, head, judged.rows)
        baselines[head] = {name: _short(targets, of, block) for name, of in given.items()}
        best = min(baselines[head], key=lambda name: float(baselines[head][name]["nll"]))
        differences = {name: _difference(targets, answers, of) for name, of in given.items()}
        against = {name: _against(difference, counts, block) for name, difference in differences.items()}
        heads[head] = figures(targets, answers, block)
        heads[head] |= {"against": against, "verdict": _verdict(against[best]["interval"])}
        heads[head] |= _in_detail(targets, answers, names[head])
        if head in judged.undoubted:
            heads[head]["uncertainty"] = _uncertainty(targets, answers, judged.undoubted[head], block)
        if head == "label":
            heads[head]["spans"] = _span_figures(judged.rows, targets, answers.argmax(axis=1))
        excess += weights[head] * differences[best] / counts.sum()
    if not heads:
        return None
    return {
        "loss": sum(weights[head] * heads[head]["nll"] for head in heads),
        "candle_accuracy": heads.get("candle", {}).get("accuracy"),
        "trend_accuracy": heads.get("trend", {}).get("accuracy"),
        "n": max(of["n"] for of in heads.values()),
        "baselines": baselines,
        "heads": heads,
        "verdict": _verdict(block_interval(excess, np.full(len(excess), 1 / len(excess)), block)),
    }


def _block(data: TrainingData) -> int:
    return max(LEAST_BLOCK, 4 * data.horizon)


def _in_detail(targets: Classes, answers: Floats, names: Sequence[str]) -> Json:
    matrix = confusion(targets, answers.argmax(axis=1), len(names))
    return {
        "confusion": matrix.tolist(),
        "classes": per_class(matrix, names),
        "calibration": calibration(answers, targets),
    }


def _uncertainty(targets: Classes, answers: Floats, undoubted: Floats, block: int) -> Json | None:
    """Give the difference that doubting some candles more than others makes; None where an answer is not finite.

    Both are first cooled by one temperature, so that being too sure of everything counts for neither.
    """
    counts = targets >= 0
    if not (np.isfinite(answers[counts]).all() and np.isfinite(undoubted[counts]).all()):
        return None
    came, difference = targets[counts], np.zeros(len(targets))
    one, other = (cooled_by_halves(told[counts], came) for told in (answers, undoubted))
    difference[counts] = negative_log_likelihood(one, came) - negative_log_likelihood(other, came)
    return _against(difference, counts.astype(float), block)


def _span_figures(rows: Classes, targets: Classes, predicted: Classes) -> Json:
    """Give how well runs of one answer find the annotated spans, both on candles with a label alone."""
    labelled = targets != MASKED
    # A jump in the rows ends a span, as an unlabelled candle does.
    broken = np.insert(np.where(labelled, targets, MASKED), np.flatnonzero(np.diff(rows) > 1) + 1, MASKED)
    said = np.insert(np.where(labelled, predicted, MASKED), np.flatnonzero(np.diff(rows) > 1) + 1, MASKED)
    found = agreement(runs(said, MASKED), runs(broken, MASKED))
    return {"f1": found.f1, "both_ends": found.both_ends, "found": found.found, "true": found.true}


DETAILS = ("confusion", "classes", "calibration")


def without_details(found: Json | None) -> Json | None:
    """Leave out what only the best epoch is asked for: runs of many epochs stay small."""
    if found is None:
        return None
    heads = {head: {name: v for name, v in of.items() if name not in DETAILS} for head, of in found["heads"].items()}
    return {**found, "heads": heads}


def _against(difference: Floats, counts: Floats, block: int) -> Json:
    mean = float(difference.sum() / counts.sum())
    return {"difference": mean, "interval": block_interval(difference, counts, block)}


def _short(targets: Classes, given: Answers, block: int) -> Json:
    k = given.log_probabilities.shape[1]
    counts = targets >= 0
    nll = negative_log_likelihood(given.log_probabilities, targets).sum() / counts.sum()
    right = (given.predicted == targets) & counts
    return {
        "accuracy": float(right.sum() / counts.sum()),
        "interval": block_interval(right.astype(float), counts.astype(float), block),
        "nll": float(nll),
        "f1": macro_f1(confusion(targets, given.predicted, k)),
    }


def _difference(targets: Classes, answers: Floats, given: Answers) -> Floats:
    return negative_log_likelihood(answers, targets) - negative_log_likelihood(given.log_probabilities, targets)


def _verdict(interval: list[float] | None) -> str:
    """Better only where the whole interval of the difference lies below 0."""
    return BETTER if interval is not None and interval[1] < 0 else NOT_BETTER
