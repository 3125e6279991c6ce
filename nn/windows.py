"""Windows of candles as strided views on the device: a batch is gathered from them, they are never written out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from nn.config import ModelConfig
from nn.features import FEATURES, Rows


@dataclass(frozen=True, slots=True)
class Batch:
    """B windows of T candles: inputs and, per head, the class at every candle, MASKED where none counts."""

    x: Tensor  # (B, T, F) float32
    targets: dict[str, Tensor]  # head → (B, T) int64
    refused: dict[str, Tensor] = field(default_factory=dict)  # head → (B, T): a class that a person said it is not

    def __len__(self) -> int:
        return len(self.x)

    def parts(self, count: int) -> Iterator[Batch]:
        """Give the batch in at most so many parts, in order."""
        size = -(-len(self) // count)
        for at in range(0, len(self), size):
            targets, refused = (
                {head: of[at : at + size] for head, of in given.items()} for given in (self.targets, self.refused)
            )
            yield Batch(self.x[at : at + size], targets, refused)


class Windows:
    """Rows and targets of a series on the device; gives batches of windows by the number of their first row."""

    def __init__(
        self,
        rows: Rows,
        targets: Mapping[str, npt.NDArray[np.int64]],
        length: int,
        device: torch.device | str = "cpu",
        refused: Mapping[str, npt.NDArray[np.int64]] = MappingProxyType({}),
    ) -> None:
        self.length = length
        self._rows = _on(rows, device).unfold(0, length, 1)  # (n − T + 1, F, T), a view
        self._targets, self._refused = (
            {head: _on(classes, device).unfold(0, length, 1) for head, classes in given.items()}
            for given in (targets, refused)
        )

    def __len__(self) -> int:
        return len(self._rows)

    def batch(self, starts: npt.NDArray[np.int64]) -> Batch:
        """Gather the windows that start at these rows."""
        index = torch.from_numpy(np.ascontiguousarray(starts)).to(self._rows.device)
        targets, refused = (
            {head: view[index] for head, view in views.items()} for views in (self._targets, self._refused)
        )
        return Batch(self._rows[index].transpose(1, 2).contiguous(), targets, refused)


def noise(config: ModelConfig, classes: Mapping[str, int], device: torch.device | str = "cpu") -> Batch:
    """Make a batch of `config`'s size from noise, to measure with: speed and memory do not depend on the values."""
    draw = torch.Generator().manual_seed(config.seed)
    shape = (config.batch_size, config.sequence_length)
    x = torch.randn(*shape, len(FEATURES), generator=draw)
    targets = {head: torch.randint(k, shape, generator=draw).to(device) for head, k in classes.items()}
    return Batch(x.to(device), targets)


def _on(array: npt.NDArray[np.generic], device: torch.device | str) -> Tensor:
    return torch.tensor(np.ascontiguousarray(array), device=device)  # a copy: torch warns of mapped read-only arrays
