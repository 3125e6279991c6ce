"""What is hidden from an author of a series: the future in a replay, others' marks in a blind pass. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

HIDES = ("others", "all")


@dataclass(frozen=True, slots=True)
class Veil:
    """What one author sees of one series now; without a cursor and a pass, everything."""

    author: str
    cursor: int | None = None  # in a replay: nothing that opened, was known or was decided after it (ms UTC)
    hides: str | None = None  # in a blind pass: marks of others, or all that are older than the pass
    since: int = 0  # when the pass began, ms UTC

    @property
    def is_open(self) -> bool:
        """Tell whether nothing is hidden."""
        return self.cursor is None and self.hides is None

    @property
    def sees_from(self) -> int | None:
        """Give the moment before which not even the author's own marks are seen; None where there is none."""
        return self.since if self.hides == "all" else None

    def shows(self, mark: Mapping[str, Any]) -> bool:
        """Tell whether a stored mark may be seen."""
        if self.cursor is not None and max(mark["known_at"], mark["decided_at"]) > self.cursor:
            return False
        if self.hides is not None and mark["author"] != self.author:
            return False
        return self.hides != "all" or mark["created"] >= self.since
