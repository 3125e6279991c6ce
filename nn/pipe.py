"""The worker's end of the pipe: one JSON object a line in on stdin, one a line out on stdout. No torch."""

from __future__ import annotations

import ctypes
import json
import math
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable
from typing import IO, Any

from nn import commands
from nn.events import Event, Message

PR_SET_PDEATHSIG = 1  # <linux/prctl.h>


class Outbox:
    """Writes events and messages, each whole, from any thread."""

    def __init__(self, pipe: IO[str]) -> None:
        self._pipe = pipe
        self._lock = threading.Lock()

    def put(self, *items: Event | Message) -> None:
        """Write a line each and push them through at once; raise BrokenPipeError when the reader is gone."""
        lines = "".join(_one_line(item.to_json()) + "\n" for item in items)
        with self._lock:
            self._pipe.write(lines)
            self._pipe.flush()


def reserve_stdout() -> IO[str]:
    """Keep stdout for the protocol alone: give a stream to it and turn everything else that prints to stderr.

    The descriptor itself is moved, so that a native library's `printf` cannot break a line of the protocol.
    """
    sys.stdout.flush()
    protocol = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return os.fdopen(protocol, "w", encoding="utf-8", newline="\n")


def read_commands(
    lines: Iterable[str],
    take: Callable[[commands.Command], None],
    complain: Callable[[str], None],
    parse: Callable[[dict[str, Any]], commands.Command] = commands.from_json,
) -> None:
    """Hand each command to `take` until the pipe ends; a line that is none is told to `complain` and left out."""
    for line in lines:
        if not line.strip():
            continue
        try:
            command = parse(json.loads(line))
        except (ValueError, KeyError, TypeError) as error:
            complain(f"not a command: {line.strip()[:200]!r}: {type(error).__name__}: {error}")
            continue
        take(command)


def die_with_parent() -> None:
    """Have Linux kill this process when the thread that started it is gone; elsewhere the end of stdin does it.

    The end of stdin is seen by a thread of this process; the kernel's signal also reaches a process that hangs
    inside a native call.
    """
    if not sys.platform.startswith("linux"):
        return
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _one_line(body: dict[str, Any]) -> str:
    try:
        return json.dumps(body, allow_nan=False)
    except ValueError:  # a browser's parser refuses NaN and Infinity
        return json.dumps(_finite(body), allow_nan=False)


def _finite(value: Any) -> Any:
    """Put null where a number is not finite."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
