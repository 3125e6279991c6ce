"""The one owner of a module, its optimizer and its random state: forward, backward and step as one call."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from nn.config import ModelConfig
from nn.models import build
from nn.snapshot import Snapshot
from nn.targets import MASKED, Edges, head_classes
from nn.windows import Batch

BETAS = (0.9, 0.98)
WEIGHT_DECAY = 0.05
CLIP_NORM = 1.0
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
    counted: dict[str, int]
    correct: dict[str, int]
    gradient_norm: float | None
    learning_rate: float
    skipped: str | None  # why no step was taken: "no target", "loss not finite", "gradient not finite"
    losses: dict[str, Tensor]  # head → (B, T), −log P(target), 0 where MASKED
    predicted: dict[str, Tensor]  # head → (B, T), the most probable class

    def accuracy(self, head: str) -> float | None:
        """Give the share of right answers; None where no target counts."""
        return self.correct[head] / self.counted[head] if self.counted.get(head) else None


class Learner:
    """Trains one network. Every method belongs to the thread that made it and raises WrongThread elsewhere.

    `params` are copied, so no two learners share weights. Take `publish()` for anything that another thread reads.
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
    ) -> None:
        self._owner = threading.get_ident()
        self.config, self.schedule = config, schedule
        self.labels, self.edges = tuple(labels), edges or Edges()
        self.device = torch.device(device)
        self.data_cut = data_cut
        self.steps = 0
        self.skipped = 0
        self.snapshots = 0
        self._module = build(config, head_classes(self.labels)).to(self.device).train()
        if params is not None:
            self._module.load_state_dict(dict(params))
        self._optimizer = _adamw(self._module, schedule.peak)
        self._random = _random_state(config.seed, self.device)

    def step(self, batch: Batch, learnt_to: int | None = None) -> StepResult:
        """Learn from one batch: forward, backward, clip, step, and nothing between.

        `learnt_to` is the open time of the newest candle whose price any target of the batch used; it moves `data_cut`.
        A loss or gradient that is not finite takes no step: parameters and optimizer stay as they were; it is counted.
        """
        self._check_thread()
        rate = self.schedule.at(self.steps)
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        self._optimizer.zero_grad(set_to_none=True)
        with self._own_random():
            with self._autocast():
                logits = self._module(batch.x)
                losses = {
                    head: _losses(logits[head], classes) for head, classes in batch.targets.items() if head in logits
                }
                total, means, counts = _total(losses, batch.targets, self.config.heads)
            total.backward()  # type: ignore[no-untyped-call]
        norm = nn.utils.clip_grad_norm_(self._module.parameters(), CLIP_NORM)
        predicted = {head: logits[head].detach().argmax(-1) for head in losses}
        correct = {head: (predicted[head] == batch.targets[head]).sum() for head in losses}
        # One read from the device a step: every number at once.
        numbers = torch.stack(
            [t.detach().double() for t in (total, norm, *means.values(), *counts.values(), *correct.values())]
        ).tolist()
        heads = list(losses)
        loss, gradient_norm = numbers[0], numbers[1]
        count = dict(zip(heads, (int(v) for v in numbers[2 + len(heads) :]), strict=False))
        skipped = _reason_to_skip(loss, gradient_norm, count, self.config.heads)
        if skipped is None:
            self._optimizer.step()
            self.steps += 1
            self.data_cut = learnt_to if self.data_cut is None else max(self.data_cut, learnt_to or self.data_cut)
        else:
            self.skipped += 1
        self._optimizer.zero_grad(set_to_none=True)
        return StepResult(
            loss=loss,
            head_losses={h: v for h, v in zip(heads, numbers[2:], strict=False) if count[h]},
            counted=count,
            correct=dict(zip(heads, (int(v) for v in numbers[2 + 2 * len(heads) :]), strict=True)),
            gradient_norm=gradient_norm if math.isfinite(gradient_norm) else None,
            learning_rate=rate,
            skipped=skipped,
            losses={head: values.detach() for head, values in losses.items()},
            predicted=predicted,
        )

    def publish(self, data_cut: int | None = None) -> Snapshot:
        """Copy the weights into a new numbered snapshot; `data_cut` names a later candle that they were chosen on."""
        self._check_thread()
        self.snapshots += 1
        cuts = [cut for cut in (self.data_cut, data_cut) if cut is not None]
        return Snapshot(
            number=self.snapshots,
            step=self.steps,
            data_cut=max(cuts) if cuts else None,
            created_ms=time.time_ns() // 1_000_000,
            params=MappingProxyType({name: p.detach().clone() for name, p in self._module.named_parameters()}),
            config=self.config,
            edges=self.edges,
            labels=self.labels,
        )

    def state(self) -> dict[str, Any]:
        """Give all that an exact resume needs beside the parameters; tensors and plain data only."""
        self._check_thread()
        return {
            "optimizer": self._optimizer.state_dict(),
            "random": self._random,
            "steps": self.steps,
            "skipped": self.skipped,
            "snapshots": self.snapshots,
            "data_cut": self.data_cut,
        }

    def load_state(self, params: Mapping[str, Tensor], state: Mapping[str, Any]) -> None:
        """Go back to exactly where `params` and `state` were taken."""
        self._check_thread()
        self._module.load_state_dict(dict(params))
        self._optimizer.load_state_dict(state["optimizer"])
        self._random = {name: value.cpu() for name, value in state["random"].items()}
        self.steps, self.skipped, self.snapshots = state["steps"], state["skipped"], state["snapshots"]
        self.data_cut = state["data_cut"]

    def load_params(self, params: Mapping[str, Tensor]) -> None:
        """Take other weights of the same shape and forget the optimizer's memory of the old ones."""
        self._check_thread()
        self._module.load_state_dict(dict(params))
        self._optimizer = _adamw(self._module, self.schedule.peak)

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


def _adamw(module: nn.Module, rate: float) -> torch.optim.AdamW:
    matrices = [p for p in module.parameters() if p.dim() >= 2]
    others = [p for p in module.parameters() if p.dim() < 2]
    groups = [{"params": matrices, "weight_decay": WEIGHT_DECAY}, {"params": others, "weight_decay": 0.0}]
    # Not fused: a fused step leaves autograd's version counters alone, and with them the alarm for a stray writer.
    return torch.optim.AdamW(groups, lr=rate, betas=BETAS, fused=False)


def _random_state(seed: int, device: torch.device) -> dict[str, Tensor]:
    state = {"cpu": torch.Generator().manual_seed(seed).get_state()}
    if device.type == "cuda":
        state["cuda"] = torch.Generator(device).manual_seed(seed).get_state()
    return state


def _losses(logits: Tensor, classes: Tensor) -> Tensor:
    """Give −log P(class) at every candle, (B, T); 0 where MASKED."""
    flat = F.cross_entropy(logits.flatten(0, 1).float(), classes.flatten(), ignore_index=MASKED, reduction="none")
    return flat.view(classes.shape)


def _total(
    losses: Mapping[str, Tensor], targets: Mapping[str, Tensor], weights: Mapping[str, float]
) -> tuple[Tensor, dict[str, Tensor], dict[str, Tensor]]:
    counts = {head: (targets[head] != MASKED).sum() for head in losses}
    means = {head: values.sum() / counts[head].clamp(min=1) for head, values in losses.items()}
    total = sum(weights.get(head, 0.0) * mean for head, mean in means.items())
    return torch.as_tensor(total), means, counts


def _reason_to_skip(loss: float, norm: float, counts: Mapping[str, int], weights: Mapping[str, float]) -> str | None:
    if not any(count and weights.get(head, 0.0) > 0 for head, count in counts.items()):
        return "no target"
    if not math.isfinite(loss):
        return "loss not finite"
    return None if math.isfinite(norm) else "gradient not finite"
