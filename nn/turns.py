"""Who steps next in the one trainer loop: live first, and neither ever starves. Pure; no torch, no clock."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["live", "batch"]


@dataclass(slots=True)
class Turns:
    """Equal time under pressure.

    A live step that waits goes first, unless live steps have had, since the last batch step, as much time as that
    batch step took. So between two batch steps there is at least one waiting live step, and live steps that never end
    still leave the batch run about half of the time.
    """

    live_credit_s: float = 0.0

    def next(self, *, live_waits: bool, batch_waits: bool) -> Kind | None:
        """Name the kind of the next step; None when nothing waits."""
        if live_waits and (not batch_waits or self.live_credit_s >= 0):
            return "live"
        return "batch" if batch_waits else None

    def took(self, kind: Kind, seconds: float) -> None:
        """Account for a step that has been made."""
        self.live_credit_s = seconds if kind == "batch" else self.live_credit_s - seconds
