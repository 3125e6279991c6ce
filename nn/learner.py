"""The one owner of a module, its optimizer and its random state: forward, backward and step as one call."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from nn.adamw import AdamW
from nn.config import ModelConfig
from nn.losses import counts_of, losses_of, weighted_loss
from nn.metrics import Classes, accuracy
from nn.models import build, parameter_count
from nn.ranks import ALONE, Ranks
from nn.snapshot import Snapshot
from nn.targets import Edges, head_classes
from nn.windows import Batch

FLOOR = 0.05  # share of the peak learning rate that a cosine ends at


class WrongThread(RuntimeError):
    """A learner was used from a thread that does not own it."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """Learning rate by step: warm-up and cosine over `total` steps, or constant where `total` is None."""

    peak: float
    total: int | None = None
    warm_up: int = 20

    def at(self, step: int) -> float:
        """Give the rate of step `step`, counted from 0."""
        if self.total is None:
            return self.peak
        warm_up = min(self.warm_up, max(1, self.total // 5))
        if step < warm_up:
            return self.peak * (step + 1) / warm_up
        done = min(1.0, (step - warm_up) / max(1, self.total - warm_up))
        return self.peak * (FLOOR + (1 - FLOOR) * 0.5 * (1 + math.cos(math.pi * done)))


@dataclass(frozen=True, slots=True)
class StepResult:
    """One step: plain numbers, and the loss at every candle as a tensor without a graph."""

    loss: float
    head_losses: dict[str, float]  # mean over the targets that count; a head without any is left out
    confusion: dict[str, Classes]  # head → (K, K) counts, row the target, column the answer before the step
    gradient_norm: float | None
    learning_rate: float
    skipped: str | None  # why no step was taken: "no target", "loss not finite", "gradient not finite"
    losses: dict[str, Tensor]  # head → (B, T), −log P(target), 0 where MASKED

    def accuracy(self, head: str) -> float | None:
        """Give the share of right answers; None where no target counts."""
        return accuracy(self.confusion[head]) if head in self.confusion else None


class Learner:
    """Trains one network. Every method belongs to the thread that made it and raises WrongThread elsewhere.

    `params` are copied, so no two learners share weights. Take `publish()` for anything that another thread reads.
    With `average` a running mean of the weights is kept beside them, and that is what `publish()` gives.
    With `ranks` each process holds its part of a batch, and all take the same step.
    """

    def __init__(
        self,
        config: ModelConfig,
        schedule: Schedule,
        *,
        labels: Sequence[str] = (),
        edges: Edges | None = None,
        params: Mapping[str, Tensor] | None = None,
        data_cut: int | None = None,
        device: torch.device | str = "cpu",
        parts: int = 1,
        average: float = 0.0,
        ranks: Ranks = ALONE,
        temperatures: Mapping[str, float] = MappingProxyType({}),
    ) -> None:
        self._owner = threading.get_ident()
        self.config, self.schedule = config, schedule
        self.labels, self.edges = tuple(labels), edges or Edges()
        self.device = torch.device(device)
        self.data_cut, self.temperatures = data_cut, dict(temperatures)
        self.steps = 0
        self.skipped = 0
        self.snapshots = 0
        self._module = build(config, head_classes(self.labels)).to(self.device).train()
        if params is not None:
            self._module.load_state_dict(dict(params))
        self._optimizer = AdamW(self._module.parameters())
        self._random = _random_state(config.seed + ranks.rank, self.device)
        self._parts, self._fading, self._ranks = parts, average, ranks
        self._average = self._copies() if average else None

    @property
    def parameter_count(self) -> int:
        """Count the trainable numbers."""
        return parameter_count(self._module)

    def step(self, batch: Batch, learnt_to: int | None = None) -> StepResult:
        """Learn from one batch: forward, backward, clip, step, and nothing between.

        `learnt_to` is the open time of the newest candle whose price any target of the batch used; it moves `data_cut`.
        A loss or gradient that is not finite takes no step: parameters and optimizer stay as they were; it is counted.
        """
        self._check_thread()
        rate = self.schedule.at(self.steps)
        self._optimizer.forget()  # what a step that broke off may have left
        with self._own_random():
            found, gradient = self._gradients(batch)
        norm = gradient.norm()
        numbers = _read(found, norm)
        skipped = _reason_to_skip(numbers, self.config.heads)
        if skipped is None:
            self._optimizer.step(gradient, norm, rate)
            self.steps += 1
            self._fade()
            self.data_cut = _newest(self.data_cut, learnt_to)
        else:
            self.skipped += 1
        return StepResult(
            loss=numbers.loss,
            head_losses=numbers.means,
            confusion=numbers.confusion,
            gradient_norm=numbers.norm if math.isfinite(numbers.norm) else None,
            learning_rate=rate,
            skipped=skipped,
            losses=found.losses,
        )

    def _gradients(self, batch: Batch) -> tuple[_Found, Tensor]:
        """Go forward and backward through the parts of a batch; the gradient is then that of all of it."""
        counts = counts_of(batch.targets, batch.refused)
        self._ranks.add_up(list(counts.values()))
        found = None
        for part in batch.parts(self._parts):
            with self._autocast():
                logits = self._module(part.x)
                losses = losses_of(logits, part.targets, part.refused)
                total, means = weighted_loss(losses, counts, self.config.heads)
            total.backward()  # type: ignore[no-untyped-call]
            matrices = {head: _confusion(logits[head], part.targets[head]) for head in losses}
            mine = _Found(total.detach(), _detached(means), matrices, _detached(losses))
            found = mine if found is None else _joined(found, mine)
        assert found is not None  # noqa: S101 - a batch has a window
        gradient = self._optimizer.gather()
        self._ranks.add_up([gradient])
        self._ranks.add_up([found.total, *found.means.values(), *found.confusion.values()])
        return found, gradient

    def _fade(self) -> None:
        """Move the running mean of the weights towards them.

        Where the rate falls it moves fast at first, so that it forgets where they began; a live run, whose rate stands,
        begins with weights that are worth keeping.
        """
        if self._average is None:
            return
        settled = (1 + self.steps) / (10 + self.steps) if self.schedule.total is not None else 1.0
        kept = min(self._fading, settled)
        for name, parameter in self._module.named_parameters():
            self._average[name].lerp_(parameter.detach(), 1 - kept)

    def _copies(self) -> dict[str, Tensor]:
        return {name: p.detach().clone() for name, p in self._module.named_parameters()}

    def publish(self, data_cut: int | None = None) -> Snapshot:
        """Copy the weights into a new numbered snapshot; `data_cut` names a later candle that they were chosen on."""
        self._check_thread()
        self.snapshots += 1
        return Snapshot(
            number=self.snapshots,
            step=self.steps,
            data_cut=_newest(self.data_cut, data_cut),
            created_ms=time.time_ns() // 1_000_000,
            params=MappingProxyType(self._copies() if self._average is None else _cloned(self._average)),
            config=self.config,
            edges=self.edges,
            labels=self.labels,
            temperatures=self.temperatures,
        )

    def state(self) -> dict[str, Any]:
        """Give all that an exact resume needs beside the parameters; tensors and plain data only."""
        self._check_thread()
        return {
            "optimizer": self._optimizer.state(),
            "random": self._random,
            "steps": self.steps,
            "skipped": self.skipped,
            "snapshots": self.snapshots,
            "data_cut": self.data_cut,
            **({} if self._average is None else {"weights": self._copies()}),  # `publish` gives their mean
        }

    def load_state(self, params: Mapping[str, Tensor], state: Mapping[str, Any]) -> None:
        """Go back to exactly where `params` and `state` were taken."""
        self._check_thread()
        self._module.load_state_dict(dict(state.get("weights", params)))
        self._average = None if self._average is None else _cloned(params)
        self._optimizer.load_state(state["optimizer"])
        self._random = {name: value.cpu() for name, value in state["random"].items()}
        if self._ranks.rank > 0:  # what was kept is the first process's; the others go on from draws of their own
            self._random = _random_state(self.config.seed + self._ranks.rank + state["steps"], self.device)
        self.steps, self.skipped, self.snapshots = state["steps"], state["skipped"], state["snapshots"]
        self.data_cut = state["data_cut"]

    def load_params(self, params: Mapping[str, Tensor]) -> None:
        """Take other weights of the same shape and forget the optimizer's memory of the old ones."""
        self._check_thread()
        self._module.load_state_dict(dict(params))
        self._average = None if self._average is None else self._copies()
        self._optimizer = AdamW(self._module.parameters())

    def _check_thread(self) -> None:
        if threading.get_ident() != self._owner:
            raise WrongThread(
                f"this learner belongs to thread {self._owner}, not {threading.get_ident()}; read a snapshot instead"
            )

    def _autocast(self) -> torch.autocast:
        return torch.autocast(
            self.device.type, dtype=torch.bfloat16, enabled=self.config.use_amp and self.device.type == "cuda"
        )

    @contextmanager
    def _own_random(self) -> Iterator[None]:
        """Draw dropout from this learner's own random state, so that a run beside it changes nothing here."""
        torch.set_rng_state(self._random["cpu"])
        if self.device.type == "cuda":
            torch.cuda.set_rng_state(self._random["cuda"], self.device)
        yield
        self._random = {"cpu": torch.get_rng_state()}
        if self.device.type == "cuda":
            self._random["cuda"] = torch.cuda.get_rng_state(self.device)


def _random_state(seed: int, device: torch.device) -> dict[str, Tensor]:
    state = {"cpu": torch.Generator().manual_seed(seed).get_state()}
    if device.type == "cuda":
        state["cuda"] = torch.Generator(device).manual_seed(seed).get_state()
    return state


def _confusion(logits: Tensor, classes: Tensor) -> Tensor:
    """Count target and answer, (K, K), by adding each pair into its place: nothing here waits for the device."""
    k = logits.shape[-1]
    pairs = (classes.flatten() + 1) * k + logits.detach().argmax(-1).flatten()  # a MASKED target falls into row 0
    ones = torch.ones_like(pairs, dtype=torch.float32)
    return torch.zeros((k + 1) * k, device=pairs.device).scatter_add_(0, pairs, ones)[k:].view(k, k)


class _Found(NamedTuple):
    """What a forward pass tells, as tensors without a graph."""

    total: Tensor
    means: dict[str, Tensor]
    confusion: dict[str, Tensor]
    losses: dict[str, Tensor]


def _joined(one: _Found, other: _Found) -> _Found:
    """Join what two parts of a batch tell: their means are shares of the whole batch's, so they add up."""
    return _Found(
        one.total + other.total,
        {head: mean + other.means[head] for head, mean in one.means.items()},
        {head: matrix + other.confusion[head] for head, matrix in one.confusion.items()},
        {head: torch.cat([values, other.losses[head]]) for head, values in one.losses.items()},
    )


def _detached(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name: tensor.detach() for name, tensor in tensors.items()}


def _cloned(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name: tensor.detach().clone() for name, tensor in tensors.items()}


class _Numbers(NamedTuple):
    loss: float
    norm: float
    means: dict[str, float]
    confusion: dict[str, Classes]


def _read(found: _Found, norm: Tensor) -> _Numbers:
    """Read every number of a step from the device at once: one wait a step."""
    total, means, confusion = found.total, found.means, found.confusion
    parts = [total, norm, *means.values(), *(matrix.flatten() for matrix in confusion.values())]
    values = torch.cat([part.detach().double().reshape(-1) for part in parts]).tolist()
    at = 2 + len(means)
    matrices = {}
    for head, matrix in confusion.items():
        k = len(matrix)
        matrices[head] = np.array(values[at : at + k * k]).astype(np.int64).reshape(k, k)
        at += k * k
    # Rejections have no target to be counted, but a loss.
    mean = {head: value for head, value in zip(means, values[2:], strict=False) if matrices[head].any() or value}
    return _Numbers(values[0], values[1], mean, matrices)


def _reason_to_skip(numbers: _Numbers, weights: Mapping[str, float]) -> str | None:
    if not any(weights.get(head, 0.0) > 0 for head in numbers.means):
        return "no target"
    if not math.isfinite(numbers.loss):
        return "loss not finite"
    return None if math.isfinite(numbers.norm) else "gradient not finite"


def _newest(*cuts: int | None) -> int | None:
    return max((cut for cut in cuts if cut is not None), default=None)
