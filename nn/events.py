"""What a run says: frozen, JSON-able events. `seq` is 0 until the one that stores an event numbers it.

Times are int ms UTC, accuracies fractions of 1. `line` is the printed text, where the event has one.
`Message`s go over the same pipe and are never stored.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any, ClassVar

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Base: which run, its number in the run, when, and the printed line."""

    type: ClassVar[str] = ""
    run_id: int
    time: int
    seq: int = 0
    line: str | None = None

    def to_json(self) -> Json:
        """Give `{run_id, seq, time, type, line, …}`."""
        return {"type": self.type, **dataclasses.asdict(self)}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelLoaded(Event):
    """Weights stand ready: which, why, how large, where."""

    type = "model_loaded"
    model: str
    origin: str  # "checkpoint", "loaded" or "fresh"
    reason: str  # why this origin, in words
    checkpoint: str | None  # directory name of the checkpoint, if any
    parameters: int
    device: str
    dtype: str
    device_reason: str
    memory: str  # "GPU memory: 1.63GB / 46.97GB (3.5%)" or "Process memory: …"
    data_cut: int | None
    snapshot: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted(Event):
    """The run begins: its whole config, what it trains on and from whose weights."""

    type = "run_started"
    mode: str
    config: Json
    origin: str
    reason: str
    parameters: int
    device: str
    dtype: str
    threads: int
    data: Json  # batch: {windows, train, validation, test, dropped, classes, …}; live: {from, history, seen_until}
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchDone(Event):
    """One optimizer step of a batch run; the figures speak of this batch alone."""

    type = "batch_done"
    epoch: int  # from 1
    epochs: int
    batch: int  # from 1
    batches: int
    step: int
    loss: float
    candle_accuracy: float | None  # None where no target of the batch counts
    trend_accuracy: float | None
    learning_rate: float
    gradient_norm: float | None
    windows_per_s: float
    eta_s: float
    skipped_steps: int  # steps not taken so far because loss or gradient was not finite


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochDone(Event):
    """One epoch: `train` and `validation` are `{loss, candle_accuracy, trend_accuracy, n, baselines, heads}`.

    `validation` is None where there is none. `baselines` is {head: {majority, persistence, logistic: {accuracy, nll}}};
    `heads` is {head: {n, accuracy, interval, balanced_accuracy, mcc, nll, f1}}.
    """

    type = "epoch_done"
    epoch: int
    epochs: int
    batches: int
    train: Json
    validation: Json | None
    best: bool
    verdict: str | None  # "better than the baselines" or "not better than the baselines", by validation NLL
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedOnTest(Event):
    """The best weights, calibrated, on the test split: judged once, at the end of a run that was not stopped.

    `test` has the form of an epoch's `validation`; None where no candle of the test split has a target that counts.
    """

    type = "test_judged"
    epoch: int | None  # that the weights are of
    test: Json | None
    verdict: str | None
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlEpoch(Event):
    """One epoch of a check on skill, judged on validation."""

    type = "control_epoch"
    number: int  # 0: on the real targets; from 1: the shuffling
    runs: int  # on shuffled targets
    epoch: int
    epochs: int
    loss: float  # the weighted NLL
    heads: dict[str, float]  # head → NLL
    best_loss: float  # of this run so far
    eta_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakChecked(Event):
    """One check on leaks: what it looked at, whether it passed, what it found, and the annotations at fault."""

    type = "leak_checked"
    check: str  # inputs, answers, targets, shifts, overlap, twins, known, late, control
    passed: bool
    words: str
    marks: list[str]  # ids


@dataclass(frozen=True, slots=True, kw_only=True)
class CandlePredicted(Event):
    """What a snapshot says of the next candle, made when `as_of` closed."""

    type = "candle_predicted"
    candle_time: int  # open time of the predicted candle
    as_of: int | None  # open time of the last closed candle in the window
    closed: Json | None  # that candle: {time, open, high, low, close, volume}
    snapshot: int
    data_cut: int | None
    seen: bool
    candle_probabilities: list[float]
    candle_edges: list[float]  # edges of the classes in units of return/σ
    sigma: float  # σ of the return, so that a class is a price range
    trend_up: float  # P(up) over the next `trend_horizon` candles
    trend_due: int  # open time of the candle at whose close the trend falls due
    label_probabilities: dict[str, float] | None = None
    latency_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CandleScored(Event):
    """The outcome of candle `candle_time` met its prediction, and that of the trend that fell due at its close."""

    type = "candle_scored"
    candle_time: int
    seen: bool
    skipped: str | None  # why there is no score: gap, no full window, not finite
    outcome: int | None  # class of the candle, 0 to 4
    predicted: int | None
    correct: bool | None
    loss: float | None  # −log P(outcome)
    trend_correct: bool | None  # None where none fell due or the price did not move
    trend_as_of: int | None
    snapshot: int | None
    n: int  # unseen candles scored so far
    figures: Json  # {of, candle, trend, drift}: accuracy, nll, baselines, intervals, verdict over 100, 1000 and all
    behind: int
    after_no_trade: bool = False  # candles are missing before it because nobody traded, which is no gap


@dataclass(frozen=True, slots=True, kw_only=True)
class CandleLearnt(Event):
    """Candle `candle_time` entered its first step, or was skipped and why. `line` holds both printed lines."""

    type = "candle_learnt"
    candle_time: int
    seen: bool
    skipped: str | None
    loss: float | None
    average_loss: float | None
    accuracy: float | None  # of the last 100 unseen candles (of the seen ones until there is an unseen)
    average_accuracy: float | None
    step: int
    snapshot: int
    change: float | None  # (close − open) / open of the candle
    counts: Json = field(default_factory=dict)  # candles so far: {learnt, and each reason to skip one}


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftAlarm(Event):
    """The loss of unseen candles has risen for good (Page-Hinkley); nothing is done about it."""

    type = "drift_alarm"
    candle_time: int  # the candle whose score gave the alarm
    loss: float  # mean of the last 100 unseen candles
    loss_before: float  # of as many before those
    alarms: int  # so far, this one included
    dummy_alarms: int  # of a detector that alarms by the clock: what chance would have said
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RolledBack(Event):
    """Learning was taken back: by itself (fallen behind the frozen start model) or asked for (forget since)."""

    type = "rolled_back"
    candle_time: int | None  # the newest candle that was scored by then
    asked: bool  # by a person
    since: int | None  # where asked: candles from here on were forgotten
    taken_back: int  # number of the snapshot that no longer counts
    back_to: int  # number of the snapshot whose weights came back
    snapshot: int  # the number under which they go on
    data_cut: int | None
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResumed(Event):
    """A paused or interrupted run goes on, from which step or candle."""

    type = "run_resumed"
    step: int
    from_checkpoint: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Warned(Event):
    """Something a person should know; said once a cause."""

    type = "warning"
    code: str  # loss_zero, loss_stuck, one_class, not_better, non_finite, no_validation, new_label, feed, …
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnded(Event):
    """The end of a run: finished, stopped, failed or interrupted, with the cause."""

    type = "run_ended"
    state: str
    cause: str | None = None
    summary: Json = field(default_factory=dict)


_EVENT_TYPES: tuple[type[Event], ...] = (
    ModelLoaded, RunStarted, BatchDone, EpochDone, JudgedOnTest, ControlEpoch, LeakChecked, CandlePredicted,
    CandleScored, CandleLearnt, DriftAlarm, RolledBack, RunResumed, Warned, RunEnded,
)  # fmt: skip
EVENTS: dict[str, type[Event]] = {cls.type: cls for cls in _EVENT_TYPES}


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """Base of what the worker tells the trainer thread without it being an event."""

    type: ClassVar[str] = ""

    def to_json(self) -> Json:
        """Give `{message, …}`."""
        return {"message": self.type, **dataclasses.asdict(self)}


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerReady(Message):
    """The worker has started: its process id and what it runs on."""

    type = "ready"
    pid: int
    device: str
    dtype: str
    device_reason: str
    threads: int
    memory: str
    free_bytes: int = 0  # on the device, before any run; 0 where nobody knows


@dataclass(frozen=True, slots=True, kw_only=True)
class RunState(Message):
    """A run changed its state inside the worker: queued, running, paused."""

    type = "state"
    run_id: int
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointSaved(Message):
    """A checkpoint stands whole on the disk in `data/checkpoints/<run>/<name>`."""

    type = "checkpoint"
    run_id: int
    name: str  # best or last
    step: int
    data_cut: int | None
    result: bool  # may later runs start from it
    meta: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(Message):
    """The answer to a command that asks: `body`, or `error` in words."""

    type = "answer"
    request_id: int
    body: Json | None
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CandleDone(Message):
    """A live run has scored, predicted and, if its turn, learnt this candle: the feed may send the next."""

    type = "candle_done"
    run_id: int
    candle_time: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Pong(Message):
    """The trainer loop lives: the answer to a ping."""

    type = "pong"


MESSAGES: dict[str, type[Message]] = {
    cls.type: cls for cls in (WorkerReady, RunState, CheckpointSaved, Answer, CandleDone, Pong)
}


def from_json(line: Json) -> Event | Message:
    """Rebuild what `to_json` gave; raise KeyError for a type that does not exist."""
    body = dict(line)
    if "message" in body and body["message"] in MESSAGES and "type" not in body:
        return MESSAGES[body.pop("message")](**body)
    return EVENTS[body.pop("type")](**body)
