"""Logistic regression on means of the features over several past stretches: the smallest model that is trained."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from nn.config import ModelConfig
from nn.models.parts import Heads, start_small

SCALES = (1, 3, 6, 12, 24, 48, 96)  # candles of each stretch, as the displacements among the features


class MultiscaleLogistic(nn.Module):
    """(B, T, F) → {head: (B, T, K)}, linear in the means of each feature over the last 1, 3 … 96 candles.

    Candles before the window count as zeros. Width, depth and dropout of the config have no part in it.
    """

    def __init__(self, config: ModelConfig, n_features: int, classes: Mapping[str, int]) -> None:
        super().__init__()
        width = len(SCALES) * n_features
        self.heads = Heads(width, classes, uncertain=config.use_uncertainty_estimation, norm=nn.Identity())
        # Adam moves each number alike, whatever its gradient: the wider the input, the further one step goes; this
        # gives the bias the same say as the many weights beside it.
        self.size = width**0.5
        start_small(self)

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        """Give the logits of each head at each candle."""
        past = x.transpose(1, 2)  # (B, F, T)
        means = [F.avg_pool1d(F.pad(past, (scale - 1, 0)), scale, stride=1) for scale in SCALES]
        out: dict[str, Tensor] = self.heads(torch.cat(means, dim=1).transpose(1, 2))
        return {head: logits * self.size for head, logits in out.items()}
