"""Batch training as a generator: it yields after every step, so that the trainer loop may do live work between.

What it yields is an event, a message, or None for a slice of work of which there is nothing to say.
"""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import torch

from nn.checkpoint import Weights
from nn.device import keep_memory_tight
from nn.events import Event, Message
from nn.job import Job, Start, choose_start
from nn.judging import NOT_BETTER, Rivals, fit_rivals, judge, report
from nn.learner import Learner, Schedule
from nn.loaded import snapshot_of
from nn.metrics import Classes
from nn.progress import Progress
from nn.room import check_room
from nn.run_checkpoints import BEST, RunCheckpoints, last_of
from nn.targets import MASKED
from nn.telling import Telling
from nn.training_data import epoch_length, epoch_starts, prepare
from nn.watch import Watch
from nn.windows import Batch, Windows

Json = dict[str, Any]
Said = Event | Message | None
Work = TypeVar("Work")
ENDS: tuple[Literal["stopped", "interrupted"] | None, ...] = (None, "interrupted", "stopped")


@dataclass(slots=True)
class Control:
    """How the trainer loop asks a run to end; read after every step. `interrupted` keeps it fit to be resumed."""

    end: Literal["stopped", "interrupted"] | None = None


def fit(job: Job, control: Control) -> Generator[Said, None, Weights | None]:
    """Train and judge; return the weights that later runs may start from, None where there are none.

    Raises NothingToTrain for a dataset without a window, NoRoom where a step cannot fit into memory, CheckpointError
    when there is nothing whole to resume from.
    The same seed, data, config, weights and thread count give the same run, resumed or not, bit for bit on a CPU.
    """
    return (yield from _Run(job, control).steps())


class _Run:
    """The loop of one run, in the order step · report · save · stop? · judge."""

    def __init__(self, job: Job, control: Control) -> None:
        self.job, self.control, self.config = job, control, job.config
        if job.ranks.rank == 0:  # it reckons for all
            check_room(job.config, job.device, job.ranks)
        resumed = last_of(job)
        self.start = Start(resumed.weights, job.origin, job.reason) if resumed else choose_start(job)
        weights = self.start.weights
        self.threads = resumed.weights.meta.threads if resumed else job.threads
        torch.set_num_threads(self.threads)
        if self.config.use_gradient_checkpointing and job.device.device.type == "cpu":
            keep_memory_tight()
        self.data = prepare(self.config, job.dataset, weights.meta.edges if weights else None, job.permutation)
        self.windows = Windows(
            self.data.rows, self.data.targets, self.config.sequence_length, job.device.device, self.data.refused
        )
        batches = [self._count(epoch) for epoch in range(1, self.config.epochs + 1)]
        self.learner = Learner(
            self.config,
            Schedule(self.config.learning_rate, sum(batches)),
            labels=self.data.labels,
            edges=self.data.edges,
            params=weights.params if weights else None,
            device=job.device.device,
            parts=self.config.accumulate,
            average=self.config.ema_decay,
            ranks=job.ranks,
        )
        self.progress, self.watch = Progress(), Watch()
        self.telling = Telling(job, self.data, batches)
        self.checkpoints = RunCheckpoints(job, self.telling, self.threads)
        self.rivals: Rivals | None = None
        self.resumed = resumed is not None
        if resumed is not None:
            self.progress, self.watch = self.checkpoints.go_back(resumed, self.learner)

    def steps(self) -> Generator[Said, None, Weights | None]:
        """Train to the end, or until `control` says so."""
        yield from self._open()
        yield from self.job.gather()
        while self.progress.epoch <= self.config.epochs and not self._patience_is_over():
            self.telling.epoch_begins()
            for starts in self._batches():
                if end := self._asked_to_end():
                    return (yield from self._end_early(end))
                yield from self._step(starts)
                if self.checkpoints.due:
                    yield from self._save_last()
            judging = yield from self._judge()
            if end := self._asked_to_end():  # it may have broken the judging off; a resumed run judges again
                return (yield from self._end_early(end))
            yield from self._end_epoch(judging)
        yield from self._judge_test()
        return (yield from self._end("finished"))

    def _open(self) -> Iterator[Said]:
        if self.resumed:
            yield self.telling.resumed(self.learner.steps)
            return
        yield self.telling.started(self.start, self.learner.parameter_count, self.threads)
        yield from self._save_last()
        if self.data.split.validation is None:
            yield from self._warn_once("no_validation", "there is no validation set: no epoch can be called the best")

    def _batches(self) -> Iterator[Classes]:
        order = epoch_starts(self.data, self.config, self.progress.epoch)
        size = self.config.batch_size
        for at in range(self.progress.batch * size, len(order), size):
            yield order[at : at + size]

    def _count(self, epoch: int) -> int:
        return -(-epoch_length(self.data, self.config, epoch) // self.config.batch_size)

    def _step(self, starts: Classes) -> Iterator[Said]:
        before = time.perf_counter()
        result = self.learner.step(self._batch(starts), learnt_to=self.data.train_cut)
        seconds = time.perf_counter() - before
        self.progress.add(result, seconds)
        self.telling.took(len(starts), seconds)
        warnings = self.watch.after_step(result)
        told = self.learner.steps + bool(result.skipped) <= (self.job.recorded_step or 0)
        yield None if told or result.skipped else self.telling.batch_done(self.progress, result, self.learner)
        yield from self.telling.warned([] if told else warnings)

    def _batch(self, starts: Classes) -> Batch:
        """Gather this process's windows of a batch; where there are none left for it, one that counts for nothing."""
        mine = self.job.ranks.share(starts)
        if len(mine):
            return self.windows.batch(mine)
        idle = self.windows.batch(starts[:1])
        nothing = [
            {head: torch.full_like(of, MASKED) for head, of in given.items()} for given in (idle.targets, idle.refused)
        ]
        return Batch(idle.x, *nothing)

    def _end_epoch(self, validation: Json | None) -> Iterator[Said]:
        best = validation is not None and self._is_best(validation["loss"])
        self.progress.waited = 0 if best or validation is None else self.progress.waited + 1
        if best:
            self.progress.best_report, self.progress.best_epoch = validation, self.progress.epoch
            yield from self.checkpoints.save_best(self.learner, self.progress)
        if self.progress.epoch > self.job.recorded_epoch:
            yield self.telling.epoch_done(self.progress, validation, best=best)
        self.progress.next_epoch()
        yield from self._save_last()

    # -- judging -------------------------------------------------------------------------------------------------

    def _fitted_rivals(self) -> Generator[Said, None, Rivals]:
        """Fit the baselines when they are first asked for: the first batches of a run do not wait for them."""
        if self.rivals is None:
            self.rivals = yield from fit_rivals(self.data, self.config.seed)
            self.telling.on_train = yield from self.rivals.on_train(self.data)
        return self.rivals

    def _judge(self) -> Generator[Said, None, Json | None]:
        rivals = yield from self._fitted_rivals()
        part = self.data.split.validation
        if part is None:
            return None
        before = time.perf_counter()
        judging = judge(self.learner.publish(), self.windows, self.data, part, self.config.stride)
        judged = yield from self._unless_ended(judging)
        if judged is None:
            return None
        validation = report(judged, self.data, rivals, self.config.heads)
        self.telling.judging_s = time.perf_counter() - before
        if validation is None:
            yield from self._warn_once("no_validation", "no candle of the validation set has a target that counts")
        elif not math.isfinite(validation["loss"]):
            yield from self._warn_once(
                "non_finite", "the answers on validation are not finite: the epoch is not judged"
            )
            return None
        return validation

    def _judge_test(self) -> Generator[Said, None, None]:
        """Judge the chosen weights on candles that chose nothing; a stop breaks it off and leaves it unsaid."""
        part, best = self.data.split.test, self.checkpoints.best
        if part is None or best is None:
            return
        rivals = yield from self._fitted_rivals()
        before = time.perf_counter()
        judging = judge(snapshot_of(best), self.windows, self.data, part, self.config.stride)
        judged = yield from self._unless_ended(judging)
        if judged is None:
            return
        test = report(judged, self.data, rivals, self.config.heads)
        yield self.telling.judged_on_test(self.progress, test, time.perf_counter() - before)

    def _unless_ended(self, work: Generator[None, None, Work]) -> Generator[Said, None, Work | None]:
        """Do work in slices; give its result, None where the run was asked to end meanwhile."""
        while self.job.ranks.size > 1 or not self.control.end:  # several processes end together, after the work
            try:
                next(work)
            except StopIteration as end:
                result: Work = end.value
                return result
            yield None
        return None

    def _is_best(self, loss: float) -> bool:
        before = self.progress.best_report
        return before is None or loss < before["loss"]

    # -- the end -------------------------------------------------------------------------------------------------

    def _asked_to_end(self) -> Literal["stopped", "interrupted"] | None:
        """Give how the run is to end, where any of its processes was asked to: all end after the same step."""
        return ENDS[self.job.ranks.highest(ENDS.index(self.control.end))]

    def _patience_is_over(self) -> bool:
        return self.config.patience is not None and self.progress.waited >= self.config.patience

    def _end_early(self, state: Literal["stopped", "interrupted"]) -> Generator[Said, None, Weights | None]:
        yield from self._save_last()
        if state == "stopped":
            return (yield from self._end(state))
        yield self.telling.ended(state, {"step": self.learner.steps})
        return None

    def _end(self, state: str) -> Generator[Said, None, Weights | None]:
        if self.checkpoints.best is None and self.learner.steps:  # no epoch was judged: the last weights are the result
            yield from self.checkpoints.save_best(self.learner, self.progress)
        best = self.checkpoints.best
        # What the weights themselves say: a run that was killed just after it kept them may stand before that epoch.
        epoch, found = (best.meta.metrics[name] for name in ("epoch", "validation")) if best else (None, None)
        if found is not None and found["verdict"] == NOT_BETTER:
            yield from self._warn_once("not_better", f"the best epoch, {epoch}, is {NOT_BETTER}")
        result = None if self.config.shuffle_targets else best
        if result is not None:
            yield self.telling.saved(BEST, result, result=True)
        summary_of = {
            "step": self.learner.steps,
            "skipped_steps": self.learner.skipped,
            "best_epoch": epoch,
            "validation": found,
            "verdict": found["verdict"] if found else None,
            "data_cut": result.meta.data_cut if result else None,
        }
        yield self.telling.ended(state, summary_of)
        return result

    def _save_last(self) -> Iterator[Said]:
        yield from self.checkpoints.save_last(self.learner, self.progress, self.watch)

    def _warn_once(self, code: str, message: str) -> Iterator[Said]:
        yield from self.telling.warned(self.watch.once(code, message))
