"""The heart of a live run, free of threads and pipes: score, predict, learn, and what a checkpoint has to keep of it.

`python -m nn live <dir>` steps through it; the worker's live run calls its two halves from two threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from nn.checkpoint import CheckpointError, Kept, Weights, standing, weights_of
from nn.config import LiveConfig
from nn.dataset_dir import Candles, DatasetDir
from nn.device import Device
from nn.events import CandleLearnt, CandlePredicted, CandleScored, DriftAlarm, Event, RolledBack, Warned
from nn.learner import Learner, Schedule
from nn.live_learning import LiveLearning, Market
from nn.live_marks import LiveMarks
from nn.prequential import LATE, Closed, Scorer
from nn.snapshot import Snapshot
from nn.tape import Tape, finite, without
from nn.targets import Edges, fit_edges

Json = dict[str, Any]

MARKS: dict[type[Event], str] = {CandlePredicted: "predicted", CandleScored: "scored", CandleLearnt: "learnt"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a live run starts with.

    `recorded` names, on a resume, the candle of the last stored event of each kind, and under `late` the candles that
    came after a newer one: `{scored, learnt, to_come}`, those whose event of that kind is stored, and those that the
    feed brings although the history has them. `after_no_trade` lists those before which nobody had traded.
    """

    run_id: int
    config: LiveConfig
    history: DatasetDir  # up to the first candle of the feed
    device: Device
    threads: int
    clock: Callable[[], int]  # ms UTC
    weights: Weights | None = None  # to start from; None: fresh
    kept: Kept | None = None  # to go on from
    began: int | None = None  # open time of the run's first candle where the history goes beyond it
    recorded: Mapping[str, Any] = field(default_factory=dict)
    annotations: Sequence[Mapping[str, Any]] | None = None  # of the series as they stand now, also later ones
    rejected: Sequence[Mapping[str, Any]] = ()  # suggestions that someone rejected: {label, start, end}


class Session:
    """Steps candle by candle: the predictions due are scored, the next one is predicted, this one is learnt."""

    def __init__(self, setting: Setting) -> None:
        self.setting, self.config = setting, setting.config
        manifest, kept = setting.history.manifest, setting.kept
        self.market = Market(str(manifest.get("symbol", "")), str(manifest.get("timeframe", "")))
        candles, timeframe_ms = finite(setting.history.candles), int(manifest["timeframe_ms"])
        self.left_out = len(setting.history.candles) - len(candles)
        self._late = self._late_by(kept)
        candles = without(candles, self._late)
        # Open time of the last candle before the run's first.
        self.history_end = kept.state["history_end"] if kept else _last_before(candles, setting.began)
        before = _up_to(candles, self.history_end)
        played = _up_to(candles, kept.state["scorer"]["last_time"]) if kept else before
        self.unplayed = candles.slice(len(played), len(candles))  # recorded or not, they come after what is known
        self.tape = Tape(played, timeframe_ms, self.history_end, self._after_no_trade_by(kept))
        weights = kept.weights if kept else setting.weights
        # The run's own classes: a label may have come or gone while it was interrupted.
        labels = kept.weights.meta.labels if kept else tuple(manifest.get("labels") or ())
        edges = weights.meta.edges if weights else fit_edges(before, self.tape.sigma.values)
        self.learner = Learner(
            self.config,
            Schedule(self.config.learning_rate),
            labels=labels,
            edges=edges,
            params=weights.params if weights else None,
            data_cut=weights.meta.data_cut if weights else None,
            device=setting.device.device,
            average=self.config.ema_decay,
            temperatures=weights.meta.temperatures if weights else {},
        )
        start = self.learner.publish()
        if kept:
            start = _start_of(kept.state["start"], start)
        self.scorer = Scorer(self.tape, start, setting.run_id, setting.clock)
        marks = LiveMarks(labels, timeframe_ms, self.config.accepted_weight)
        marks.take(setting.history.annotations, manifest.get("rejected") or (), are_new=False)
        self.learning = LiveLearning(
            self.learner, self.tape, marks, self.config, start, self.market, setting.run_id, setting.clock
        )
        self.said: dict[str, int | None] = dict.fromkeys(MARKS.values())
        self._told_labels: set[str] = set()
        if kept:
            self._go_back(kept, len(before))
        if setting.annotations is not None:
            marks.take(setting.annotations, setting.rejected)

    def open(self, first_time: int | None, arrived_s: float) -> list[Event]:
        """Predict the run's first candle before it comes, where its open time is known.

        `first_time` is that of the first candle that is not in the history.
        """
        self.learning.pending += self._late_untold()
        opens = int(self.unplayed.time[0]) if len(self.unplayed) else first_time
        if opens is None or self.said["predicted"] is not None or len(self.tape) != self.scorer.first_row:
            return []
        predicted = self.scorer.predict(self.learning.newest, opens, arrived_s)
        self.scorer.remember()
        return self.news([predicted] if predicted else [])

    def step(self, candle: Candles, next_time: int | None, arrived_s: float) -> list[Event]:
        """Score, predict and learn one closed candle (a slice of one row), strictly in that order."""
        said, closed = self.scorer.score(candle)
        predicted = self.scorer.predict(self.learning.newest, next_time, arrived_s) if closed.row is not None else None
        self.scorer.remember()
        learnt = self.take(closed)
        if self.learning.is_due():
            learnt += self.learning.learn()
        return self.news([*said, *([predicted] if predicted else []), *learnt])

    def take(self, closed: Closed) -> list[Event]:
        """Take a scored candle for learning, and fit the regressions anew when it is time."""
        events = self.learning.take(closed)
        if closed.row is not None and self.scorer.refit_due(closed.row):
            self.scorer.take_fits(self.scorer.refit(closed.row))
        return events

    def news(self, events: Iterable[Event]) -> list[Event]:
        """Leave out what was stored before an interruption, and note what is said from now on."""
        return [event for event in events if self._is_news(event)]

    def checkpoint(self, scorer: Json) -> tuple[Weights, Json]:
        """Give weights and state; `scorer` is the scorer's state after the newest candle that learning has taken."""
        newest = self.learning.newest
        weights = weights_of(
            newest,
            symbol=self.market.symbol,
            timeframe=self.market.timeframe,
            dataset=str(self.setting.history.manifest.get("hash", "")),
            threads=self.setting.threads,
        )
        start = self.scorer.start
        state = {
            "scorer": scorer,
            "learning": self.learning.state(),
            "start": {"params": dict(start.params), "data_cut": start.data_cut, "edges": start.edges.to_json()},
            "said": dict(self.said),
            "history_end": self.history_end,
        }
        return weights, state

    def take_weights(self, snapshot: Snapshot) -> None:
        """Go on from loaded weights and compare with them from now on; nobody may be scoring meanwhile."""
        self.learning.take_weights(snapshot)
        self.learning.good = self.learning.newest
        self.scorer.start_over(self.learning.newest)

    def take_marks(
        self, annotations: Iterable[Mapping[str, Any]], rejected: Iterable[Mapping[str, Any]] = ()
    ) -> list[Event]:
        """Take annotations and rejections of the series as they stand now; say which labels the model does not know."""
        unknown = self.learning.take_marks(annotations, rejected)
        new = [label for label in unknown if label not in self._told_labels]
        self._told_labels.update(new)
        if not new:
            return []
        message = (
            f"the model has no class for {', '.join(new)}: marks with it are kept, and learnt by the next batch run or "
            "live run that starts with them"
        )
        return [Warned(run_id=self.setting.run_id, time=self.setting.clock(), code="new_label", message=message)]

    def forget(self, snapshot: Snapshot, since: int) -> RolledBack:
        """Go on from a kept snapshot as if no candle from `since` on had been learnt; nobody may score meanwhile."""
        event = self.learning.forget(snapshot, since)
        self.scorer.watch_anew()
        return event

    def _late_by(self, kept: Kept | None) -> list[int]:
        """Give the candles that this run heard of too late: its tape goes on without them, as it stood."""
        told = {*self._told_late("scored"), *self._told_late("to_come")}
        return sorted({*(kept.state["scorer"]["late"] if kept else ()), *told})

    def _told_late(self, what: str) -> list[int]:
        """Give the late candles of which an event of this kind is stored."""
        return list((self.setting.recorded.get("late") or {}).get(what, ()))

    def _after_no_trade_by(self, kept: Kept | None) -> set[int]:
        told = self.setting.recorded.get("after_no_trade") or ()
        return {*(kept.state["scorer"]["after_no_trade"] if kept else ()), *told}

    def _late_untold(self) -> list[Closed]:
        """Give the late candles that were stored as scored, and whose last word the interruption cut off."""
        known = {*self._told_late("learnt"), *(closed.time for closed in self.learning.pending)}
        left = [time for time in self._told_late("scored") if time not in known]
        return [Closed(time, None, LATE, False, None, None, None, None) for time in left]

    def _is_news(self, event: Event) -> bool:
        if isinstance(event, CandleScored | CandleLearnt) and event.skipped == LATE:
            return event.candle_time not in self._told_late(MARKS[type(event)])
        if isinstance(event, CandlePredicted | CandleScored | CandleLearnt):
            name = MARKS[type(event)]
            stored = self.setting.recorded.get(name)
            self.said[name] = event.candle_time
            return stored is None or event.candle_time > stored
        if isinstance(event, DriftAlarm | RolledBack):  # each comes of a score, and is said with it
            scored = self.setting.recorded.get("scored")
            return scored is None or event.candle_time is None or event.candle_time > scored
        newest, stored = self.said["learnt"], self.setting.recorded.get("learnt")
        return not isinstance(event, Warned) or stored is None or newest is None or newest > stored

    def _go_back(self, kept: Kept, first_row: int) -> None:
        self.scorer.restore(kept.state["scorer"], first_row)
        self.scorer.late = list(self._late)
        self.learning.restore(kept.weights.params, kept.state["learning"])
        self.said.update(kept.state["said"])


def find_kept(folder: Path, recorded: Mapping[str, Any]) -> Kept | None:
    """Give the newest whole checkpoint of a run that is not ahead of its stored events.

    None where there is none: the run is done again from its first candle. One that is ahead would leave a hole in the
    events, and knows of candles that the history lacks.
    """
    try:
        found = standing(folder)
    except CheckpointError:
        return None
    return next((kept for kept in found if not _is_ahead(kept.state, recorded)), None)


def _is_ahead(state: Json, recorded: Mapping[str, Any]) -> bool:
    pairs = [(state["said"].get(name), recorded.get(name)) for name in MARKS.values()]
    to_come = (recorded.get("late") or {}).get("to_come", ())
    knows_late = not set(to_come).isdisjoint(state["scorer"]["late"])  # what the feed is about to bring
    return knows_late or any(mine is not None and (stored is None or mine > stored) for mine, stored in pairs)


def _last_before(candles: Candles, began: int | None) -> int | None:
    """Give the open time of the last candle before a time, None where there is none; without a time of the last."""
    end = len(candles) if began is None else int(np.searchsorted(candles.time, began))
    return int(candles.time[end - 1]) if end else None


def _up_to(candles: Candles, time: int | None) -> Candles:
    end = 0 if time is None else int(np.searchsorted(candles.time, time, side="right"))
    return candles.slice(0, end)


def _start_of(kept: Json, like: Snapshot) -> Snapshot:
    params: Mapping[str, Tensor] = {name: p.to(like.params[name].device) for name, p in kept["params"].items()}
    return Snapshot(
        number=1,
        step=0,
        data_cut=kept["data_cut"],
        created_ms=like.created_ms,
        params=params,
        config=like.config,
        edges=Edges.from_json(kept["edges"]),
        labels=like.labels,
        temperatures=like.temperatures,
    )
