"""Who gets a core first, and keeps memory last: what a person waits for, before a step of training. No torch."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from pathlib import Path

# A thread so much "nicer" gets two fifths of a core that both want, and all of one that nobody else does. With 5 and 10
# predictions waited less, but 40 questions a second on a busy machine starved the training (docs/training-log.md).
BEHIND = 2
LEAST = 19
FIRST_TO_GO = 500  # of 1000, on top of what a process holds, when Linux chooses whom a lack of memory ends


def train_behind() -> None:
    """Let this thread, and those that compute for it, take the cores that nothing else asks for; on Linux only.

    Python knows the threads that it started, such as the one that predicts; the others are OpenMP's, which do the
    training thread's work. Later ones take after the thread that starts them.
    """
    if sys.platform != "linux":
        return  # elsewhere a process has one priority, with which predictions would wait too
    mine = threading.get_native_id()
    others = {thread.native_id for thread in threading.enumerate()} - {mine}
    for task in (int(entry.name) for entry in Path("/proc/self/task").iterdir()):
        if task not in others:
            with suppress(ProcessLookupError):  # it has ended meanwhile
                os.setpriority(os.PRIO_PROCESS, task, min(LEAST, os.getpriority(os.PRIO_PROCESS, task) + BEHIND))


def yield_memory() -> None:
    """Have a lack of memory end this process, with the run that needs it, before the one that serves; on Linux only."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(str(FIRST_TO_GO), "ascii")
