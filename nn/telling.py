"""What a batch run says: its events, made of where it stands."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from nn.checkpoint import LAST, Weights
from nn.events import BatchDone, CheckpointSaved, EpochDone, JudgedOnTest, RunEnded, RunResumed, RunStarted, Warned
from nn.job import Job, Start
from nn.judging import without_details
from nn.learner import Learner, StepResult
from nn.logline import batch_line, epoch_line
from nn.metrics import summary
from nn.progress import Progress
from nn.targets import MASKED
from nn.training_data import CONTROL_VISITS, TrainingData

Json = dict[str, Any]

CONTROL_NOTE = (
    f"control: targets are shuffled, so all there is to learn is by heart; an epoch visits {CONTROL_VISITS} times "
    "as many windows, and no later run starts from the result"
)
PACE_STEPS = 20  # steps over which windows/s and ETA are averaged
ANSWERING = 1 / 3  # of a step's time for a window goes into its answers, before any epoch was judged


class Telling:
    """Makes the events of one run; `batches` has how many each epoch takes."""

    def __init__(
        self, job: Job, data: TrainingData, batches: Sequence[int], clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self.job, self.data, self.batches = job, data, batches
        self.on_train: dict[str, dict[str, Json]] = {}  # head → the baselines on the train rows
        self.judging_s: float | None = None  # what judging the last epoch took
        self._clock, self._stepped_s = clock, clock()
        self._pace: deque[tuple[int, float]] = deque(maxlen=PACE_STEPS)  # windows and seconds of the newest steps
        self._apart: deque[float] = deque(maxlen=PACE_STEPS)  # seconds from the end of one step to that of the next

    def took(self, windows: int, seconds: float) -> None:
        """Count a step that has just ended into the pace."""
        before, self._stepped_s = self._stepped_s, self._clock()
        self._apart.append(self._stepped_s - before)
        self._pace.append((windows, seconds))

    def epoch_begins(self) -> None:
        """Take what was done until now for judging and keeping, which is no part of the pace."""
        self._stepped_s = self._clock()

    def started(self, start: Start, parameters: int, threads: int) -> RunStarted:
        """Tell what the run is of, and what a person should know of the data before any figure."""
        return RunStarted(
            run_id=self.job.run_id,
            time=self.job.now_ms(),
            mode="batch",
            config=self.job.config.to_json(),
            origin=start.origin,
            reason=start.reason,
            parameters=parameters,
            device=str(self.job.device.device),
            dtype=self.job.device.dtype,
            threads=threads,
            data=self.data.facts | {"batches": self.batches[0], "steps": sum(self.batches)},
            notes=self._notes(),
        )

    def resumed(self, step: int) -> RunResumed:
        """Tell where the run goes on."""
        return RunResumed(run_id=self.job.run_id, time=self.job.now_ms(), step=step, from_checkpoint=LAST)

    def batch_done(self, progress: Progress, result: StepResult, learner: Learner) -> BatchDone:
        """Tell of one step."""
        epochs, epoch, batch = self.job.config.epochs, progress.epoch, progress.batch
        batches = self.batches[epoch - 1]
        candle, trend = result.accuracy("candle"), result.accuracy("trend")
        windows, seconds = (sum(part) for part in zip(*self._pace, strict=True))
        return BatchDone(
            run_id=self.job.run_id,
            time=self.job.now_ms(),
            line=batch_line(batch, batches, result.loss, candle, trend),
            epoch=epoch,
            epochs=epochs,
            batch=batch,
            batches=batches,
            step=learner.steps,
            loss=result.loss,
            candle_accuracy=candle,
            trend_accuracy=trend,
            learning_rate=result.learning_rate,
            gradient_norm=result.gradient_norm,
            windows_per_s=windows / seconds,
            eta_s=self._left_s(epoch, batch, seconds / windows),
            skipped_steps=learner.skipped,
        )

    def _left_s(self, epoch: int, batch: int, window_s: float) -> float:
        """Estimate the seconds to the end: of the steps left, with whatever goes on between them, and of judging.

        A pause between two steps is a rare one among those looked at, so the median does not see it.
        """
        steps = sum(self.batches[epoch - 1 :]) - batch
        validation, test = self.data.split.validation, self.data.split.test
        if validation is None:
            return steps * float(np.median(self._apart))
        count = (validation.last - validation.first) / min(self.job.config.stride, self.job.config.sequence_length)
        judging = count * window_s * ANSWERING if self.judging_s is None else self.judging_s
        judgements: float = self.job.config.epochs - epoch + 1
        judgements += (test.last - test.first) / (validation.last - validation.first) if test else 0
        return steps * float(np.median(self._apart)) + judgements * judging

    def epoch_done(self, progress: Progress, validation: Json | None, *, best: bool) -> EpochDone:
        """Tell the means of an epoch over its train batches, and its validation beside them."""
        epochs, batches = self.job.config.epochs, self.batches[progress.epoch - 1]
        train = self._train_report(progress)
        return EpochDone(
            run_id=self.job.run_id,
            time=self.job.now_ms(),
            line=epoch_line(progress.epoch, epochs, train["loss"], train["candle_accuracy"], batches),
            epoch=progress.epoch,
            epochs=epochs,
            batches=batches,
            train=train,
            validation=validation if best else without_details(validation),
            best=best,
            verdict=validation["verdict"] if validation else None,
            seconds=progress.seconds + (self.judging_s or 0.0),
        )

    def judged_on_test(self, progress: Progress, test: Json | None, seconds: float) -> JudgedOnTest:
        """Tell what the chosen weights reach on candles that chose nothing."""
        return JudgedOnTest(
            run_id=self.job.run_id,
            time=self.job.now_ms(),
            epoch=progress.best_epoch,
            test=test,
            verdict=test["verdict"] if test else None,
            seconds=seconds,
        )

    def saved(self, name: str, weights: Weights, *, result: bool) -> CheckpointSaved:
        """Tell of a checkpoint; `result` says that later runs may start from it."""
        meta = weights.meta
        return CheckpointSaved(
            run_id=self.job.run_id,
            name=name,
            step=meta.step,
            data_cut=meta.data_cut,
            result=result,
            meta=meta.to_json(),
        )

    def warned(self, warnings: Sequence[tuple[str, str]]) -> Iterator[Warned]:
        """Tell of each `(code, message)`."""
        for code, message in warnings:
            yield Warned(run_id=self.job.run_id, time=self.job.now_ms(), code=code, message=message)

    def ended(self, state: str, told: Mapping[str, Any]) -> RunEnded:
        """Tell how the run ended."""
        return RunEnded(run_id=self.job.run_id, time=self.job.now_ms(), state=state, summary=dict(told))

    def _notes(self) -> list[str]:
        facts = self.data.facts
        notes = [f"class edges: {self.data.edges.source}"]
        marks, weight = facts["marks"], facts["accepted_weight"]
        if marks:
            told = ", ".join(f"{count} {source}" for source, count in marks.items())
            notes.append(f"labels from marks by source: {told}; one that was accepted counts {weight:g} of a drawn one")
        if refused := facts["refused"]:
            count = facts["rejected"]
            notes.append(f"{refused} candles under {count} rejected suggestions teach what they are not")
        notes += self._of_labels()
        if self.job.config.shuffle_targets:
            notes.append(CONTROL_NOTE)
        return notes

    def _of_labels(self) -> list[str]:
        """Say where the label head has nothing to learn, or nothing to tell apart."""
        labels = self.data.targets.get("label")
        if labels is None:
            return []
        if not self.data.facts["labelled"]:
            return ["no candle of the dataset has a label: the label head learns nothing"]
        train = np.unique(labels[: self.data.split.train.last])
        known = train[train != MASKED]
        if len(known) != 1:
            return []
        name = self.data.labels[int(known[0])]
        return [f"every labelled candle of train is {name}: there is nothing to tell it from, mark another label too"]

    def _train_report(self, progress: Progress) -> Json:
        """Give the epoch's means over its train batches, with the baselines on the train rows."""
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
