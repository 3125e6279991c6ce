"""A live run that goes on for long does not fill the memory."""

import os
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from nn import commands, events
from tests.nn.live_market import MINUTE, candle_commands, dataset, live, market
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
