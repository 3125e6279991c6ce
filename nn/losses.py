"""The loss of a training step: −log P(target) at every candle, and its weighted mean over the heads.

Where a person rejected a class, the candle has no target but a class that it is not: −log(1 − P(class)) there.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import torch
from torch import Tensor
from torch.nn import functional as F

from nn.targets import MASKED

NONE: Mapping[str, Tensor] = MappingProxyType({})


def losses_of(
    logits: Mapping[str, Tensor], targets: Mapping[str, Tensor], refused: Mapping[str, Tensor] = NONE
) -> dict[str, Tensor]:
    """Give −log P(target) of each head at every candle, (B, T); 0 where MASKED. Logits are (B, T, K).

    `refused` has the classes (B, T) that candles without a target are not, MASKED elsewhere.
    """
    losses = {head: _loss(logits[head], classes) for head, classes in targets.items()}
    return losses | {head: losses[head] + _refused_loss(logits[head], classes) for head, classes in refused.items()}


def counts_of(targets: Mapping[str, Tensor], refused: Mapping[str, Tensor] = NONE) -> dict[str, Tensor]:
    """Give how many targets of each head count, those that say what a candle is not too."""
    counts = {head: (classes != MASKED).sum() for head, classes in targets.items()}
    return counts | {head: counts[head] + (classes != MASKED).sum() for head, classes in refused.items()}


def weighted_loss(
    losses: Mapping[str, Tensor], counts: Mapping[str, Tensor], weights: Mapping[str, float]
) -> tuple[Tensor, dict[str, Tensor]]:
    """Give the weighted sum of the heads' means over the targets that count, and those means.

    `counts` may be those of a larger batch that these losses are a part of; the parts then add up to its loss.
    """
    means = {head: values.sum() / counts[head].clamp(min=1) for head, values in losses.items()}
    return torch.as_tensor(sum(weights.get(head, 0.0) * mean for head, mean in means.items())), means


def _loss(logits: Tensor, classes: Tensor) -> Tensor:
    flat = _precise(logits).flatten(0, 1)
    return F.cross_entropy(flat, classes.flatten(), ignore_index=MASKED, reduction="none").view(classes.shape)


def _refused_loss(logits: Tensor, classes: Tensor) -> Tensor:
    """Give −log(1 − P(class)) as a difference of two log sums, so that it is finite however sure the model is."""
    precise, counts = _precise(logits), classes != MASKED
    this = F.one_hot(classes.clamp(min=0), precise.shape[-1]).bool()
    others = precise.masked_fill(this, float("-inf")).logsumexp(-1)
    return (precise.logsumexp(-1) - others) * counts


def _precise(logits: Tensor) -> Tensor:
    return logits if logits.dtype == torch.float64 else logits.float()
