"""Follows one market of an exchange: what closed is stored, in order and without a hole; what forms is only shown.

Gaps are found by times, never by errors: a stream comes back by itself and says nothing of what it missed.
"""

from __future__ import annotations

import dataclasses
import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Event
from typing import Protocol

from annotate.errors import StorageFailed
from annotate.feeds.arrivals import Candle
from annotate.feeds.assembler import Assembler, Settled
from annotate.feeds.feed import FeedError
from annotate.feeds.gateway import PAGE, Busy, Gateway, Impossible, Lost, Page, Unreachable
from annotate.feeds.health import FeedState, Word, patience_s, silence
from annotate.feeds.messages import Update
from annotate.timeframe import close_of, floor, parse

log = logging.getLogger(__name__)

AGREE_MS = 5_000  # the exchange's clock is trusted where this machine's agrees so far: both are seldom wrong alike

OnState = Callable[[FeedState], None]


class Store(Protocol):
    """Where candles go."""

    def store(self, closed: Sequence[Candle]) -> int:
        """Store closed candles, on the disk at return; give how many contradict stored ones. Raises StorageFailed."""
        ...

    def note_no_trade(self, start: int, end: int) -> None:
        """Note that nobody traded from the close of a candle up to the open time of the one after it."""
        ...

    def show_forming(self, candle: Candle) -> None:
        """Let a forming candle move on the charts."""
        ...


@dataclass(frozen=True, slots=True)
class Pace:
    """How long a collector waits for what, in seconds."""

    patience: float  # without a word before the stream counts as silent
    poll: float  # between two questions by REST while the stream is silent
    reconnect: float = 30.0  # between two new connections of a silent stream, doubling
    longest_reconnect: float = 600.0
    turn: float = 0.2  # one wait for the stream
    tolerance: float = 0.5  # a later candle may overtake the word that one closed; only then is it asked for
    doubt: float = 2.0  # between two looks at a hole
    backoff: float = 1.0  # after a failed question, doubling
    longest_backoff: float = 30.0

    @classmethod
    def of(cls, timeframe: str) -> Pace:
        """Give the pace for candles of a timeframe."""
        patience = patience_s(timeframe)
        return cls(patience=patience, poll=min(patience, max(2.0, parse(timeframe) / 1000)))


class Collector:
    """One thread, from `start` to `close`. `on_state` is told each change of the feed's state."""

    def __init__(
        self, gateway: Gateway, store: Store, timeframe: str, on_state: OnState, pace: Pace | None = None
    ) -> None:
        self._gateway = gateway
        self._store = store
        self._timeframe = timeframe
        self._on_state = on_state
        self._pace = pace or Pace.of(timeframe)
        self._assembler = Assembler(timeframe, 0)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="exchange", daemon=True)
        self.failure: str | None = None  # why nothing more will come
        now_s = time.monotonic()
        self._streamed_s = now_s  # when the stream said something last
        self._new_s = now_s  # when anything new came, by stream or by REST
        self._ask_at: float | None = None
        self._reconnect_at = 0.0
        self._reconnect_s = self._pace.reconnect
        self._backoff_s = self._pace.backoff
        self._limited_until = 0.0
        self._following = False
        self._is_lost = False
        self._trouble = ""
        self._conflicts = 0
        self._newest: int | None = None  # open time of the newest candle that the exchange spoke of
        self._last: int | None = None  # open time of the newest candle that was stored
        self._told: FeedState | None = None

    def prepare(self, newest: Candle | None, history: int, stopped: Event) -> None:
        """Fetch what closed since the newest stored candle, at most `history` candles; it takes as long as it takes.

        Raises FeedError where the exchange has no such market, or where its candle is not the stored one.
        """
        self._last = newest.time if newest else None
        self._tell()
        begin = self._begin_at(newest, history, stopped)
        if begin is not None:
            self._assembler = Assembler(self._timeframe, begin)
            self._catch_up(stopped)

    def start(self) -> None:
        """Follow the stream from here on."""
        self._streamed_s = self._new_s = time.monotonic()
        self._following = True
        self._thread.start()

    def close(self) -> None:
        """End the thread and leave the exchange alone."""
        self._stopped.set()
        self._gateway.close()

    def join(self, timeout_s: float) -> None:
        """Wait for the end of the thread, if it began."""
        if self._following:
            self._thread.join(timeout_s)

    def _begin_at(self, newest: Candle | None, history: int, stopped: Event) -> int | None:
        """Give the open time of the first candle to fetch; None once stopped.

        Raises FeedError where the stored candle is not the exchange's: the series would mix two markets.
        """
        there = self._insistently(None, 1, stopped)
        if there is None:
            return None
        if not there.rows:
            raise FeedError("the exchange has no candle of this market and timeframe")
        start = floor(there.rows[-1].time - history * parse(self._timeframe), self._timeframe)
        if newest is None:
            return start
        overlap = self._insistently(newest.time, 2, stopped)
        if overlap is None:
            return None
        _check_same_market(newest, overlap.rows)
        return max(close_of(newest.time, self._timeframe), start)

    def _catch_up(self, stopped: Event) -> None:
        while not stopped.is_set():
            frontier = self._assembler.frontier
            page = self._insistently(frontier, PAGE, stopped)
            if page is None:
                return
            self._take(page)
            if self._assembler.doubts():
                stopped.wait(self._pace.doubt)
            elif self._assembler.frontier == frontier:
                return

    def _insistently(self, since: int | None, limit: int, stopped: Event) -> Page | None:
        """Ask until there is an answer; None once stopped. Raises FeedError where there will never be one."""
        while not stopped.is_set():
            page = self._ask(since, limit)
            if page is not None:
                return page
            if self.failure is not None:
                raise FeedError(self.failure)
            self._tell()
            stopped.wait(max(0.0, (self._ask_at or 0.0) - time.monotonic()))
        return None

    def _run(self) -> None:
        try:
            while not self._stopped.is_set() and self.failure is None:
                self._turn()
        except Exception as error:  # the run has to hear of whatever broke
            log.exception("the feed of an exchange broke")
            self.failure = f"the feed broke: {type(error).__name__}: {error}"

    def _turn(self) -> None:
        try:
            heard = self._gateway.receive(self._pace.turn)
        except Unreachable as error:
            heard = Lost(str(error))
        if isinstance(heard, Update):
            self._take_update(heard)
        elif heard is not None:
            self._is_lost, self._trouble = True, heard.message
        self._ask_when_due(time.monotonic())
        self._tell()

    def _take_update(self, update: Update) -> None:
        self._streamed_s, self._is_lost, self._trouble = time.monotonic(), False, ""
        self._reconnect_s = self._pace.reconnect
        self._note_newest(update.candle.time)
        self._put(self._assembler.update(update))
        if self._assembler.forming is update.candle:
            self._store.show_forming(update.candle)

    def _take(self, page: Page) -> None:
        before = self._assembler.frontier
        is_trusted = page.now is not None and abs(page.now - time.time() * 1000) < AGREE_MS
        is_newest = len(page.rows) < PAGE
        if page.rows:
            self._note_newest(page.rows[-1].time)
            if is_newest:
                self._newest = page.rows[-1].time  # whatever a message said of a later one
        self._put(self._assembler.page(page.rows, page.now if is_trusted else None, is_newest=is_newest))
        now_s = time.monotonic()
        if self._assembler.doubts():
            self._ask_at = now_s + self._pace.doubt
        elif self._assembler.frontier > before:
            self._ask_at = now_s
        else:
            self._ask_at = now_s + self._pace.backoff if self._assembler.missing() else None

    def _note_newest(self, time_ms: int) -> None:
        """Take the time as a sign of life, unless it is older than what was heard: old candles may come for ever."""
        if self._newest is None or time_ms >= self._newest:
            self._newest, self._new_s = time_ms, time.monotonic()

    def _put(self, settled: Settled) -> None:
        candles = [*settled.final, *([settled.again] if settled.again is not None else [])]
        candles.sort(key=lambda candle: candle.time)
        for start, end in settled.no_trade:  # before the candles after it: whoever reads these has to know
            self._store.note_no_trade(start, end)
        while candles and not self._stopped.is_set():
            try:
                self._conflicts += self._store.store(candles)
                break
            except StorageFailed as error:  # nothing is lost by waiting: the exchange still has them
                self._trouble = error.message
                log.warning("candles of an exchange wait: %s", error.message)
                self._stopped.wait(self._pace.longest_backoff)
        if settled.final:
            self._last = settled.final[-1].time

    def _ask_when_due(self, now_s: float) -> None:
        if now_s < self._limited_until:
            return
        if now_s - self._streamed_s > self._pace.patience:
            self._nudge(now_s)
        elif self._assembler.missing() and self._ask_at is None:
            self._ask_at = now_s + (self._pace.tolerance if self._assembler.missing_count() <= 1 else 0.0)
        if self._ask_at is not None and now_s >= self._ask_at:
            self._ask_at = None
            page = self._ask(self._assembler.frontier, PAGE)
            if page is not None:
                self._take(page)

    def _nudge(self, now_s: float) -> None:
        """The stream is silent: connect anew, and go by REST until it speaks."""
        if now_s >= self._reconnect_at:
            self._reconnect_at = now_s + self._reconnect_s
            self._reconnect_s = min(self._reconnect_s * 2, self._pace.longest_reconnect)
            self._gateway.reconnect()
        if self._ask_at is None:
            self._ask_at = now_s + self._pace.poll

    def _ask(self, since: int | None, limit: int) -> Page | None:
        """Ask by REST; None where it is not to be had now, and then `_ask_at` says when to ask again."""
        try:
            page = self._gateway.candles(since, limit)
        except Busy as busy:
            self._limited_until = self._ask_at = time.monotonic() + busy.retry_after_s
        except Impossible as error:
            self.failure = f"the exchange says: {error}"
        except Unreachable as error:
            self._trouble = str(error)
            self._ask_at = time.monotonic() + self._backoff_s
            self._backoff_s = min(self._backoff_s * 2, self._pace.longest_backoff)
        else:
            self._backoff_s, self._trouble = self._pace.backoff, ""
            return page
        return None

    def _tell(self) -> None:
        word, message, ago_s = self._word(time.monotonic())
        since = int((time.time() - ago_s) * 1000)
        state = FeedState("exchange", word, since, self._last, message, self._assembler.no_trade, self._conflicts)
        told = self._told
        if told is None or _news(told) != _news(state):
            if told is not None and told.state == word:
                state = dataclasses.replace(state, since=told.since)
            self._told = state
            self._on_state(state)

    def _word(self, now_s: float) -> tuple[Word, str, float]:
        """Say how the feed is, why, and for how many seconds."""
        if now_s < self._limited_until:
            return "limited", f"the exchange asked for a pause of {self._limited_until - now_s:.0f} s", 0.0
        if not self._following:
            return ("reconnecting" if self._trouble else "back-filling", self._trouble or "fetches what closed", 0.0)
        quiet_s = now_s - self._new_s
        if quiet_s > self._pace.patience:
            return "stale", f"nothing new for {silence(quiet_s)}; {self._trouble or 'the stream is silent'}", quiet_s
        if self._is_lost or now_s - self._streamed_s > self._pace.patience:
            return "reconnecting", self._trouble or "the stream is silent; closed candles come by REST", 0.0
        if self._assembler.missing_count() > 1:
            return "back-filling", f"{self._assembler.missing_count()} candles are fetched", 0.0
        return "connected", "candles come as they close", 0.0


def _news(state: FeedState) -> tuple[object, ...]:
    return state.state, state.no_trade, state.conflicts


def _check_same_market(stored: Candle, rows: Sequence[Candle]) -> None:
    """Raise FeedError unless the exchange has the stored candle; one that may still be forming there is no witness."""
    found = next((row for row in rows if row.time == stored.time), None)
    if found is not None and len(rows) < 2:
        return
    if found is not None and stored.volume is None:
        found = dataclasses.replace(found, volume=None)
    if found != stored:
        raise FeedError(
            f"the newest stored candle is {stored.to_json()}, the exchange has {found and found.to_json()} there: this "
            "series is of another market; make a series for this one, by Data, New series"
        )
