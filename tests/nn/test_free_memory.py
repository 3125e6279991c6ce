"""Free memory is what the system says, or less where a container has a limit."""

from __future__ import annotations

from pathlib import Path

from nn.free_memory import free_memory


def test_a_container_s_limit_counts_where_it_is_the_smaller(tmp_path: Path) -> None:
    info, limit, used = (tmp_path / name for name in ("meminfo", "max", "current"))
    info.write_text("MemTotal: 9 kB\nMemAvailable:    2000 kB\n", "ascii")
    assert free_memory(info, limit, used) == 2_048_000
    used.write_text("1000000\n", "ascii")
    limit.write_text("max\n", "ascii")
    assert free_memory(info, limit, used) == 2_048_000
    limit.write_text("1500000\n", "ascii")
    assert free_memory(info, limit, used) == 500_000


def test_a_system_that_tells_nothing_is_not_guessed_at(tmp_path: Path) -> None:
    assert free_memory(tmp_path / "a", tmp_path / "b", tmp_path / "c") is None
