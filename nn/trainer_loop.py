"""The trainer loop: the one thread that touches modules, optimizers and the GPU. Commands, then live, then batch.

Every load, batch and live command is answered by exactly one `run_ended`, also where it fails.
"""

from __future__ import annotations

import dataclasses
import threading
import time
from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

import torch

from nn import commands
from nn.audit import audit_leaks
from nn.causes import cause_of
from nn.checkpoint import CheckpointError, Weights
from nn.config import BatchConfig, LiveConfig, ModelConfig, SkillConfig
from nn.crew import fit_together
from nn.dataset_dir import read
from nn.device import Device, choose, memory_line
from nn.events import Answer, ModelLoaded, Pong, RunEnded, RunState, Warned
from nn.fit import Control, Said
from nn.inference import InferenceThread
from nn.job import Job
from nn.live_run import LiveRun, Say
from nn.live_session import Session, Setting, find_kept
from nn.loaded import Choice, Loaded, LoadedModels, Refused, as_loaded, named_checkpoint, snapshot_of
from nn.oracle import Oracle
from nn.room import check_room
from nn.skill import is_it_skill
from nn.turns import Kind, Turns

LEFT = "the worker was told to leave while the run was under way"
RunCommand = commands.LoadModel | commands.StartBatch | commands.StartAudit | commands.StartLive


@dataclass(slots=True)
class BatchRun:
    """The batch run, or the audit, under way."""

    command: commands.StartBatch | commands.StartAudit
    config: BatchConfig
    steps: Generator[Said, None, Weights | None]
    control: Control
    paused: bool = False
    threads: int = 0  # of its steps; 0 until the first is made
    ended: RunEnded | None = None  # its last event, held back until its result is in place


class TrainerLoop:
    """Owns every run of the worker. `take` belongs to the pipe's thread; `run` is the main thread's life."""

    def __init__(self, say: Say, threads: int, wanted_device: str = "auto") -> None:
        self._say, self._threads, self._wanted_device = say, threads, wanted_device
        self._bell = threading.Condition()
        self._inbox: deque[commands.Command] = deque()
        self._leaving = False
        self._early: dict[int, list[commands.CandleClosed | commands.FeedEnded]] = {}  # of live runs not yet built
        self._live: dict[int, LiveRun] = {}
        self._batch: BatchRun | None = None
        self._turns = Turns()
        self._loaded = LoadedModels()
        self._inference = InferenceThread()
        self._oracle = Oracle(self._loaded, self._live_of)

    def take(self, command: commands.Command) -> None:
        """Take a command, from the pipe's thread; candles and questions go straight to where they are answered."""
        if isinstance(command, commands.Predict | commands.ReadLabels):
            self._inference.submit(lambda: self._say(self._oracle.answer(command)), partial(self._no_answer, command))
        elif isinstance(command, commands.CandleClosed | commands.FeedEnded):
            self._take_candle(command)
        else:
            with self._bell:
                if isinstance(command, commands.StartLive):
                    self._early[command.run_id] = []
                self._inbox.append(command)
                self._bell.notify()

    def _no_answer(self, question: commands.Predict | commands.ReadLabels, error: Exception) -> None:
        self._say(Answer(request_id=question.request_id, body=None, error=cause_of(error)))

    def leave(self) -> None:
        """End the loop: save what is under way as interrupted; from any thread."""
        self.take(commands.Shutdown())

    def wake(self) -> None:
        """Say that a live run has work, from any thread."""
        with self._bell:
            self._bell.notify()

    def run(self) -> None:
        """Serve until told to leave."""
        while not self._leaving:
            for command in self._next_commands():
                self._obey(command)
            self._step()
        for run in list(self._live.values()):
            self._end_live(run, "interrupted", LEFT)
        if self._batch is not None:
            self._end_batch(self._batch, "interrupted")
        while self._batch is not None:
            self._step_batch(self._batch)
        self._inference.close()

    def _device_of(self, config: ModelConfig) -> Device:
        return choose(self._wanted_device, use_amp=config.use_amp)

    def _take_candle(self, command: commands.CandleClosed | commands.FeedEnded) -> None:
        with self._bell:
            if command.run_id in self._early:
                self._early[command.run_id].append(command)
            elif command.run_id in self._live:
                self._live[command.run_id].submit(command)

    def _next_commands(self) -> list[commands.Command]:
        with self._bell:
            while not self._inbox and self._turn() is None:
                self._bell.wait()
            taken = list(self._inbox)
            self._inbox.clear()
        return taken

    def _turn(self) -> Kind | None:
        batch = self._batch is not None and not self._batch.paused
        return self._turns.next(live_waits=any(run.waits() for run in self._live.values()), batch_waits=batch)

    def _step(self) -> None:
        kind, before = self._turn(), time.perf_counter()
        if kind == "live":
            self._step_live(next(run for run in self._live.values() if run.waits()))
        elif kind == "batch" and self._batch is not None:
            self._step_batch(self._batch)
        if kind is not None:
            self._turns.took(kind, time.perf_counter() - before)

    # -- commands ------------------------------------------------------------------------------------------------

    def _obey(self, command: commands.Command) -> None:
        match command:
            case commands.LoadModel() | commands.StartBatch() | commands.StartAudit() | commands.StartLive():
                self._start(command)
            case commands.StopRun():
                self._stop(command.run_id)
            case commands.PauseRun():
                self._hold(command.run_id, hold=True)
            case commands.ResumeRun():
                self._hold(command.run_id, hold=False)
            case commands.Discard():
                count = self._loaded.discard(command.series_id, command.model)
                self._say(Answer(request_id=command.request_id, body={"discarded": count}))
            case commands.MarksChanged() | commands.ForgetSince():
                self._change_live(command)
            case commands.Ping():
                self._say(Pong())
            case commands.Shutdown():
                self._leaving = True

    def _change_live(self, command: commands.MarksChanged | commands.ForgetSince) -> None:
        """Change what a live run learns from; one that has ended meanwhile has nothing to change."""
        if run := self._live.get(command.run_id):
            self._survive(partial(self._changed, run, command), partial(self._abort_live, run))

    def _changed(self, run: LiveRun, command: commands.MarksChanged | commands.ForgetSince) -> None:
        try:
            run.take_marks(command) if isinstance(command, commands.MarksChanged) else run.forget(command)
        except (Refused, CheckpointError) as error:
            self._say(Warned(run_id=run.run_id, time=now_ms(), code="not_forgotten", message=str(error)))

    def _start(self, command: RunCommand) -> None:
        match command:
            case commands.LoadModel():
                start = partial(self._load, command)
            case commands.StartBatch():
                start = partial(self._start_batch, command)
            case commands.StartAudit():
                start = partial(self._start_audit, command)
            case commands.StartLive():
                start = partial(self._start_live, command)
        self._survive(start, partial(self._not_started, command))

    def _not_started(self, command: RunCommand, error: Exception) -> None:
        with self._bell:
            self._early.pop(command.run_id, None)
            self._live = self._without(command.run_id)
        self._fail(command, error)

    def _survive(self, work: Callable[[], None], failed: Callable[[Exception], None]) -> None:
        try:
            work()
        except Exception as error:  # noqa: BLE001 - the worker must outlive whatever one run meets
            failed(error)

    def _load(self, command: commands.LoadModel) -> None:
        config = ModelConfig.from_json(command.config)
        check_room(dataclasses.replace(config, batch_size=1), self._device_of(config))
        if command.named is not None:
            choice = named_checkpoint(Path(command.named), config)
        elif command.fresh:
            choice = Choice(None, "fresh", "a fresh model was asked for")
        else:
            choice = self._loaded.choose(command.series_id, config, command.candidates)
        live = self._live_of(command.series_id, config.model)
        loaded = as_loaded(choice, config, command.run_id, live.session.learner.labels if live else ())
        if live is not None:
            live.take_weights(loaded.snapshot)
        self._loaded.put(command.series_id, loaded)
        self._say(self._model_loaded(command.run_id, loaded, choice))
        self._say(RunEnded(run_id=command.run_id, time=now_ms(), state="finished"))

    def _model_loaded(self, run_id: int, loaded: Loaded, choice: Choice) -> ModelLoaded:
        snapshot, device = loaded.snapshot, self._device_of(loaded.snapshot.config)
        return ModelLoaded(
            run_id=run_id,
            time=now_ms(),
            model=snapshot.config.model,
            origin=choice.origin,
            reason=choice.reason,
            checkpoint=choice.checkpoint,
            parameters=sum(p.numel() for p in snapshot.params.values()),
            device=str(device.device),
            dtype=device.dtype,
            device_reason=device.reason,
            memory=memory_line(device.device),
            data_cut=snapshot.data_cut,
            snapshot=snapshot.number,
        )

    def _start_batch(self, command: commands.StartBatch) -> None:
        self._refuse_second_batch()
        config, dataset = BatchConfig.from_json(command.config), read(Path(command.dataset_dir))
        labels = tuple(dataset.manifest.get("labels") or ())
        choice = self._loaded.choose(command.series_id, config, command.candidates, labels)
        control = Control()
        job = Job(
            run_id=command.run_id,
            config=config,
            dataset=dataset,
            device=self._device_of(config),
            threads=max(1, self._threads // config.ranks),
            checkpoint_dir=Path(command.checkpoint_dir),
            weights=choice.weights,
            origin=choice.origin,
            reason=choice.reason,
            resume=command.resume,
            recorded_step=command.recorded_step,
            recorded_epoch=command.recorded_epoch,
        )
        self._batch = BatchRun(command, config, fit_together(job, control, Path(command.dataset_dir)), control)

    def _start_audit(self, command: commands.StartAudit) -> None:
        self._refuse_second_batch()
        config = (SkillConfig if command.kind == "skill" else BatchConfig).from_json(command.config)
        job = Job(
            run_id=command.run_id,
            config=config,
            dataset=read(Path(command.dataset_dir)),
            device=self._device_of(config),
            threads=self._threads,
            reason="an audit starts fresh",
        )
        control = Control()
        if command.kind == "skill":
            steps = is_it_skill(job, control)
        else:
            check_room(dataclasses.replace(config, batch_size=1), job.device)
            labels = tuple(job.dataset.manifest.get("labels") or ())
            choice = self._loaded.choose(command.series_id, config, command.candidates, labels)
            steps = audit_leaks(job, control, as_loaded(choice, config, command.run_id, labels).snapshot, choice.reason)
        self._batch = BatchRun(command, config, steps, control)

    def _refuse_second_batch(self) -> None:
        if self._batch is not None:
            raise Refused(f"run {self._batch.command.run_id} is training; start this one when it has ended")

    def _start_live(self, command: commands.StartLive) -> None:
        config, history = LiveConfig.from_json(command.config), read(Path(command.history_dir))
        check_room(config, self._device_of(config))
        kept = find_kept(Path(command.checkpoint_dir), command.recorded) if command.resume else None
        labels = tuple(history.manifest.get("labels") or ())
        # A run that is done again begins as it did, not with what it has learnt since.
        others = [folder for folder in command.candidates if not Path(folder).is_relative_to(command.checkpoint_dir)]
        choice = self._loaded.choose(command.series_id, config, others, labels)
        setting = Setting(
            run_id=command.run_id,
            config=config,
            history=history,
            device=self._device_of(config),
            threads=kept.weights.meta.threads if kept else self._threads,
            clock=now_ms,
            weights=choice.weights,
            kept=kept,
            began=command.began,
            recorded=command.recorded,
            annotations=command.annotations,
            rejected=command.rejected,
        )
        torch.set_num_threads(setting.threads)
        run = LiveRun(command, Session(setting), choice, self._inference, self._say, self.wake)
        self._live = self._live | {command.run_id: run}  # questions find it from now on
        run.open()
        with self._bell:
            for candle in self._early.pop(command.run_id):
                run.submit(candle)

    def _stop(self, run_id: int) -> None:
        if run_id in self._live:
            self._end_live(self._live[run_id], "stopped", None)
        elif self._batch is not None and self._batch.command.run_id == run_id:
            self._end_batch(self._batch, "stopped")

    def _hold(self, run_id: int, *, hold: bool) -> None:
        run = self._live.get(run_id)
        if run is not None:
            run.pause() if hold else run.resume()
        elif self._batch is not None and self._batch.command.run_id == run_id:
            self._batch.paused = hold
        else:
            return
        self._say(RunState(run_id=run_id, state="paused" if hold else "running"))

    # -- steps -----------------------------------------------------------------------------------------------------

    def _step_live(self, run: LiveRun) -> None:
        self._live = self._without(run.run_id) | {run.run_id: run}  # to the end of the line: each gets its turn
        self._survive(run.step, partial(self._abort_live, run))
        if run.ended is not None and run.run_id in self._live:
            self._end_live(run, *run.ended)

    def _end_live(self, run: LiveRun, state: str, cause: str | None) -> None:
        self._survive(partial(self._settle_live, run, state, cause), partial(self._abort_live, run))

    def _settle_live(self, run: LiveRun, state: str, cause: str | None) -> None:
        weights, ended = run.end(state, cause)
        if run.has_result():
            snapshot = run.session.learning.newest
            self._loaded.put(run.series_id, Loaded(weights, snapshot, run.run_id, f"{run.run_id}/last"))
        self._forget_live(run)
        self._say(ended)  # last, so that whoever hears it finds the result loaded

    def _abort_live(self, run: LiveRun, error: Exception) -> None:
        self._forget_live(run)
        run.abort(cause_of(error, ("live", run.command.config)))

    def _forget_live(self, run: LiveRun) -> None:
        with self._bell:
            self._live = self._without(run.run_id)

    def _without(self, run_id: int) -> dict[int, LiveRun]:
        """Give a new table of live runs: the other threads look at the one they have."""
        return {other: run for other, run in self._live.items() if other != run_id}

    def _step_batch(self, run: BatchRun) -> None:
        self._survive(partial(self._advance_batch, run), partial(self._abort_batch, run))

    def _advance_batch(self, run: BatchRun) -> None:
        if run.threads:
            torch.set_num_threads(run.threads)
        try:
            said = next(run.steps)
        except StopIteration as end:
            self._settle_batch(run, end.value)
            return
        run.threads = torch.get_num_threads()  # those of its first run, where it is resumed
        if isinstance(said, RunEnded):
            run.ended = said
        elif said is not None:
            self._say(said)

    def _settle_batch(self, run: BatchRun, weights: Weights | None) -> None:
        run_id = run.command.run_id
        if weights is not None:
            loaded = Loaded(weights, snapshot_of(weights), run_id, f"{run_id}/best")
            self._loaded.put(run.command.series_id, loaded)
        self._batch = None
        if run.ended is not None:
            self._say(run.ended)  # last, so that whoever hears it finds the result loaded

    def _abort_batch(self, run: BatchRun, error: Exception) -> None:
        self._batch = None
        self._fail(run.command, error)

    def _end_batch(self, run: BatchRun, state: Literal["stopped", "interrupted"]) -> None:
        run.control.end, run.paused = state, False

    def _fail(self, command: RunCommand, error: Exception) -> None:
        cause = cause_of(error, (command.mode, command.config))
        self._say(RunEnded(run_id=command.run_id, time=now_ms(), state="failed", cause=cause))

    def _live_of(self, series_id: int, model: str | None) -> LiveRun | None:
        runs = self._live.values()
        return next((r for r in runs if r.series_id == series_id and model in (None, r.session.config.model)), None)


def now_ms() -> int:
    """Give the present time, ms UTC."""
    return time.time_ns() // 1_000_000
