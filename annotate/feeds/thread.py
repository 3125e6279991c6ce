"""The thread of a live run: gets its feed ready, then hands over candle by candle, never further ahead than allowed."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from annotate.errors import AnnotateError
from annotate.feeds.feed import ClosedCandle, Feed, FeedError

log = logging.getLogger(__name__)

Prepare = Callable[[threading.Event], Feed]
"""Gets a feed ready; the event says that nobody waits for it any more."""

OnCandle = Callable[[ClosedCandle], None]
OnEnd = Callable[[str | None], None]


class FeedThread:
    """Feeds one live run. The trainer thread steers it; candles and the end come back by the callbacks, from here.

    `prepare` runs first, in this thread, and may take its time. At most `ahead` candles are under way at once: with 1
    the next comes only when the last was scored and learnt.
    """

    def __init__(self, prepare: Prepare, on_candle: OnCandle, on_end: OnEnd, ahead: int) -> None:
        self._prepare = prepare
        self._on_candle = on_candle
        self._on_end = on_end
        self._ready = threading.Event()
        self._flowing = threading.Event()
        self._was_paused = threading.Event()  # since the clock was restarted last
        self._stopped = threading.Event()
        self._credit = threading.Semaphore(ahead)
        self._flowing.set()
        self._thread = threading.Thread(target=self._run, name="feed", daemon=True)

    def start(self) -> None:
        """Begin to prepare."""
        self._thread.start()

    def model_is_ready(self) -> None:
        """Start the clock: the first candle may come."""
        self._ready.set()

    def candle_done(self) -> None:
        """Allow one candle more."""
        self._credit.release()

    def pause(self) -> None:
        """Hold back the candles to come."""
        self._was_paused.set()
        self._flowing.clear()

    def resume(self) -> None:
        """Let candles come again."""
        self._flowing.set()

    def stop(self) -> None:
        """End without another candle."""
        self._stopped.set()
        for waited_for in (self._ready, self._flowing):
            waited_for.set()
        self._credit.release()

    def join(self, timeout_s: float) -> None:
        """Wait for the end of the thread."""
        self._thread.join(timeout_s)

    def _run(self) -> None:
        cause: str | None = None
        feed: Feed | None = None
        try:
            feed = self._prepare(self._stopped)
            self._ready.wait()
            feed.restart_clock()
            while (candle := self._next(feed)) is not None:
                self._on_candle(candle)
        except (AnnotateError, FeedError) as error:
            cause = str(error)
        except Exception as error:  # whatever broke, the run has to hear of it
            log.exception("the feed of a live run broke")
            cause = f"the feed broke: {type(error).__name__}: {error}"
        finally:
            if feed is not None:
                feed.close()
        if not self._stopped.is_set():
            self._on_end(cause)

    def _next(self, feed: Feed) -> ClosedCandle | None:
        self._credit.acquire()
        self._wait_out_a_pause(feed)
        candle = feed.next(self._stopped)
        if candle is not None:
            # Paused while this candle was waited for: it comes when the run goes on.
            self._wait_out_a_pause(feed)
        return None if self._stopped.is_set() else candle

    def _wait_out_a_pause(self, feed: Feed) -> None:
        """Wait while the run is paused; a pause that is over already moves the clock as well."""
        if not self._was_paused.is_set():
            return
        self._was_paused.clear()  # before the wait: a pause that comes meanwhile is not lost
        self._flowing.wait()
        feed.restart_clock()
