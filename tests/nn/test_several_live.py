"""Several series live in one worker beside a batch run: served in turn, nobody starves."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nn import commands, events
from tests.nn.live_market import batch, candle_commands, dataset, live, market
from tests.nn.worker_process import Worker

HISTORY, FEED, SERIES = 120, 40, 3
FIRST, TRAINED = 9300, 9350
NAMES = range(FIRST, FIRST + SERIES)


def is_start_of(run_id: int, item: Any) -> bool:
    return isinstance(item, events.RunStarted) and item.run_id == run_id


@pytest.fixture
def said(worker: Worker, tmp_path: Path) -> list[Any]:
    """What the worker says while the candles of all series come at once, one series after the other in the pipe."""
    whole = market(HISTORY + FEED)
    history = str(dataset(tmp_path / "history", whole.slice(0, HISTORY)))
    begin = len(worker.said)
    trained = commands.StartBatch(
        run_id=TRAINED, series_id=TRAINED, config=batch(epochs=10_000, stride=2),
        dataset_dir=str(dataset(tmp_path / "dataset", market(900))), checkpoint_dir=str(tmp_path / "batch"),
    )  # fmt: skip
    worker.send(trained)
    worker.until(lambda item: isinstance(item, events.BatchDone))
    for run_id in NAMES:
        worker.send(
            commands.StartLive(
                run_id=run_id, series_id=run_id, config=live(learn_every=1), history_dir=history,
                checkpoint_dir=str(tmp_path / str(run_id)), first_time=int(whole.time[HISTORY]), coalesce=False,
            )
        )  # fmt: skip
        worker.until(partial(is_start_of, run_id))
    for run_id in NAMES:
        worker.send(*candle_commands(run_id, whole.slice(HISTORY, HISTORY + FEED)), commands.FeedEnded(run_id=run_id))
    for run_id in NAMES:
        worker.until_ended(run_id)
    worker.send(commands.StopRun(run_id=TRAINED))
    worker.until_ended(TRAINED)
    return worker.said[begin:]


def test_series_are_served_in_turn_and_batch_training_goes_on_between(said: list[Any]) -> None:
    learnt = [item.run_id for item in said if isinstance(item, events.CandleLearnt)]
    assert sorted(learnt) == sorted([*NAMES] * FEED)  # each candle of each series, once
    # All candles of the first series stand in the pipe before those of the last: in turn all the same.
    all_there = max(learnt.index(run_id) for run_id in NAMES)
    shared = learnt[all_there : min(len(learnt) - 1 - learnt[::-1].index(run_id) for run_id in NAMES)]
    counts = [shared.count(run_id) for run_id in NAMES]
    assert len(shared) > FEED
    assert max(counts) - min(counts) <= 2
    # Between two batch steps there is a live step; and the batch run has about half of the time, so it steps often.
    steps = [item.type for item in said if isinstance(item, events.BatchDone | events.CandleLearnt)]
    places = np.flatnonzero([kind == "batch_done" for kind in steps])
    first, last = steps.index("candle_learnt"), len(steps) - 1 - steps[::-1].index("candle_learnt")
    between = places[(places > first) & (places < last)]
    assert len(between) >= FEED // 4
    assert (np.diff(between) > 1).mean() > 0.9
