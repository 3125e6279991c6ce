"""Opens runs, and says which may be steered and how; every refusal names the run and its state. No worker, no commands.

Owned by the trainer thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from annotate.errors import Conflict
from annotate.jobs import AUDITS, Job, Jobs
from annotate.live_feed import Begin, begin_of
from annotate.store.runs import get_run, run_to_json

if TYPE_CHECKING:
    from annotate.db import Database
    from annotate.run_ledger import RunLedger
    from annotate.weights import Weights

Json = dict[str, Any]


class RunDesk:
    """The runs under way, and those that may come to be."""

    def __init__(self, database: Database, ledger: RunLedger, weights: Weights) -> None:
        self.jobs = Jobs()
        self._database = database
        self._ledger = ledger
        self._weights = weights

    def row(self, run_id: int) -> Json:
        """Give a run as the API shows it; raise NotFound."""
        with self._database.read() as session:
            return run_to_json(get_run(session, run_id))

    def open(self, mode: str, series_id: int, dataset_id: int | None, config: Json, start: Json) -> Job:
        """Take a run and give it, queued; raise Conflict where the series has a live run already."""
        if mode == "live":
            self._refuse_second_live(series_id)
        run = self._ledger.open_run(mode=mode, series_id=series_id, dataset_id=dataset_id, config=config)
        if mode not in AUDITS:
            self._weights.want(series_id, config["model"])
        job = Job(run, start=start)
        self.jobs.add(job)
        return job

    def reopen(self, run_id: int) -> Job:
        """Take an interrupted run again, queued; raise Conflict where it is none."""
        run = self.row(run_id)
        if run["state"] != "interrupted" or run["mode"] not in ("batch", "live"):
            raise Conflict(f"run {run_id} is {run['state']}; start a new one", state=run["state"])
        if run["mode"] == "live":
            self._refuse_second_live(run["series_id"])
        run = self._ledger.change(run_id, state="queued", cause=None, ended=None)
        job = Job(run, resume=run["started"] is not None)
        self.jobs.add(job)
        return job

    def under_way(self, run_id: int, action: str) -> Job:
        """Give a run that has not ended; raise Conflict saying that there is nothing to do `action` to."""
        job = self.jobs.get(run_id)
        if job is None:
            state = self.row(run_id)["state"]
            raise Conflict(f"run {run_id} is {state}; there is nothing to {action}", state=state)
        return job

    def running(self, run_id: int) -> Job:
        """Give a run that can be paused; raise Conflict where it is in another state."""
        job = self.under_way(run_id, "pause")
        if not job.sent or job.stopping_since is not None or job.mode == "load":
            raise Conflict(f"run {run_id} is {job.run['state']}; a running one can be paused", state=job.run["state"])
        return job

    def live(self, run_id: int) -> Job:
        """Give a live run that the worker has; raise Conflict where it is none."""
        job = self.under_way(run_id, "forget")
        if job.mode != "live" or not job.sent or job.stopping_since is not None:
            state = job.run["state"]
            raise Conflict(f"run {run_id} is a {job.mode} run, {state}; a live run under way can forget", state=state)
        return job

    def is_fed(self, series_id: int) -> bool:
        """Tell whether the worker has the candles of a series from a live run."""
        job = self.jobs.on_series(series_id, "live")
        return job is not None and job.sent

    def begin_of_new(self, series_id: int, config: Json) -> Begin | None:
        """Say where a live run would begin, so that it is refused now if it cannot; None where a load may change it."""
        self._refuse_second_live(series_id)
        if self.jobs.on_series(series_id, "load") is not None:
            return None
        return begin_of(config, self._weights.data_cut(series_id, config), recorded={}, first_time=None)

    def discard(self, series_id: int, model: str | None) -> int:
        """Delete the checkpoints of a series at rest; give how many there were."""
        job = self.jobs.on_series(series_id)
        if job is not None:
            raise Conflict(f"run {job.id} of this series is {job.run['state']}; stop it first", run_id=job.id)
        return self._weights.discard(series_id, model)

    def _refuse_second_live(self, series_id: int) -> None:
        job = self.jobs.on_series(series_id, "live")
        if job is not None:
            raise Conflict(f"run {job.id} is live on this series already; stop it first", run_id=job.id)
