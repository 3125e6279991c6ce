"""Looks after a push feed: nothing is asked of anyone, so all there is to notice is silence."""

from __future__ import annotations

import time
from collections.abc import Callable

from annotate.feeds.health import FeedState, Word, patience_s, silence

OnState = Callable[[FeedState], None]


class PushWatch:
    """Tells whether candles keep coming by POST. `heard_at` gives when something came last, `now_s` the same clock."""

    def __init__(
        self,
        timeframe: str,
        heard_at: Callable[[], float | None],
        on_state: OnState,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._patience_s = patience_s(timeframe)
        self._heard_at = heard_at
        self._on_state = on_state
        self._now_s = now_s
        self._began = now_s()
        self._state = ""

    def look(self, last: int | None, /) -> None:
        """Tell the state where it has changed; `last` is the newest candle handed over."""
        heard, now = self._heard_at(), self._now_s()
        came = heard is not None and heard >= self._began
        quiet_s = now - (heard if heard is not None and came else self._began)
        if quiet_s > self._patience_s:
            self._tell("stale", last, quiet_s, f"nothing was posted for {silence(quiet_s)}")
        elif came:
            self._tell("connected", last, 0.0, "candles are posted")
        else:
            self._tell("waiting", last, 0.0, "waits for the first candle to be posted")

    def close(self) -> None:
        """End nothing: whoever posts goes on as it likes."""

    def _tell(self, word: Word, last: int | None, ago_s: float, message: str) -> None:
        if word == self._state:
            return
        self._state = word
        since = int(time.time() * 1000 - ago_s * 1000)
        self._on_state(FeedState("push", word, since, last, message))
