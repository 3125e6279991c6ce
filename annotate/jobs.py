"""The runs that are under way: which may begin now, and what the trainer as a whole is doing. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from annotate.feeds.thread import FeedThread

Json = dict[str, Any]

AUDITS = ("skill", "leaks")
"""Runs that question what a batch run learns, and leave nothing."""

BATCH_LIKE = ("batch", *AUDITS)


@dataclass(slots=True)
class Job:
    """A run that has not ended."""

    run: Json  # its row, as the API shows it
    resume: bool = False  # goes on where it was interrupted
    begun: bool = False  # the worker has it, or its feed is getting ready
    sent: bool = False  # the worker has it
    paused: bool = False
    stopping_since: float | None = None  # s on the trainer's clock
    feed: FeedThread | None = None
    start: Json = field(default_factory=dict)  # what a load needs beyond its row

    @property
    def id(self) -> int:
        """Give the run's number."""
        return int(self.run["id"])

    @property
    def mode(self) -> str:
        """Give load, batch or live."""
        return str(self.run["mode"])

    @property
    def config(self) -> Json:
        """Give its whole config."""
        config: Json = self.run["config"]
        return config

    @property
    def series_id(self) -> int:
        """Give the series it is about."""
        return int(self.run["series_id"])


class Jobs:
    """Every run under way, in the order in which they were asked for."""

    def __init__(self) -> None:
        self._jobs: dict[int, Job] = {}

    def __iter__(self) -> Iterator[Job]:
        return iter(list(self._jobs.values()))

    def add(self, job: Job) -> None:
        """Take a run."""
        self._jobs[job.id] = job

    def remove(self, run_id: int) -> None:
        """Let go of a run that ended."""
        self._jobs.pop(run_id, None)

    def get(self, run_id: int) -> Job | None:
        """Give the run, None where it is not under way."""
        return self._jobs.get(run_id)

    def on_series(self, series_id: int, mode: str | None = None) -> Job | None:
        """Give the first run on a series, of one mode where it is given."""
        return next((job for job in self if job.series_id == series_id and mode in (None, job.mode)), None)

    def next_to_begin(self) -> Job | None:
        """Give the first run that may begin.

        A load begins at once. Whatever was asked after a load of its series waits for that. One batch run, or audit of
        one, at a time.
        """
        loading: set[int] = set()
        batch = any(job.mode in BATCH_LIKE and job.begun for job in self)
        for job in self:
            if job.mode == "load":
                if not job.begun:
                    return job
                loading.add(job.series_id)
            elif not job.begun and job.series_id not in loading and not (batch and job.mode in BATCH_LIKE):
                return job
        return None

    def state(self) -> str:
        """Say what is going on, live before training before loading, else idle."""
        modes = {"batch" if job.mode in AUDITS else job.mode for job in self if job.begun}
        for mode, word in (("live", "live"), ("batch", "training"), ("load", "loading")):
            if mode in modes:
                return word
        return "idle"
