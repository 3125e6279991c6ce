"""By how much a piece of work raises the memory of a process, mapped files apart. Linux only."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

SAMPLE_S = 0.005


def growth(process: int, work: Callable[[], object]) -> float:
    """Give the most that a process held of its own while the work ran, above what it held before, in bytes."""
    done = threading.Event()
    seen: list[int] = []

    def watch() -> None:
        while not done.is_set():
            seen.append(_own(process))
            time.sleep(SAMPLE_S)

    idle = _own(process)
    watcher = threading.Thread(target=watch)
    watcher.start()
    work()
    done.set()
    watcher.join()
    return float(max(seen) - idle)


def _own(process: int) -> int:
    """Read what a process holds that is no file: a child's `ru_maxrss` would start from its parent's peak."""
    _size, resident, shared, *_rest = Path(f"/proc/{process}/statm").read_text().split()
    return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE")
