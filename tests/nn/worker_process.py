"""A real worker process for tests: commands in, what it says collected line by line."""

import json
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from nn import events
from nn.commands import Command

Said = events.Event | events.Message


class Worker:
    """`python -m nn.worker` as the trainer thread starts it. `said` is all that it has said so far.

    With `between`, a process in between is its parent, while its pipes lead here: killing that one leaves them open.
    """

    def __init__(self, *, between: bool = False) -> None:
        command = [sys.executable, "-m", "nn.worker", "--threads", "1", "--device", "cpu"]
        if between:
            command = [sys.executable, "-c", f"import subprocess; subprocess.run({command})"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.said: list[Said] = []
        self._lines: queue.SimpleQueue[Said | None] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def send(self, *sent: Command) -> None:
        """Write commands."""
        self.write("".join(json.dumps(command.to_json()) + "\n" for command in sent))

    def write(self, text: str) -> None:
        """Write raw text to its stdin."""
        assert self.process.stdin is not None
        self.process.stdin.write(text)
        self.process.stdin.flush()

    def until(self, found: Callable[[Said], bool], timeout_s: float = 240.0) -> Any:
        """Read until it says what `found` looks for; give that."""
        end = time.monotonic() + timeout_s
        while True:
            item = self._lines.get(timeout=max(0.01, end - time.monotonic()))
            assert item is not None, f"the worker ended with {self.process.wait()}; it said {self.said[-3:]}"
            self.said.append(item)
            if found(item):
                return item

    def until_ended(self, run_id: int, timeout_s: float = 240.0) -> events.RunEnded:
        """Read until a run has ended."""
        said = self.of(events.RunEnded, run_id)
        ended: events.RunEnded = said[0] if said else self.until(is_end_of(run_id), timeout_s)
        return ended

    def of(self, kind: type[Any], run_id: int | None = None) -> list[Any]:
        """Give what it has said of one kind, of one run."""
        return [s for s in self.said if isinstance(s, kind) and (run_id is None or s.run_id == run_id)]

    def end(self) -> int:
        """Close its stdin and give its exit code; it must end by itself."""
        if self.process.stdin is not None and not self.process.stdin.closed:
            self.process.stdin.close()
        code = self.process.wait(60)
        self._finish()
        return code

    def kill(self) -> None:
        """Send `kill -9` to it, or to the process in between; wait until it is gone and read what it had said."""
        self.process.kill()
        self.process.wait()
        self.rest()
        self._finish()

    def rest(self) -> list[Said]:
        """Give what an ended worker had said and nobody has read yet."""
        left: list[Said] = []
        while (item := self._lines.get(timeout=10)) is not None:
            left.append(item)
        self.said += left
        return left

    def _finish(self) -> None:
        self._reader.join(10)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.stdout.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(events.from_json(json.loads(line)))
        self._lines.put(None)


def is_end_of(run_id: int) -> Callable[[Said], bool]:
    """Recognize the end of a run."""
    return lambda said: isinstance(said, events.RunEnded) and said.run_id == run_id
