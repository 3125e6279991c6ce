"""The predecessor's two failures still happen the old way, and cannot happen in ours."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

from nn.config import ModelConfig
from nn.features import FEATURES
from nn.inference import InferenceThread
from nn.learner import Learner, Schedule, WrongThread
from nn.snapshot import Snapshot, predict
from nn.targets import head_classes
from nn.windows import Batch

LENGTH = 24


@pytest.fixture(scope="module")
def old_ways() -> dict[str, str]:
    """Give what each of the old ways prints; both run at the same time, each in a process of its own."""
    command = [sys.executable, "-m", "tests.nn.old_ways"]
    ways = {
        way: subprocess.Popen([*command, way], stdout=subprocess.PIPE, text=True)
        for way in ("two_threads", "mode_flip")
    }
    return {way: process.communicate(timeout=120)[0] for way, process in ways.items()}


def test_two_threads_that_train_one_module_still_meet_the_version_error(old_ways: dict[str, str]) -> None:
    assert "modified by an inplace operation" in old_ways["two_threads"]
    assert "AsStrided" in old_ways["two_threads"]


def test_a_mode_flip_before_recomputation_still_meets_the_checkpoint_error(old_ways: dict[str, str]) -> None:
    assert old_ways["mode_flip"].startswith("CheckpointError")


def test_a_second_thread_cannot_train_the_module() -> None:
    learner, errors = Learner(config(), Schedule(1e-3)), list[BaseException]()

    def intrude() -> None:
        try:
            learner.step(noise(1))
        except WrongThread as error:
            errors.append(error)

    intruder = threading.Thread(target=intrude)
    intruder.start()
    intruder.join()
    assert [type(error) for error in errors] == [WrongThread]
    assert learner.steps == 0


@pytest.mark.parametrize("windows", [1, 4])
@pytest.mark.parametrize("dropout", [0.0, 0.2])
def test_gradient_checkpointing_changes_no_bit_while_inference_runs(windows: int, dropout: float) -> None:
    plain, recomputed = (trained(windows, dropout, use_gradient_checkpointing=on) for on in (False, True))
    assert plain[0] == recomputed[0]
    assert all(torch.equal(plain[1][name], recomputed[1][name]) for name in plain[1])


def test_predictions_while_training_are_those_of_the_snapshot_that_they_name() -> None:
    learner, window = Learner(config(), Schedule(1e-2)), torch.from_numpy(rows(LENGTH))
    with Asking(window) as asking:
        snapshots = []
        for _ in range(30):
            learner.step(noise(2))
            snapshots.append(learner.publish())
            asking.newest = snapshots[-1]
    by_number = {s.number: predict(s, window).probabilities for s in snapshots}
    assert len({number for number, _ in asking.answers}) > 1
    assert all(by_number[number] == said for number, said in asking.answers)


class Asking:
    """Predicts without pause from the newest snapshot, in an inference thread, while the block runs."""

    def __init__(self, window: torch.Tensor) -> None:
        self.newest: Snapshot | None = None
        self.answers: list[tuple[int, dict[str, Any]]] = []
        self.errors: list[Exception] = []
        self._window, self._over, self._thread = window, False, InferenceThread()

    def __enter__(self) -> "Asking":
        self._thread.submit(self._ask, self.errors.append)
        return self

    def __exit__(self, *_: object) -> None:
        self._over = True
        self._thread.close()
        assert not self.errors

    def _ask(self) -> None:
        if self.newest is not None:
            self.answers.append((self.newest.number, predict(self.newest, self._window).probabilities))
        if not self._over:
            self._thread.submit(self._ask, self.errors.append)


def trained(windows: int, dropout: float, **changes: bool) -> tuple[list[float], dict[str, torch.Tensor]]:
    """Train six steps beside an inference thread; give the losses and the parameters."""
    learner = Learner(config(dropout=dropout, n_layers=2, **changes), Schedule(1e-3))
    with Asking(torch.from_numpy(rows(LENGTH))) as asking:
        losses = []
        for batch in batches(6, windows):
            losses.append(learner.step(batch).loss)
            asking.newest = learner.publish()
    assert asking.answers
    return losses, dict(learner.publish().params)


def config(**changes: float | bool) -> ModelConfig:
    small = {"d_model": 16, "n_layers": 1, "n_heads": 2, "sequence_length": LENGTH, "trend_horizon": 3}
    return ModelConfig.from_json(small | changes)


def rows(n: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=(n, len(FEATURES))).astype(np.float32)


def batches(count: int, windows: int) -> Iterator[Batch]:
    return (noise(windows, seed) for seed in range(count))


def noise(windows: int, seed: int = 0) -> Batch:
    draw = np.random.default_rng(seed)
    x = draw.normal(size=(windows, LENGTH, len(FEATURES))).astype(np.float32)
    targets = {head: torch.from_numpy(draw.integers(0, k, (windows, LENGTH))) for head, k in head_classes(()).items()}
    return Batch(torch.from_numpy(x), targets)
