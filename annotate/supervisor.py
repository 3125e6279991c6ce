"""Keeps one worker process alive: starts it, starts it again, passes lines on, and matches answers to questions."""

from __future__ import annotations

import itertools
import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

from annotate.actor import Actor, wait_for
from annotate.errors import Conflict, TrainerUnavailable
from annotate.worker_process import WorkerProcess

log = logging.getLogger(__name__)

Json = dict[str, Any]

ANSWER_S = 30.0
PATIENT_S = 300.0  # for work in the background that nobody waits for: a worker may still be starting
MAX_FAILED_STARTS = 3


class Supervisor:
    """Owned by the trainer thread: all but `ask` and `has_failed` is called there, and both callbacks come there."""

    def __init__(
        self,
        command: Sequence[str],
        actor: Actor,
        on_line: Callable[[Json], None],
        on_end: Callable[[str], None],
        answer_s: float = 120.0,
    ) -> None:
        self._command = list(command)
        self._actor = actor
        self._on_line = on_line
        self._on_end = on_end
        self._process: WorkerProcess | None = None
        self._failed_starts = 0
        self._is_up = False
        self.why_not_running = "the training process has not been started"
        self._closing = False
        self._answer_s = answer_s  # for a sign of life
        self._asked_s: float | None = None  # when one was asked for and has not come
        self._why_killed: str | None = None
        self._questions: dict[int, Future[Json]] = {}
        self._numbers = itertools.count(1)

    @property
    def is_running(self) -> bool:
        """Tell whether there is a worker."""
        return self._process is not None

    @property
    def has_failed(self) -> bool:
        """Tell whether several workers in a row died before they were ready."""
        return self._failed_starts >= MAX_FAILED_STARTS

    def start(self) -> None:
        """Start a worker unless there is one."""
        if self._process is not None or self._closing:
            return
        try:
            self._process = WorkerProcess(
                self._command,
                on_line=lambda line: self._actor.tell(lambda: self._on_line(line)),
                on_end=lambda cause: self._actor.tell(lambda: self._ended(cause)),
            )
        except OSError as error:
            self._failed_starts = MAX_FAILED_STARTS
            self.why_not_running = f"the training process cannot be started: {error}"
            log.error("%s", self.why_not_running)  # noqa: TRY400  # the words are all there is to it

    def is_ready(self) -> None:
        """Note that the worker came up."""
        self._failed_starts = 0
        self._is_up = True

    def beat(self, ping: Json) -> None:
        """Ask a worker that came up for a sign of life; end one that has given none since it was asked for long."""
        if self._process is None or not self._is_up:
            return
        if self._asked_s is None:
            self._asked_s = time.monotonic()
            self._process.send(ping)
        elif time.monotonic() - self._asked_s > self._answer_s:
            self._why_killed = (
                f"the training process gave no sign of life for {self._answer_s:.0f} s and was ended; where one step "
                "takes so long, set ANNOTATE_WORKER_ANSWER_S higher"
            )
            self.kill()

    def lives(self) -> None:
        """Note a sign of life."""
        self._asked_s = None

    def send(self, line: Json) -> None:
        """Hand over a command; raise TrainerUnavailable where there is no worker."""
        if self._process is None:
            raise TrainerUnavailable(self.why_not_running)
        self._process.send(line)

    def ask(self, question: Callable[[int], Json], within_s: float = ANSWER_S) -> Json:
        """Send a command that carries a number and wait for the answer to it; from any thread but the trainer's."""
        number, future = next(self._numbers), Future[Json]()

        def send() -> None:
            self.start()
            self.send(question(number))
            self._questions[number] = future

        self._actor.ask(send)
        try:
            return wait_for(future, within_s)
        finally:
            self._actor.tell(lambda: self._questions.pop(number, None))

    def answered(self, number: int, body: Json | None, error: str | None) -> None:
        """Give an answer to the one who waits for it."""
        future = self._questions.pop(number, None)
        if future is None:
            return
        if error is None:
            future.set_result(body or {})
        else:
            future.set_exception(Conflict(error))

    def close(self, last_words: Json) -> None:
        """Ask the worker to leave, and start no other one; its end is told as always."""
        self._closing = True
        if self._process is not None:
            self._process.send(last_words)
            self._process.end_of_commands()

    def kill(self) -> None:
        """End the worker at once."""
        if self._process is not None:
            self._process.kill()

    def _ended(self, cause: str) -> None:
        self._process, self._is_up, self._asked_s = None, False, None
        cause, self._why_killed = self._why_killed or cause, None
        self.why_not_running = cause
        for future in self._questions.values():
            future.set_exception(TrainerUnavailable(cause))
        self._questions.clear()
        if not self._closing:
            log.error("%s", cause)
            self._failed_starts += 1  # until the next one says that it is ready
        self._on_end(cause)
        if not self.has_failed:
            self.start()
