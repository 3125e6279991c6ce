"""The runs under way and the worker that does them: the half of the door that the trainer thread alone may touch."""

from __future__ import annotations

import dataclasses
import logging
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from annotate.errors import Conflict
from annotate.feeds.thread import FeedThread
from annotate.jobs import AUDITS, Job
from annotate.live_feed import Heard, begin_of
from annotate.live_marks import MarksReader
from annotate.run_commands import LiveStart, RunCommands
from annotate.run_ledger import now_ms
from annotate.supervisor import Supervisor
from annotate.worker_process import speaks_of_memory
from nn import commands, events
from nn.memory import advice_on

if TYPE_CHECKING:
    from annotate.actor import Actor
    from annotate.feeds.feed import ClosedCandle
    from annotate.feeds.health import FeedState
    from annotate.feeds.replay import Clock
    from annotate.kept_snapshots import KeptSnapshot
    from annotate.live_feed import FeedMaker
    from annotate.run_data import Labelling, RunData
    from annotate.run_desk import RunDesk
    from annotate.run_ledger import RunLedger
    from annotate.weights import Weights

log = logging.getLogger(__name__)

Json = dict[str, Any]

FORCE_AFTER_S = 10.0  # a second stop ends a worker that did not react to the first for so long


class UnderWay:
    """Jobs and worker. Every method is called on the trainer's thread."""

    def __init__(
        self,
        actor: Actor,
        desk: RunDesk,
        ledger: RunLedger,
        weights: Weights,
        data: RunData,
        feeds: FeedMaker,
        clock: Clock,
        *,
        worker: Sequence[str],
        answer_s: float,
        kept_bytes: int,
    ) -> None:
        self._actor, self._desk, self._ledger, self._weights = actor, desk, ledger, weights
        self._data, self._feeds, self._clock, self._kept_bytes = data, feeds, clock, kept_bytes
        self._commands = RunCommands(weights, ledger, data)
        self._jobs = desk.jobs
        self._closing = False
        self.card: events.WorkerReady | None = None  # what the newest worker runs on
        self.worker_is_gone = threading.Event()
        self.supervisor = Supervisor(worker, actor, self._said, self._worker_ended, answer_s=answer_s)
        self.marks = MarksReader(
            data.labelling, lambda series, marks: actor.tell(lambda: self._send_marks(series, marks))
        )

    def open(self, mode: str, series_id: int, dataset_id: int | None, config: Json, start: Json | None = None) -> Json:
        """Take a run, and give it, begun if it may begin."""
        return self._advance(self._desk.open(mode, series_id, dataset_id, config, start or {}))

    def _begin_all(self) -> None:
        """Begin every run that may."""
        self.supervisor.start()
        if not self.supervisor.is_running:
            for job in self._jobs:
                self._end_job(job, "failed", self.supervisor.why_not_running)
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
            told=self._ledger.told_candles(job.id) if job.resume else (None, ()),
        )
        heard = Heard(
            prepared=lambda dataset, first, late: self._prepared(job, dataset, first, _with_late(recorded, late)),
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
        start = LiveStart(dataset_id, summary["first_time"], first_time, recorded, marks, self._kept_bytes)
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

    def stop_run(self, run_id: int) -> Json:
        """See `Trainer.stop_run`."""
        job = self._desk.under_way(run_id, "stop")
        if job.feed is not None:
            job.feed.stop()
        if not job.sent:
            return self._end_job(job, "stopped", None)
        if job.stopping_since is None:
            job.stopping_since = self._clock.now()
            self._send(commands.StopRun(run_id=run_id))
        elif self._clock.now() - job.stopping_since > FORCE_AFTER_S:
            self.supervisor.kill()
        job.run = self._ledger.change(run_id, state="stopping")
        return job.run

    def pause(self, run_id: int) -> Json:
        """See `Trainer.pause`."""
        job = self._desk.running(run_id)
        if job.feed is not None:
            job.feed.pause()
        job.paused = True
        self._send(commands.PauseRun(run_id=run_id))
        job.run = self._ledger.change(run_id, state="paused")
        return job.run

    def resume(self, run_id: int) -> Json:
        """See `Trainer.resume`."""
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

    def forget(self, run_id: int, since: int, snapshot: KeptSnapshot) -> Json:
        """See `Trainer.forget`; `since` and the snapshot are chosen."""
        job = self._desk.live(run_id)
        self._send(commands.ForgetSince(run_id=run_id, since=since, snapshot=snapshot.number))
        return {"run": job.run, "snapshot": dataclasses.asdict(snapshot)}

    def marks_changed(self, series_id: int) -> None:
        """Have the marks of a series read anew where a live run is on it."""
        if self._desk.is_fed(series_id):
            self.marks.changed(series_id)

    def _send_marks(self, series_id: int, marks: Labelling) -> None:
        job = self._jobs.on_series(series_id, "live")
        if job is not None and job.sent:
            self._send(commands.MarksChanged(run_id=job.id, **marks._asdict()))

    def beat(self) -> None:
        """Ask the worker for a sign of life."""
        self.supervisor.beat(commands.Ping().to_json())

    def _end_job(self, job: Job, state: str, cause: str | None) -> Json:
        self._jobs.remove(job.id)
        if job.feed is not None:
            job.feed.stop()
        return self.end(job.run, state, cause)

    def end(self, run: Json, state: str, cause: str | None) -> Json:
        """End a run that is on record, whether or not it is under way here; give it."""
        event = events.RunEnded(run_id=run["id"], time=now_ms(), state=state, cause=cause)
        return self._ledger.close_run(event.to_json(), run["summary"])

    def _send(self, command: commands.Command) -> None:
        self.supervisor.send(command.to_json())

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
                self.supervisor.is_ready()
                self.card = message
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
                self.supervisor.lives()
            case events.Answer():
                self.supervisor.answered(message.request_id, message.body, message.error)

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
            if job.sent or self.supervisor.has_failed:
                self._end_cut_off(job, cause)
        if not self.supervisor.has_failed:
            self._actor.tell(self._begin_all)

    def _end_cut_off(self, job: Job, cause: str) -> None:
        if speaks_of_memory(cause):
            cause = "\n".join([cause, *advice_on(job.mode, job.config)])
        if job.stopping_since is not None:
            self._end_job(job, "stopped", f"while it was stopping, {cause}")
        else:
            # A live run goes on from its checkpoint as after a death of the server; a batch run that died is looked at.
            self._end_job(job, "interrupted" if job.mode == "live" and job.sent else "failed", cause)

    def shut_down(self) -> None:
        """Have the worker save and leave and end all as interrupted; `worker_is_gone` is set at the end."""
        self._closing = True
        for job in self._jobs:
            if job.feed is not None:
                job.feed.stop()
        if self.supervisor.is_running:
            self.supervisor.close(commands.Shutdown().to_json())
        else:
            self._interrupt_all()

    def _interrupt_all(self) -> None:
        for job in self._jobs:
            self._end_job(job, "interrupted", "the server was stopped while this run was under way")
        self.worker_is_gone.set()


def _with_late(recorded: Json, times: list[int]) -> Json:
    """Give what is on record of a run with the candles that its feed brings late, where there are any."""
    return {**recorded, "late": {**recorded["late"], "to_come": times}} if times else recorded
