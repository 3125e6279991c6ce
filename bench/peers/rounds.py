"""What every peer program does: for each line on stdin it measures once and prints the figure on a line of its own."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

WARM_UP = 2  # steps before the clock starts: what loads at the first step does not count
MARK = "figure "


class StepClock:
    """CPU time from the end of the warm-up to the end of the newest step."""

    def __init__(self) -> None:
        self.start, self.end = 0.0, 0.0

    def stepped(self, step: int) -> None:
        """Note that step `step`, counted from 1, is done."""
        self.end = time.process_time()
        if step == WARM_UP:
            self.start = self.end

    def seconds(self) -> float:
        """Give the CPU seconds of the steps after the warm-up."""
        return self.end - self.start


def answer(measure: Callable[[], float]) -> None:
    """Measure once for each line on stdin, until there are no more."""
    for _ in sys.stdin:
        print(f"{MARK}{measure()}", flush=True)
