"""What a batch run keeps: its last checkpoint, the one before and its best; and which of them a resume goes on from."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator

from nn.checkpoint import BEFORE, LAST, Kept, Weights, exists, go_back, keep_before, load, save, standing, weights_of
from nn.events import CheckpointSaved
from nn.job import Job
from nn.learner import Learner
from nn.progress import Progress
from nn.telling import Telling
from nn.watch import Watch

BEST = "best"
SAVE_EVERY_S = 30.0


class RunCheckpoints:
    """The checkpoints of one run; only its first process writes any. `best` is in memory too, kept or not."""

    def __init__(self, job: Job, telling: Telling, threads: int) -> None:
        self.job, self.telling, self.threads = job, telling, threads
        self.best: Weights | None = None
        self._folder = job.checkpoint_dir if job.ranks.rank == 0 else None
        self._saved_s = self._kept_s = time.perf_counter()

    @property
    def due(self) -> bool:
        """Tell whether the last one is so old that a kill would cost too many steps."""
        return time.perf_counter() - self._saved_s > SAVE_EVERY_S

    def save_last(self, learner: Learner, progress: Progress, watch: Watch) -> Iterator[CheckpointSaved]:
        """Keep all that an exact resume needs."""
        self._saved_s = time.perf_counter()
        if self._folder is None:
            return
        weights = self._weights(learner, progress, None)
        state = {"learner": learner.state(), "progress": dataclasses.asdict(progress), "watch": watch.to_json()}
        if self._saved_s - self._kept_s > SAVE_EVERY_S / 2 or not exists(self._folder / BEFORE):
            keep_before(self._folder)
            self._kept_s = self._saved_s
        save(self._folder / LAST, weights, state)
        yield self.telling.saved(LAST, weights, result=False)

    def save_best(self, learner: Learner, progress: Progress) -> Iterator[CheckpointSaved]:
        """Take the present weights as the best."""
        chosen_on = self.telling.data.validation_cut if progress.best_report else None
        self.best = self._weights(learner, progress, chosen_on)
        if self._folder is not None:
            save(self._folder / BEST, self.best)
            yield self.telling.saved(BEST, self.best, result=False)

    def go_back(self, last: Kept, learner: Learner) -> tuple[Progress, Watch]:
        """Put the learner where `last` was taken; give how far the run was, and what it had warned of."""
        learner.load_state(last.weights.params, last.state["learner"])
        progress, watch = Progress.from_json(last.state["progress"]), Watch.from_json(last.state["watch"])
        folder = self.job.checkpoint_dir
        if progress.best_epoch is not None and folder is not None:
            self.best = load(folder / BEST)
        return progress, watch

    def _weights(self, learner: Learner, progress: Progress, chosen_on: int | None) -> Weights:
        manifest = self.job.dataset.manifest
        snapshot = learner.publish(chosen_on)
        if chosen_on is not None:
            snapshot = dataclasses.replace(snapshot, temperatures=_temperatures(progress))
        return weights_of(
            snapshot,
            symbol=str(manifest.get("symbol", "")),
            timeframe=str(manifest.get("timeframe", "")),
            dataset=str(manifest.get("hash", "")),
            threads=self.threads,
            metrics={"epoch": progress.best_epoch, "validation": progress.best_report},
        )


def last_of(job: Job) -> Kept | None:
    """Read the newest checkpoint of a resumed run that is not ahead of its stored events; it is the last one then.

    None where there is none: the run begins anew, and says nothing again. Raises CheckpointError where all are torn.
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


def _temperatures(progress: Progress) -> dict[str, float]:
    """Give the temperature of each head that validation found, so that what the weights tell is calibrated."""
    heads = progress.best_report["heads"] if progress.best_report else {}
    return {head: of["calibration"]["temperature"] for head, of in heads.items()}
