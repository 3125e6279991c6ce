"""Training speed against libraries from PyPI that a person would use instead; they run in `.venv-bench`."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import torch
from flask_socketio import SocketIO

from annotate.db import Base, Database
from annotate.models import LabelSet, Series
from annotate.publisher import Publisher
from annotate.run_ledger import RunLedger
from bench.peers.rounds import MARK
from bench.report import Measure, alternate, ratios
from nn.config import BatchConfig
from nn.device import choose
from nn.events import BatchDone, Event
from nn.fit import Control, Said, fit
from nn.job import Job
from tests.nn.simulated import dataset

ROOT = Path(__file__).resolve().parents[1]
PYTHON = ROOT / ".venv-bench" / "bin" / "python"
ROWS = 40_000  # 35 batches an epoch: all rounds lie in the first one
STEPS = 5
PATCH = 4
BATCH = 16  # as the peers' programs take
STORE_S = 30.0


def measures() -> Iterator[Measure]:
    """Measure the default against neuralforecast, patches of 4 against PatchTST; one thread each, CPU time."""
    torch.set_num_threads(1)
    for patch, bar, program in ((1, 3.5, ["vanilla_transformer", "64"]), (PATCH, 3.0, ["patch_tst", "64", str(PATCH)])):
        with Peer(*program) as peer, told_run(BatchConfig(patch_size=patch, epochs=2, batch_size=BATCH)) as ours:
            yield _measure(patch, bar, ratios(alternate(ours, peer.rate)))


def _measure(patch: int, bar: float, found: list[float]) -> Measure:
    peers = {1: "neuralforecast's VanillaTransformer", PATCH: "Hugging Face's PatchTST with its Trainer, patches of 4"}
    name = "windows a CPU second, metrics, events and database on" + (f", patch_size {patch}" if patch > 1 else "")
    return Measure(name, peers[patch], found, bar, "at least")


class Peer:
    """A peer's program, kept running so that its rounds alternate with ours."""

    def __init__(self, program: str, *arguments: str) -> None:
        if not PYTHON.exists():
            raise RuntimeError(f"the peers are not installed ({PYTHON.parent.parent}): run `make bench` once")
        self._words = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed with the program
        self._process = subprocess.Popen(
            [PYTHON, "-m", f"bench.peers.{program}", *arguments],
            cwd=ROOT,
            env={**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._words,
            text=True,
        )

    def rate(self) -> float:
        """Have it measure once; give windows a CPU second."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("measure\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            if line.startswith(MARK):
                return float(line.removeprefix(MARK))
        self._words.seek(0)
        raise RuntimeError(f"the peer ended: {self._words.read()[-2000:]}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._words):
            if pipe is not None:
                pipe.close()


@contextmanager
def told_run(config: BatchConfig) -> Iterator[Callable[[], float]]:
    """Run a batch run whose events are numbered, stored and offered to browsers; give what measures its next steps."""
    job = Job(run_id=1, config=config, dataset=dataset(1, ROWS), device=choose("cpu"), threads=1)
    with tempfile.TemporaryDirectory() as folder:
        database = Database(Path(folder) / "bench.db")
        Base.metadata.create_all(database.engine)
        publisher = Publisher(database, SocketIO())
        ledger = RunLedger(database, publisher)
        _open_run(database, ledger)
        run = fit(job, Control())
        try:
            yield lambda: _rate(run, ledger, publisher, config.batch_size)
        finally:
            run.close()
            publisher.stop()
            database.close()


def _open_run(database: Database, ledger: RunLedger) -> None:
    with database.write() as session:
        series = Series(symbol="SIM/USDT", timeframe="1s", source="bench", created=0, label_set=LabelSet(name="none"))
        session.add(series)
        session.flush()
        series_id = series.id
    ledger.open_run(mode="batch", series_id=series_id, dataset_id=None, config={})


def _rate(run: Generator[Said, None, Any], ledger: RunLedger, publisher: Publisher, windows: int) -> float:
    """Give windows a CPU second, all threads counted, until the last event of STEPS steps is stored."""
    began, steps = time.process_time(), 0
    while steps < STEPS:
        said = next(run)
        if isinstance(said, Event):
            ledger.record(said.to_json())
            steps += isinstance(said, BatchDone)
    if not publisher.flush(STORE_S):
        raise RuntimeError("the events were not stored in time")
    return windows * STEPS / (time.process_time() - began)
