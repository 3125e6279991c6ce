"""Batch training: speed against a plain nn.TransformerEncoder loop, and skill on the simulated market."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from bench.report import Measure, alternate, ratios
from nn.config import BatchConfig, ModelConfig
from nn.features import FEATURES
from nn.learner import Learner, Schedule
from nn.targets import head_classes
from nn.windows import Batch, noise
from tests.nn.simulated import Skill, dataset, skill, trained

STEPS = 6
ROUNDS = 5
ROWS = 86_400
SEEDS = (1, 2, 3)
PATCH = 4


def measures() -> Iterator[Measure]:
    """Measure speed first, on one thread, then train three epochs on each seed."""
    torch.set_num_threads(1)
    yield _speed()
    yield from _skill()


class PlainLoop:
    """What a person would write: nn.TransformerEncoder of the same size, dropout 0.1, fused AdamW, loss everywhere."""

    def __init__(self, config: ModelConfig, classes: dict[str, int]) -> None:
        layer = nn.TransformerEncoderLayer(
            config.d_model,
            config.n_heads,
            4 * config.d_model,
            config.dropout,
            "gelu",
            batch_first=True,
            norm_first=True,
        )
        self.input = nn.Linear(len(FEATURES), config.d_model)
        self.encoder = nn.TransformerEncoder(layer, config.n_layers, enable_nested_tensor=False)
        self.heads = nn.ModuleDict({head: nn.Linear(config.d_model, k) for head, k in classes.items()})
        self.mask = nn.Transformer.generate_square_subsequent_mask(config.sequence_length)
        parameters = [*self.input.parameters(), *self.encoder.parameters(), *self.heads.parameters()]
        self.optimizer = torch.optim.AdamW(parameters, lr=2e-3, fused=True)

    def step(self, batch: Batch) -> float:
        """Take one step; give the loss."""
        self.optimizer.zero_grad()
        x = self.encoder(self.input(batch.x), mask=self.mask, is_causal=True)
        losses = [self._loss(head, x, batch) for head in self.heads]
        loss = cast("Tensor", sum(losses))
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        return float(loss.detach())

    def _loss(self, head: str, x: Tensor, batch: Batch) -> Tensor:
        return F.cross_entropy(self.heads[head](x).flatten(0, 1), batch.targets[head].flatten())


def _speed() -> Measure:
    config, classes = ModelConfig(), head_classes(())
    batch = noise(config, classes)
    learner, plain = Learner(config, Schedule(2e-3)), PlainLoop(config, classes)
    pairs = alternate(_rate(lambda: learner.step(batch)), _rate(lambda: plain.step(batch)), ROUNDS)
    name = f"windows a CPU second, {config.sequence_length} candles, d_model {config.d_model}"
    return Measure(name, "a plain nn.TransformerEncoder loop", ratios(pairs), 2.2, "at least")


def _rate(step: Callable[[], object]) -> Callable[[], float]:
    def measured() -> float:
        began = time.process_time()
        for _ in range(STEPS):
            step()
        return STEPS / (time.process_time() - began)

    return measured


def _skill() -> Iterator[Measure]:
    runs = [_trained(seed) for seed in SEEDS]
    yield from _patches([points for _, points in runs])
    for head, bar, lead in (("candle", 0.975, 0.04), ("trend", 0.985, 0.06)):
        shares = [getattr(reached, head) for reached, _ in runs]
        yield Measure(f"{head} accuracy, 3 epochs on SIM/USDT", "the best possible", shares, bar, "at least")
        leads = [points[head] - points[f"{head}, logistic"] for _, points in runs]
        note = "in fractions of 1, on the same validation candles"
        yield Measure(f"{head} accuracy above", "(points) logistic regression", leads, lead, "at least", note)


def _patches(alone: list[dict[str, float]]) -> Iterator[Measure]:
    """Hold what one token for PATCH candles reaches on unseen candles against one token a candle, seed by seed."""
    patched = [_trained(seed, PATCH)[1] for seed in SEEDS]
    for head in ("candle", "trend"):
        name = f"{head}, balanced"
        gained = [few[name] - each[name] for few, each in zip(patched, alone, strict=True)]
        note = "in fractions of 1, on the same validation candles"
        peer = "(points) that of one token a candle"
        yield Measure(f"balanced {head} accuracy, patch_size {PATCH}, above", peer, gained, -0.01, "at least", note)


def _trained(seed: int, patch: int = 1) -> tuple[Skill, dict[str, float]]:
    """Train three epochs; give the skill under the true law and the figures of the best epoch's validation."""
    data, config = dataset(seed, ROWS), BatchConfig(epochs=3, seed=seed, patch_size=patch)
    run = trained(config, data)
    if run.weights is None:
        raise RuntimeError("the run left no weights")
    best = next(epoch.validation for epoch in reversed(run.epochs) if epoch.best)
    if best is None:
        raise RuntimeError("the run had no validation")
    points = {}
    for head in ("candle", "trend"):
        points[head], points[f"{head}, balanced"] = (
            best["heads"][head][of] for of in ("accuracy", "balanced_accuracy")
        )
        points[f"{head}, logistic"] = best["baselines"][head]["logistic"]["accuracy"]
    return skill(seed, config, data, run.weights), points
