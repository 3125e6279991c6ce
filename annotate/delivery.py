"""What one browser is owed, and when it may get it. Pure: no socket, no clock of its own.

Each client has its own credit: one unacknowledged message, and ten messages in any second. What happened meanwhile is
read from the buffer when its turn comes, so a client that does not read costs one message of memory, whatever a run
says. After a rest two messages may follow each other at once: what is said right after something else, such as a
prediction after a score, need not wait.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]

A_SECOND, AT_ONCE = 10, 2  # messages
INTERVAL_S = 1 / (A_SECOND - AT_ONCE)  # between two of many: with those at once, no second ever holds more
PROGRESS_S = 15.0


@dataclass(slots=True)
class Client:
    """One connected browser: what it follows, how far it has got, and its credit."""

    cursors: dict[int, int] = field(default_factory=dict)  # run → number of the last event sent; next turn first
    author: str = "me"
    series: set[int] = field(default_factory=set)
    notices: dict[tuple[object, ...], Json] = field(default_factory=dict)  # the newest of each kind
    message: int = 0  # number of the last message
    sent_at: float | None = None  # when the unacknowledged message left, s
    paid_until: float = 0.0  # each message is paid for with an interval; this is when the last one will be, s

    @property
    def _ready_at(self) -> float:
        return self.paid_until - (AT_ONCE - 1) * INTERVAL_S

    def may_send(self, now: float) -> bool:
        """Tell whether the credit allows a message."""
        return self.sent_at is None and now >= self._ready_at

    def sent(self, now: float) -> int:
        """Use up the credit; give the number that the acknowledgement has to name."""
        self.message += 1
        self.sent_at, self.paid_until = now, max(now, self.paid_until) + INTERVAL_S
        return self.message

    def acknowledged(self, message: int) -> None:
        """Give the credit back; a late acknowledgement of an earlier message does not count."""
        if message == self.message:
            self.sent_at = None

    def next_look(self, stored: dict[int, int]) -> float | None:
        """Give the time at which this client needs attention next, s; None while nothing is owed on either side."""
        if self.sent_at is not None:
            return self.sent_at + PROGRESS_S
        return self._ready_at if self.notices or self.next_run(stored) is not None else None

    def is_stalled(self, now: float) -> bool:
        """Tell whether the client has made no progress for too long."""
        return self.sent_at is not None and now >= self.sent_at + PROGRESS_S

    def notice(self, series_id: int, body: Json) -> None:
        """Keep a notice to a series; a later one about the same thing replaces it."""
        if series_id in self.series:
            key = (series_id, body.get("what"), body.get("id"))
            self.notices.pop(key, None)
            self.notices[key] = body

    def take_notices(self) -> Json | None:
        """Give the notices of the series that waits longest, `{series_id, items}`, and forget them; None if none."""
        if not self.notices:
            return None
        series_id = next(iter(self.notices))[0]
        keys = [key for key in self.notices if key[0] == series_id]
        return {"series_id": series_id, "items": [self.notices.pop(key) for key in keys]}

    def next_run(self, stored: dict[int, int]) -> int | None:
        """Give a run with events that this client has not got, each run in its turn; `stored` is run → last number."""
        for run_id, cursor in self.cursors.items():
            if stored.get(run_id, 0) > cursor:
                return run_id
        return None

    def advance(self, run_id: int, seq: int) -> None:
        """Note that events up to `seq` went out; another run comes first next time."""
        del self.cursors[run_id]
        self.cursors[run_id] = seq
