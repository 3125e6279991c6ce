"""The inference thread: jobs in order of arrival, on one core, so that a long batch step delays no prediction."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable

import torch

Job = Callable[[], None]
Failed = Callable[[Exception], None]


class InferenceThread:
    """Runs jobs one after another. A job reads published snapshots only."""

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[tuple[Job, Failed] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="inference", daemon=True)
        self._thread.start()

    def submit(self, job: Job, failed: Failed) -> None:
        """Queue a job, from any thread; `failed` hears of an error in it, in the inference thread."""
        self._jobs.put((job, failed))

    def settle(self) -> None:
        """Wait until every job submitted so far is done."""
        done = threading.Event()
        self._jobs.put((done.set, lambda _: None))
        done.wait()

    def close(self, wait_s: float = 5.0) -> None:
        """End the thread after the jobs that were submitted so far."""
        self._jobs.put(None)
        self._thread.join(wait_s)

    def _work(self) -> None:
        # A setting of this thread alone. One core suits a batch of one, and an answer never depends on how many
        # threads the trainer uses.
        torch.set_num_threads(1)
        with torch.inference_mode():
            while (work := self._jobs.get()) is not None:
                job, failed = work
                try:
                    job()
                except Exception as error:  # noqa: BLE001 - the thread must outlive whatever one job meets
                    failed(error)
