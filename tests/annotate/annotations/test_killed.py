"""A mark that was acknowledged is there after the process that wrote it was killed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.annotate.annotations.builders import Workspace

ROUNDS = 2
ACKNOWLEDGED = 15
WRITER = """
import sys
from pathlib import Path
from annotate.candle_store import CandleStore
from annotate.db import Database
from tests.annotate.annotations.builders import Workspace, span

folder, series_id = Path(sys.argv[1]), int(sys.argv[2])
database = Database(folder / "annotate.db")
workspace = Workspace(folder, database, CandleStore(folder, database), series_id)
while True:
    mark = workspace.put(span())
    mark = workspace.put(span(11, 25, revision=1), mark["id"])
    print(mark["id"], mark["revision"], flush=True)
"""


def test_no_acknowledged_mark_is_lost_by_kill(workspace: Workspace) -> None:
    acknowledged: dict[str, int] = {}
    for _ in range(ROUNDS):
        acknowledged |= write_until_killed(workspace.data_dir, workspace.series_id)
    stored = {mark["id"]: mark["revision"] for mark in workspace.marks()}
    assert len(acknowledged) >= ROUNDS * ACKNOWLEDGED
    assert acknowledged.items() <= stored.items()


def write_until_killed(folder: Path, series_id: int) -> dict[str, int]:
    command = [sys.executable, "-c", WRITER, str(folder), str(series_id)]
    root = Path(__file__).resolve().parents[3]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) as writer:
        assert writer.stdout is not None
        lines = [writer.stdout.readline() for _ in range(ACKNOWLEDGED)]
        writer.kill()
        lines += writer.stdout.readlines()
    whole = [line.split() for line in lines if line.endswith("\n")]
    return {mark_id: int(revision) for mark_id, revision in whole}
