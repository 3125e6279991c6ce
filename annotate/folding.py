"""Folds old per-candle events every few minutes, in a thread of its own, so that runs of weeks stay small."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from sqlalchemy.exc import SQLAlchemyError

from annotate.heartbeat import Heartbeat
from annotate.store.candle_hours import HOUR, fold, live_run_ids

if TYPE_CHECKING:
    from annotate.db import Database

log = logging.getLogger(__name__)

EVERY_S = 300.0


class Folding:
    """Keeps per-candle events for `keep_hours`; what is older becomes one row an hour of candles."""

    def __init__(self, database: Database, keep_hours: int) -> None:
        self._database, self._keep_ms = database, keep_hours * HOUR
        self._heartbeat = Heartbeat("folding", EVERY_S, self._work)
        self._stopped = False

    def start(self) -> None:
        """Begin."""
        self._heartbeat.start()

    def stop(self) -> None:
        """End after the transaction under way."""
        self._stopped = True
        self._heartbeat.stop()

    def fold_all(self, now: int) -> int:
        """Fold what is old at a moment, ms UTC; give how many events."""
        with self._database.read() as session:
            run_ids = live_run_ids(session)
        return sum(self._fold_run(run_id, now - self._keep_ms) for run_id in run_ids)

    def _fold_run(self, run_id: int, before: int) -> int:
        folded = 0
        while not self._stopped:
            with self._database.write_events() as session:
                count = fold(session, run_id, before)
            folded += count
            if not count:
                break
        return folded

    def _work(self) -> None:
        try:
            folded = self.fold_all(time.time_ns() // 1_000_000)
        except SQLAlchemyError as error:  # the disk is full or the database held: the next round does it
            log.warning("old events could not be folded: %s", error)
        else:
            if folded:
                log.info("%d old per-candle events are folded into hours", folded)
