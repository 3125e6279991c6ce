"""The worker as a child process: started, written to, read line by line, and its death put in words.

It knows pipes and processes, no commands and no events; `annotate/training.py` speaks the language.
"""

from __future__ import annotations

import collections
import contextlib
import json
import logging
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from typing import IO, Any

log = logging.getLogger(__name__)

Json = dict[str, Any]

TAIL_LINES = 60  # of the worker's stderr, kept for the cause of its death
LAST_WORDS_S = 3.0
LESS = "try a smaller batch_size"
PASSIVE_THREADS = {
    # Spinning OpenMP threads cost a busy machine a factor of ten; read once, when torch is imported.
    "OMP_WAIT_POLICY": "PASSIVE",
    "GOMP_SPINCOUNT": "0",
    "PYTHONUNBUFFERED": "1",
    "PYTHONFAULTHANDLER": "1",  # a segmentation fault leaves a traceback on stderr
}


class WorkerProcess:
    """One child. `on_line` gets each JSON object it says, `on_end` the cause of its end, both from its reader thread.

    On Linux the kernel ends the child when the *thread* that started it is gone (nn/pipe.py asks for it), so a
    long-lived thread has to make this object.
    """

    def __init__(
        self,
        command: Sequence[str],
        on_line: Callable[[Json], None],
        on_end: Callable[[str], None],
        name: str = "the training process",
    ) -> None:
        self._name = name
        self._on_line = on_line
        self._on_end = on_end
        self._tail: collections.deque[str] = collections.deque(maxlen=TAIL_LINES)
        self._outbox: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            env=os.environ | PASSIVE_THREADS,
            start_new_session=True,  # Ctrl+C in the terminal is for the server, which then ends its worker in order
        )
        self._threads = [
            threading.Thread(target=target, name=f"worker-{name}", daemon=True)
            for name, target in (("stderr", self._read_errors), ("writer", self._write), ("reader", self._read))
        ]
        for thread in self._threads:
            thread.start()

    @property
    def pid(self) -> int:
        """Give the process id."""
        return self._process.pid

    def send(self, line: Json) -> None:
        """Hand over a command; it never waits, a worker that does not read cannot hold the trainer thread."""
        self._outbox.put(json.dumps(line))

    def end_of_commands(self) -> None:
        """Close the child's stdin after what was sent; it leaves by itself."""
        self._outbox.put(None)

    def kill(self) -> None:
        """End the child and whatever it started, at once."""
        if self._process.poll() is not None:
            return
        if sys.platform == "win32":
            self._process.kill()
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def _write(self) -> None:
        pipe = _given(self._process.stdin)
        with contextlib.suppress(OSError):  # a dead child; the reader sees its end
            while (line := self._outbox.get()) is not None:
                pipe.write(line + "\n")
                pipe.flush()
        with contextlib.suppress(OSError):
            pipe.close()

    def _read(self) -> None:
        with _given(self._process.stdout) as pipe:
            for line in pipe:
                self._take(line)
        code = self._process.wait()
        self._outbox.put(None)
        self._threads[0].join(LAST_WORDS_S)  # what it said on stderr
        self._on_end(cause_of_end(code, list(self._tail), self._name))

    def _take(self, line: str) -> None:
        try:
            # NaN and Infinity are no JSON to a browser: null stands for "not a number".
            body = json.loads(line, parse_constant=lambda _name: None)
        except ValueError:
            log.warning("worker said no JSON: %s", line.rstrip()[:500])
            return
        self._on_line(body)

    def _read_errors(self) -> None:
        with _given(self._process.stderr) as pipe:
            for line in pipe:
                self._tail.append(line.rstrip("\n"))
                log.info("worker: %s", line.rstrip("\n"))


def cause_of_end(code: int, tail: Sequence[str], name: str = "the training process") -> str:
    """Say how a worker ended: exit code or signal by name, a hint where memory ran out, then its last words.

    Examples
    --------
    >>> cause_of_end(-9, [])
    'the training process was killed by SIGKILL: the system does this when memory runs out; try a smaller batch_size'
    >>> cause_of_end(1, ["ValueError: no"])
    'the training process ended with exit code 1\\nValueError: no'
    """
    cause = f"{name} was killed by {_signal_name(-code)}" if code < 0 else f"{name} ended with exit code {code}"
    if code == -signal.SIGKILL if sys.platform != "win32" else False:
        cause += f": the system does this when memory runs out; {LESS}"
    elif any("MemoryError" in line or "out of memory" in line.lower() for line in tail):
        cause += f": it ran out of memory; {LESS}"
    return "\n".join([cause, *tail])


def speaks_of_memory(cause: str) -> bool:
    """Tell whether a cause that `cause_of_end` gave is, or may be, a lack of memory."""
    return LESS in cause.partition("\n")[0]


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _given(pipe: IO[str] | None) -> IO[str]:
    if pipe is None:
        raise AssertionError("the child was started with all three pipes")
    return pipe
