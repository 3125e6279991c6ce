"""What a training step costs beside what it must cost: its own bare loop, torch.matmul, plain memory, loading torch."""

from __future__ import annotations

import dataclasses
import itertools
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import torch

from bench.report import Measure, alternate, ratios
from bench.training import PlainLoop
from nn.adamw import AdamW
from nn.check import operations, peak_of
from nn.commands import LoadModel, StartBatch, StopRun
from nn.config import BatchConfig, ModelConfig
from nn.dataset_dir import DatasetDir, write
from nn.device import calibrate_threads, choose
from nn.events import BatchDone, WorkerReady
from nn.fit import Control, Said, fit
from nn.job import Job
from nn.learner import Learner, Schedule
from nn.losses import counts_of, losses_of, weighted_loss
from nn.models import build
from nn.targets import head_classes
from nn.training_data import Classes, TrainingData, epoch_starts, prepare
from nn.windows import Batch, Windows, noise
from tests.nn.simulated import dataset
from tests.nn.worker_process import Worker

ROWS = 40_000  # 35 batches an epoch: all rounds lie in the first one
STEPS = 5
ROUNDS = 5
LOOP_ROUNDS = 15  # a hundredth is looked for
MATRIX = 1024
MEMORY_BATCH = 64
LARGE = 256  # d_model
BUSY = "while True: pass"


def measures() -> Iterator[Measure]:
    """Measure what runs on one thread by CPU time, then threads by the wall clock, then whole processes."""
    torch.set_num_threads(1)
    data = dataset(1, ROWS)
    yield _bare_loop(data)
    for d_model, bar in ((LARGE, 0.60), (64, 0.35)):
        yield _arithmetic(d_model, bar)
    prepared, windows, starts = _windows(data)
    yield _dataset_memory(prepared, windows)
    yield _data_share(windows, starts)
    yield _peak_memory()
    yield from _threads()
    yield from _first_batch(data)


def _bare_loop(data: DatasetDir) -> Measure:
    """Hold the run, with its figures, guards and events, against the loop that its arithmetic alone needs."""
    config = BatchConfig(epochs=2, stride=20)  # so many batches that all rounds lie in the first epoch
    job = Job(run_id=1, config=config, dataset=data, device=choose("cpu"), threads=1)
    run = fit(job, Control())
    bare = _bare_steps(config, *_windows(data)[1:])
    _loop_round(run, bare)  # what loads at the first steps does not count
    pairs = [_loop_round(run, bare) for _ in range(LOOP_ROUNDS)]
    found = [theirs / own for own, theirs in pairs]
    return Measure("batches a CPU second of a run", "its own bare loop", found, 0.97, "at least")


def _loop_round(run: Iterator[Said], bare: Iterator[float]) -> tuple[float, float]:
    """Take STEPS steps of each in turn, now the one first and now the other; give the CPU seconds of both."""
    used = {"run": 0.0, "bare": 0.0}
    work: dict[str, Callable[[], object]] = {"run": lambda: _next_batch(run), "bare": lambda: next(bare)}
    for number in range(STEPS):
        for name in sorted(used, reverse=number % 2 == 1):
            used[name] += _cpu_seconds(work[name], 1)
    return used["run"], used["bare"]


def _next_batch(run: Iterator[Said]) -> None:
    """Go on to the end of the next batch and write its event as it is sent."""
    said = next(run)
    while not isinstance(said, BatchDone):
        said = next(run)
    json.dumps(said.to_json())


def _bare_steps(config: BatchConfig, windows: Windows, starts: Classes) -> Iterator[float]:
    """Gather, go forward and backward, clip and step, and nothing else; the optimizer is the run's own."""
    module = build(config, head_classes(())).train()
    optimizer = AdamW(module.parameters())
    while True:
        for at in range(0, len(starts) - config.batch_size + 1, config.batch_size):
            batch = windows.batch(starts[at : at + config.batch_size])
            losses = losses_of(module(batch.x), batch.targets)
            loss = weighted_loss(losses, counts_of(batch.targets), config.heads)[0]
            loss.backward()  # type: ignore[no-untyped-call]
            gradient = optimizer.gather()
            optimizer.step(gradient, gradient.norm(), config.learning_rate)
            yield float(loss.detach())


def _windows(data: DatasetDir) -> tuple[TrainingData, Windows, Classes]:
    config = BatchConfig()
    prepared = prepare(config, data)
    windows = Windows(prepared.rows, prepared.targets, config.sequence_length)
    return prepared, windows, epoch_starts(prepared, config, 1)


def _arithmetic(d_model: int, bar: float) -> Measure:
    """Hold a step's floating-point operations a second against those of a matrix product in the same round."""
    config = ModelConfig(d_model=d_model)
    learner, batch = Learner(config, Schedule(2e-3)), noise(config, head_classes(()))
    square, wanted = torch.randn(MATRIX, MATRIX), operations(config)
    steps = 2 if d_model == LARGE else 4

    def ours() -> float:
        return steps * wanted / _cpu_seconds(lambda: learner.step(batch), steps)

    def product() -> float:
        return 6 * 2 * MATRIX**3 / _cpu_seconds(lambda: square @ square, 6)

    name = f"floating-point rate of a training step, d_model {d_model}, one thread"
    return Measure(name, "that of torch.matmul", ratios(alternate(ours, product, ROUNDS)), bar, "at least")


def _dataset_memory(prepared: TrainingData, windows: Windows) -> Measure:
    held = prepared.rows.nbytes + sum(of.nbytes for of in prepared.targets.values())
    one = windows.batch(np.array([0]))
    written = len(windows) * (one.x.nbytes + sum(of.nbytes for of in one.targets.values()))
    note = f"{held / 2**20:.1f} MB for {len(windows)} windows"
    return Measure("memory of the dataset", "windows written out", [held / written], 0.01, "at most", note)


def _data_share(windows: Windows, starts: Classes) -> Measure:
    config = ModelConfig()
    learner, chosen = Learner(config, Schedule(2e-3)), starts[: config.batch_size]
    pairs = alternate(
        lambda: _cpu_seconds(lambda: windows.batch(chosen), 50) / 50,
        lambda: _cpu_seconds(lambda: learner.step(windows.batch(chosen)), STEPS) / STEPS,
        ROUNDS,
    )
    return Measure("CPU time of gathering a batch", "a whole step", ratios(pairs), 0.01, "at most")


def _peak_memory() -> Measure:
    config = ModelConfig(batch_size=MEMORY_BATCH)
    pairs = alternate(lambda: _peak_of(_our_steps, config), lambda: _peak_of(_plain_steps, config), ROUNDS)
    note = f"{pairs[0][0] / 2**20:.0f} MB against {pairs[0][1] / 2**20:.0f} MB"
    name = f"peak memory of a step, batch {MEMORY_BATCH}"
    return Measure(name, "a plain nn.TransformerEncoder loop", ratios(pairs), 0.45, "at most", note)


def _peak_of(steps: Callable[[ModelConfig], None], config: ModelConfig) -> float:
    """Give the most memory that two steps hold beside what was held before, in a process of their own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_peak_here, (steps, config))


def _peak_here(steps: Callable[[ModelConfig], None], config: ModelConfig) -> float:
    torch.set_num_threads(1)
    steps(dataclasses.replace(config, batch_size=1))  # what torch loads at its first step does not count
    return float(peak_of(lambda: steps(config)))


def _our_steps(config: ModelConfig) -> None:
    learner, batch = Learner(config, Schedule(1e-3)), noise(config, head_classes(()))
    for _ in range(2):
        learner.step(batch)


def _plain_steps(config: ModelConfig) -> None:
    plain, batch = PlainLoop(config, head_classes(())), noise(config, head_classes(()))
    for _ in range(2):
        plain.step(batch)


def _threads() -> Iterator[Measure]:
    """Measure by the wall clock what thread calibration chooses, alone and beside a process that never rests."""
    config = ModelConfig()
    learner, batch = Learner(config, Schedule(1e-3)), noise(config, head_classes(()))
    every = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    chosen = calibrate_threads(lambda: learner.step(batch))

    def best() -> float:
        return max(_wall_rate(learner, batch, count) for count in {1, every})

    note = f"{chosen} of {every} threads; by the wall clock"
    pairs = alternate(lambda: _wall_rate(learner, batch, chosen), best, ROUNDS)
    peer = f"the best of 1 and {every}"
    yield Measure("windows a second with calibrated threads", peer, ratios(pairs), 0.9, "at least", note)
    busy = subprocess.Popen([sys.executable, "-c", BUSY])
    try:
        chosen = calibrate_threads(lambda: learner.step(batch))
        pairs = alternate(lambda: _wall_rate(learner, batch, chosen), lambda: _wall_rate(learner, batch, 1), ROUNDS)
    finally:
        busy.kill()
        busy.wait()
        torch.set_num_threads(1)
    note = f"{chosen} of {every} threads; by the wall clock"
    yield Measure("the same beside a busy process", "one thread beside it", ratios(pairs), 0.5, "at least", note)


def _wall_rate(learner: Learner, batch: Batch, threads: int) -> float:
    torch.set_num_threads(threads)
    learner.step(batch)
    began = time.perf_counter()
    for _ in range(STEPS):
        learner.step(batch)
    return STEPS * len(batch) / (time.perf_counter() - began)


def _first_batch(data: DatasetDir) -> Iterator[Measure]:
    """Measure from Load to the first batch in the product's worker, and from nothing at all in a terminal."""
    with tempfile.TemporaryDirectory() as folder, Worker() as worker:
        path = Path(folder)
        write(path / "data", data.manifest, data.candles, data.annotations)
        worker.until(lambda said: isinstance(said, WorkerReady))
        ids = itertools.count(1)
        loaded = alternate(lambda: _load_to_batch(worker, path, next(ids)), _import_torch, ROUNDS)
        command = ["-m", "nn", "fit", str(path / "data"), "--threads", "1", "--device", "cpu"]
        started = alternate(lambda: _cpu_until(command, "Batch "), _import_torch, ROUNDS)
    peer = "`import torch` alone"
    yield Measure(f"Load to the first batch of {ROWS} candles", peer, ratios(loaded), 2.0, "at most", _seconds(loaded))
    name = "`python -m nn fit` from its start to the first batch"
    yield Measure(name, peer, ratios(started), 2.0, "at most", _seconds(started))


def _seconds(pairs: list[tuple[float, float]]) -> str:
    return f"{pairs[0][0]:.1f} s of CPU time against {pairs[0][1]:.1f} s"


def _load_to_batch(worker: Worker, path: Path, number: int) -> float:
    """Load a fresh model in the worker and start a run on it; give the CPU seconds up to its first batch."""
    before, load, run = _cpu_of(worker.process.pid), 2 * number, 2 * number + 1
    worker.send(LoadModel(run_id=load, series_id=number, config={}, fresh=True))
    worker.send(
        StartBatch(
            run_id=run,
            series_id=number,
            config={},
            dataset_dir=str(path / "data"),
            checkpoint_dir=str(path / str(run)),
        )
    )
    worker.until(lambda said: isinstance(said, BatchDone) and said.run_id == run)
    used = _cpu_of(worker.process.pid) - before
    worker.send(StopRun(run_id=run))
    worker.until_ended(run)
    return used


def _cpu_of(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def _import_torch() -> float:
    return _cpu_until(["-c", "import torch"], "")


def _cpu_until(command: list[str], line: str) -> float:
    """Give the CPU seconds that a Python process has used when it prints such a line, or ends."""
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "OMP_NUM_THREADS": "1"}
    before = os.times()
    with subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        for said in process.stdout:
            if line and said.startswith(line):
                process.kill()
                break
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def _cpu_seconds(work: Callable[[], object], times: int) -> float:
    began = time.process_time()
    for _ in range(times):
        work()
    return time.process_time() - began
