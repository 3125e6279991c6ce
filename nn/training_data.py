"""From a dataset to what a batch run trains on: rows, targets, split, windows. No torch.

Every head's targets outside the train, validation and test parts, in the purged rows and beyond a gap are MASKED.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from nn.baselines import last_classes
from nn.config import BatchConfig
from nn.dataset_dir import Candles, DatasetDir
from nn.features import Rows, compute
from nn.split import Part, Split, segment_ids, split_rows, window_starts
from nn.targets import MASKED, Edges, LabelTargets, Targets, fit_edges, gives_class, label_targets, targets

Floats = npt.NDArray[np.float64]
Classes = npt.NDArray[np.int64]
Json = dict[str, Any]


CONTROL_VISITS = 4  # at 1, ten epochs hardly learnt 14,000 shuffled targets by heart


class NothingToTrain(ValueError):
    """A dataset from which no window can be made; says how far it is from enough and what to change."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """One window of an evaluation: it starts at row `start` and answers for the rows [first, end)."""

    start: int
    first: int
    end: int


@dataclass(frozen=True, slots=True)
class TrainingData:
    """What a batch run trains on and is judged by. Arrays have one entry a candle."""

    time: Classes  # open times, ms UTC
    rows: Rows  # (n, F)
    segment: Classes
    split: Split
    edges: Edges
    labels: tuple[str, ...]
    horizons: dict[str, int]  # head → how many candles after its own a target's newest candle lies
    targets: dict[str, Classes]  # the trained heads'
    refused: dict[str, Classes]  # the label head's class that a person rejected where train has no target, else MASKED
    last: dict[str, Classes]  # head → the newest class of its kind that was known at each candle
    starts: Classes  # first rows of all train windows
    facts: Json  # what RunStarted tells

    @property
    def horizon(self) -> int:
        """Candles that the longest of the trained targets looks ahead."""
        return max(1, *self.horizons.values())

    @property
    def train_cut(self) -> int:
        """Open time of the newest candle whose price a train target uses."""
        return self._cut(self.split.train)

    @property
    def validation_cut(self) -> int | None:
        """Open time of the newest candle that choosing the best weights uses; None without validation."""
        return self._cut(self.split.validation) if self.split.validation else None

    def _cut(self, part: Part) -> int:
        return int(self.time[min(part.last - 1 + self.horizon, len(self.time) - 1)])


def prepare(
    config: BatchConfig, dataset: DatasetDir, edges: Edges | None = None, permutation: int | None = None
) -> TrainingData:
    """Compute rows and targets and split them; `edges` are those of the weights to go on with, else of the train split.

    `permutation` shuffles the targets as `shuffle_targets` does, each number in another way.

    Raises NothingToTrain when no window fits into the train split.
    """
    candles = dataset.candles
    if not len(candles):
        raise NothingToTrain("the dataset has no candle: take a longer stretch of the series")
    timeframe_ms, labels = int(dataset.manifest["timeframe_ms"]), tuple(dataset.manifest.get("labels") or ())
    rows, sigma, _ = compute(candles)
    segment = segment_ids(candles.time, timeframe_ms)
    horizons = _horizons(config, labels)
    split = split_rows(len(candles), config.split, max(1, *horizons.values()))
    edges = edges or fit_edges(candles.slice(0, split.train.last), sigma[: split.train.last])
    future = targets(candles, sigma, edges, config.trend_horizon, segment)
    marks = label_targets(dataset.annotations, labels, candles.time, timeframe_ms)
    classes = {head: future.classes.get(head, marks.classes) for head in horizons}
    last = {head: last_classes(classes[head], horizon) for head, horizon in horizons.items() if horizon}
    kept = _kept(classes, split, marks, candles)
    refused = _refused(dataset, labels, split, kept)  # where nobody gave a class, whatever that class will count
    _weigh_accepted(kept, split, marks, config)
    if config.shuffle_targets or permutation is not None:
        kept, refused = _shuffled(kept, split, [config.seed, permutation or 0]), {}
    starts = _with_targets(
        window_starts(segment, 0, split.train.end, config.sequence_length),
        [*kept.values(), *refused.values()],
        config.sequence_length,
    )
    if not len(starts):
        raise NothingToTrain(_why_nothing(config, segment[: split.train.end], split.train, horizons))
    facts = _facts(config, candles, split, future, marks, kept, starts, segment)
    facts["marks"] = _marks_by_source(dataset.annotations) if "label" in kept else {}
    facts["accepted_weight"] = config.accepted_weight
    facts["refused"] = sum(int(np.sum(of != MASKED)) for of in refused.values())
    facts["rejected"] = len(_rejected(dataset, labels, split)) if refused else 0
    return TrainingData(candles.time, rows, segment, split, edges, labels, horizons, kept, refused, last, starts, facts)


def validation_start(config: BatchConfig, dataset: DatasetDir) -> int | None:
    """Give the open time of the first candle of validation; None without one."""
    labels = tuple(dataset.manifest.get("labels") or ())
    horizon = max(1, *_horizons(config, labels).values())
    validation = split_rows(len(dataset.candles), config.split, horizon).validation
    return int(dataset.candles.time[validation.start]) if validation else None


def epoch_starts(data: TrainingData, config: BatchConfig, epoch: int) -> Classes:
    """Give the train windows of one epoch, in the order of learning: every `stride`-th from a seeded offset.

    A control with shuffled targets visits CONTROL_VISITS times as many: it is there to show what memory alone reaches.
    """
    draw = np.random.default_rng([config.seed, epoch])
    return draw.permutation(data.starts[_first_visited(data, config, draw) :: _visited_every(config)])


def epoch_length(data: TrainingData, config: BatchConfig, epoch: int) -> int:
    """Count the windows of `epoch_starts` without putting them in order."""
    offset = _first_visited(data, config, np.random.default_rng([config.seed, epoch]))
    return len(range(offset, len(data.starts), _visited_every(config)))


def _visited_every(config: BatchConfig) -> int:
    return max(1, config.stride // CONTROL_VISITS) if config.shuffle_targets else config.stride


def _first_visited(data: TrainingData, config: BatchConfig, draw: np.random.Generator) -> int:
    return int(draw.integers(min(_visited_every(config), len(data.starts))))


def stretches(data: TrainingData, part: Part, length: int, stride: int) -> list[Stretch]:
    """Cover the rows of a part that count by windows, each row once, with `length - stride` candles before it or more.

    Where the segment begins there are fewer. Windows may begin before the part: shared inputs tell nothing of targets.
    """
    step = min(stride, length)
    found = []
    for low, high in _runs(data.segment):
        first, last = max(low, part.first), min(high, part.last)
        if high - low < length:
            continue  # no window fits into this segment
        for row in range(first, last, step):
            end = min(row + step, last)
            found.append(Stretch(max(low, end - length), row, end))
    return found


def _with_targets(starts: Classes, taught: Sequence[Classes], length: int) -> Classes:
    """Keep the windows in which any target counts: a step on none would teach nothing."""
    if not len(starts):
        return starts
    counts = np.any([of != MASKED for of in taught], axis=0)
    before = np.concatenate([[0], np.cumsum(counts)])
    return starts[before[starts + length] > before[starts]]


def _runs(segment: Classes) -> list[tuple[int, int]]:
    borders = [0, *(np.flatnonzero(np.diff(segment)) + 1).tolist(), len(segment)]
    return list(pairwise(borders))


def _horizons(config: BatchConfig, labels: tuple[str, ...]) -> dict[str, int]:
    every = {"candle": 1, "trend": config.trend_horizon, "range": 1} | ({"label": 0} if labels else {})
    chosen = {head: horizon for head, horizon in every.items() if config.heads.get(head, 0.0) > 0}
    if not chosen:
        raise NothingToTrain(
            "only the label head has a weight, and the dataset has no labels: give another head a weight"
        )
    return chosen


def _kept(classes: Mapping[str, Classes], split: Split, marks: LabelTargets, candles: Candles) -> dict[str, Classes]:
    """Mask what lies outside the parts; and a train row whose mark was known only when validation had begun."""
    inside = np.zeros(len(candles), np.bool_)
    for part in (split.train, split.validation, split.test):
        if part is not None:
            inside[part.first : part.last] = True
    kept = {head: np.where(inside, of, MASKED) for head, of in classes.items()}
    if "label" in kept:
        for part in (split.train, split.validation):
            if part is not None and part.end < len(candles):
                late = marks.known_at[: part.end] > candles.time[part.end]
                kept["label"][: part.end][late] = MASKED
    return kept


def _weigh_accepted(kept: dict[str, Classes], split: Split, marks: LabelTargets, config: BatchConfig) -> None:
    """Let labels that a model made and a person accepted count less in training, and judge nothing.

    Of such candles a share of `accepted_weight`, drawn by the seed, stays a target: the same gradient on average.
    """
    if "label" in kept:
        dropped = np.random.default_rng([config.seed, len(marks.accepted)]).random(len(marks.accepted))
        dropped[split.train.last :] = 1.0
        kept["label"][marks.accepted & (dropped >= config.accepted_weight)] = MASKED


def _refused(
    dataset: DatasetDir, labels: tuple[str, ...], split: Split, kept: Mapping[str, Classes]
) -> dict[str, Classes]:
    """Give the class that a rejected suggestion had to each train row under it that has no target of its own.

    Empty where there are none, or with a single label: the head then has no other answer to turn to.
    """
    rejected = _rejected(dataset, labels, split)
    if "label" not in kept or len(labels) < 2 or not rejected:
        return {}
    classes = np.full(len(dataset.candles), MASKED, np.int64)
    for one in rejected:
        first, end = np.searchsorted(dataset.candles.time, [one["start"], one["end"]]).tolist()
        classes[max(first, split.train.first) : end] = labels.index(one["label"])
    classes[kept["label"] != MASKED] = MASKED
    return {"label": classes}


def _rejected(dataset: DatasetDir, labels: tuple[str, ...], split: Split) -> list[Json]:
    """Give the rejected suggestions that train may know: one that reaches further would tell of what is judged."""
    end = int(dataset.candles.time[split.train.last - 1]) + int(dataset.manifest["timeframe_ms"])
    rejected = dataset.manifest.get("rejected") or ()
    return [one for one in rejected if one["label"] in labels and one["end"] <= end]


def _marks_by_source(annotations: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    sources = [str(mark.get("source") or "human") for mark in annotations if gives_class(mark)]
    return {source: sources.count(source) for source in sorted(set(sources))}


def _shuffled(kept: Mapping[str, Classes], split: Split, seed: list[int]) -> dict[str, Classes]:
    """Deal the targets of each part out anew among its rows, the same way for every head: nothing is left to learn."""
    shuffled = {head: of.copy() for head, of in kept.items()}
    for number, part in enumerate((split.train, split.validation, split.test)):
        if part is not None:
            order = part.first + np.random.default_rng([*seed, number]).permutation(part.last - part.first)
            for head, of in kept.items():
                shuffled[head][part.first : part.last] = of[order]
    return shuffled


def _why_nothing(config: BatchConfig, segment: Classes, train: Part, horizons: Mapping[str, int]) -> str:
    longest = int(np.bincount(segment).max()) if len(segment) else 0
    if longest < config.sequence_length:
        return (
            f"the train split has {len(segment)} candles, at most {longest} in a row without a gap; a window needs "
            f"sequence_length = {config.sequence_length}: lower it, or take a longer series"
        )
    if train.last <= train.first:
        return (
            f"trend_horizon = {config.trend_horizon} leaves none of the {len(segment)} candles of the train split, "
            "since targets that reach into validation are not learnt: lower it, or take a longer series"
        )
    if set(horizons) == {"label"}:
        return "only the label head has a weight, and no candle of the train split has a label: mark some candles there"
    return "no candle of the train split has a target: the future of each is missing or lies beyond a gap"


def _facts(
    config: BatchConfig,
    candles: Candles,
    split: Split,
    future: Targets,
    marks: LabelTargets,
    kept: Mapping[str, Classes],
    starts: Classes,
    segment: Classes,
) -> Json:
    parts = {"train": split.train, "validation": split.validation, "test": split.test}
    return {
        "candles": len(candles),
        "windows": len(starts),
        "segments": int(segment[-1]) + 1,
        **{name: _part_facts(part, candles) for name, part in parts.items()},
        "purged": split.purged,
        "embargo": split.embargo,
        "dropped": {"trend_ties": future.ties},
        "labelled": int(np.sum(kept["label"] != MASKED)) if "label" in kept else 0,
        "overlapped": marks.overlapped,
        "classes": {head: np.bincount(of[of != MASKED]).tolist() for head, of in kept.items()},
        "stride": config.stride,
    }


def _part_facts(part: Part | None, candles: Candles) -> Json | None:
    if part is None:
        return None
    return {
        "candles": part.end - part.start,
        "from": int(candles.time[part.start]),
        "to": int(candles.time[part.end - 1]),
    }
