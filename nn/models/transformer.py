"""Causal pre-norm transformer over candles; dropout on residuals only, so that attention keeps its fast path."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from torch import Tensor, nn
from torch.nn import functional as F

from nn.config import ModelConfig
from nn.models.parts import LOOKBACK, Block, CausalInput, Dropout, Heads, places, start_small

WIDENING = 4
BETWEEN_WIDENING = 2


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
        self.dropout = Dropout(config.dropout)

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
    """(B, T, F) → {head: (B, T, K)}; what is said of candle t depends on candles up to t only.

    With `patch_size` above 1 one token stands for so many candles, and attention sees only the tokens. Each candle is
    then answered from the newest whole patch at or before it and, by `Between`, from its own last candles.
    """

    def __init__(self, config: ModelConfig, n_features: int, classes: Mapping[str, int]) -> None:
        super().__init__()
        self.patch = config.patch_size
        self.input = CausalInput(n_features, config.d_model, max(LOOKBACK, self.patch))
        self.blocks = nn.ModuleList(TransformerBlock(config) for _ in range(config.n_layers))
        self.between = Between(config) if self.patch > 1 else None
        self.heads = Heads(config.d_model, classes, uncertain=config.use_uncertainty_estimation)
        start_small(self)

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        """Give the logits of each head at each candle."""
        candles = self.input(x)
        x = candles[:, self.patch - 1 :: self.patch]  # (B, T / patch, d): the last candle of each whole patch
        x = x + places(x.shape[1], x.shape[2], x.device, x.dtype)
        for block in self.blocks:
            x = cast("TransformerBlock", block).run(x)
        if self.between is not None:
            x = self.between.run_with(candles, x)
        out: dict[str, Tensor] = self.heads(x)
        return out


class Between(Block):
    """Answers for every candle from the tokens of whole patches and the candle's own surroundings."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        d = config.d_model
        self.patch = config.patch_size
        self.recompute = config.use_gradient_checkpointing
        self.norm = nn.LayerNorm(d)
        self.widen, self.narrow = nn.Linear(d, BETWEEN_WIDENING * d), nn.Linear(BETWEEN_WIDENING * d, d)
        self.dropout = Dropout(config.dropout)

    def run_with(self, candles: Tensor, tokens: Tensor) -> Tensor:
        """(B, T, d) and (B, T / patch, d) → (B, T, d)."""
        length = candles.shape[1]
        # Candle t knows the patches that ended at t or earlier; before the first there is nothing.
        held = F.pad(tokens, (0, 0, 1, 0)).repeat_interleave(self.patch, dim=1)[:, 1:]
        held = F.pad(held, (0, 0, 0, max(0, length - held.shape[1])))[:, :length]
        return self.run(candles + held)

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, d) → (B, T, d)."""
        out: Tensor = x + self.dropout(self.narrow(F.gelu(self.widen(self.norm(x)))))
        return out
