"""How much memory this machine has left for a run. Reads what the system tells; None where it tells nothing."""

from __future__ import annotations

from pathlib import Path

MEMINFO = Path("/proc/meminfo")
LIMIT, USED = Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")  # of a container


def free_memory(meminfo: Path = MEMINFO, limit: Path = LIMIT, used: Path = USED) -> int | None:
    """Give the free bytes: what the system says is available, or less where a container has a limit."""
    found = [number for number in (_available(meminfo), _below(limit, used)) if number is not None]
    return min(found, default=None)


def _available(meminfo: Path) -> int | None:
    for line in _lines(meminfo):
        name, _, rest = line.partition(":")
        if name == "MemAvailable":
            return int(rest.split()[0]) * 1024
    return None


def _below(limit: Path, used: Path) -> int | None:
    most, now = _lines(limit), _lines(used)
    if not most or not now or not most[0].isdigit():
        return None
    return max(0, int(most[0]) - int(now[0]))


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text("ascii").splitlines()
    except OSError:
        return []
