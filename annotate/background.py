"""Work that is done in the background, one piece after the other: with progress, and called off at any step."""

from __future__ import annotations

import itertools
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from annotate.actor import Actor
from annotate.errors import AnnotateError, NotFound
from annotate.watch import Watch

log = logging.getLogger(__name__)

Json = dict[str, Any]
CLOSE_S = 10.0
UNDER_WAY = ("queued", "running")


class _CalledOff(Exception):
    """Stops the work at its next step."""


@dataclass(slots=True)
class Task:
    """One piece of work and what became of it."""

    id: int
    facts: Json  # what it is, as the API shows it
    state: str = "queued"  # queued, running, finished, cancelled, failed
    progress: float = 0.0  # share done, 0 to 1
    error: Json | None = None  # why it failed: {code, message, details}
    result: Json | None = None
    over: Callable[[Task], None] = lambda _task: None  # is told once it has ended
    called_off: threading.Event = field(default_factory=threading.Event)

    def to_json(self) -> Json:
        """Give it as the API shows it."""
        cause = None if self.error is None else self.error["message"]
        return {"id": self.id, **self.facts, "state": self.state, "progress": self.progress, "cause": cause}


class Background:
    """The work of one kind; any thread may call, one thread works."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._numbers = itertools.count(1)
        self._tasks: dict[int, Task] = {}
        self._actor = Actor(f"{what}s")

    def start(self, facts: Json, work: Callable[[Task, Watch], Json | None], over: Callable[[Task], None]) -> Task:
        """Queue work and give its task; `over` is told once it has ended, also where it never began."""
        task = Task(next(self._numbers), facts, over=over)
        self._tasks[task.id] = task
        self._actor.start()
        self._actor.tell(lambda: self._run(task, work))
        return task

    def get(self, task_id: int) -> Task:
        """Give a task; raise NotFound."""
        task = self._tasks.get(task_id)
        if task is None:
            raise NotFound(f"there is no {self._what} {task_id}; a new start of the server forgets them", id=task_id)
        return task

    def cancel(self, task_id: int) -> Task:
        """Call a task off: at once where it waits, at its next step where it runs."""
        task = self.get(task_id)
        task.called_off.set()
        if task.state == "queued":
            task.state = "cancelled"
            task.over(task)
        return task

    def finished(self) -> list[Task]:
        """Give the finished tasks that are kept, oldest first."""
        return [task for task in list(self._tasks.values()) if task.state == "finished"]

    def forget(self, task: Task) -> None:
        """Let go of a task that is over."""
        self._tasks.pop(task.id, None)

    def close(self) -> None:
        """Call off what is under way and end the thread."""
        for task in list(self._tasks.values()):
            task.called_off.set()
        self._actor.stop(CLOSE_S)

    def _run(self, task: Task, work: Callable[[Task, Watch], Json | None]) -> None:
        if task.state == "cancelled":
            return

        def watch(share: float) -> None:
            task.progress = share
            if task.called_off.is_set():
                raise _CalledOff

        task.state, ended = "running", "failed"
        try:
            watch(0.0)
            task.result = work(task, watch)
            task.progress, ended = 1.0, "finished"
        except _CalledOff:
            ended = "cancelled"
        except AnnotateError as error:
            task.error = error.to_json()["error"]
        except Exception as error:  # the thread must outlive one task, and its state must not stay "running"
            log.exception("%s %d failed", self._what, task.id)
            message = f"unexpected {type(error).__name__}; the log has the whole story"
            task.error = AnnotateError(message).to_json()["error"]
        task.state = ended
        task.over(task)
