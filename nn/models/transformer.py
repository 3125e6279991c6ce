"""Causal pre-norm transformer over candles; dropout on residuals only, so that attention keeps its fast path."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from torch import Tensor, nn
from torch.nn import functional as F

from nn.config import ModelConfig
from nn.models.parts import Block, CausalInput, Heads, places, start_small

WIDENING = 4


class TransformerBlock(Block):
    """Attention over earlier candles, then a two-layer network on each; both add to their input."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        d = config.d_model
        self.n_heads = config.n_heads
        self.recompute = config.use_gradient_checkpointing
        self.attention_norm, self.mlp_norm = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.project = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.widen, self.narrow = nn.Linear(d, WIDENING * d), nn.Linear(WIDENING * d, d)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, d) → (B, T, d)."""
        x = x + self.dropout(self._attend(self.attention_norm(x)))
        out: Tensor = x + self.dropout(self.narrow(F.gelu(self.widen(self.mlp_norm(x)))))
        return out

    def _attend(self, x: Tensor) -> Tensor:
        batch, length, d = x.shape
        heads = self.qkv(x).view(batch, length, 3, self.n_heads, d // self.n_heads)
        q, k, v = heads.permute(2, 0, 3, 1, 4)  # each (B, heads, T, d / heads)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        out: Tensor = self.project(mixed.transpose(1, 2).reshape(batch, length, d))
        return out


class Transformer(nn.Module):
    """(B, T, F) → {head: (B, T, K)}; what is said of candle t depends on candles up to t only."""

    def __init__(self, config: ModelConfig, n_features: int, classes: Mapping[str, int]) -> None:
        super().__init__()
        self.input = CausalInput(n_features, config.d_model)
        self.blocks = nn.ModuleList(TransformerBlock(config) for _ in range(config.n_layers))
        self.heads = Heads(config.d_model, classes, uncertain=config.use_uncertainty_estimation)
        start_small(self)

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        """Give the logits of each head at each candle."""
        x = self.input(x)
        x = x + places(x.shape[1], x.shape[2], x.device, x.dtype)
        for block in self.blocks:
            x = cast("TransformerBlock", block).run(x)
        out: dict[str, Tensor] = self.heads(x)
        return out
