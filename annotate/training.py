"""THE DOOR: the trainer thread that owns the worker process, and what the web side may ask of it.

Only this module knows the worker's commands, events and configs. Requests hand work to the one trainer thread and get
an answer quickly; the worker's pipe and life, the runs under way and their rows are touched by that thread alone.
"""

from __future__ import annotations

import dataclasses
import logging
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from annotate.actor import Actor
from annotate.errors import Conflict, InvalidInput
from annotate.feeds.feed import ClosedCandle
from annotate.feeds.health import FeedState
from annotate.feeds.replay import Clock, SystemClock
from annotate.feeds.thread import FeedThread
from annotate.free_memory import free_memory
from annotate.heartbeat import Heartbeat
from annotate.jobs import AUDITS, Job
from annotate.kept_snapshots import KeptSnapshot, choose, kept_snapshots, to_json
from annotate.live_feed import FeedMaker, Heard, OpenGateway, begin_of, gateways
from annotate.live_marks import WHAT, MarksReader
from annotate.run_commands import LiveStart, RunCommands
from annotate.run_config import checked_config
from annotate.run_data import Labelling, RunData
from annotate.run_desk import RunDesk
from annotate.run_ledger import RunLedger, now_ms
from annotate.store.checkpoints import get_checkpoint
from annotate.supervisor import PATIENT_S, Supervisor
from annotate.weights import Weights
from nn import commands, events
from nn.config import Mode, ModelConfig, config_class
from nn.memory import estimate

if TYPE_CHECKING:
    from annotate.candle_store import CandleStore
    from annotate.db import Database
    from annotate.feeds.intake import Intake
    from annotate.publisher import Publisher
    from annotate.settings import Settings

log = logging.getLogger(__name__)

Json = dict[str, Any]
RunMode = Literal["batch", "live", "skill", "leaks"]

SHUTDOWN_S = 5.0
BEAT_S = 5.0  # between two signs of life of the worker
FORCE_AFTER_S = 10.0  # a second stop ends a worker that did not react to the first for so long

Result = TypeVar("Result")


class Trainer:
    """The one trainer. Its methods may be called from any thread, and answer at once."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        candles: CandleStore,
        publisher: Publisher,
        intake: Intake,
        *,
        worker: Sequence[str] = (),
        clock: Clock | None = None,
        open_gateway: OpenGateway | None = None,
    ) -> None:
        self._database = database
        self._clock = clock or SystemClock()
        self._actor = Actor("trainer")
        self._ledger = RunLedger(database, publisher)
        self._data = RunData(settings.data_dir, database, candles)
        self._feeds = FeedMaker(self._data, intake, self._clock, open_gateway or gateways(settings.exchange_at))
        self._weights = Weights(database, settings.data_dir / "checkpoints", ModelConfig.SHAPE)
        self._commands = RunCommands(self._weights, self._ledger, self._data)
        self._desk = RunDesk(database, self._ledger, self._weights)
        self._jobs = self._desk.jobs
        self._closing = False
        self._card: events.WorkerReady | None = None  # what the newest worker runs on
        self._worker_is_gone = threading.Event()
        self._kept_bytes = settings.keep_snapshots_mb << 20
        self._supervisor = Supervisor(
            *(worker or worker_command(settings), self._actor, self._said, self._worker_ended),
            answer_s=settings.worker_answer_s,
        )
        self._heartbeat = Heartbeat("heartbeat", BEAT_S, lambda: self._actor.tell(self._beat))
        self._marks = MarksReader(
            self._data.labelling, lambda series, marks: self._actor.tell(lambda: self._send_marks(series, marks))
        )
        publisher.watch_series(self._series_changed)

    def settle(self) -> None:
        """Give every run that a death of this process cut off its end, `interrupted`; called once, before `start`."""
        self._weights.remove_orphans()
        for run in self._ledger.unfinished():
            self._end(run, "interrupted", "the server ended while this run was under way")

    def start(self) -> None:
        """Start the trainer thread, which starts the worker; a second call changes nothing."""
        if self._actor.start():
            # From that thread: Linux ends the worker when the thread that started it is gone.
            self._actor.tell(self._supervisor.start)
            self._heartbeat.start()

    def stop(self) -> None:
        """Let the worker save and leave, end what is under way as interrupted, and end the threads."""
        if self._closing:
            return
        self._actor.start()
        self._heartbeat.stop()
        self._actor.ask(self._shut_down)
        if not self._worker_is_gone.wait(SHUTDOWN_S):
            self._actor.ask(self._supervisor.kill)
            self._worker_is_gone.wait(SHUTDOWN_S)
        self._marks.stop()
        self._actor.stop()

    def state(self) -> str:
        """Say idle, loading, training, live or failed."""
        return "failed" if self._supervisor.has_failed else self._jobs.state()

    def load(
        self, series_id: int, model: str | None, checkpoint: Literal["latest", "new"] | int, config: Mapping[str, Any]
    ) -> Json:
        """Load weights: `latest`, `new`, or the checkpoint of that number; give the run that does it."""
        self._data.check_series(series_id)
        named = None
        if isinstance(checkpoint, int):
            with self._database.read() as session:
                row = get_checkpoint(session, checkpoint)
            named, model = str(self._weights.directory(row.run_id, row.name)), model or row.model
        checked = self._config("load", series_id, {**config, **({"model": model} if model else {})})
        start = {"named": named, "fresh": checkpoint == "new"}
        return self._ask(lambda: self._open("load", series_id, None, checked, start))

    def submit(
        self, mode: RunMode, config: Mapping[str, Any], *, series_id: int | None = None, dataset_id: int | None = None
    ) -> Json:
        """Ask for a batch or a live run on a series or a dataset, or for an audit of a batch run; give the run.

        Raises InvalidInput for a config that cannot be taken, Conflict where the series has a live run already.
        """
        if dataset_id is not None:
            series_id = self._data.series_of(dataset_id)
        if series_id is None:
            raise InvalidInput("name the series_id or the dataset_id that the run is about", field="series_id")
        self._data.check_series(series_id)
        checked = self._config(mode, series_id, config)
        if mode == "live":
            begin = self._ask(lambda: self._desk.begin_of_new(series_id, checked))
            if begin is not None:
                self._feeds.check(series_id, checked["feed"], begin)
            return self._ask(lambda: self._open(mode, series_id, None, checked))
        if dataset_id is not None and "split" not in config:
            checked["split"] = self._data.split_of(dataset_id)
        dataset = dataset_id if dataset_id is not None else self._data.make(series_id, config=checked)
        self._check_split(dataset, checked)
        return self._ask(lambda: self._open(mode, series_id, dataset, checked))

    def memory(self, mode: Mode, given: Mapping[str, Any]) -> Json:
        """Say what a run with this config will need of memory, and what to change where it does not fit."""
        config = config_class(mode).from_json(checked_config(mode, given, None))
        on_card = self._card is not None and self._card.device.startswith("cuda")
        free = self._card.free_bytes if on_card and self._card else free_memory()
        return estimate(config, free, amp=on_card and config.use_amp)

    def stop_run(self, run_id: int) -> Json:
        """Stop a run after its present step; give it, `stopping` or, where it had not begun, `stopped`."""
        return self._ask(lambda: self._stop_run(run_id))

    def pause(self, run_id: int) -> Json:
        """Hold a run after its present step."""
        return self._ask(lambda: self._pause(run_id))

    def resume(self, run_id: int) -> Json:
        """Let a paused or interrupted run go on, as the same run."""
        return self._ask(lambda: self._resume(run_id))

    def snapshots(self, run_id: int) -> Json:
        """List the snapshots that a live run keeps, `{items, bytes, most_bytes}`; raise NotFound for the run."""
        self._desk.row(run_id)
        return to_json(kept_snapshots(self._weights.directory(run_id)), self._kept_bytes)

    def forget(self, run_id: int, since: int | None, snapshot: int | None) -> Json:
        """Have a live run forget: every candle from `since` on, or all that a kept snapshot has not learnt.

        Gives `{run, snapshot}`: where it goes back to. Raises Conflict where the run is not live now, InvalidInput
        where no kept snapshot is old enough.
        """
        self._desk.row(run_id)
        kept = kept_snapshots(self._weights.directory(run_id))
        chosen, begin = choose(kept, since, snapshot)
        return self._ask(lambda: self._forget(run_id, begin, chosen))

    def predict(self, series_id: int, model: str | None, as_of: int | None) -> Json:
        """Ask the newest snapshot about the window that ends with the candle `as_of`, the newest by default."""
        fed = self._ask(lambda: self._desk.is_fed(series_id))
        history = None if fed else str(self._data.whole_series(series_id))
        question = partial(commands.Predict, series_id=series_id, model=model, history_dir=history, as_of=as_of)
        return self._supervisor.ask(lambda number: question(request_id=number).to_json())

    def read_labels(self, series_id: int, asked: Mapping[str, Any]) -> Json:
        """Ask the label head of the newest snapshot for spans; `asked` has the other fields of `ReadLabels`."""
        self.start()
        question = partial(commands.ReadLabels, series_id=series_id, model=None, **asked)
        return self._supervisor.ask(lambda number: question(request_id=number).to_json(), PATIENT_S)

    def discard(self, series_id: int, model: str | None) -> int:
        """Delete the checkpoints of a series and have the worker forget its weights; give how many there were."""
        count = self._ask(lambda: self._desk.discard(series_id, model))
        question = partial(commands.Discard, series_id=series_id, model=model)
        self._supervisor.ask(lambda number: question(request_id=number).to_json())
        return count

    def _check_split(self, dataset_id: int, config: Json) -> None:
        """Raise InvalidInput where a run would be judged by another split than the dataset's leak gate was."""
        split = self._data.split_of(dataset_id)
        if config["split"] != split:
            raise InvalidInput(
                f"split = {config['split']}: dataset {dataset_id} is split {split}; leave split out, or make a dataset "
                "with that split",
                field="split",
            )

    def _config(self, mode: Mode, series_id: int, given: Mapping[str, Any]) -> Json:
        default = self._ask(lambda: self._weights.default_model(series_id))
        return checked_config(mode, given, default)

    def _ask(self, work: Callable[[], Result]) -> Result:
        self.start()
        return self._actor.ask(work)

    # From here on: the trainer thread.

    def _open(self, mode: str, series_id: int, dataset_id: int | None, config: Json, start: Json | None = None) -> Json:
        return self._advance(self._desk.open(mode, series_id, dataset_id, config, start or {}))

    def _begin_all(self) -> None:
        """Begin every run that may."""
        self._supervisor.start()
        if not self._supervisor.is_running:
            for job in self._jobs:
                self._end_job(job, "failed", self._supervisor.why_not_running)
        while (ready := self._jobs.next_to_begin()) is not None:
            self._begin(ready)

    def _advance(self, job: Job) -> Json:
        """Begin what may begin; give a run as it is afterwards."""
        self._begin_all()
        return self._desk.row(job.id)

    def _begin(self, job: Job) -> None:
        job.begun = True
        if job.mode == "live":
            job.feed = self._feed_of(job)
            job.feed.start()
        elif job.mode == "batch":
            self._send_job(job, self._commands.batch(job))
        elif job.mode in AUDITS:
            self._send_job(job, self._commands.audit(job))
        else:
            self._send_job(job, self._commands.load(job))

    def _send_job(self, job: Job, command: commands.Command) -> None:
        self._send(command)
        job.sent = True
        job.run = self._ledger.change(job.id, state="running", started=job.run["started"] or now_ms())

    def _feed_of(self, job: Job) -> FeedThread:
        """Make the feed's thread; what it needs of the trainer's knowledge is fixed now, the copying is left to it."""
        recorded = self._ledger.recorded_candles(job.id) if job.resume else {}
        begin = begin_of(
            job.config,
            self._weights.data_cut(job.series_id, job.config),
            recorded=recorded,
            first_time=job.run["summary"].get("first_time"),
        )
        heard = Heard(
            prepared=lambda dataset, first: self._prepared(job, dataset, first, recorded),
            candle=lambda candle: self._actor.tell(lambda: self._on_candle(job, candle)),
            state=lambda state: self._actor.tell(lambda: self._on_feed_state(job, state)),
            end=lambda cause: self._actor.tell(lambda: self._on_feed_end(job, cause)),
        )
        return self._feeds.thread(job.series_id, job.config["feed"], begin, heard)

    def _prepared(self, job: Job, dataset_id: int, first_time: int, recorded: Json) -> None:
        """Hand a live run over, from its feed's thread; the marks are read here, since they may be many."""
        marks = self._data.labelling(job.series_id)
        self._actor.ask(lambda: self._send_live(job, dataset_id, first_time, recorded, marks))

    def _send_live(self, job: Job, dataset_id: int, first_time: int, recorded: Json, marks: Labelling) -> None:
        if self._jobs.get(job.id) is not job:
            return  # stopped while its data was being copied
        summary = {"first_time": first_time} | job.run["summary"]
        job.run = self._ledger.change(job.id, dataset_id=dataset_id, summary=summary)
        start = LiveStart(dataset_id, first_time, recorded, marks, self._kept_bytes)
        self._send_job(job, self._commands.live(job, start))

    def _on_candle(self, job: Job, candle: ClosedCandle) -> None:
        if self._jobs.get(job.id) is job:
            self._send(commands.CandleClosed(run_id=job.id, **dataclasses.asdict(candle)))

    def _on_feed_state(self, job: Job, state: FeedState) -> None:
        """Let the run's row say how its feed is, and warn where it has gone silent."""
        if self._jobs.get(job.id) is not job:
            return
        log.info("feed of run %d is %s: %s; last candle %s", job.id, state.state, state.message, state.last_candle)
        job.run = self._ledger.change(job.id, summary={**job.run["summary"], "feed": state.to_json()})
        if state.state == "stale" and job.sent:
            self._ledger.record(
                events.Warned(run_id=job.id, time=now_ms(), code="feed", message=state.message).to_json()
            )

    def _on_feed_end(self, job: Job, cause: str | None) -> None:
        if self._jobs.get(job.id) is not job:
            return
        if job.sent:
            self._send(commands.FeedEnded(run_id=job.id, cause=cause))
        else:
            self._end_job(job, "failed", cause)

    def _stop_run(self, run_id: int) -> Json:
        job = self._desk.under_way(run_id, "stop")
        if job.feed is not None:
            job.feed.stop()
        if not job.sent:
            return self._end_job(job, "stopped", None)
        if job.stopping_since is None:
            job.stopping_since = self._clock.now()
            self._send(commands.StopRun(run_id=run_id))
        elif self._clock.now() - job.stopping_since > FORCE_AFTER_S:
            self._supervisor.kill()
        job.run = self._ledger.change(run_id, state="stopping")
        return job.run

    def _pause(self, run_id: int) -> Json:
        job = self._desk.running(run_id)
        if job.feed is not None:
            job.feed.pause()
        job.paused = True
        self._send(commands.PauseRun(run_id=run_id))
        job.run = self._ledger.change(run_id, state="paused")
        return job.run

    def _resume(self, run_id: int) -> Json:
        job = self._jobs.get(run_id)
        if job is None:
            return self._advance(self._desk.reopen(run_id))
        if not job.paused:
            raise Conflict(f"run {run_id} is {job.run['state']} and goes on by itself", state=job.run["state"])
        job.paused = False
        self._send(commands.ResumeRun(run_id=run_id))
        if job.feed is not None:
            job.feed.resume()
        job.run = self._ledger.change(run_id, state="running")
        return job.run

    def _forget(self, run_id: int, since: int, snapshot: KeptSnapshot) -> Json:
        job = self._desk.live(run_id)
        self._send(commands.ForgetSince(run_id=run_id, since=since, snapshot=snapshot.number))
        return {"run": job.run, "snapshot": dataclasses.asdict(snapshot)}

    def _series_changed(self, series_id: int, notice: Json) -> None:
        """Hear what the browsers hear, from any thread."""
        if notice.get("what") in WHAT and "task" not in notice:  # one with a task tells how far suggesting is
            self._actor.tell(lambda: self._marks_changed(series_id))

    def _marks_changed(self, series_id: int) -> None:
        if self._desk.is_fed(series_id):
            self._marks.changed(series_id)

    def _send_marks(self, series_id: int, marks: Labelling) -> None:
        job = self._jobs.on_series(series_id, "live")
        if job is not None and job.sent:
            self._send(commands.MarksChanged(run_id=job.id, **marks._asdict()))

    def _beat(self) -> None:
        self._supervisor.beat(commands.Ping().to_json())

    def _end_job(self, job: Job, state: str, cause: str | None) -> Json:
        self._jobs.remove(job.id)
        if job.feed is not None:
            job.feed.stop()
        return self._end(job.run, state, cause)

    def _end(self, run: Json, state: str, cause: str | None) -> Json:
        event = events.RunEnded(run_id=run["id"], time=now_ms(), state=state, cause=cause)
        return self._ledger.close_run(event.to_json(), run["summary"])

    def _send(self, command: commands.Command) -> None:
        self._supervisor.send(command.to_json())

    # The worker speaks.

    def _said(self, line: Json) -> None:
        try:
            item = events.from_json(line)
        except (KeyError, TypeError) as error:
            log.warning("worker said what nobody knows: %s: %s", error, str(line)[:500])
            return
        if isinstance(item, events.Event):
            self._on_event(item)
        else:
            self._on_message(item)

    def _on_event(self, event: events.Event) -> None:
        job = self._jobs.get(event.run_id)
        if job is None:
            log.warning("run %s is over and said %s", event.run_id, event.type)
            return
        if isinstance(event, events.RunEnded):
            self._on_run_ended(job, event)
            return
        self._ledger.record(event.to_json())
        if isinstance(event, events.ModelLoaded):
            self._weights.loaded(job.series_id, job.config, event.data_cut)
        elif isinstance(event, events.RunStarted | events.RunResumed) and job.feed is not None:
            job.feed.model_is_ready()

    def _on_run_ended(self, job: Job, event: events.RunEnded) -> None:
        self._jobs.remove(job.id)
        if job.feed is not None:
            job.feed.stop()
        job.run = self._ledger.close_run(event.to_json(), job.run["summary"])
        if job.mode in ("batch", "live"):
            self._weights.result_of(job.run)
        self._begin_all()

    def _on_message(self, message: events.Message) -> None:
        match message:
            case events.WorkerReady():
                self._supervisor.is_ready()
                self._card = message
                log.info("worker %s is ready on %s: %s", message.pid, message.device, message.device_reason)
            case events.RunState():
                self._on_state(message)
            case events.CheckpointSaved():
                body = {
                    name: getattr(message, name) for name in ("run_id", "name", "step", "data_cut", "result", "meta")
                }
                self._ledger.keep_checkpoint(**body)
            case events.CandleDone():
                job = self._jobs.get(message.run_id)
                if job is not None and job.feed is not None:
                    job.feed.candle_done()
            case events.Pong():
                self._supervisor.lives()
            case events.Answer():
                self._supervisor.answered(message.request_id, message.body, message.error)

    def _on_state(self, message: events.RunState) -> None:
        job = self._jobs.get(message.run_id)
        if job is not None and job.stopping_since is None and job.run["state"] != message.state:
            job.run = self._ledger.change(message.run_id, state=message.state)

    def _worker_ended(self, cause: str) -> None:
        """Fail what the worker held, saying why; where it left because the server stops, that is an interruption."""
        self._weights.worker_is_gone()
        if self._closing:
            self._interrupt_all()
            return
        for job in self._jobs:
            if job.sent or self._supervisor.has_failed:
                self._end_cut_off(job, cause)
        if not self._supervisor.has_failed:
            self._actor.tell(self._begin_all)

    def _end_cut_off(self, job: Job, cause: str) -> None:
        if job.stopping_since is not None:
            self._end_job(job, "stopped", f"while it was stopping, {cause}")
        else:
            # A live run goes on from its checkpoint as after a death of the server; a batch run that died is looked at.
            self._end_job(job, "interrupted" if job.mode == "live" and job.sent else "failed", cause)

    def _shut_down(self) -> None:
        self._closing = True
        for job in self._jobs:
            if job.feed is not None:
                job.feed.stop()
        if self._supervisor.is_running:
            self._supervisor.close(commands.Shutdown().to_json())
        else:
            self._interrupt_all()

    def _interrupt_all(self) -> None:
        for job in self._jobs:
            self._end_job(job, "interrupted", "the server was stopped while this run was under way")
        self._worker_is_gone.set()


def worker_command(settings: Settings) -> list[str]:
    """Give the command line of the worker."""
    return [sys.executable, "-m", "nn.worker", "--device", settings.device, "--threads", str(settings.threads)]
