"""Temporal convolutional network: causal convolutions at growing distances, with residuals (Bai et al. 2018)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from torch import Tensor, nn
from torch.nn import functional as F

from nn.config import ModelConfig
from nn.models.parts import Block, CausalInput, Dropout, Heads, recent, start_small

TAPS = 4  # candles that one convolution mixes
PER_BLOCK = 2  # convolutions of a block, each TAPS times as far apart as the one before


class TcnBlock(Block):
    """Two causal convolutions; the block's own number says how far apart their taps are.

    With the default of two blocks the taps are 1, 4, 16 and 64 candles apart: an answer sees 256 candles back.
    """

    def __init__(self, config: ModelConfig, number: int) -> None:
        super().__init__()
        d = config.d_model
        self.recompute = config.use_gradient_checkpointing
        self.apart = [_apart(number * PER_BLOCK + i, config.sequence_length) for i in range(PER_BLOCK)]
        self.norms = nn.ModuleList(nn.LayerNorm(d) for _ in self.apart)
        self.mixes = nn.ModuleList(nn.Linear(TAPS * d, d) for _ in self.apart)
        self.blends = nn.ModuleList(nn.Linear(d, d) for _ in self.apart)
        self.dropout = Dropout(config.dropout)

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, d) → (B, T, d)."""
        for apart, norm, mix, blend in zip(self.apart, self.norms, self.mixes, self.blends, strict=True):
            taps = recent(norm(x), TAPS, apart)  # (B, T, TAPS·d)
            x = x + self.dropout(blend(F.gelu(mix(taps))))
        return x


def _apart(number: int, length: int) -> int:
    """Give how far apart the taps of a convolution are: 1, 4, 16 … below the window's length, then over again."""
    distances: list[int] = [distance for i in range(number + 1) if (distance := int(TAPS**i)) < length]
    return distances[number % len(distances)]


class Tcn(nn.Module):
    """(B, T, F) → {head: (B, T, K)}; what is said of candle t depends on candles up to t only."""

    def __init__(self, config: ModelConfig, n_features: int, classes: Mapping[str, int]) -> None:
        super().__init__()
        self.input = CausalInput(n_features, config.d_model)
        self.blocks = nn.ModuleList(TcnBlock(config, number) for number in range(config.n_layers))
        self.heads = Heads(config.d_model, classes, uncertain=config.use_uncertainty_estimation)
        start_small(self)

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        """Give the logits of each head at each candle."""
        x = self.input(x)
        for block in self.blocks:
            x = cast("TcnBlock", block).run(x)
        out: dict[str, Tensor] = self.heads(x)
        return out
