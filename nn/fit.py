"""Batch training as a generator: it yields after every step, so that the trainer loop may do live work between.

What it yields is an event, a message, or None for a slice of work of which there is nothing to say.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections import deque
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import numpy as np
import torch

from nn.checkpoint import BEFORE, LAST, Kept, Weights, exists, go_back, keep_before, load, save, standing, weights_of
from nn.device import keep_memory_tight
from nn.events import (
    BatchDone,
    CheckpointSaved,
    EpochDone,
    Event,
    JudgedOnTest,
    Message,
    RunEnded,
    RunResumed,
    RunStarted,
    Warned,
)
from nn.job import Job, Start, choose_start
from nn.judging import NOT_BETTER, Rivals, fit_rivals, judge, report, without_details
from nn.learner import Learner, Schedule, StepResult
from nn.loaded import snapshot_of
from nn.logline import batch_line, epoch_line
from nn.metrics import Classes, summary
from nn.progress import Progress
from nn.targets import MASKED
from nn.training_data import CONTROL_VISITS, epoch_starts, prepare
from nn.watch import Watch
from nn.windows import Batch, Windows

Json = dict[str, Any]
Said = Event | Message | None
Work = TypeVar("Work")
BEST = "best"
ENDS: tuple[Literal["stopped", "interrupted"] | None, ...] = (None, "interrupted", "stopped")
CONTROL_NOTE = (
    f"control: targets are shuffled, so all there is to learn is by heart; an epoch visits {CONTROL_VISITS} times "
    "as many windows, and no later run starts from the result"
)
SAVE_EVERY_S = 30.0
PACE_STEPS = 20  # steps over which windows/s and ETA are averaged


@dataclass(slots=True)
class Control:
    """How the trainer loop asks a run to end; read after every step. `interrupted` keeps it fit to be resumed."""

    end: Literal["stopped", "interrupted"] | None = None


def fit(job: Job, control: Control) -> Generator[Said, None, Weights | None]:
    """Train and judge; return the weights that later runs may start from, None where there are none.

    Raises NothingToTrain for a dataset without a window, CheckpointError when there is nothing whole to resume from.
    The same seed, data, config, weights and thread count give the same run, resumed or not, bit for bit on a CPU.
    """
    return (yield from _Run(job, control).steps())


class _Run:
    """The loop of one run, in the order step · report · save · stop? · judge."""

    def __init__(self, job: Job, control: Control) -> None:
        self.job, self.control, self.config = job, control, job.config
        resumed = _last_of(job)
        begun = Start(resumed.weights, job.origin, job.reason) if resumed else choose_start(job)
        weights, self.origin, self.reason = begun
        self.threads = resumed.weights.meta.threads if resumed else job.threads
        torch.set_num_threads(self.threads)
        if self.config.use_gradient_checkpointing and job.device.device.type == "cpu":
            keep_memory_tight()
        self.data = prepare(self.config, job.dataset, weights.meta.edges if weights else None, job.permutation)
        self.windows = Windows(
            self.data.rows, self.data.targets, self.config.sequence_length, job.device.device, self.data.refused
        )
        self.batches = [self._count(epoch) for epoch in range(1, self.config.epochs + 1)]
        self.learner = Learner(
            self.config,
            Schedule(self.config.learning_rate, sum(self.batches)),
            labels=self.data.labels,
            edges=self.data.edges,
            params=weights.params if weights else None,
            device=job.device.device,
            parts=self.config.accumulate,
            average=self.config.ema_decay,
            ranks=job.ranks,
        )
        self.progress, self.watch = Progress(), Watch()
        self.best: Weights | None = None
        self.pace: deque[tuple[int, float]] = deque(maxlen=PACE_STEPS)
        self.rivals: Rivals | None = None
        self.on_train: dict[str, dict[str, Json]] = {}  # head → the baselines on the train rows
        self.judging_s = 0.0
        self.saved_s = self.kept_s = time.perf_counter()
        self.resumed = resumed is not None
        if resumed is not None:
            self._go_back(resumed)

    def steps(self) -> Generator[Said, None, Weights | None]:
        """Train to the end, or until `control` says so."""
        yield from self._open()
        yield from self.job.gather()
        while self.progress.epoch <= self.config.epochs and not self._patience_is_over():
            for starts in self._batches():
                if end := self._asked_to_end():
                    return (yield from self._end_early(end))
                yield from self._step(starts)
                if time.perf_counter() - self.saved_s > SAVE_EVERY_S:
                    yield from self._save_last()
            judging = yield from self._judge()
            if end := self._asked_to_end():  # it may have broken the judging off; a resumed run judges again
                return (yield from self._end_early(end))
            yield from self._end_epoch(judging)
        yield from self._judge_test()
        return (yield from self._end("finished"))

    def _open(self) -> Iterator[Said]:
        if self.resumed:
            yield RunResumed(
                run_id=self.job.run_id, time=self.job.now_ms(), step=self.learner.steps, from_checkpoint=LAST
            )
            return
        yield RunStarted(
            run_id=self.job.run_id,
            time=self.job.now_ms(),
            mode="batch",
            config=self.config.to_json(),
            origin=self.origin,
            reason=self.reason,
            parameters=self.learner.parameter_count,
            device=str(self.job.device.device),
            dtype=self.job.device.dtype,
            threads=self.threads,
            data=self.data.facts | {"batches": self.batches[0], "steps": sum(self.batches)},
            notes=self._notes(),
        )
        yield from self._save_last()
        if self.data.split.validation is None:
            yield from self._warn(
                self.watch.once("no_validation", "there is no validation set: no epoch can be called the best")
            )

    def _notes(self) -> list[str]:
        """Say what a person should know of the data before any figure."""
        notes = [f"class edges: {self.data.edges.source}"]
        marks, weight = self.data.facts["marks"], self.data.facts["accepted_weight"]
        if marks:
            told = ", ".join(f"{count} {source}" for source, count in marks.items())
            notes.append(f"labels from marks by source: {told}; one that was accepted counts {weight:g} of a drawn one")
        if refused := self.data.facts["refused"]:
            count = self.data.facts["rejected"]
            notes.append(f"{refused} candles under {count} rejected suggestions teach what they are not")
        if "label" in self.data.targets and not self.data.facts["labelled"]:
            notes.append("no candle of the dataset has a label: the label head learns nothing")
        if self.config.shuffle_targets:
            notes.append(CONTROL_NOTE)
        return notes

    def _batches(self) -> Iterator[Classes]:
        order = epoch_starts(self.data, self.config, self.progress.epoch)
        size = self.config.batch_size
        for at in range(self.progress.batch * size, len(order), size):
            yield order[at : at + size]

    def _count(self, epoch: int) -> int:
        return -(-len(epoch_starts(self.data, self.config, epoch)) // self.config.batch_size)

    def _step(self, starts: Classes) -> Iterator[Said]:
        before = time.perf_counter()
        result = self.learner.step(self._batch(starts), learnt_to=self.data.train_cut)
        seconds = time.perf_counter() - before
        self.progress.add(result, seconds)
        self.pace.append((len(starts), seconds))
        warnings = self.watch.after_step(result)
        told = self.learner.steps + bool(result.skipped) <= (self.job.recorded_step or 0)
        yield None if told or result.skipped else self._batch_done(result)
        yield from self._warn([] if told else warnings)

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

    def _batch_done(self, result: StepResult) -> BatchDone:
        epoch, batch = self.progress.epoch, self.progress.batch
        batches = self.batches[epoch - 1]
        candle, trend = result.accuracy("candle"), result.accuracy("trend")
        windows, seconds = (sum(part) for part in zip(*self.pace, strict=True))
        left = sum(self.batches[epoch - 1 :]) - batch
        return BatchDone(
            run_id=self.job.run_id,
            time=self.job.now_ms(),
            line=batch_line(batch, batches, result.loss, candle, trend),
            epoch=epoch,
            epochs=self.config.epochs,
            batch=batch,
            batches=batches,
            step=self.learner.steps,
            loss=result.loss,
            candle_accuracy=candle,
            trend_accuracy=trend,
            learning_rate=result.learning_rate,
            gradient_norm=result.gradient_norm,
            windows_per_s=windows / seconds,
            eta_s=left * seconds / len(self.pace) + (self.config.epochs - epoch + 1) * self.judging_s,
            skipped_steps=self.learner.skipped,
        )

    def _end_epoch(self, validation: Json | None) -> Iterator[Said]:
        best = validation is not None and self._is_best(validation["loss"])
        self.progress.waited = 0 if best or validation is None else self.progress.waited + 1
        if best:
            self.progress.best_report, self.progress.best_epoch = validation, self.progress.epoch
            yield from self._save_best()
        if self.progress.epoch > self.job.recorded_epoch:
            yield self._epoch_done(validation, best=best)
        self.progress.next_epoch()
        yield from self._save_last()

    def _fitted_rivals(self) -> Generator[Said, None, Rivals]:
        """Fit the baselines when they are first asked for: the first batches of a run do not wait for them."""
        if self.rivals is None:
            self.rivals = yield from fit_rivals(self.data, self.config.seed)
            self.on_train = yield from self.rivals.on_train(self.data)
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
        self.judging_s = time.perf_counter() - before
        if validation is None:
            yield from self._warn(
                self.watch.once("no_validation", "no candle of the validation set has a target that counts")
            )
        elif not math.isfinite(validation["loss"]):
            yield from self._warn(
                self.watch.once("non_finite", "the answers on validation are not finite: the epoch is not judged")
            )
            return None
        return validation

    def _judge_test(self) -> Generator[Said, None, None]:
        """Judge the chosen weights on candles that chose nothing; a stop breaks it off and leaves it unsaid."""
        part = self.data.split.test
        if part is None or self.best is None:
            return
        rivals = yield from self._fitted_rivals()
        before = time.perf_counter()
        snapshot = snapshot_of(self.best)
        judged = yield from self._unless_ended(judge(snapshot, self.windows, self.data, part, self.config.stride))
        if judged is None:
            return
        test = report(judged, self.data, rivals, self.config.heads)
        yield JudgedOnTest(
            run_id=self.job.run_id,
            time=self.job.now_ms(),
            epoch=self.progress.best_epoch,
            test=test,
            verdict=test["verdict"] if test else None,
            seconds=time.perf_counter() - before,
        )

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

    def _asked_to_end(self) -> Literal["stopped", "interrupted"] | None:
        """Give how the run is to end, where any of its processes was asked to: all end after the same step."""
        return ENDS[self.job.ranks.highest(ENDS.index(self.control.end))]

    def _is_best(self, loss: float) -> bool:
        before = self.progress.best_report
        return before is None or loss < before["loss"]

    def _epoch_done(self, validation: Json | None, *, best: bool) -> EpochDone:
        progress, batches = self.progress, self.batches[self.progress.epoch - 1]
        train = self._train_report()
        return EpochDone(
            run_id=self.job.run_id,
            time=self.job.now_ms(),
            line=epoch_line(progress.epoch, self.config.epochs, train["loss"], train["candle_accuracy"], batches),
            epoch=progress.epoch,
            epochs=self.config.epochs,
            batches=batches,
            train=train,
            validation=validation if best else without_details(validation),
            best=best,
            verdict=validation["verdict"] if validation else None,
            seconds=progress.seconds + self.judging_s,
        )

    def _train_report(self) -> Json:
        """Give the epoch's means over its train batches, with the baselines on the train rows."""
        progress = self.progress
        heads = {head: summary(np.array(matrix)) for head, matrix in progress.confusion.items()}
        heads = {head: of for head, of in heads.items() if of["n"]}
        return {
            "loss": progress.loss_sum / progress.losses if progress.losses else None,
            "candle_accuracy": heads.get("candle", {}).get("accuracy"),
            "trend_accuracy": heads.get("trend", {}).get("accuracy"),
            "n": max((of["n"] for of in heads.values()), default=0),
            "baselines": {head: self.on_train[head] for head in heads},
            "heads": heads,
        }

    def _patience_is_over(self) -> bool:
        return self.config.patience is not None and self.progress.waited >= self.config.patience

    # -- the end -------------------------------------------------------------------------------------------------

    def _end_early(self, state: Literal["stopped", "interrupted"]) -> Generator[Said, None, Weights | None]:
        yield from self._save_last()
        if state == "stopped":
            return (yield from self._end(state))
        yield RunEnded(
            run_id=self.job.run_id, time=self.job.now_ms(), state=state, summary={"step": self.learner.steps}
        )
        return None

    def _end(self, state: str) -> Generator[Said, None, Weights | None]:
        progress, found = self.progress, self.progress.best_report
        if found is not None and found["verdict"] == NOT_BETTER:
            yield from self._warn(
                self.watch.once("not_better", f"the best epoch, {progress.best_epoch}, is {NOT_BETTER}")
            )
        if self.best is None and self.learner.steps:  # no epoch was judged: the last weights are the result
            yield from self._save_best()
        result = None if self.config.shuffle_targets else self.best
        if result is not None:
            yield self._saved(BEST, result, result=True)
        summary_of = {
            "step": self.learner.steps,
            "skipped_steps": self.learner.skipped,
            "best_epoch": progress.best_epoch,
            "validation": found,
            "verdict": found["verdict"] if found else None,
            "data_cut": result.meta.data_cut if result else None,
        }
        yield RunEnded(run_id=self.job.run_id, time=self.job.now_ms(), state=state, summary=summary_of)
        return result

    # -- checkpoints -----------------------------------------------------------------------------------------------

    def _save_best(self) -> Iterator[Said]:
        chosen_on = self.data.validation_cut if self.progress.best_report else None
        self.best = self._weights(chosen_on)
        if self.job.checkpoint_dir is not None and self.job.ranks.rank == 0:
            save(self.job.checkpoint_dir / BEST, self.best)
            yield self._saved(BEST, self.best, result=False)

    def _save_last(self) -> Iterator[Said]:
        self.saved_s = time.perf_counter()
        if self.job.checkpoint_dir is None or self.job.ranks.rank > 0:
            return
        weights = self._weights(None)
        state = {
            "learner": self.learner.state(),
            "progress": dataclasses.asdict(self.progress),
            "watch": self.watch.to_json(),
        }
        if self.saved_s - self.kept_s > SAVE_EVERY_S / 2 or not exists(self.job.checkpoint_dir / BEFORE):
            keep_before(self.job.checkpoint_dir)
            self.kept_s = self.saved_s
        save(self.job.checkpoint_dir / LAST, weights, state)
        yield self._saved(LAST, weights, result=False)

    def _weights(self, chosen_on: int | None) -> Weights:
        manifest = self.job.dataset.manifest
        snapshot = self.learner.publish(chosen_on)
        if chosen_on is not None:
            snapshot = dataclasses.replace(snapshot, temperatures=self._temperatures())
        return weights_of(
            snapshot,
            symbol=str(manifest.get("symbol", "")),
            timeframe=str(manifest.get("timeframe", "")),
            dataset=str(manifest.get("hash", "")),
            threads=self.threads,
            metrics={"epoch": self.progress.best_epoch, "validation": self.progress.best_report},
        )

    def _temperatures(self) -> dict[str, float]:
        """Give the temperature of each head that validation found, so that what the weights tell is calibrated."""
        heads = self.progress.best_report["heads"] if self.progress.best_report else {}
        return {head: of["calibration"]["temperature"] for head, of in heads.items()}

    def _saved(self, name: str, weights: Weights, *, result: bool) -> CheckpointSaved:
        meta = weights.meta
        return CheckpointSaved(
            run_id=self.job.run_id,
            name=name,
            step=meta.step,
            data_cut=meta.data_cut,
            result=result,
            meta=meta.to_json(),
        )

    def _go_back(self, last: Kept) -> None:
        folder = self.job.checkpoint_dir
        assert folder is not None  # noqa: S101 - `last` was read from it
        self.learner.load_state(last.weights.params, last.state["learner"])
        self.progress, self.watch = Progress.from_json(last.state["progress"]), Watch.from_json(last.state["watch"])
        if self.progress.best_epoch is not None:
            self.best = load(folder / BEST)

    def _warn(self, warnings: list[tuple[str, str]]) -> Iterator[Said]:
        for code, message in warnings:
            yield Warned(run_id=self.job.run_id, time=self.job.now_ms(), code=code, message=message)


def _last_of(job: Job) -> Kept | None:
    """Read the newest checkpoint of a resumed run that is not ahead of its stored events; it is the last one then.

    None where there is none: the run begins anew, and says nothing again.
    """
    folder = job.checkpoint_dir
    if not job.resume or folder is None:
        return None
    found = next((kept for kept in standing(folder) if not _is_ahead(kept, job)), None)
    if found is not None and found.name == BEFORE:
        go_back(folder)
    return found


def _is_ahead(kept: Kept, job: Job) -> bool:
    """Tell whether steps or ends of epochs before a checkpoint were never stored: the server died with them."""
    if job.recorded_step is None:
        return False
    return kept.weights.meta.step > job.recorded_step or kept.state["progress"]["epoch"] - 1 > job.recorded_epoch
