"""The other processes of a run with `ranks` above 1: started on this machine, met, watched, and gone when it ends."""

from __future__ import annotations

import dataclasses
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Iterator
from pathlib import Path

import torch

from nn.checkpoint import Weights
from nn.config import ConfigError
from nn.fit import Control, Said, fit
from nn.job import Job
from nn.ranks import RankLost, Ranks, join_here, leave

READY = "ready-{}"  # the file by which a process says that it may be met
LOOK_S = 0.05  # between two looks at whether all are ready; a live run beside waits so long
LEAVE_S = 5.0


def fit_together(job: Job, control: Control, dataset_dir: Path) -> Generator[Said, None, Weights | None]:
    """Do what `fit` does, in as many processes as the config's `ranks`; this one is the first of them.

    Raises RankLost where another one is gone, and ConfigError where there are fewer cards than processes.
    """
    if job.config.ranks == 1:
        return (yield from fit(job, control))
    cards = torch.cuda.device_count() if job.device.device.type == "cuda" else None
    if cards is not None and cards < job.config.ranks:
        raise ConfigError("ranks", job.config.ranks, f"at most {cards} here: each process needs a card of its own")
    with tempfile.TemporaryDirectory(prefix="ranks-", ignore_cleanup_errors=True) as folder:
        crew = _Crew(job, dataset_dir, Path(folder))
        try:
            return (yield from fit(crew.job, control))
        except RuntimeError as error:
            if lost := crew.lost():
                raise RankLost(lost) from error
            raise
        finally:
            crew.dismiss()


class _Crew:
    """The processes beside the first. Each goes on from the checkpoint that the first keeps before it gathers them."""

    def __init__(self, job: Job, dataset_dir: Path, folder: Path) -> None:
        self._folder, self._dataset_dir = folder, dataset_dir
        self._processes: list[subprocess.Popen[str]] = []
        self._holds_checkpoints = job.checkpoint_dir is None
        self.job = dataclasses.replace(
            job,
            checkpoint_dir=job.checkpoint_dir or folder / "checkpoints",
            ranks=Ranks(0, job.config.ranks),
            gather=self._gather,
        )

    def _gather(self) -> Iterator[None]:
        """Start them and wait, in slices, until all may be met; then meet."""
        ranks = self.job.ranks
        self._processes = [self._started(rank) for rank in range(1, ranks.size)]
        while not all((self._folder / READY.format(rank)).exists() for rank in range(1, ranks.size)):
            if lost := self.lost(within_s=0):
                raise RankLost(lost)
            time.sleep(LOOK_S)
            yield
        join_here(self._folder, ranks, self.job.device.device)
        if not self._holds_checkpoints:
            shutil.rmtree(self._folder)  # they have met: nothing is left even where this process is killed

    def _started(self, rank: int) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "nn.rank_process"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
        )
        orders = {
            "config": self.job.config.to_json(),
            "dataset_dir": str(self._dataset_dir),
            "checkpoint_dir": str(self.job.checkpoint_dir),
            "folder": str(self._folder),
            "rank": rank,
            "device": self.job.device.device.type,
            "threads": self.job.threads,
        }
        assert process.stdin is not None  # noqa: S101 - it was asked for
        process.stdin.write(json.dumps(orders) + "\n")
        process.stdin.flush()
        return process

    def lost(self, within_s: float = 1.0) -> str:
        """Say which process is gone before its time; empty where none is, also after a moment's wait."""
        end = time.monotonic() + within_s
        while True:
            gone = [
                f"{rank} ({_ending(code)})"
                for rank, process in enumerate(self._processes, start=1)
                if (code := process.poll())
            ]
            if gone:
                words = f"lost process {', '.join(gone)} of {self.job.ranks.size}, counted from 0"
                return f"{words}: start the run again, where it happens again with ranks = 1"
            if time.monotonic() >= end:
                return ""
            time.sleep(LOOK_S)

    def dismiss(self) -> None:
        """Leave none behind: they end with the run by themselves, and are killed where they do not."""
        leave(self.job.ranks)
        end = time.monotonic() + LEAVE_S
        for process in self._processes:
            assert process.stdin is not None  # noqa: S101 - it was asked for
            process.stdin.close()  # whose end they take for the end of the first process
            try:
                process.wait(max(0.0, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _ending(code: int) -> str:
    return f"killed by signal {-code}" if code < 0 else f"ended with code {code}; its last words stand in the log"
