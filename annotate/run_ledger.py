"""The book of runs: rows and the numbering of events. The trainer thread alone writes in it.

An event is stored before its run's row says what it means, so a run that reads as finished has its last event.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy.exc import OperationalError

from annotate.store.checkpoints import save_checkpoint
from annotate.store.events import (
    candles_after_no_trade,
    last_seq,
    late_candles,
    newest_candle,
    newest_value,
    told_candles,
)
from annotate.store.runs import add_run, change_run, run_to_json, unfinished_runs

if TYPE_CHECKING:
    from annotate.db import Database
    from annotate.publisher import Publisher

log = logging.getLogger(__name__)

Json = dict[str, Any]

STORE_WAIT_S = 5.0
INSIST_TIMES, INSIST_EVERY_S = 10, 1.0

Result = TypeVar("Result")


class RunLedger:
    """Makes runs, numbers their events from 1 without holes, and keeps their rows true."""

    def __init__(self, database: Database, publisher: Publisher) -> None:
        self._database = database
        self._publisher = publisher
        self._last: dict[int, int] = {}  # run → number of its last event

    def open_run(self, *, mode: str, series_id: int, dataset_id: int | None, config: Json) -> Json:
        """Add a queued run and give it as the API shows it."""
        with self._database.write() as session:
            run = add_run(
                session, mode=mode, series_id=series_id, dataset_id=dataset_id, config=config, created=now_ms()
            )
            body = run_to_json(run)
        self._tell(body)
        return body

    def change(self, run_id: int, **changes: Any) -> Json:
        """Set columns of a run and give it as the API shows it; raise NotFound."""
        with self._database.write() as session:
            body = run_to_json(change_run(session, run_id, **changes))
        self._tell(body)
        return body

    def record(self, event: Json) -> Json:
        """Number an event and have it stored and sent; give it with its `seq`."""
        run_id = event["run_id"]
        numbered = {**event, "seq": self._last_seq(run_id) + 1}
        self._last[run_id] = numbered["seq"]
        self._publisher.publish(numbered)
        return numbered

    def close_run(self, event: Json, summary: Json) -> Json:
        """Record the last event of a run, then let its row say how it ended; give the run."""
        self.record(event)
        if not self._publisher.flush(STORE_WAIT_S):
            log.warning("run %s ended before all of its events were stored", event["run_id"])
        else:
            self._last.pop(event["run_id"])
        ended = {"state": event["state"], "cause": event["cause"], "ended": now_ms()}
        return _insist(lambda: self.change(event["run_id"], **ended, summary=summary | event["summary"]))

    def keep_checkpoint(self, **checkpoint: Any) -> None:
        """Note a checkpoint that stands whole on the disk."""

        def keep() -> None:
            with self._database.write() as session:
                save_checkpoint(session, created=now_ms(), **checkpoint)

        _insist(keep)

    def unfinished(self) -> list[Json]:
        """List the runs that a death of this process left unfinished, oldest first."""
        with self._database.read() as session:
            return [run_to_json(run) for run in unfinished_runs(session)]

    def recorded_step(self, run_id: int) -> int:
        """Give the step of a batch run's newest stored event, 0 where there is none."""
        with self._database.read() as session:
            return newest_value(session, run_id, "batch_done", "step") or 0

    def recorded_epoch(self, run_id: int) -> int:
        """Give the newest epoch of a batch run whose end is stored, 0 where there is none."""
        with self._database.read() as session:
            return newest_value(session, run_id, "epoch_done", "epoch") or 0

    def recorded_candles(self, run_id: int) -> Json:
        """Give the candle of a live run's newest stored event of each kind: `{predicted, scored, learnt, …}`.

        `late` lists those that came too late, `{scored, learnt}`, `after_no_trade` those before which nobody traded.
        """
        with self._database.read() as session:
            newest = {
                word: newest_candle(session, run_id, f"candle_{word}") for word in ("predicted", "scored", "learnt")
            }
            late = {word: late_candles(session, run_id, f"candle_{word}") for word in ("scored", "learnt")}
            after_no_trade = candles_after_no_trade(session, run_id)
        return {**newest, "late": late, "after_no_trade": after_no_trade}

    def told_candles(self, run_id: int) -> tuple[int | None, set[int]]:
        """Give the candles that a live run has told of, and from which open time on these are all; None: from any."""
        with self._database.read() as session:
            return told_candles(session, run_id)

    def _last_seq(self, run_id: int) -> int:
        if run_id not in self._last:
            with self._database.read() as session:
                self._last[run_id] = last_seq(session, run_id)
        return self._last[run_id]

    def _tell(self, run: Json) -> None:
        self._publisher.series_changed(run["series_id"], {"what": "run", "id": run["id"], "run": run})


def _insist(write: Callable[[], Result]) -> Result:
    """Write what nobody would ask for again: try for a while when the disk is full or a large import holds the lock."""
    for _ in range(INSIST_TIMES):
        try:
            return write()
        except OperationalError as error:
            log.warning("the end of a run waits to be stored: %s", error.orig)
            time.sleep(INSIST_EVERY_S)
    return write()


def now_ms() -> int:
    """Give the present time, ms UTC."""
    return time.time_ns() // 1_000_000
