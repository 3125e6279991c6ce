"""Stacked GRUs with residuals: a recurrent model that starts from nothing at each window, so it carries no state."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import cast

import torch
from torch import Tensor, nn

from nn.config import ModelConfig
from nn.models.parts import Block, CausalInput, Dropout, Heads, start_small


class GruBlock(Block):
    """One GRU layer over the candles, added to its input.

    The weights are plain parameters rather than `nn.GRU`, which keeps a list of its own that a functional call misses.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        d = config.d_model
        self.recompute = config.use_gradient_checkpointing
        self.norm = nn.LayerNorm(d)
        bound = 1 / math.sqrt(d)
        self.input_weight, self.hidden_weight = _uniform(3 * d, d, bound=bound), _uniform(3 * d, d, bound=bound)
        self.input_bias, self.hidden_bias = _uniform(3 * d, bound=bound), _uniform(3 * d, bound=bound)
        self.dropout = Dropout(config.dropout)

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, d) → (B, T, d)."""
        weights: list[Tensor] = [self.input_weight, self.hidden_weight, self.input_bias, self.hidden_bias]
        start = x.new_zeros(1, x.shape[0], x.shape[2])
        out, _ = torch.gru(self.norm(x), start, weights, True, 1, 0.0, self.training, False, True)
        result: Tensor = x + self.dropout(out)
        return result


class Gru(nn.Module):
    """(B, T, F) → {head: (B, T, K)}; what is said of candle t depends on candles up to t only."""

    def __init__(self, config: ModelConfig, n_features: int, classes: Mapping[str, int]) -> None:
        super().__init__()
        self.input = CausalInput(n_features, config.d_model)
        self.blocks = nn.ModuleList(GruBlock(config) for _ in range(config.n_layers))
        self.heads = Heads(config.d_model, classes, uncertain=config.use_uncertainty_estimation)
        start_small(self)

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        """Give the logits of each head at each candle."""
        x = self.input(x)
        for block in self.blocks:
            x = cast("GruBlock", block).run(x)
        out: dict[str, Tensor] = self.heads(x)
        return out


def _uniform(*shape: int, bound: float) -> nn.Parameter:
    return nn.Parameter(torch.empty(shape).uniform_(-bound, bound))
