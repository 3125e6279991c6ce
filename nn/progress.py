"""Where a batch run stands beside its learner: plain data, kept with the last checkpoint."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from nn.learner import StepResult

Json = dict[str, Any]


@dataclass(slots=True)
class Progress:
    """Which epoch and batch come next, the best so far, and the counts of the epoch under way."""

    epoch: int = 1
    batch: int = 0  # batches of this epoch that are done
    best_epoch: int | None = None
    best_report: Json | None = None
    waited: int = 0  # epochs since the best
    loss_sum: float = 0.0  # of this epoch
    losses: int = 0
    confusion: dict[str, list[list[int]]] = field(default_factory=dict)  # of this epoch
    seconds: float = 0.0  # of this epoch

    @classmethod
    def from_json(cls, given: Json) -> Self:
        """Rebuild what `dataclasses.asdict` gave."""
        return cls(**given)

    def add(self, result: StepResult, seconds: float) -> None:
        """Count a step into its epoch."""
        self.batch += 1
        self.seconds += seconds
        if result.skipped:
            return
        self.loss_sum += result.loss
        self.losses += 1
        for head, matrix in result.confusion.items():
            before = np.array(self.confusion.get(head, np.zeros_like(matrix)))
            self.confusion[head] = (before + matrix).tolist()

    def next_epoch(self) -> None:
        """Begin the next epoch's counts."""
        self.epoch += 1
        self.batch, self.losses, self.loss_sum, self.seconds, self.confusion = 0, 0, 0.0, 0.0, {}
