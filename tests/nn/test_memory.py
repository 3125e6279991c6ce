"""A live run that goes on for long: nothing is lost, doubled or learnt twice, and the memory does not fill."""

import os
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from nn import commands, events
from tests.nn.live_market import MINUTE, batch, candle_commands, dataset, live, market
from tests.nn.worker_process import Worker

SERIES, RUN = 9100, 9100
HISTORY, WARM, FEED = 300, 200, 2_200
MOST = 30_000_000  # bytes


@pytest.mark.soak
def test_2000_candles_learnt_and_2000_questions_answered_grow_the_worker_by_less_than_30_mb(
    worker: Worker, tmp_path: Path
) -> None:
    whole = market(HISTORY + FEED)
    worker.send(
        commands.StartLive(
            run_id=RUN,
            series_id=SERIES,
            config=live(learn_every=1),
            history_dir=str(dataset(tmp_path / "history", whole.slice(0, HISTORY))),
            checkpoint_dir=str(tmp_path / "live"),
            first_time=int(whole.time[HISTORY]),
            coalesce=False,
        )
    )
    worker.until(lambda said: isinstance(said, events.RunStarted))
    candles = candle_commands(RUN, whole.slice(HISTORY, HISTORY + FEED))
    play(worker, candles[:WARM])
    before = resident(worker)
    play(worker, candles[WARM:])
    grown = resident(worker) - before
    worker.send(commands.StopRun(run_id=RUN))
    worker.until_ended(RUN, 60)
    assert len(worker.of(events.CandleLearnt, RUN)) == FEED
    assert grown < MOST, f"{grown / 1e6:.1f} MB"


@pytest.mark.soak
@pytest.mark.timeout(7200)
@pytest.mark.parametrize(
    ("count", "beside"), [(3_600, True), (100_000, False)], ids=["an hour beside training", "long"]
)
def test_no_candle_of_a_long_run_is_lost_doubled_or_learnt_twice(
    worker: Worker, tmp_path: Path, count: int, beside: bool
) -> None:
    whole, run_id = market(HISTORY + count), RUN + count
    if beside:
        fields: Any = {
            "dataset_dir": str(dataset(tmp_path / "dataset", market(900))),
            "checkpoint_dir": str(tmp_path / "b"),
        }
        worker.send(commands.StartBatch(run_id=run_id + 1, series_id=run_id + 1, config=batch(epochs=10_000), **fields))
        worker.until(lambda said: isinstance(said, events.BatchDone))
    worker.send(
        commands.StartLive(
            run_id=run_id,
            series_id=run_id,
            config=live(),
            history_dir=str(dataset(tmp_path / "history", whole.slice(0, HISTORY))),
            checkpoint_dir=str(tmp_path / "live"),
            first_time=int(whole.time[HISTORY]),
            coalesce=False,
        )
    )
    worker.until(lambda said: isinstance(said, events.RunStarted) and said.run_id == run_id)
    grown = checked(worker, run_id, candle_commands(run_id, whole.slice(HISTORY, HISTORY + count)))
    worker.send(commands.StopRun(run_id=run_id), commands.StopRun(run_id=run_id + 1))
    worker.until_ended(run_id, 60)
    if beside:
        worker.until_ended(run_id + 1, 60)  # another test's batch run would be refused beside it
    assert grown < MOST, f"{grown / 1e6:.1f} MB"


def checked(worker: Worker, run_id: int, candles: list[commands.CandleClosed]) -> int:
    """Play candles, check what is said of each in order, forget it; give by how many bytes the worker has grown."""
    kept, before = len(worker.said), 0
    scored, learnt = list[int](), list[int]()
    for first in range(0, len(candles), WARM):
        sent = candles[first : first + WARM]
        worker.send(*sent)
        last = sent[-1].time
        worker.until(partial(is_done, last), 600)
        told = [said for said in worker.said[kept:] if getattr(said, "run_id", None) == run_id]
        scored += [said.candle_time for said in told if isinstance(said, events.CandleScored)]
        learnt += [said.candle_time for said in told if isinstance(said, events.CandleLearnt)]
        assert not [said.skipped for said in told if isinstance(said, events.CandleLearnt) and said.skipped]
        del worker.said[kept:]
        before = before or resident(worker)
    assert scored == [candle.time for candle in candles]
    assert learnt == scored[: len(learnt)]
    assert len(scored) - len(learnt) < 4  # the last ones wait for their turn
    return resident(worker) - before


def is_done(candle_time: int, said: Any) -> bool:
    return isinstance(said, events.CandleDone) and said.candle_time == candle_time


def play(worker: Worker, candles: list[commands.CandleClosed]) -> None:
    """Send each candle with a question, and wait until the one is done with and the other answered."""
    for candle in candles:
        as_of = candle.time - MINUTE
        worker.send(
            candle,
            commands.Predict(request_id=candle.time, series_id=SERIES, model=None, history_dir=None, as_of=as_of),
        )
        awaited = {events.Answer, events.CandleDone}
        worker.until(partial(ticks_off, awaited))
    assert not [answer.error for answer in worker.of(events.Answer) if answer.error]


def ticks_off(awaited: set[type[Any]], said: Any) -> bool:
    awaited.discard(type(said))
    return not awaited


def resident(worker: Worker) -> int:
    """Give the bytes that the worker process holds."""
    pid = worker.of(events.WorkerReady)[0].pid
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
