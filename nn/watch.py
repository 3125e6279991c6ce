"""Watches a training run for what the predecessor hid: a loss of 0, one that stands still, one class for everything."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from nn.learner import StepResult

Json = dict[str, Any]

STUCK_STEPS = 50
STUCK_BY = 1e-6
NO_LOSS = 1e-6


@dataclass(slots=True)
class Watch:
    """Gives each warning once a cause. Plain data, so that a resumed run does not repeat one."""

    said: list[str] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    same_class: dict[str, int] = field(default_factory=dict)  # head → steps in a row that answered one class
    answered: dict[str, int] = field(default_factory=dict)  # head → that class

    @classmethod
    def from_json(cls, given: Json) -> Self:
        """Rebuild what `to_json` gave."""
        return cls(**given)

    def to_json(self) -> Json:
        """Give plain data."""
        return dataclasses.asdict(self)

    def once(self, code: str, message: str, cause: str = "") -> list[tuple[str, str]]:
        """Give `[(code, message)]` the first time, `[]` after; `cause` tells causes of one code apart."""
        if code + cause in self.said:
            return []
        self.said.append(code + cause)
        return [(code, message)]

    def after_step(self, result: StepResult) -> list[tuple[str, str]]:
        """Give what there is to warn of after a step."""
        if result.skipped:
            return self.once(
                "non_finite", f"step skipped: {result.skipped}; the weights stay as they were, and it is counted"
            )
        self.losses = [*self.losses[-STUCK_STEPS:], result.loss]
        found = []
        if result.loss <= NO_LOSS:
            found += self.once("loss_zero", "the loss is 0: nothing is left to learn from, look at the targets")
        elif len(self.losses) > STUCK_STEPS and max(self.losses) - min(self.losses) < STUCK_BY:
            found += self.once(
                "loss_stuck",
                f"the loss has not moved for {STUCK_STEPS} steps: raise learning_rate, or look at the data",
            )
        for head, matrix in result.confusion.items():
            if np.count_nonzero(matrix.sum(axis=1)) > 1:  # where all targets are of one class, so may the answers be
                found += self._one_class(head, matrix.sum(axis=0).tolist())
        return found

    def _one_class(self, head: str, answers: list[int]) -> list[tuple[str, str]]:
        given = [i for i, count in enumerate(answers) if count]
        if len(given) != 1:
            self.same_class[head] = 0
            return []
        same = self.answered.get(head) == given[0]
        self.same_class[head] = self.same_class.get(head, 0) + 1 if same else 1
        self.answered[head] = given[0]
        if self.same_class[head] < STUCK_STEPS:
            return []
        message = f"{head}: the model has answered class {given[0]} for every candle for {STUCK_STEPS} steps"
        return self.once("one_class", message, cause=head)
