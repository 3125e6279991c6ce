"""Parts that the models share: input projection, places, heads, checkpointed blocks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

START_SIZE = 0.02  # of drawn weights and of places: Adam moves each number alike, so small ones learn in fewer steps
ANSWER_SIZE = 0.002  # of the heads' drawn weights: the first answers are nearly even
WORD_BITS, DRAWS_A_WORD = 16, 4  # of dropout on a CPU
LEAST_DOUBT = 0.3  # softplus(0) + 0.3 ≈ 1: an uncertainty head starts neutral
LOOKBACK = 4  # candles that the input projection sees: a linear one never learnt rules that multiply recent signs


class CausalInput(nn.Module):
    """Convolution over the last candles: (B, T, F) → (B, T, d); candles before the window count as zeros."""

    def __init__(self, n_features: int, d_model: int, lookback: int = LOOKBACK) -> None:
        super().__init__()
        self.lookback = lookback
        self.mix = nn.Linear(lookback * n_features, d_model)

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, F) → (B, T, d)."""
        out: Tensor = self.mix(recent(x, self.lookback))
        return out


class Heads(nn.Module):
    """One linear answer a head; with `uncertain`, each head also learns at which candles to trust itself less.

    The uncertainty is a temperature: logits are divided by it, so that a doubtful answer is flatter and costs less.
    """

    def __init__(
        self, d_model: int, classes: Mapping[str, int], *, uncertain: bool, norm: nn.Module | None = None
    ) -> None:
        super().__init__()
        self.norm = norm or nn.LayerNorm(d_model)
        self.answers = nn.ModuleDict({head: nn.Linear(d_model, count) for head, count in classes.items()})
        self.doubts = nn.ModuleDict({head: nn.Linear(d_model, 1) for head in classes} if uncertain else {})

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        """(B, T, d) → {head: (B, T, K)}."""
        x = self.norm(x)
        logits = {head: answer(x) for head, answer in self.answers.items()}  # (B, T, K)
        for head, doubt in self.doubts.items():
            logits[head] = logits[head] / (F.softplus(doubt(x)) + LEAST_DOUBT)
        return logits


class Dropout(nn.Module):
    """As `nn.Dropout`; on a CPU it draws 16 bits a number, four numbers at once, in a fifth of the time.

    The share is taken to the nearest 65,536th, and what is left is scaled to keep the mean exactly.
    """

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share

    def forward(self, x: Tensor) -> Tensor:
        """Set a share of `x` to zero while training, whatever its shape."""
        if not self.training or self.share == 0:
            return x
        return x * _kept(x, self.share) if x.device.type == "cpu" else F.dropout(x, self.share)


def _kept(x: Tensor, share: float) -> Tensor:
    """Draw what to multiply `x` by: 0, or a little more than 1."""
    count, dropped = x.numel(), round(share * 2**WORD_BITS)
    words = torch.empty(-(-count // DRAWS_A_WORD), dtype=torch.int64).random_(-(2**63), None)
    draws = words.view(torch.int16)[:count].view(x.shape)
    # Compared in place as floats: three times as fast as a comparison that gives booleans.
    kept = draws.to(torch.float32).ge_(dropped - 2 ** (WORD_BITS - 1))
    return kept.mul_(2**WORD_BITS / (2**WORD_BITS - dropped)).to(x.dtype)


class Block(nn.Module):
    """Base of stacked blocks: stateless, and able to recompute itself inside backward."""

    recompute = False

    def run(self, x: Tensor) -> Tensor:
        """Run the block, through gradient checkpointing where it is switched on and a graph is being built."""
        if not (self.recompute and torch.is_grad_enabled()):
            out: Tensor = self(x)
            return out
        # Non-reentrant, with the random state kept, so that recomputed dropout draws the same mask.
        again: Tensor = checkpoint(self, x, use_reentrant=False, preserve_rng_state=True)
        return again


def start_small(model: nn.Module) -> None:
    """Draw the weights of every linear layer anew, small, and set its biases to 0; a template has none to draw."""
    if next(model.parameters()).is_meta:
        return  # drawing on "meta" would load torch's compiler, seconds in the middle of a run
    for name, layer in model.named_modules():
        if isinstance(layer, nn.Linear):
            nn.init.normal_(layer.weight, std=_start_size(f".{name}.", layer))
            nn.init.zeros_(layer.bias)


def _start_size(name: str, layer: nn.Linear) -> float:
    if ".answers." in name:
        return ANSWER_SIZE
    # Before a GELU weights are drawn at full size: hidden units that all start near 0 take epochs to tell products of
    # three signs apart (docs/training-log.md).
    return layer.in_features**-0.5 if ".widen." in name else START_SIZE


def recent(x: Tensor, count: int, apart: int = 1) -> Tensor:
    """Lay each candle's last `count` candles, `apart` from each other, side by side: (B, T, F) → (B, T, count·F).

    The oldest comes first; candles before the window count as zeros.
    """
    length, shifts = x.shape[1], [min(i * apart, x.shape[1]) for i in reversed(range(count))]
    return torch.cat([F.pad(x[:, : length - shift], (0, 0, shift, 0)) for shift in shifts], dim=-1)


@lru_cache(maxsize=32)
def places(length: int, d_model: int, device: torch.device, dtype: torch.dtype) -> Tensor:
    """Small sinusoids of each place in the window, (T, d); Vaswani et al. 2017, section 3.5."""
    half = (d_model + 1) // 2
    rate = torch.exp(torch.arange(half, device=device, dtype=torch.float32) * (-math.log(10_000.0) / half))
    angle = torch.arange(length, device=device, dtype=torch.float32)[:, None] * rate
    return (START_SIZE * torch.cat([torch.sin(angle), torch.cos(angle)], dim=1)[:, :d_model]).to(dtype)
