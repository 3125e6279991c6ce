"""A real server for tests: `app.py` as its own process on a free port, and a small client for its API."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import requests

ROOT = Path(__file__).resolve().parents[1]
START_S = 60
LINK = re.compile(r"http://\S+/\?token=(\S+)")


@dataclass
class Server:
    """A served instance; `link` is the address that a person opens."""

    process: subprocess.Popen[str]
    link: str
    data_dir: Path
    output: list[str] = field(default_factory=list)

    @property
    def address(self) -> str:
        """Give the address without token or slash."""
        return self.link.split("/?")[0]

    @property
    def token(self) -> str:
        """Give the access token."""
        return self.link.split("token=")[1]

    def call(self, method: str, path: str, **options: Any) -> requests.Response:
        """Call the API with the token; a body goes as `json=`."""
        headers = {"Authorization": f"Bearer {self.token}", **options.pop("headers", {})}
        return requests.request(method, self.address + path, headers=headers, timeout=60, **options)

    def get(self, path: str) -> Any:
        """Give the JSON of a GET that must succeed."""
        answer = self.call("GET", path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, path: str, body: Any = None) -> Any:
        """Give the JSON of a POST that must succeed."""
        answer = self.call("POST", path, json=body if body is not None else {})
        assert answer.status_code < 300, answer.text
        return answer.json()

    def events(self, run_id: int, after: int = 0) -> list[dict[str, Any]]:
        """Give the stored events of a run."""
        items: list[dict[str, Any]] = self.get(f"/api/runs/{run_id}/events?after={after}")["items"]
        return items

    def wait_for(self, condition: Callable[[], Any], *, within_s: float = 60, every_s: float = 0.1) -> Any:
        """Give the first true value of the condition; fail with the server's last words when time is up."""
        deadline = time.monotonic() + within_s
        while time.monotonic() < deadline:
            found = condition()
            if found:
                return found
            time.sleep(every_s)
        raise AssertionError(f"nothing within {within_s} s; the server said: {''.join(self.output[-20:])}")

    def wait_for_state(self, run_id: int, *states: str, within_s: float = 60) -> dict[str, Any]:
        """Give the run once it is in one of the states."""

        def reached() -> dict[str, Any] | None:
            run: dict[str, Any] = self.get(f"/api/runs/{run_id}")["run"]
            return run if run["state"] in states else None

        found: dict[str, Any] = self.wait_for(reached, within_s=within_s)
        return found

    def stop(self) -> None:
        """End the server as a person does, by a signal; kill it where that does not help."""
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """End the server without a word."""
        self.process.kill()
        self.process.wait(10)


def start_server(data_dir: Path, **settings: str) -> Server:
    """Start `app.py` on a free port and give it once it has printed its link."""
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("ANNOTATE_")},
        "ANNOTATE_DATA_DIR": str(data_dir),
        "ANNOTATE_PORT": "0",
        "ANNOTATE_THREADS": "1",
        "ANNOTATE_DEVICE": "cpu",  # bits are compared, also where there is a card
        **settings,
    }
    process = subprocess.Popen(
        [sys.executable, "app.py"],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    output: list[str] = []
    threading.Thread(target=_read, args=(process, output), daemon=True).start()
    return Server(process, _printed_link(process, output), data_dir, output)


def _read(process: subprocess.Popen[str], output: list[str]) -> None:
    assert process.stdout is not None
    with process.stdout as lines:
        for line in lines:
            output.append(line)


def _printed_link(process: subprocess.Popen[str], output: list[str]) -> str:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        for line in list(output):
            match = LINK.search(line)
            if match:
                return match.group(0)
        if process.poll() is not None:
            time.sleep(0.2)
            raise AssertionError(f"the server ended with {process.returncode}: {''.join(output)}")
        time.sleep(0.05)
    process.kill()
    raise AssertionError(f"no link within {START_S} s: {''.join(output)}")


def worker_of(server: Server) -> int:
    """Give the process id of a server's training process."""
    threads = Path(f"/proc/{server.process.pid}/task").iterdir()
    found = {pid for thread in threads for pid in _children(thread)}
    workers = [pid for pid in found if b"nn.worker" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    assert len(workers) == 1
    return workers[0]


def _children(thread: Path) -> list[int]:
    try:
        return [int(pid) for pid in (thread / "children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):  # a request's thread that has ended since it was listed
        return []
