"""What the trainer thread asks of the worker: frozen, JSON-able commands; one JSON object a line.

Paths are absolute. `candidates` are checkpoint directories, newest first, that the worker tries when it holds no
loaded model for the series and model name.

Every LoadModel, StartBatch and StartLive is answered by exactly one `run_ended` event, also where it was refused.
The trainer thread sends a second batch run only after the first has ended, so the worker keeps no queue of runs.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any, ClassVar

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """Base of every command."""

    type: ClassVar[str] = ""

    def to_json(self) -> Json:
        """Give `{command, …}`."""
        return {"command": self.type, **dataclasses.asdict(self)}


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadModel(Command):
    """Load weights for (series, model): the newest fitting candidate, a fresh model, or exactly the one named."""

    type = "load"
    mode: ClassVar[str] = "load"
    run_id: int
    series_id: int
    config: Json
    candidates: list[str] = field(default_factory=list)
    named: str | None = None  # this checkpoint or a refusal, field by field
    fresh: bool = False  # take none, build a new one


@dataclass(frozen=True, slots=True, kw_only=True)
class StartBatch(Command):
    """Train on a dataset directory. With `resume`, go on from the run's own last checkpoint."""

    type = "batch"
    mode: ClassVar[str] = "batch"
    run_id: int
    series_id: int
    config: Json
    dataset_dir: str
    checkpoint_dir: str  # of this run
    candidates: list[str] = field(default_factory=list)
    resume: bool = False
    recorded_step: int = 0  # steps and epochs whose events are stored: a resumed run does not say them again
    recorded_epoch: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class StartAudit(Command):
    """Question what a batch run with this config learns from a dataset; nothing stays of what it trains.

    `skill`: the same run on the real targets and on shuffled ones. `leaks`: what knows what it cannot have known.
    """

    type = "audit"
    run_id: int
    series_id: int
    kind: str  # skill or leaks
    config: Json
    dataset_dir: str
    candidates: list[str] = field(default_factory=list)  # whose answers the leak check looks at

    @property
    def mode(self) -> str:
        """Give the mode of the run, which names its config."""
        return self.kind


@dataclass(frozen=True, slots=True, kw_only=True)
class StartLive(Command):
    """Predict, score and learn candle by candle.

    `history_dir` is a dataset directory up to the first candle of the feed. With `resume` it ends before the next
    candle that the run has not scored, and `first_time` is that candle: what came after its last checkpoint, or where
    none can be used after `began`, is done again from the history without new events, up to `recorded`, which is
    {predicted, scored, learnt, late}: the candle_time of the last stored event of each, and {scored, learnt} of the
    candles that came too late, with `to_come`, those that stand in the history and that the feed brings as late ones;
    `after_no_trade` lists those that were scored as such.
    """

    type = "live"
    mode: ClassVar[str] = "live"
    run_id: int
    series_id: int
    config: Json
    history_dir: str
    checkpoint_dir: str
    candidates: list[str] = field(default_factory=list)
    first_time: int | None = None  # open time of the first candle of the feed, so that it is predicted before it comes
    began: int | None = None  # open time of the run's first candle; None: `first_time`
    coalesce: bool = True  # under backlog, learn several candles in one step; False for speed max: strictly one by one
    resume: bool = False
    recorded: Json = field(default_factory=dict)
    annotations: list[Json] | None = None  # all of the series as they stand now; None: those of the history
    rejected: list[Json] = field(default_factory=list)  # suggestions that someone rejected: {label, start, end}
    kept_bytes: int = 512 << 20  # most that the run's kept snapshots may take on the disk


@dataclass(frozen=True, slots=True, kw_only=True)
class CandleClosed(Command):
    """The next candle of a live run, closed and stored."""

    type = "candle"
    run_id: int
    time: int
    open: float
    high: float
    low: float
    close: float
    volume: float | None
    next_time: int | None = None  # open time of the candle after it, where the feed's calendar knows it
    after_no_trade: bool = False  # what is missing before it is no gap: nobody traded


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedEnded(Command):
    """The feed of a live run has no more candles, or broke with a cause."""

    type = "feed_ended"
    run_id: int
    cause: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MarksChanged(Command):
    """All annotations of a live run's series as they stand now, in place of those it had; lines as in a dataset.

    A mark is learnt from the next step on, and never before the candle at whose close it was known has closed.
    `rejected` are the suggestions that someone rejected, `{label, start, end}`: what is not there.
    """

    type = "marks"
    run_id: int
    annotations: list[Json]
    rejected: list[Json] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetSince(Command):
    """Go back to a kept snapshot of a live run, and learn no candle from `since` on that has closed so far again."""

    type = "forget"
    run_id: int
    since: int  # open time, ms UTC
    snapshot: int  # number of the kept snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class Ping(Command):
    """Ask the trainer loop for a sign of life; answered with `Pong` between two steps."""

    type = "ping"


@dataclass(frozen=True, slots=True, kw_only=True)
class StopRun(Command):
    """End a run after its present step; its result stays."""

    type = "stop"
    run_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseRun(Command):
    """Hold a run after its present step."""

    type = "pause"
    run_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeRun(Command):
    """Let a paused run go on."""

    type = "resume"
    run_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Predict(Command):
    """Ask the newest published snapshot of (series, model) about one window; answered by the inference thread.

    Answer body: {snapshot, step, age_s, data_cut, model, as_of, candle_probabilities, trend_up, label_probabilities}.
    """

    type = "predict"
    request_id: int
    series_id: int
    model: str | None
    history_dir: str | None  # a dataset directory, for a series that no live run feeds
    as_of: int | None  # open time of the window's last candle; None: the newest


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadLabels(Command):
    """Ask the label head of the newest published snapshot for spans; answered by the inference thread.

    Of the candles that open in [start, end), both None: all, those from number `at` on are read, `count` at most, and
    none at or after `cursor` is looked at. Answer body: {run_id, model, step, data_cut, done, total, suggestions}.
    """

    type = "read_labels"
    request_id: int
    series_id: int
    model: str | None
    candles: str  # absolute path of a candle file
    timeframe_ms: int
    start: int | None
    end: int | None
    cursor: int | None
    at: int
    count: int
    hindsight: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Discard(Command):
    """Forget the loaded weights of a series, so that the next run starts fresh."""

    type = "discard"
    request_id: int
    series_id: int
    model: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shutdown(Command):
    """Save what is under way as interrupted and leave."""

    type = "shutdown"


COMMANDS: dict[str, type[Command]] = {
    cls.type: cls
    for cls in (
        LoadModel,
        StartBatch,
        StartAudit,
        StartLive,
        CandleClosed,
        FeedEnded,
        MarksChanged,
        ForgetSince,
        Ping,
        StopRun,
        PauseRun,
        ResumeRun,
        Predict,
        ReadLabels,
        Discard,
        Shutdown,
    )
}


def from_json(line: Json) -> Command:
    """Rebuild what `to_json` gave; raise KeyError for a command that does not exist."""
    body = dict(line)
    return COMMANDS[body.pop("command")](**body)
