"""Whose weights: one loaded model a series and model name, and what a run starts from."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nn.checkpoint import CheckpointError, Meta, Mismatch, Weights, load, mismatches
from nn.config import ModelConfig
from nn.learner import Learner, Schedule
from nn.snapshot import Snapshot

LEAST_RATE = 1e-7  # a learner that only builds weights never steps


class Refused(ValueError):
    """Weights were asked for by name and do not fit; says of each field what it is and what is wanted."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What a run starts from and why; without weights it starts fresh."""

    weights: Weights | None
    origin: str  # "loaded", "checkpoint" or "fresh"
    reason: str
    checkpoint: str | None = None  # directory name, where the weights come from a checkpoint


@dataclass(frozen=True, slots=True)
class Loaded:
    """The loaded model of a series: weights to start from, None while it is fresh, and a snapshot to predict with."""

    weights: Weights | None
    snapshot: Snapshot
    run_id: int  # the run that loaded or left it
    checkpoint: str | None = None


class LoadedModels:
    """The table of loaded models; belongs to the trainer thread, a reader in another may `get`."""

    def __init__(self) -> None:
        self._models: dict[tuple[int, str], Loaded] = {}

    def get(self, series_id: int, model: str | None) -> Loaded | None:
        """Give the loaded model; of the series' newest where no model is named."""
        found = [
            loaded for (series, name), loaded in self._models.items() if series == series_id and model in (None, name)
        ]
        return found[-1] if found else None

    def put(self, series_id: int, loaded: Loaded) -> None:
        """Make this the loaded model of its series and name, and the newest of the series."""
        key = series_id, loaded.snapshot.config.model
        kept = {other: model for other, model in self._models.items() if other != key}
        self._models = {**kept, key: loaded}  # a new table: readers keep the one they look at

    def discard(self, series_id: int, model: str | None) -> int:
        """Forget the models of a series, one or all; give how many there were."""
        kept = {key: m for key, m in self._models.items() if key[0] != series_id or model not in (None, key[1])}
        count = len(self._models) - len(kept)
        self._models = kept
        return count

    def choose(
        self, series_id: int, config: ModelConfig, candidates: Sequence[str], labels: Sequence[str] | None = None
    ) -> Choice:
        """Choose the loaded model, else the newest candidate that fits, else fresh; without `labels` any fit."""
        said: list[str] = []
        loaded = self.get(series_id, config.model)
        if loaded is not None and loaded.weights is not None:
            wrong = _differences(loaded.weights.meta, config, labels)
            if not wrong:
                return Choice(loaded.weights, "loaded", "the loaded model of this series", loaded.checkpoint)
            said.append(f"the loaded model does not fit: {in_words(wrong)}")
        elif loaded is not None:
            return Choice(None, "fresh", "the loaded model is fresh")
        for folder in map(Path, candidates):
            name = f"{folder.parent.name}/{folder.name}"
            try:
                weights = load(folder)
            except CheckpointError as error:
                said.append(str(error))
                continue
            wrong = _differences(weights.meta, config, labels)
            if not wrong:
                reason = "the newest checkpoint that fits" + (f"; {'; '.join(said)}" if said else "")
                return Choice(weights, "checkpoint", reason, name)
            said.append(f"checkpoint {name} does not fit: {in_words(wrong)}")
        return Choice(None, "fresh", "; ".join(said) or "there is no checkpoint of this model for this series yet")


def named_checkpoint(folder: Path, config: ModelConfig) -> Choice:
    """Load exactly this checkpoint; raise Refused naming each field that differs, or what is wrong with the files."""
    try:
        weights = load(folder)
    except CheckpointError as error:
        raise Refused(str(error)) from error
    wrong = _differences(weights.meta, config, None)
    if wrong:
        raise Refused(f"checkpoint {folder.parent.name}/{folder.name} does not fit: {in_words(wrong)}")
    return Choice(weights, "checkpoint", "the checkpoint that was named", f"{folder.parent.name}/{folder.name}")


def as_loaded(choice: Choice, config: ModelConfig, run_id: int, labels: Sequence[str] = ()) -> Loaded:
    """Make a loaded model of what was chosen; fresh weights are drawn from `config.seed` and have these labels."""
    if choice.weights is None:
        fresh = Learner(config, Schedule(LEAST_RATE), labels=labels).publish()
        return Loaded(None, fresh, run_id)
    return Loaded(choice.weights, snapshot_of(choice.weights), run_id, choice.checkpoint)


def snapshot_of(weights: Weights, number: int = 1) -> Snapshot:
    """Make a snapshot of weights that nobody changes."""
    meta = weights.meta
    return Snapshot(
        number=number,
        step=meta.step,
        data_cut=meta.data_cut,
        created_ms=meta.created_ms or time.time_ns() // 1_000_000,
        params=weights.params,
        config=meta.config,
        edges=meta.edges,
        labels=meta.labels,
        temperatures=meta.temperatures,
    )


def in_words(wrong: Sequence[Mismatch]) -> str:
    """Say of each field what it is and what is wanted."""
    return "; ".join(f"{m.field}: have {m.have}, want {m.want}" for m in wrong)


def _differences(meta: Meta, config: ModelConfig, labels: Sequence[str] | None) -> list[Mismatch]:
    return mismatches(meta, config, meta.labels if labels is None else labels)
