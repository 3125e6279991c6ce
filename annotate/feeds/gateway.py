"""The way to an exchange: what it is asked and what it may answer, and the child process that asks it.

ccxt needs a second to load and 100 MB; in a process of its own it holds up no page, and it goes when the feed goes.
"""

from __future__ import annotations

import itertools
import queue
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Protocol

from annotate.candles import COLUMNS
from annotate.feeds.arrivals import Candle
from annotate.feeds.messages import Update
from annotate.worker_process import WorkerProcess

Json = dict[str, Any]

ANSWER_S = 60.0  # ccxt itself waits as long as the exchange's rate limit asks for
PAGE = 500  # candles a question; each exchange on the list gives as many or says when it gives fewer


class Unreachable(Exception):
    """The exchange did not answer; asked later it may."""


class Busy(Exception):
    """The exchange asks to be left alone for a while."""

    def __init__(self, retry_after_s: float) -> None:
        super().__init__(f"the exchange asks for {retry_after_s:.0f} s without questions")
        self.retry_after_s = retry_after_s


class Impossible(Exception):
    """The exchange has no such market or timeframe; asking again does not help."""


@dataclass(frozen=True, slots=True)
class Page:
    """Candles by REST in order of time, the newest perhaps still forming; the exchange's clock from before, ms UTC."""

    rows: list[Candle]
    now: int | None


@dataclass(frozen=True, slots=True)
class Lost:
    """The stream was cut; it comes again by itself."""

    message: str


class Gateway(Protocol):
    """One market of one exchange."""

    def candles(self, since: int | None, limit: int) -> Page:
        """Ask by REST for candles from an open time on, or the newest. Raises Unreachable, Busy or Impossible."""
        ...

    def receive(self, timeout_s: float) -> Update | Lost | None:
        """Wait for the next word of the stream; None where none came in time."""
        ...

    def reconnect(self) -> None:
        """Open the stream anew; a silent one may be dead."""
        ...

    def close(self) -> None:
        """Leave the exchange alone."""
        ...


class GatewayProcess:
    """Speaks with an exchange through a child; a child that dies is started again with the next question."""

    def __init__(self, exchange: str, symbol: str, timeframe: str, at: str) -> None:
        module = "annotate.feeds.gateway_process"
        self._command = [sys.executable, "-m", module, exchange, symbol, timeframe, *([at] if at else [])]
        self._heard: queue.Queue[Update | Lost] = queue.Queue()
        self._questions: dict[int, Future[Json]] = {}
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._child: WorkerProcess | None = None
        self._closed = False

    def candles(self, since: int | None, limit: int) -> Page:
        """Ask by REST for candles from an open time on, or the newest. Raises Unreachable, Busy or Impossible."""
        number, future = next(self._numbers), Future[Json]()
        with self._lock:
            self._questions[number] = future
            self._started().send({"ask": number, "since": since, "limit": limit})
        try:
            answer = future.result(ANSWER_S)
        except TimeoutError:
            raise Unreachable(f"the exchange gave no answer within {ANSWER_S:.0f} s") from None
        finally:
            with self._lock:
                self._questions.pop(number, None)
        return _page_of(answer)

    def receive(self, timeout_s: float) -> Update | Lost | None:
        """Wait for the next word of the stream; None where none came in time."""
        with self._lock:
            self._started()
        try:
            return self._heard.get(timeout=timeout_s)
        except queue.Empty:
            return None

    def reconnect(self) -> None:
        """Open the stream anew, with a new child; a silent one may be dead."""
        with self._lock:
            if self._child is not None:
                self._child.kill()

    def close(self) -> None:
        """Leave the exchange alone."""
        with self._lock:
            self._closed = True
            if self._child is not None:
                self._child.kill()

    def _started(self) -> WorkerProcess:
        if self._closed:
            raise Unreachable("the feed is closed")
        if self._child is None:
            self._child = WorkerProcess(self._command, self._take, self._ended, name="the exchange's process")
        return self._child

    def _take(self, line: Json) -> None:
        if "answer" in line:
            with self._lock:
                future = self._questions.get(line["answer"])
            if future is not None and not future.done():
                future.set_result(line)
        elif "lost" in line:
            self._heard.put(Lost(line["lost"]))
        else:
            closed = line.pop("closed")
            self._heard.put(Update(Candle(**line), closed))

    def _ended(self, cause: str) -> None:
        with self._lock:
            self._child = None
            waiting = list(self._questions.values())
        for future in waiting:
            if not future.done():
                future.set_result({"unreachable": cause.splitlines()[-1]})
        self._heard.put(Lost(cause.splitlines()[0]))


def _page_of(answer: Json) -> Page:
    if "busy" in answer:
        raise Busy(answer["busy"])
    if "impossible" in answer:
        raise Impossible(answer["impossible"])
    if "unreachable" in answer:
        raise Unreachable(answer["unreachable"])
    return Page(rows_of(answer["rows"]), answer["now"])


def rows_of(rows: Sequence[Sequence[Any]]) -> list[Candle]:
    """Give candles from lists of open time, open, high, low, close and volume."""
    return [Candle(**dict(zip(COLUMNS, row, strict=True))) for row in rows]
