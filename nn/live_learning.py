"""Learning from closed candles: every few candles one small batch of the newest window and random past ones.

In the newest window only the targets count that the new candles made known; the past windows count whole. So a target
is new once, and later comes again by chance only: learning whole recent windows again and again overfits them. A new
annotation has the window that ends with it in the next step. What was forgotten counts in no window.
Belongs to the trainer thread, like the learner that it drives.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from nn.config import LiveConfig
from nn.events import CandleLearnt, Event, RolledBack, Warned
from nn.learner import Learner, StepResult
from nn.live_marks import LiveMarks
from nn.logline import learnt_lines
from nn.prequential import MARGIN, WATCHED, Closed
from nn.snapshot import Snapshot
from nn.tape import Indices, Tape, targets_at
from nn.targets import MASKED
from nn.windows import Batch

Json = dict[str, Any]

MOST_AT_ONCE = 64  # candles that one step may take in under backlog; each keeps its own loss
KEPT = 50_000  # newest candles that past windows are drawn from; older ones are let go
TRIES = 64  # draws for one past window, where gaps leave few
OFF = "learning is off"  # why no candle is learnt with the policy `none`
FORGOTTEN = "forgotten"


@dataclass(frozen=True, slots=True)
class Market:
    """What the printed lines name."""

    symbol: str
    timeframe: str


class LiveLearning:
    """Collects scored candles and learns each once, in order. `start` is the snapshot that the learner began with."""

    def __init__(
        self,
        learner: Learner,
        tape: Tape,
        marks: LiveMarks,
        config: LiveConfig,
        start: Snapshot,
        market: Market,
        run_id: int,
        clock: Callable[[], int],
    ) -> None:
        self.learner, self.tape = learner, tape
        self.newest = self.good = start  # published last; the last that was no worse than the frozen start
        self.pending: list[Closed] = []  # scored, not yet learnt; oldest first
        self.counts: Counter[str] = Counter()  # candles learnt, and skipped by reason
        self._forgotten: list[tuple[int, int]] = []  # open times [from, to) whose outcomes are never learnt again
        self._marks, self._config, self._market = marks, config, market
        self._run_id, self._clock = run_id, clock
        self._random = np.random.default_rng(config.seed)
        self._known = len(tape) - 1  # row of the newest candle whose targets are no longer new
        self._loss_sum, self._losses, self._warned = 0.0, 0, False

    @property
    def most_at_once(self) -> int:
        """Candles that one step may take in: all must lie in one window."""
        return max(1, min(max(MOST_AT_ONCE, self._config.learn_every), self._config.sequence_length - 1))

    def take(self, closed: Closed) -> list[Event]:
        """Take a scored candle for learning; undo the learning where it has fallen behind the frozen start model."""
        self.pending.append(closed)
        if closed.verdict == "good":
            self.good = self.newest
        return [self._roll_back(closed.time)] if closed.verdict == "behind" else []

    def is_due(self) -> bool:
        """Tell whether as many candles wait as one step is to take in; more than a window holds it cannot."""
        every = min(self._config.learn_every, self.most_at_once)
        return len(self.pending) >= (every if self._config.policy == "replay" else 1)

    def learn(self) -> list[Event]:
        """Learn every waiting candle in one step, publish, and say of each how it went."""
        if self._config.policy == "none":
            return self.give_up(OFF)
        taken = self.pending[: self.most_at_once]
        self.pending = self.pending[len(taken) :]
        self._let_go(taken)
        rows = [closed.row for closed in taken if closed.row is not None and not closed.skipped]
        if not rows:
            return [self._learnt(closed, None, closed.skipped) for closed in taken]
        newest, now = rows[-1], max(closed.row for closed in taken if closed.row is not None)
        result = self.learner.step(self._batch(newest, now), int(self.tape.time[newest]))
        self._known = now
        if not result.skipped:
            self.newest = self.learner.publish()
        losses = {} if result.skipped else self._losses_of(result, rows)
        reason = self._reason(result)
        events: list[Event] = [
            self._learnt(closed, losses.get(closed.time), closed.skipped or reason) for closed in taken
        ]
        return events + self._warn_of(result)

    def give_up(self, reason: str) -> list[Event]:
        """Record every waiting candle as skipped."""
        taken, self.pending = self.pending, []
        self._let_go(taken)
        return [self._learnt(closed, None, closed.skipped or reason) for closed in taken]

    def take_marks(
        self, annotations: Iterable[Mapping[str, Any]], rejected: Iterable[Mapping[str, Any]] = ()
    ) -> list[str]:
        """Take annotations and rejections as they stand now; give the labels that the model has no class for."""
        return self._marks.take(annotations, rejected)

    def forget(self, snapshot: Snapshot, since: int) -> RolledBack:
        """Go on from a kept snapshot and never learn the outcome of a candle from `since` (ms UTC) on that has closed.

        Candles that wait are told in their turn, as skipped.
        """
        self.pending = [
            replace(closed, skipped=closed.skipped or FORGOTTEN) if closed.time >= since else closed
            for closed in self.pending
        ]
        first = self.tape.row_from(since)
        if first < len(self.tape):
            self._forgotten.append((since, int(self.tape.time.newest()) + 1))
        self._known = len(self.tape) - 1
        fallen, self.learner.data_cut = self.newest, snapshot.data_cut
        self.take_weights(snapshot)
        self.good = self.newest
        message = (
            f"{len(self.tape) - first} candles were forgotten: snapshot {fallen.number} was taken back, learning goes "
            f"on from snapshot {snapshot.number}"
        )
        newest = int(self.tape.time.newest()) if len(self.tape) else None
        return self._rolled_back(fallen, snapshot, message, newest, since)

    def take_weights(self, snapshot: Snapshot) -> None:
        """Go on from other weights of the same shape, by Load or after a fall behind."""
        self.learner.load_params(snapshot.params)
        self.learner.edges = snapshot.edges
        self.newest = self.learner.publish()

    def state(self) -> Json:
        """Give all that an exact resume needs beside the newest parameters."""
        return {
            "learner": self.learner.state(),
            "good": {"params": dict(self.good.params), "number": self.good.number},
            "marks": self._marks.state(),
            "forgotten": [list(times) for times in self._forgotten],
            "counts": dict(self.counts),
            "random": self._random.bit_generator.state,
            "known": int(self.tape.time[self._known]) if self._known >= 0 else None,
            "pending": [asdict(closed) for closed in self.pending],
            "loss_sum": self._loss_sum,
            "losses": self._losses,
            "warned": self._warned,
        }

    def restore(self, params: Mapping[str, Tensor], state: Json) -> None:
        """Go back to exactly where `params` and `state()` were taken."""
        self.learner.load_state(params, state["learner"])
        self.newest = replace(self.newest, params=params, number=self.learner.snapshots, step=self.learner.steps)
        self.newest = replace(self.newest, data_cut=self.learner.data_cut, edges=self.learner.edges)
        self.good = replace(self.newest, **state["good"])
        self._marks.restore(state["marks"])
        self._forgotten = [(since, end) for since, end in state["forgotten"]]
        self.counts = Counter(state["counts"])
        self._random.bit_generator.state = state["random"]
        # By time: older candles may have been stored since, so that the rows are others now.
        pending = [Closed(**closed) for closed in state["pending"]]
        self.pending = [replace(closed, row=self.tape.row_of(closed.time)) for closed in pending]
        self._known = -1 if state["known"] is None else self.tape.row_from(state["known"])
        self._loss_sum, self._losses, self._warned = state["loss_sum"], state["losses"], state["warned"]

    def _batch(self, newest: int, now: int) -> Batch:
        length = self._config.sequence_length
        ends = [newest, *self._others(newest, now)]  # a window ends before the candle at its end row
        starts = np.array(ends) - length
        rows = starts[:, None] + np.arange(length)  # (B, T)
        classes, before = self._targets(rows, now), self._targets(rows[0], self._known)
        for head, of in classes.items():
            of[0] = np.where(before[head] == MASKED, of[0], MASKED)
            of[self._is_forgotten(rows, head)] = MASKED
        device = self.learner.device
        targets, refused = (
            {head: torch.from_numpy(of).to(device) for head, of in given.items()}
            for given in (classes, self._refused(rows, now))
        )
        return Batch(torch.from_numpy(self.tape.rows[rows]).to(device), targets, refused)

    def _refused(self, rows: Indices, now: int) -> dict[str, Indices]:
        """Give the class that someone rejected; in the newest window only what is newly known."""
        if not self._marks.any_refused:
            return {}
        classes, before = (self._at(of, by, self._marks.refused) for of, by in ((rows, now), (rows[0], self._known)))
        classes[0] = np.where(before == MASKED, classes[0], MASKED)
        classes[self._is_forgotten(rows, "label")] = MASKED
        return {"label": classes}

    def _others(self, newest: int, now: int) -> list[int]:
        """Give the end rows of the other windows: that of a new annotation, and with `replay` past ones."""
        length = self._config.sequence_length
        marked = self._marks.next_window(self.tape, self._closes(now), length, _oldest(newest))
        past = self._past(newest) if self._config.policy == "replay" else []
        return past if marked is None else [marked, *past[1:]]

    def _is_forgotten(self, rows: Indices, head: str) -> npt.NDArray[np.bool_]:
        """Tell at which rows the target of a head is what a forgotten candle brought."""
        nearest, furthest = {"label": (0, 0), "trend": (1, self._config.trend_horizon)}.get(head, (1, 1))
        hit = np.zeros(rows.shape, np.bool_)
        for since, end in self._forgotten:
            hit |= (rows + furthest >= self.tape.row_from(since)) & (rows + nearest < self.tape.row_from(end))
        return hit

    def _past(self, newest: int) -> list[int]:
        """Draw the end rows of past windows, each window free of gaps; fewer where the series is young or torn."""
        length, found = self._config.sequence_length, list[int]()
        if newest <= length:
            return found
        first, count = _oldest(newest) + length, (self._config.batch_size - 1) * TRIES
        draws = self._random.integers(first, newest, size=count)
        whole = draws[self.tape.run[draws - 1] >= length]
        found.extend(whole[: self._config.batch_size - 1].tolist())
        return found

    def _targets(self, rows: Indices, now: int) -> dict[str, Indices]:
        """Give the targets of rows (any shape) as they are known when row `now` has closed."""
        classes = targets_at(self.tape, rows, now, self.learner.edges, self._config.trend_horizon)
        return classes | ({"label": self._labels(rows, now)} if self.learner.labels else {})

    def _labels(self, rows: Indices, now: int) -> Indices:
        """Give the class of the annotation on each candle, where it was known when row `now` closed."""
        return self._at(rows, now, self._marks.classes)

    def _at(self, rows: Indices, now: int, said: Callable[[Indices, int], Indices]) -> Indices:
        """Give what was said of each candle by when row `now` closed; `rows` is one window (T,) or several (B, T)."""
        known_by = self._closes(now)
        windows = [said(self.tape.time[window], known_by) for window in np.atleast_2d(rows)]
        return np.stack(windows).reshape(rows.shape)

    def _let_go(self, taken: Iterable[Closed]) -> None:
        """Let the tape forget what no later step can ask for."""
        rows = [closed.row for closed in taken if closed.row is not None]
        self.tape.let_go(_oldest(rows[-1]) if rows else 0)

    def _closes(self, row: int) -> int:
        return int(self.tape.time[row]) + self.tape.timeframe_ms

    def _reason(self, result: StepResult) -> str | None:
        """Say why a step was not taken; one that would learn from labels alone had none."""
        wants = {head for head, weight in self._config.heads.items() if weight > 0}
        return "no label" if result.skipped == "no target" and wants == {"label"} else result.skipped

    def _losses_of(self, result: StepResult, rows: list[int]) -> dict[int, float]:
        """Give for each candle, by its open time, the weighted loss of the targets that it made known.

        They stand in the newest window, whose last position speaks of the last of these rows.
        """
        heads = [head for head in ("candle", "range", "trend") if head in result.losses]
        own = torch.stack([result.losses[head][0] for head in heads]).tolist()  # one read from the device
        found: dict[int, float] = {}
        for row in rows:
            place = self._config.sequence_length - 1 - (rows[-1] - row)
            places = {"candle": place, "range": place, "trend": place + 1 - self._config.trend_horizon}
            parts = [self._config.heads[h] * of[places[h]] for h, of in zip(heads, own, strict=True) if places[h] >= 0]
            found[int(self.tape.time[row])] = sum(parts)
        return found

    def _learnt(self, closed: Closed, loss: float | None, skipped: str | None) -> CandleLearnt:
        if loss is not None:
            self._loss_sum, self._losses = self._loss_sum + loss, self._losses + 1
        self.counts[skipped or "learnt"] += 1
        average = self._loss_sum / self._losses if self._losses else None
        figures: Json = {
            "loss": loss,
            "average_loss": average,
            "accuracy": closed.accuracy,
            "average_accuracy": closed.average_accuracy,
            "candle_time": closed.time,
            "change": closed.change,
        }
        line = learnt_lines(symbol=self._market.symbol, timeframe=self._market.timeframe, **figures)
        return CandleLearnt(
            run_id=self._run_id,
            time=self._clock(),
            line=line if loss is not None else None,
            seen=closed.seen,
            skipped=skipped,
            step=self.learner.steps,
            snapshot=self.newest.number,
            counts=dict(self.counts),
            **figures,
        )

    def _roll_back(self, scored: int) -> RolledBack:
        fallen, good = self.newest, replace(self.good, edges=self.learner.edges)
        self.take_weights(good)
        self.good = self.newest
        message = (
            f"over the last {WATCHED} unseen candles the model fell more than {MARGIN} nats a candle behind the frozen "
            f"start model: snapshot {fallen.number} was taken back, learning goes on from the weights of snapshot "
            f"{good.number}, the last good ones"
        )
        return self._rolled_back(fallen, good, message, scored)

    def _rolled_back(
        self, fallen: Snapshot, back_to: Snapshot, message: str, candle_time: int | None, since: int | None = None
    ) -> RolledBack:
        return RolledBack(
            run_id=self._run_id,
            time=self._clock(),
            candle_time=candle_time,
            asked=since is not None,
            since=since,
            taken_back=fallen.number,
            back_to=back_to.number,
            snapshot=self.newest.number,
            data_cut=self.newest.data_cut,
            message=message,
        )

    def _warn_of(self, result: StepResult) -> list[Event]:
        if self._warned or result.skipped not in ("loss not finite", "gradient not finite"):
            return []
        self._warned = True
        message = f"step skipped: {result.skipped}; the weights stay as they were, and it is counted"
        return [Warned(run_id=self._run_id, time=self._clock(), code="non_finite", message=message)]


def _oldest(newest: int) -> int:
    """Give the oldest row that a step may ask for whose newest window ends at row `newest`."""
    return max(0, newest - KEPT)
