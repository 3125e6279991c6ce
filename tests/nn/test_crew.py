"""A run with `ranks`: its own processes take the steps of one, end with it, and are missed when they are killed."""

from __future__ import annotations

import dataclasses
import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch.distributed as dist

from nn.config import BatchConfig
from nn.crew import fit_together
from nn.dataset_dir import DatasetDir, write
from nn.device import choose
from nn.events import BatchDone, RunEnded
from nn.fit import Control
from nn.job import Job
from nn.ranks import RankLost
from tests.nn.live_market import MINUTE, batch, market

RANKS = 2
SMALL = batch(batch_size=7, dropout=0.0, epochs=2, stride=20)


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Job:
    """A small run of two processes whose temporary files lie in a folder of the test."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    manifest = {"symbol": "TEST", "timeframe": "1m", "timeframe_ms": MINUTE, "labels": []}
    write(tmp_path / "data", manifest, market(600), [])
    data = DatasetDir(manifest, market(600), [])
    config = BatchConfig.from_json({**SMALL, "ranks": RANKS})
    return Job(run_id=1, config=config, dataset=data, device=choose("cpu"), threads=1)


@pytest.mark.timeout(300)  # processes that load torch anew
def test_a_run_of_two_processes_has_the_losses_of_one_and_leaves_nothing_behind(job: Job, tmp_path: Path) -> None:
    together, alone = list(_run(job, tmp_path)), list(_run(_alone(job), tmp_path))
    assert len(alone) > 4
    assert together == pytest.approx(alone, abs=1e-5)
    _nothing_is_left(tmp_path)


@pytest.mark.timeout(300)
def test_a_killed_process_ends_the_run_with_words_and_leaves_nothing_behind(job: Job, tmp_path: Path) -> None:
    run = _run(job, tmp_path)
    next(run)
    (other,) = _children()
    os.kill(other, signal.SIGKILL)
    with pytest.raises(RankLost, match="lost process 1 \\(killed by signal 9\\) of 2"):
        list(run)
    _nothing_is_left(tmp_path)


def _alone(job: Job) -> Job:
    return dataclasses.replace(job, config=dataclasses.replace(job.config, ranks=1))


def _run(job: Job, tmp_path: Path) -> Iterator[float]:
    """Train; give the loss of each step."""
    ended = False
    for said in fit_together(job, Control(), tmp_path / "data"):
        if isinstance(said, BatchDone):
            yield said.loss
        ended |= isinstance(said, RunEnded)
    assert ended


def _children() -> list[int]:
    """Give the further processes of a run that this process has now."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(status.read_text().rpartition(")")[2].split()[1])
            command = (status.parent / "cmdline").read_text()
        except OSError:  # it has ended meanwhile
            continue
        if parent == os.getpid() and "nn.rank_process" in command:
            found.append(int(status.parent.name))
    return found


def _nothing_is_left(tmp_path: Path) -> None:
    assert not _children()
    assert not list((tmp_path / "temporary").glob("ranks-*"))
    assert not dist.is_initialized()
