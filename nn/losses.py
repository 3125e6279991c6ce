"""The loss of a training step: −log P(target) at every candle, and its weighted mean over the heads."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor
from torch.nn import functional as F

from nn.targets import MASKED


def losses_of(logits: Mapping[str, Tensor], targets: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Give −log P(target) of each head at every candle, (B, T); 0 where MASKED. Logits are (B, T, K)."""
    return {head: _loss(logits[head], classes) for head, classes in targets.items()}


def counts_of(targets: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Give how many targets of each head count."""
    return {head: (classes != MASKED).sum() for head, classes in targets.items()}


def weighted_loss(
    losses: Mapping[str, Tensor], counts: Mapping[str, Tensor], weights: Mapping[str, float]
) -> tuple[Tensor, dict[str, Tensor]]:
    """Give the weighted sum of the heads' means over the targets that count, and those means.

    `counts` may be those of a larger batch that these losses are a part of; the parts then add up to its loss.
    """
    means = {head: values.sum() / counts[head].clamp(min=1) for head, values in losses.items()}
    return torch.as_tensor(sum(weights.get(head, 0.0) * mean for head, mean in means.items())), means


def _loss(logits: Tensor, classes: Tensor) -> Tensor:
    flat = logits.flatten(0, 1)
    flat = flat if flat.dtype == torch.float64 else flat.float()
    return F.cross_entropy(flat, classes.flatten(), ignore_index=MASKED, reduction="none").view(classes.shape)
