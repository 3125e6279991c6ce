"""The leak check: does anything know what it cannot have known? Changes the future, shifts targets, looks at marks.

Each check says in words what it found and names the annotations that are at fault. The last plants a leak itself: a
check that could not see one would prove nothing.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from nn.baselines import Logistic
from nn.config import BatchConfig
from nn.dataset_dir import COLUMNS, Candles, DatasetDir
from nn.features import FEATURES, Computed, compute
from nn.snapshot import Snapshot, logits_of
from nn.split import Part
from nn.targets import MASKED, Classes, covered_rows, gives_class, head_classes, targets
from nn.training_data import TrainingData, prepare

Json = dict[str, Any]
Rows = npt.NDArray[np.float32]

PLACES = 5  # cuts between past and future, evenly spread
SHIFTS = (-1, 0, 1, 2)  # candles by which the candle's own target is moved: −1 is known already
AS_GOOD = 0.9  # of the accuracy on what is known: a linear model that reaches it on the unknown has seen it
BEYOND = 1 / 8  # and so far from what a constant answer gets towards all: a still market is no leak
TWIN = 24  # candles in a row that two parts of a series do not share by chance
MOST_NAMED = 20


class Finding(NamedTuple):
    """What one check found."""

    check: str
    passed: bool
    words: str
    marks: tuple[str, ...] = ()  # ids of the annotations at fault


def find_leaks(
    dataset: DatasetDir,
    config: BatchConfig,
    snapshot: Snapshot,
    features: Callable[[Candles], Computed] = compute,
) -> Iterator[Finding]:
    """Check inputs, answers, targets, split and marks of what a run with this config would train on.

    `features` computes the inputs; a test hands in one that leaks. Raises NothingToTrain as training would.
    """
    data = prepare(config, dataset)
    rows, sigma, _ = features(dataset.candles)
    yield _inputs(dataset.candles, rows, features)
    yield _answers(rows, snapshot, config)
    yield _targets(dataset.candles, data, sigma, config)
    yield _shifts(rows, data)
    yield _overlap(data)
    yield _twins(dataset.candles, data)
    yield _early_marks(dataset)
    yield _late_marks(dataset, data)
    yield _control(rows, data)


def _inputs(candles: Candles, rows: Rows, features: Callable[[Candles], Computed]) -> Finding:
    changed: set[str] = set()
    for cut in _cuts(len(candles)):
        again = features(_other_future(candles, cut)).rows[: cut + 1]
        differs = (again != rows[: cut + 1]).any(axis=0)
        names = FEATURES if rows.shape[1] == len(FEATURES) else tuple(f"input {i}" for i in range(rows.shape[1]))
        changed |= {name for name, differ in zip(names, differs, strict=True) if differ}
    if changed:
        return Finding("inputs", False, f"later candles change earlier inputs: {', '.join(sorted(changed))}")
    return Finding("inputs", True, f"{PLACES} futures were changed at will, and no earlier input changed by a bit")


def _answers(rows: Rows, snapshot: Snapshot, config: BatchConfig) -> Finding:
    length, draw = config.sequence_length, np.random.default_rng(config.seed)
    window = torch.from_numpy(rows[:length].copy())[None]
    before = logits_of(snapshot, window)
    for cut in _cuts(length):
        changed = window.clone()
        changed[:, cut + 1 :] = torch.from_numpy(draw.standard_normal((length - cut - 1, rows.shape[1])).astype("f4"))
        after = logits_of(snapshot, changed)
        for head, logits in before.items():
            if not torch.equal(logits[:, : cut + 1], after[head][:, : cut + 1]):
                words = f"the {config.model}'s answers for {head} change when later candles of the window do"
                return Finding("answers", False, words)
    return Finding("answers", True, f"the {config.model} answers for a candle from that and earlier ones only")


def _targets(candles: Candles, data: TrainingData, sigma: npt.NDArray[np.float64], config: BatchConfig) -> Finding:
    known = targets(candles, sigma, data.edges, config.trend_horizon, data.segment).classes
    for cut in _cuts(len(candles)):
        other = _other_future(candles, cut)
        again = targets(other, compute(other).sigma, data.edges, config.trend_horizon, data.segment).classes
        for head in sorted(known.keys() & data.horizons.keys()):
            due = cut + 1 - data.horizons[head]
            if (known[head][:due] != again[head][:due]).any():
                return Finding("targets", False, f"{head}: targets that were due change with later candles")
    return Finding("targets", True, "targets that are due stay as they are, whatever comes later")


def _shifts(rows: Rows, data: TrainingData) -> Finding:
    judged = _judged(data)
    if not len(judged):
        return Finding("shifts", True, "no candle of validation has a candle target that could be moved")
    reached = _reached(rows, data)
    told = ", ".join(f"{share:.0%} {_WHEN[shift]}" for shift, share in reached.items())
    constant = float(np.bincount(judged).max() / len(judged))
    leaks = reached[0] > max(AS_GOOD * reached[-1], constant + BEYOND * (1 - constant))
    words = f"a linear model reads the candle's class with {told}; always saying the commonest gets {constant:.0%}"
    if leaks:
        return Finding("shifts", False, f"{words}: it knows the coming candle as well as the one that has closed")
    return Finding("shifts", True, words)


def _judged(data: TrainingData) -> Classes:
    """Give the candle classes that count in validation; none without the head or a validation set."""
    classes, part = data.targets.get("candle"), data.split.validation
    if classes is None or part is None:
        return np.empty(0, np.int64)
    inside = classes[part.first : part.last]
    counted: Classes = inside[inside != MASKED]
    return counted


_WHEN = {-1: "of one that has closed", 0: "of the next", 1: "of the one after it", 2: "two after it"}


def _reached(rows: Rows, data: TrainingData) -> dict[int, float]:
    """Give by shift the share of validation candles whose moved class a linear model on the inputs tells right."""
    classes, k = data.targets["candle"], head_classes(())["candle"]
    part = data.split.validation
    assert part is not None  # noqa: S101 - `_judged` found candles there
    found = {}
    train, judged = slice(data.split.train.first, data.split.train.last), np.arange(part.first, part.last)
    for shift in SHIFTS:
        moved = np.full(len(classes), MASKED, np.int64)
        inside = np.arange(max(0, -shift), len(classes) - max(0, shift))
        moved[inside] = classes[inside + shift]
        right = Logistic.fit(rows[train], moved[train], k).answer(rows[judged]).predicted == moved[judged]
        counts = moved[judged] != MASKED
        found[shift] = float(right[counts].mean()) if counts.any() else 0.0
    return found


def _overlap(data: TrainingData) -> Finding:
    part = data.split.validation
    if part is None:
        return Finding("overlap", True, "there is no validation set that training could reach into")
    reach = {
        head: int(np.flatnonzero(classes[: data.split.train.end] != MASKED).max(initial=-1)) + data.horizons[head]
        for head, classes in data.targets.items()
    }
    over = sorted(head for head, last in reach.items() if last >= part.start)
    if over:
        return Finding("overlap", False, f"train targets of {', '.join(over)} use candles of validation")
    gap = part.start - max(reach.values()) - 1
    return Finding("overlap", True, f"the last train target is known {gap} candles before validation starts")


def _twins(candles: Candles, data: TrainingData) -> Finding:
    part = data.split.validation
    if part is None:
        return Finding("twins", True, "there is no validation set that could repeat the train candles")
    known = set(_stretches(candles, data.split.train))
    shared = sum(stretch in known for stretch in _stretches(candles, part))
    if shared:
        words = f"{shared} stretches of {TWIN} validation candles stand in the train candles too, price for price"
        return Finding("twins", False, words)
    return Finding("twins", True, f"no {TWIN} candles of validation repeat {TWIN} of train")


def _stretches(candles: Candles, part: Part) -> Iterator[bytes]:
    prices = np.stack([candles.open, candles.high, candles.low, candles.close], axis=1)[part.start : part.end]
    moves = np.flatnonzero(np.ptp(prices, axis=1) > 0)  # a market that stands still repeats itself by nature
    lively = np.concatenate([[0], np.cumsum(np.isin(np.arange(len(prices)), moves))])
    for at in range(len(prices) - TWIN + 1):
        if lively[at + TWIN] - lively[at] > TWIN // 2:
            yield prices[at : at + TWIN].tobytes()


def _early_marks(dataset: DatasetDir) -> Finding:
    timeframe = int(dataset.manifest["timeframe_ms"])
    early = [str(mark["id"]) for mark in dataset.annotations if _is_early(mark, dataset.candles.time, timeframe)]
    if early:
        words = f"{len(early)} annotations claim to be known before their last candle had closed: {_named(early)}"
        return Finding("known", False, words, tuple(early))
    return Finding("known", True, f"none of {len(dataset.annotations)} annotations was known before it had ended")


def _is_early(mark: Json, time: Classes, timeframe: int) -> bool:
    known, moments = mark.get("known_at"), _moments(mark)
    if known is None or not moments:
        return False
    row = int(np.searchsorted(time, max(moments), side="right")) - 1
    return row >= 0 and int(known) < int(time[row]) + timeframe


def _moments(mark: Json) -> list[int]:
    """Give the times that a mark of any kind touches: those of its anchors, and the last moment before an end."""
    anchors = [mark, *(mark[name] for name in ("entry", "exit", "start", "end") if isinstance(mark.get(name), dict))]
    ends = [mark[name] - 1 for name in ("end", "until") if isinstance(mark.get(name), int)]
    return [anchor["time"] for anchor in anchors if isinstance(anchor.get("time"), int)] + ends


def _late_marks(dataset: DatasetDir, data: TrainingData) -> Finding:
    """Look for train candles whose label was known only when validation had begun; those marks may not be learnt."""
    part, classes = data.split.validation, data.targets.get("label")
    if part is None or classes is None:
        return Finding("late", True, "no label is learnt that validation could judge")
    border, end = int(data.time[part.start]), data.split.train.end
    timeframe = int(dataset.manifest["timeframe_ms"])
    learnt: list[str] = []
    kept_out: list[str] = []
    for mark in dataset.annotations:
        if mark.get("label") not in data.labels or not gives_class(mark):
            continue
        if int(mark.get("known_at") or mark["end"]) <= border:
            continue
        first, last = covered_rows(mark, data.time, timeframe)
        if first < min(last, end):
            inside = classes[first : min(last, end)]
            (learnt if (inside != MASKED).any() else kept_out).append(str(mark["id"]))
    if learnt:
        words = f"{len(learnt)} annotations are learnt, though they were known only in validation: {_named(learnt)}"
        return Finding("late", False, words, tuple(learnt))
    words = "no label is learnt that was known only when validation had begun"
    if kept_out:
        words += f"; {len(kept_out)} annotations reach across the border and are left out: {_named(kept_out)}"
    return Finding("late", True, words)


def _control(rows: Rows, data: TrainingData) -> Finding:
    """Plant the coming candle's class among the inputs; the check on shifts has to see it."""
    if len(np.unique(_judged(data))) < 2:
        return Finding("control", True, "validation has no two classes of candles, so there is no leak to plant")
    classes = data.targets["candle"]
    planted = np.concatenate([rows, np.eye(head_classes(())["candle"] + 1, dtype=np.float32)[classes]], axis=1)
    if _shifts(planted, data).passed:
        return Finding("control", False, "a leak that was planted on purpose was not seen: do not trust this check")
    return Finding("control", True, "a leak that was planted on purpose was seen")


def _other_future(candles: Candles, cut: int) -> Candles:
    """Give the candles with everything after row `cut` drawn anew."""
    columns = {name: np.asarray(getattr(candles, name)).copy() for name in COLUMNS}
    draw = np.random.default_rng(cut)
    after = len(candles) - cut - 1
    close = columns["close"][cut] * np.exp(np.cumsum(draw.normal(0, 0.01, after)))
    start = np.concatenate([[columns["close"][cut]], close[:-1]]) if after else close
    columns["open"][cut + 1 :], columns["close"][cut + 1 :] = start, close
    columns["high"][cut + 1 :], columns["low"][cut + 1 :] = np.maximum(start, close), np.minimum(start, close)
    columns["volume"][cut + 1 :] = draw.random(after)
    return dataclasses.replace(candles, **columns)


def _cuts(n: int) -> list[int]:
    return sorted({n * i // (PLACES + 1) for i in range(1, PLACES + 1)})


def _named(ids: list[str]) -> str:
    more = len(ids) - MOST_NAMED
    return ", ".join(ids[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
