"""A thread that has something done every few seconds, until it is told to end."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Heartbeat:
    """Calls `beat` every `every_s` seconds; `beat` must not wait."""

    def __init__(self, name: str, every_s: float, beat: Callable[[], None]) -> None:
        self._every_s, self._beat = every_s, beat
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begin; the first beat comes after `every_s`."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread; a second call, or one before the start, changes nothing."""
        self._over.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        while not self._over.wait(self._every_s):
            self._beat()
