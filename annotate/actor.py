"""A thread that owns something: others hand it work, in order, and may wait for the result."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import TypeVar

from annotate.errors import TrainerUnavailable

log = logging.getLogger(__name__)

Result = TypeVar("Result")
Work = Callable[[], object]

ASK_S = 10.0


class Actor:
    """One thread and its queue of work. What the work touches is touched by no other thread."""

    def __init__(self, name: str) -> None:
        self._inbox: queue.SimpleQueue[Work | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._start_lock = threading.Lock()

    def start(self) -> bool:
        """Start the thread; False where it was started before."""
        with self._start_lock:
            if self._thread.ident is not None:
                return False
            self._thread.start()
            return True

    def tell(self, work: Work) -> None:
        """Have the thread do this soon."""
        self._inbox.put(work)

    def ask(self, work: Callable[[], Result], timeout_s: float = ASK_S) -> Result:
        """Have the thread do this and give what it gave; raises what it raised, TrainerUnavailable after the time."""
        future: Future[Result] = Future()
        self._inbox.put(partial(_answer, future, work))
        return wait_for(future, timeout_s)

    def is_current(self) -> bool:
        """Tell whether the caller is this thread."""
        return threading.current_thread() is self._thread

    def stop(self, timeout_s: float = ASK_S) -> None:
        """End the thread after the work that it has."""
        if self._thread.ident is not None:
            self._inbox.put(None)
            self._thread.join(timeout_s)

    def _run(self) -> None:
        while (work := self._inbox.get()) is not None:
            try:
                work()
            except Exception:  # the thread must outlive whatever one piece of work ran into
                log.exception("%s: work failed", self._thread.name)


def wait_for(future: Future[Result], timeout_s: float) -> Result:
    """Give the result of a future; raise TrainerUnavailable where it takes too long."""
    try:
        return future.result(timeout_s)
    except TimeoutError:
        raise TrainerUnavailable(f"the trainer gave no answer within {timeout_s:.0f} s; try again") from None


def _answer(future: Future[Result], work: Callable[[], Result]) -> None:
    try:
        future.set_result(work())
    except BaseException as error:  # noqa: BLE001  # it belongs to the one who asked
        future.set_exception(error)
