"""What the worker is told when a job begins: the commands that start a load, a batch run, an audit or a live run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nn import commands

if TYPE_CHECKING:
    from annotate.jobs import Job
    from annotate.run_data import Labelling, RunData
    from annotate.run_ledger import RunLedger
    from annotate.weights import Weights

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class LiveStart:
    """What a live run starts on: candles copied by its feed, and what is on record of it."""

    dataset_id: int
    began: int  # open time of the run's first candle, ms UTC
    first_time: int  # open time of the first candle to come, ms UTC
    recorded: Json  # what earlier parts of this run have stored of each candle
    labelling: Labelling
    kept_bytes: int  # room for kept snapshots


class RunCommands:
    """Makes the command that begins a job; reads, and changes nothing."""

    def __init__(self, weights: Weights, ledger: RunLedger, data: RunData) -> None:
        self._weights = weights
        self._ledger = ledger
        self._data = data

    def load(self, job: Job) -> commands.Command:
        """Load weights, by the rules that the job's start names."""
        return commands.LoadModel(
            run_id=job.id,
            series_id=job.series_id,
            config=job.config,
            candidates=self._candidates(job),
            **job.start,
        )

    def audit(self, job: Job) -> commands.Command:
        """Ask whether it is skill, or look for leaks."""
        return commands.StartAudit(
            run_id=job.id,
            series_id=job.series_id,
            kind=job.mode,
            config=job.config,
            dataset_dir=self._dataset(job.run["dataset_id"]),
            candidates=self._candidates(job),
        )

    def batch(self, job: Job) -> commands.Command:
        """Train on a dataset, or go on where the run was cut off."""
        return commands.StartBatch(
            run_id=job.id,
            series_id=job.series_id,
            config=job.config,
            dataset_dir=self._dataset(job.run["dataset_id"]),
            checkpoint_dir=str(self._weights.directory(job.id)),
            candidates=self._candidates(job),
            resume=job.resume,
            recorded_step=self._ledger.recorded_step(job.id) if job.resume else 0,
            recorded_epoch=self._ledger.recorded_epoch(job.id) if job.resume else 0,
        )

    def live(self, job: Job, start: LiveStart) -> commands.Command:
        """Predict, score and learn candle by candle."""
        return commands.StartLive(
            run_id=job.id,
            series_id=job.series_id,
            config=job.config,
            history_dir=self._dataset(start.dataset_id),
            checkpoint_dir=str(self._weights.directory(job.id)),
            candidates=self._candidates(job),
            began=start.began,
            first_time=start.first_time,
            coalesce=job.config["feed"].get("speed") != "max",
            resume=job.resume,
            recorded=start.recorded,
            **start.labelling._asdict(),
            kept_bytes=start.kept_bytes,
        )

    def _candidates(self, job: Job) -> list[str]:
        return self._weights.candidates(job.series_id, job.config["model"])

    def _dataset(self, dataset_id: int) -> str:
        return str(self._data.directory(dataset_id))
