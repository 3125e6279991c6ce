"""The worker as a child process: its lines, its last words, its end, and that it does not outlive its parent."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from annotate.worker_process import WorkerProcess, cause_of_end
from tests.annotate.training.door import PEER


class Child:
    """A child running a few lines of Python, with all it says."""

    def __init__(self, source: str) -> None:
        self.lines: list[Any] = []
        self.cause = ""
        self._ended = threading.Event()
        command = [sys.executable, "-c", textwrap.dedent(source)]
        self.process = WorkerProcess(command, self.lines.append, self._end)

    def _end(self, cause: str) -> None:
        self.cause = cause
        self._ended.set()

    def wait(self) -> None:
        assert self._ended.wait(20)


def test_lines_go_both_ways_and_the_end_of_commands_ends_the_child() -> None:
    child = Child("""
        import sys
        for line in sys.stdin:
            print('{"heard": ' + line.strip() + '}', flush=True)
    """)
    child.process.send({"number": 1})
    child.process.send({"number": 2})
    child.process.end_of_commands()
    child.wait()
    assert child.lines == [{"heard": {"number": 1}}, {"heard": {"number": 2}}]
    assert child.cause == "the training process ended with exit code 0"


def test_what_is_no_json_is_left_out_and_no_number_becomes_null() -> None:
    child = Child("""print('a library says hello'); print('{"loss": NaN, "bound": -Infinity}')""")
    child.wait()
    assert child.lines == [{"loss": None, "bound": None}]


def test_an_exception_ends_with_its_traceback() -> None:
    child = Child("raise ValueError('d_model is odd')")
    child.wait()
    assert child.cause.startswith("the training process ended with exit code 1\nTraceback")
    assert child.cause.endswith("ValueError: d_model is odd")


def test_a_child_that_does_not_read_does_not_hold_up_the_one_who_sends() -> None:
    child = Child("import time; time.sleep(60)")
    began = time.monotonic()
    for _ in range(100):
        child.process.send({"filler": "x" * 100_000})
    assert time.monotonic() - began < 5
    child.process.kill()
    child.wait()
    assert "SIGKILL" in child.cause


def test_threads_that_wait_do_not_spin_in_the_child() -> None:
    child = Child("""
        import json, os
        print(json.dumps({name: os.environ.get(name) for name in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")}))
    """)
    child.wait()
    assert child.lines == [{"OMP_WAIT_POLICY": "PASSIVE", "GOMP_SPINCOUNT": "0"}]


@pytest.mark.parametrize(
    ("code", "last_words", "words"),
    [
        (-9, [], "killed by SIGKILL: the system does this when memory runs out"),
        (-11, ["Fatal Python error: Segmentation fault"], "killed by SIGSEGV\nFatal Python error"),
        (
            1,
            ["torch.OutOfMemoryError: CUDA out of memory."],
            "exit code 1: it ran out of memory; try a smaller batch_size",
        ),
        (1, ["MemoryError"], "ran out of memory"),
        (-50, [], "killed by signal 50"),
        (3, [], "ended with exit code 3"),
    ],
)
def test_a_death_is_put_in_words(code: int, last_words: list[str], words: str) -> None:
    assert words in cause_of_end(code, last_words)


def test_a_child_is_gone_soon_after_its_parent_was_killed() -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(f"""
            import time
            from annotate.worker_process import WorkerProcess
            print(WorkerProcess({PEER!r}, lambda line: None, print).pid, flush=True)
            time.sleep(60)
        """)],
        stdout=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    assert _is_alive(child)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    deadline = time.monotonic() + 10
    while _is_alive(child):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # A dead child of a dead parent waits for whoever collects it.
    stat = Path(f"/proc/{pid}/stat").read_text()
    return stat.rsplit(")", 1)[1].split()[0] != "Z"
