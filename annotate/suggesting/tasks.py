"""The readings that are under way or were: how far each is, how it ended. Pure."""

from __future__ import annotations

import itertools
import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from annotate.errors import NotFound

Json = dict[str, Any]

KEPT = 200  # tasks that are remembered


@dataclass(slots=True)
class Task:
    """One asking for suggestions."""

    id: int
    series_id: int
    lesson_id: int
    source: str
    start: int | None  # ms UTC
    end: int | None
    cursor: int | None  # under replay: nothing at or after it is looked at
    state: str = "running"  # running, finished, cancelled, failed
    done: int = 0  # candles, or suggestions of a rule
    total: int = 0
    found: int = 0  # suggestions kept
    error: str | None = None
    is_first: bool = True  # nothing came yet: what earlier lessons suggested still stands

    def is_within(self, cursor: int | None) -> bool:
        """Tell whether someone who sees up to a cursor may hear of it; without one, of everything."""
        return cursor is None or (self.cursor is not None and self.cursor <= cursor)

    def to_json(self) -> Json:
        """Give it as the API shows it."""
        names = ("id", "series_id", "source", "state", "done", "total", "found", "error")
        return {**{name: getattr(self, name) for name in names}, "lesson": self.lesson_id}


class Tasks:
    """Every task of this start of the server, the last few hundred; any thread may look, one adds."""

    def __init__(self) -> None:
        self._tasks: OrderedDict[int, Task] = OrderedDict()
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()

    def add(self, **facts: Any) -> Task:
        """Begin a task."""
        with self._lock:
            task = Task(next(self._numbers), **facts)
            self._tasks[task.id] = task
            while len(self._tasks) > KEPT:
                self._tasks.popitem(last=False)
        return task

    def get(self, task_id: int) -> Task:
        """Give a task; raise NotFound."""
        task = self._tasks.get(task_id)
        if task is None:
            raise NotFound(f"there is no suggestion task {task_id}; the server forgets them when it ends", id=task_id)
        return task

    def running(self, series_id: int | None = None, source: str | None = None) -> list[Task]:
        """Give the tasks under way, of one series and source where they are given."""
        with self._lock:
            every = list(self._tasks.values())
        return [
            task
            for task in every
            if task.state == "running" and series_id in (None, task.series_id) and source in (None, task.source)
        ]
