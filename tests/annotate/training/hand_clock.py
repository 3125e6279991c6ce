"""A clock that stands still until a test moves it."""

from __future__ import annotations

import threading
from threading import Event


class HandClock:
    def __init__(self) -> None:
        self._time = 0.0
        self._moved = threading.Condition()
        self.waiting_until: float | None = None

    def now(self) -> float:
        with self._moved:
            return self._time

    def wait_until(self, due: float, stopped: Event) -> None:
        with self._moved:
            self.waiting_until = due
            self._moved.notify_all()
            while self._time < due and not stopped.is_set():
                self._moved.wait(0.05)
            self.waiting_until = None

    def move(self, seconds: float) -> None:
        with self._moved:
            self._time += seconds
            self._moved.notify_all()

    def wait_for_waiter(self) -> float:
        """Give the moment that someone waits for."""
        with self._moved:
            assert self._moved.wait_for(lambda: self.waiting_until is not None, 60)
            assert self.waiting_until is not None
            return self.waiting_until
