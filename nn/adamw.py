"""AdamW over all weights of a network as one vector; the gradient's length is read and clipped on the way.

The steps are those of torch.optim.AdamW (Loshchilov & Hutter 2019, algorithm 2), held to them by a test. That one loads
torch's compiler when it is made, as much work as loading torch itself, and goes weight by weight on a CPU.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

BETAS = (0.9, 0.98)
WEIGHT_DECAY = 0.05  # of matrices; nothing else is drawn towards 0
CLIP_NORM = 1.0
LEAST_SIZE = 1e-8  # of a gradient that a weight is moved by


class AdamW:
    """Moves weights in place, so that autograd's version counters notice a stray writer (a fused step leaves them).

    One step is `gather`, which takes the gradients from the weights, and `step` with what it gave; leaving `step` out
    changes nothing.
    """

    def __init__(self, parameters: Iterable[nn.Parameter]) -> None:
        self._parameters: list[Tensor] = list(parameters)
        self._sizes = [p.numel() for p in self._parameters]
        self._steps = 0
        device = self._parameters[0].device
        self._mean, self._square = (torch.zeros(sum(self._sizes), device=device) for _ in range(2))
        self._taught: list[Tensor] = []  # those that the gathered gradient is of

    def gather(self) -> Tensor:
        """Take the gradient away from the weights, as one vector; 0 for a weight that the loss did not reach."""
        self._taught = [p for p in self._parameters if p.grad is not None]
        parts = [torch.zeros_like(p) if p.grad is None else p.grad for p in self._parameters]
        self.forget()
        return torch.cat([part.reshape(-1) for part in parts])

    def forget(self) -> None:
        """Drop the gradients that the weights hold."""
        for parameter in self._parameters:
            parameter.grad = None

    @torch.no_grad()
    def step(self, gradient: Tensor, norm: Tensor, rate: float) -> None:
        """Move the weights against `gradient`, whose length is `norm`, clipped to CLIP_NORM; it is used up."""
        self._steps += 1
        gradient.mul_((CLIP_NORM / (norm + 1e-6)).clamp(max=1.0))
        self._mean.lerp_(gradient, 1 - BETAS[0])
        self._square.mul_(BETAS[1]).addcmul_(gradient, gradient, value=1 - BETAS[1])
        unbiased = [1 - beta**self._steps for beta in BETAS]
        size = torch.sqrt(self._square, out=gradient).div_(math.sqrt(unbiased[1])).add_(LEAST_SIZE)
        moves = torch.div(self._mean, size, out=gradient).mul_(-rate / unbiased[0])
        if matrices := [p for p in self._taught if p.dim() >= 2]:
            torch._foreach_mul_(matrices, 1 - rate * WEIGHT_DECAY)
        parts = torch.split(moves, self._sizes)
        each = [part.view_as(p) for p, part in zip(self._parameters, parts, strict=True)]
        torch._foreach_add_(self._parameters, each)

    def state(self) -> dict[str, Any]:
        """Give what an exact resume needs."""
        return {"steps": self._steps, "mean": self._mean, "square": self._square}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Go back to where `state` was taken; raises ValueError for that of another network."""
        for name, held in (("mean", self._mean), ("square", self._square)):
            given = state[name]
            if given.shape != held.shape:
                raise ValueError(f"optimizer.{name} holds {given.numel()} numbers; the network has {held.numel()}")
            held.copy_(given)
        self._steps = int(state["steps"])
