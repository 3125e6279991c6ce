"""Reads the labelling of a series anew after each change, for the live run on it; changes at once are one read."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from annotate.actor import Actor

if TYPE_CHECKING:
    from annotate.run_data import Labelling

WHAT = ("annotation", "annotations", "suggestions")  # notices of a series that speak of its marks or rejections


class MarksReader:
    """Has a thread of its own, since a series may have many marks. `on_marks` is called from it."""

    def __init__(self, read: Callable[[int], Labelling], on_marks: Callable[[int, Labelling], None]) -> None:
        self._read, self._on_marks = read, on_marks
        self._actor = Actor("marks")
        self._due: set[int] = set()  # series whose marks will be read

    def changed(self, series_id: int) -> None:
        """Read the marks of a series soon; called by one thread."""
        self._actor.start()
        if series_id not in self._due:
            self._due.add(series_id)
            self._actor.tell(lambda: self._tell(series_id))

    def stop(self) -> None:
        """End the thread after what it has to do."""
        self._actor.stop()

    def _tell(self, series_id: int) -> None:
        self._due.discard(series_id)  # before the read: what changes meanwhile is read again
        self._on_marks(series_id, self._read(series_id))
