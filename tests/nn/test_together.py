"""Batch training, live candles and questions at the same time in one worker: nothing fails, nothing starves."""

import itertools
import threading
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from nn import commands, events
from tests.nn.live_market import MINUTE, batch, candle_commands, dataset, live, market
from tests.nn.worker_process import Worker

HISTORY, FEED = 300, 4_000
ASKED_A_SECOND, CANDLES_A_SECOND = 20, 20
SERIES, TRAINED, LIVE = 9000, 9001, 9002


@pytest.mark.parametrize("seconds", [6, pytest.param(60, marks=pytest.mark.soak)])
def test_training_live_candles_and_questions_disturb_each_other_in_nothing(
    worker: Worker, seconds: float, tmp_path: Path
) -> None:
    begin = len(worker.said)
    candles = start_both(worker, tmp_path)
    worker.until(lambda s: isinstance(s, events.RunStarted) and s.run_id == LIVE)
    said = Said(worker.said, begin)
    asked = talk(worker, candles, said, seconds)
    worker.send(commands.StopRun(run_id=LIVE), commands.StopRun(run_id=TRAINED))
    worker.until(lambda _: len(said.of(events.RunEnded)) == 2 and len(said.of(events.Answer)) == asked)
    assert {end.state for end in said.of(events.RunEnded)} == {"stopped"}
    assert not [answer.error for answer in said.of(events.Answer) if answer.error]
    assert rises([e.step for e in said.of(events.BatchDone)])
    assert rises([e.step for e in said.of(events.CandleLearnt)])
    assert_each_once(said)
    assert_a_snapshot_says_one_thing_of_one_window(said.of(events.Answer))


class Said:
    """What the worker says from one moment on."""

    def __init__(self, everything: list[Any], begin: int) -> None:
        self._everything, self._begin = everything, begin

    def of(self, kind: type[Any]) -> list[Any]:
        return [item for item in self._everything[self._begin :] if isinstance(item, kind)]


class Sent:
    """How many questions and candles have been sent."""

    asked = candles = 0


def start_both(worker: Worker, folder: Path) -> list[commands.CandleClosed]:
    """Start an endless batch run with gradient checkpointing and dropout, and a live run beside it."""
    whole = market(HISTORY + FEED)
    history = whole.slice(0, HISTORY)
    trained = batch(epochs=10_000, use_gradient_checkpointing=True, dropout=0.2)
    worker.send(
        commands.StartBatch(
            run_id=TRAINED,
            series_id=SERIES + 1,
            config=trained,
            dataset_dir=str(dataset(folder / "dataset", whole.slice(0, 900))),
            checkpoint_dir=str(folder / "batch"),
        ),
        commands.StartLive(
            run_id=LIVE,
            series_id=SERIES,
            config=live(use_gradient_checkpointing=True, dropout=0.2),
            history_dir=str(dataset(folder / "history", history)),
            checkpoint_dir=str(folder / "live"),
            first_time=int(whole.time[HISTORY]),
        ),
    )
    return candle_commands(LIVE, whole.slice(HISTORY, HISTORY + FEED))


def talk(worker: Worker, candles: list[commands.CandleClosed], said: Said, seconds: float) -> int:
    """Send candles and ask questions at their rates while all answers are read; give how many were asked.

    It takes so many seconds at least, and as long as it takes a busy machine to train and to publish.
    """
    sent, over = Sent(), threading.Event()

    def send() -> None:
        for tick in itertools.count():
            if over.wait(1 / ASKED_A_SECOND):
                return
            if tick % (ASKED_A_SECOND // CANDLES_A_SECOND) == 0 and sent.candles < len(candles):
                worker.send(candles[sent.candles])
                sent.candles += 1
            known = candles[0].time - (1 + tick % 2) * MINUTE  # a candle of the history, which is surely there
            worker.send(question(sent.asked, known if tick % 3 else None))
            sent.asked += 1

    sender = threading.Thread(target=send)
    sender.start()
    end = time.monotonic() + seconds
    worker.until(lambda _: time.monotonic() > end and enough(said), seconds + 240)
    over.set()
    sender.join()
    return sent.asked


def enough(said: Said) -> bool:
    snapshots = {body["snapshot"] for answer in said.of(events.Answer) if isinstance(body := answer.body, dict)}
    return len(said.of(events.BatchDone)) > 3 and len(said.of(events.CandleScored)) > 10 and len(snapshots) > 3


def question(number: int, as_of: int | None) -> commands.Predict:
    return commands.Predict(request_id=9000 + number, series_id=SERIES, model=None, history_dir=None, as_of=as_of)


def rises(steps: list[int]) -> bool:
    return len(steps) > 3 and steps == sorted(steps) and steps[0] < steps[-1]


def assert_each_once(said: Said) -> None:
    scored = [e.candle_time for e in said.of(events.CandleScored)]
    learnt = [e.candle_time for e in said.of(events.CandleLearnt)]
    assert len(scored) > 10
    assert scored == sorted(set(scored)) == learnt
    assert all(e.skipped in (None, "the run was stopped") for e in said.of(events.CandleLearnt))


def assert_a_snapshot_says_one_thing_of_one_window(answers: list[events.Answer]) -> None:
    said = defaultdict[tuple[int, int], list[Any]](list)
    for answer in answers:
        body: Any = answer.body
        said[body["snapshot"], body["as_of"]].append((body["candle_probabilities"], body["trend_up"]))
    assert len({snapshot for snapshot, _ in said}) > 3
    repeated = [of_one for of_one in said.values() if len(of_one) > 1]
    assert repeated
    assert all(one == of_one[0] for of_one in repeated for one in of_one)
