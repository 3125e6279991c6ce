"""What a benchmark prints: a ratio against a named peer, measured in the same run, with its spread and its bar."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Measure:
    """One ratio, ours : peer, over alternated rounds."""

    name: str
    peer: str
    ratios: Sequence[float]
    bar: float
    sense: Literal["at least", "at most"]
    note: str = ""

    @property
    def median(self) -> float:
        """Give the median ratio."""
        return statistics.median(self.ratios)

    @property
    def reached(self) -> bool:
        """Tell whether the median keeps the bar."""
        return self.median >= self.bar if self.sense == "at least" else self.median <= self.bar

    def line(self) -> str:
        """Give the printed line."""
        spread = f"{min(self.ratios):.3g} to {max(self.ratios):.3g} in {len(self.ratios)} rounds"
        verdict = "reached" if self.reached else "NOT REACHED"
        note = f"; {self.note}" if self.note else ""
        return f"{self.name}: {self.median:.3g}× {self.peer} ({spread}), bar {self.sense} {self.bar:g}: {verdict}{note}"


def alternate(ours: Callable[[], float], peer: Callable[[], float], rounds: int = 5) -> list[tuple[float, float]]:
    """Measure both in turn, the first of a round changing, so that a busy machine troubles both alike.

    Each callable gives its own figure (a rate or a time); the first round of each is a warm-up and not kept.
    """
    ours()
    peer()
    pairs = []
    for turn in range(rounds):
        if turn % 2:
            theirs = peer()
            pairs.append((ours(), theirs))
        else:
            own = ours()
            pairs.append((own, peer()))
    return pairs


def ratios(pairs: Sequence[tuple[float, float]]) -> list[float]:
    """Give ours ÷ peer of each round."""
    return [own / theirs for own, theirs in pairs]
