"""Live learning with the default model: what a step, a snapshot and a prediction cost, how fast candles may come."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import torch

from annotate import simulator
from bench.report import Measure, alternate, ratios
from nn import commands, events
from nn.config import LiveConfig, ModelConfig
from nn.dataset_dir import COLUMNS, Candles, write
from nn.inference import InferenceThread
from nn.learner import Learner, Schedule
from nn.priority import train_behind
from nn.snapshot import Snapshot, predict
from nn.targets import head_classes
from nn.windows import noise
from tests.nn.live_market import candle_commands
from tests.nn.worker_process import Worker

HISTORY, FEED, TRAINED = 3_000, 600, 20_000
QUESTIONS = 150
STEPS = 20
SERIES_AT_ONCE = 5  # of one-second candles, which a machine with two cores is to keep up with
TRAINING, LIVE = 1, 2


def measures() -> Iterator[Measure]:
    """Measure the parts in this process, then the whole in a worker process."""
    torch.set_num_threads(1)
    yield from _parts()
    yield _against_a_lock()
    with tempfile.TemporaryDirectory() as folder, Worker() as worker:
        worker.until(lambda said: isinstance(said, events.WorkerReady))
        simulated = simulator.simulate(rows=TRAINED)
        market = Candles(**{name: getattr(simulated, name) for name in COLUMNS})
        yield _candles_a_second(worker, Path(folder), market)
        yield _prediction_while_training(worker, Path(folder), market)


def _parts() -> Iterator[Measure]:
    one, replay = ModelConfig(batch_size=1), LiveConfig()
    learner = Learner(one, Schedule(replay.learning_rate), average=replay.ema_decay)
    single, several = noise(one, head_classes(())), noise(replay, head_classes(()))
    snapshot = learner.publish()
    inference = _timed(lambda: predict(snapshot, single.x[0]))
    pairs = alternate(_timed(lambda: learner.step(single)), inference)
    yield Measure("online step of one window", "one inference", ratios(pairs), 5.0, "at most", _ms(pairs))
    pairs = alternate(_timed(learner.publish), _timed(lambda: learner.step(several)))
    note = f"{replay.batch_size} windows; {_ms(pairs)}"
    yield Measure("publishing a snapshot", "a replay step", ratios(pairs), 0.02, "at most", note)


def _against_a_lock() -> Measure:
    """Predict beside a training thread: from snapshots, and from the module itself behind a lock around each step."""
    pairs = alternate(lambda: _beside_training(locked=False), lambda: _beside_training(locked=True), rounds=3)
    name, peer = "prediction p99 beside training, from snapshots", "with a lock around the step"
    return Measure(name, peer, ratios(pairs), 0.1, "at most", _ms(pairs))


def _beside_training(*, locked: bool) -> float:
    config = ModelConfig()
    batch, lock, over, begun = noise(config, head_classes(())), threading.Lock(), threading.Event(), threading.Event()
    newest: list[Snapshot] = []

    def train() -> None:
        train_behind()  # as the trainer loop does
        learner = Learner(config, Schedule(1e-3))
        while not over.is_set():
            with lock:
                learner.step(batch)
            newest[:] = [learner.publish()]
            begun.set()

    trainer = threading.Thread(target=train)
    trainer.start()
    begun.wait()
    waits, errors, inference, answered = list[float](), list[Exception](), InferenceThread(), threading.Event()

    def ask(since: float) -> None:
        if locked:
            with lock:
                predict(newest[0], batch.x[0])
        else:
            predict(newest[0], batch.x[0])
        waits.append(time.perf_counter() - since)
        answered.set()

    for _ in range(QUESTIONS // 3):
        answered.clear()
        inference.submit(partial(ask, time.perf_counter()), errors.append)
        answered.wait()
        time.sleep(0.01)
    over.set()
    trainer.join()
    inference.close()
    return float(np.quantile(waits, 0.99))


def _candles_a_second(worker: Worker, folder: Path, market: Candles) -> Measure:
    """Play stored candles at speed max, as a replay does: the next goes out when the last one is done with."""
    history, feed = market.slice(0, HISTORY), market.slice(HISTORY, HISTORY + FEED)
    worker.send(
        commands.StartLive(
            run_id=LIVE,
            series_id=LIVE,
            config=LiveConfig().to_json(),
            history_dir=_dataset(folder / "history", history),
            checkpoint_dir=str(folder / "live"),
            first_time=int(feed.time[0]),
            coalesce=False,
        )
    )
    worker.until(lambda said: isinstance(said, events.RunStarted))
    rates, start = list[float](), time.perf_counter()
    for done, candle in enumerate(candle_commands(LIVE, feed), start=1):
        worker.send(candle)
        worker.until(lambda said: isinstance(said, events.CandleDone))
        if done % (FEED // 5) == 0:
            rates.append(FEED / 5 / (time.perf_counter() - start))
            start = time.perf_counter()
    worker.send(commands.StopRun(run_id=LIVE))
    worker.until_ended(LIVE)
    pace = [rate / SERIES_AT_ONCE for rate in rates]
    note = f"median {np.median(rates):.1f} candles a second"
    return Measure("speed max", f"{SERIES_AT_ONCE} series of 1 s candles", pace, 1.0, "at least", note)


def _prediction_while_training(worker: Worker, folder: Path, market: Candles) -> Measure:
    """Ask the worker with a batch run under way, and with the same run paused."""
    worker.send(
        commands.StartBatch(
            run_id=TRAINING,
            series_id=LIVE,
            config=ModelConfig().to_json() | {"epochs": 10_000},
            dataset_dir=_dataset(folder / "dataset", market),
            checkpoint_dir=str(folder / "batch"),
        )
    )
    worker.until(lambda said: isinstance(said, events.BatchDone))
    history, numbers = str(folder / "history"), iter(range(10**6))

    def p99(command: type[commands.PauseRun | commands.ResumeRun]) -> float:
        worker.send(command(run_id=TRAINING))
        worker.until(lambda said: isinstance(said, events.RunState))
        waits = []
        for number in (next(numbers) for _ in range(QUESTIONS)):
            since = time.perf_counter()
            worker.send(
                commands.Predict(request_id=number, series_id=LIVE, model=None, history_dir=history, as_of=None)
            )
            worker.until(lambda said: isinstance(said, events.Answer))
            waits.append(time.perf_counter() - since)
            time.sleep(0.02)
        return float(np.quantile(waits, 0.99))

    pairs = alternate(lambda: p99(commands.ResumeRun), lambda: p99(commands.PauseRun))
    worker.send(commands.StopRun(run_id=TRAINING))
    worker.until_ended(TRAINING)
    return Measure("prediction p99 while training", "idle", ratios(pairs), 2.0, "at most", _ms(pairs))


def _timed(work: Callable[[], object]) -> Callable[[], float]:
    """Give a measurement of `work`: the median of some runs, in seconds."""

    def measure() -> float:
        seconds = []
        for _ in range(STEPS):
            start = time.perf_counter()
            work()
            seconds.append(time.perf_counter() - start)
        return float(np.median(seconds))

    return measure


def _ms(pairs: list[tuple[float, float]]) -> str:
    ours, peers = (np.median(side) * 1000 for side in zip(*pairs, strict=True))
    return f"medians {ours:.2f} and {peers:.2f} ms"


def _dataset(folder: Path, candles: Candles) -> str:
    manifest = {"symbol": simulator.SYMBOL, "timeframe": simulator.TIMEFRAME, "timeframe_ms": 1000, "simulated": True}
    write(folder, manifest, candles, [])
    return str(folder)
