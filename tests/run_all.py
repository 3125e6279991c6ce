"""Every check of the project with its time; a failed one does not hide the next.

The checks that only read the code run beside the tests, and tell what they have to say when they are through.

Usage: python -m tests.run_all [lint]
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent

# Much of a browser story is waiting: three files at once keep two cores busy. tests/conftest.py says in which order.
SIDE_BY_SIDE = ("--numprocesses", "3", "--dist", "loadfile", "--no-loadscope-reorder")

sys.path.insert(0, str(ROOT / "tools"))
from browser_libraries import node  # noqa: E402  # the set-up's own way to find Node

Step = tuple[str, list[str]]


def main(which: str = "all") -> int:
    """Run the steps; give 1 where any failed."""
    with ThreadPoolExecutor(1) as beside:
        reading = [(name, beside.submit(_quietly, name, command)) for name, command in checks()]
        running = [(name, _passes(name, command)) for name, command in ([] if which == "lint" else tests())]
    failed = [name for name, passed in reading if not passed.result()] + [
        name for name, passed in running if not passed
    ]
    if failed:
        print("\nFailed: " + ", ".join(failed), file=sys.stderr)
    return 1 if failed else 0


def checks() -> list[Step]:
    """List the checks that read the code and run none of it."""
    return [
        ("format", [_tool("ruff"), "format", "--check", "--quiet", "."]),
        ("lint", [_tool("ruff"), "check", "--quiet", "."]),
        ("types", [_tool("mypy")]),
        ("import rules", [_tool("lint-imports")]),
        (
            "JavaScript lint",
            [*node(), "node_modules/eslint/bin/eslint.js", "--max-warnings", "0", "static/js", "tests/js"],
        ),
        ("JavaScript types", [_javascript_compiler(), "--noEmit", "--project", "tsconfig.json"]),
    ]


def tests() -> list[Step]:
    """List the test runs; pytest comes last, so that its closing line is the last one."""
    scripts = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "tests" / "js").rglob("*.test.js"))
    return [
        ("JavaScript tests", [*node(), "--test", "--test-reporter", "dot", *scripts]),
        ("tests", [sys.executable, "-m", "pytest", *SIDE_BY_SIDE, "--durations=15", "-q"]),
    ]


def _quietly(name: str, command: list[str]) -> bool:
    """Run a step whose words are kept together, since others speak meanwhile."""
    began = time.monotonic()
    done = subprocess.run(
        command, cwd=ROOT, env=_environment(), check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    print(f"{done.stdout}{_verdict(name, done.returncode, began)}", flush=True)
    return done.returncode == 0


def _passes(name: str, command: list[str]) -> bool:
    print(f"== {name}", flush=True)
    began = time.monotonic()
    done = subprocess.run(command, cwd=ROOT, env=_environment(), check=False)
    print(_verdict(name, done.returncode, began), flush=True)
    return done.returncode == 0


def _verdict(name: str, code: int, began: float) -> str:
    return f"== {name}: {'passed' if code == 0 else 'FAILED'} in {time.monotonic() - began:.0f} s"


def _environment() -> dict[str, str]:
    # A person's own settings must not leak into the tests.
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ANNOTATE_")}
    # Files run side by side: threads of one would only stand in the way of the others.
    return {**kept, "OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE", "PYTHONPATH": str(ROOT)}


def _tool(name: str) -> str:
    found = shutil.which(name, path=str(BIN))
    if found is None:
        sys.exit(f"{name} is missing from {BIN}; run `make test`, which installs it")
    return found


def _javascript_compiler() -> str:
    return str(ROOT / "node_modules" / ".bin" / "tsc")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
