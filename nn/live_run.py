"""A live run in the worker: scored and predicted in the inference thread, learnt in the trainer loop.

Under `coalesce` the two go on side by side, and learning takes several candles in one step when it falls behind.
Otherwise each candle is scored, the next one predicted and this one learnt before the candle after it is looked at.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import torch

from nn.checkpoint import LAST, Meta, Weights, keep_before, load, mismatches, save
from nn.commands import CandleClosed, FeedEnded, ForgetSince, MarksChanged, StartLive
from nn.events import CandleDone, CheckpointSaved, Event, Message, RunEnded, RunResumed, RunStarted, Warned
from nn.inference import InferenceThread
from nn.keeping import Keeping
from nn.live_session import Session
from nn.loaded import Choice, Refused, in_words, snapshot_of
from nn.prequential import Closed
from nn.snapshot import Snapshot
from nn.tape import one_candle

Json = dict[str, Any]

SAVE_EVERY_S = 10.0
EVERY = 1 << 62
PRICES = ("open", "high", "low", "close", "volume")


class Say(Protocol):
    """How the worker speaks."""

    def __call__(self, *items: Event | Message) -> None:
        """Say events and messages; those of one call arrive together."""
        ...


@dataclass(frozen=True, slots=True)
class Handed:
    """What the inference thread hands to the trainer loop; one of these."""

    closed: Closed | None = None
    again: int | None = None  # open time of a candle that came a second time
    state: Json | None = None  # of the scorer after `closed`, where a checkpoint waits for it
    ended: FeedEnded | None = None
    failure: Exception | None = None


class LiveRun:
    """One live run. `submit` belongs to the pipe's thread, `_score_next` to inference, all else to the trainer loop."""

    def __init__(
        self,
        command: StartLive,
        session: Session,
        choice: Choice,
        inference: InferenceThread,
        say: Say,
        wake: Callable[[], None],
    ) -> None:
        self.command, self.session, self.choice = command, session, choice
        self.run_id, self.series_id = command.run_id, command.series_id
        self.published: Snapshot = session.learning.newest
        self.paused = False
        self.ended: tuple[str, str | None] | None = None  # state and cause, once the feed is over
        self._keeping = Keeping(Path(command.checkpoint_dir), command.kept_bytes)
        self._inference, self._say, self._wake = inference, say, wake
        self._lock = threading.Lock()  # guards the two queues and the two flags
        self._inbox: deque[tuple[CandleClosed | FeedEnded, float]] = deque()
        self._handed: deque[Handed] = deque()
        self._scoring = False  # a job of this run is with the inference thread
        self._open = 0  # candles that scoring has begun and learning not yet let go
        self._closed_to_candles = False
        self._received = self._finished = 0
        self._state_wanted = False
        self._saved_s = time.monotonic()
        self._unsaved = False  # the last checkpoint could not be written
        self._stays = False  # the last checkpoint holds a change that no older one could come to

    def open(self) -> None:
        """Say that the run starts or goes on; keep what it starts from, so that it can always go on from there."""
        session = self.session
        if session.setting.kept:
            self._keeping.go_on(session.setting.kept.state["kept"])
            from_checkpoint = session.setting.kept.name
            step = session.learner.steps
            self._say(RunResumed(run_id=self.run_id, time=self._now(), step=step, from_checkpoint=from_checkpoint))
        else:
            self._save(session.scorer.state())
            self._say(self._started())
        for event in session.open(self.command.first_time, time.perf_counter()):
            self._say(event)
        for candle in _unplayed(session, self.command.first_time):
            self.submit(candle)

    def submit(self, command: CandleClosed | FeedEnded) -> None:
        """Take a candle, or the end of the feed, in the order of arrival."""
        with self._lock:
            self._inbox.append((command, time.perf_counter()))
            self._received += isinstance(command, CandleClosed)
            self._schedule()

    def waits(self) -> bool:
        """Tell whether there is work for the trainer loop."""
        if self.paused:
            return False
        return bool(self._handed) or self.ended is not None or self.session.learning.is_due()

    def step(self) -> None:
        """Do one turn: take what was scored, and make one step of learning where it is due.

        Raises what scoring raised in the inference thread.
        """
        torch.set_num_threads(self.session.setting.threads)
        learning = self.session.learning
        taken, state = self._take(learning.most_at_once)
        if learning.is_due():
            self._tell(learning.learn())
        self.published = learning.newest
        if state is not None:
            self._save_if_the_disk_takes_it(state)
        elif time.monotonic() - self._saved_s > SAVE_EVERY_S:
            self._state_wanted = True
        self._let_go(taken)

    def pause(self) -> None:
        """Hold the run; candles that come meanwhile wait."""
        self.paused = True

    def resume(self) -> None:
        """Go on after a pause."""
        self.paused = False
        with self._lock:
            self._schedule()

    def take_weights(self, snapshot: Snapshot) -> None:
        """Go on from loaded weights, between two candles; raise Refused where they do not fit the run."""
        learner = self.session.learner
        wrong = mismatches(Meta(config=snapshot.config, labels=snapshot.labels), learner.config, learner.labels)
        if wrong:
            raise Refused(f"run {self.run_id} is live with another model, stop it first: {in_words(wrong)}")
        self._settle()
        self.session.take_weights(snapshot)
        self._go_on_changed()
        self._stays = True

    def take_marks(self, command: MarksChanged) -> None:
        """Learn from the annotations and rejections as they stand now, from the next step on."""
        self._settle()
        for warning in self.session.take_marks(command.annotations, command.rejected):
            self._say(warning)
        self._go_on_changed()

    def forget(self, command: ForgetSince) -> None:
        """Go back to a kept snapshot; raise Refused where it is no longer kept."""
        folder = self._keeping.path(command.snapshot)
        if not folder.is_dir():
            raise Refused(f"snapshot {command.snapshot} of run {self.run_id} is no longer kept; take another one")
        snapshot = snapshot_of(load(folder), command.snapshot)
        self._settle()
        self._say(self.session.forget(snapshot, command.since))
        self._go_on_changed()
        self._stays = True

    def _go_on_changed(self) -> None:
        """Go on after something else than a candle changed the run, which no relearning could repeat."""
        self.published = self.session.learning.newest
        self._save(self.session.scorer.state())
        with self._lock:
            self._closed_to_candles = False
            self._schedule()

    def end(self, state: str, cause: str | None) -> tuple[Weights, RunEnded]:
        """End the run: learn what was scored, unless it is only interrupted; keep the last weights.

        Gives them and what is left to say.
        """
        self._settle()
        learning = self.session.learning
        if state == "finished":
            while learning.pending:
                self._tell(learning.learn())
        elif state in ("stopped", "failed"):
            self._tell(learning.learn() if learning.pending else [])
            self._tell(learning.give_up("the run was stopped"))
        weights = self._save(self.session.scorer.state())
        figures = self.session.scorer.figures_json()
        counts = dict(learning.counts)
        summary = {
            "steps": self.session.learner.steps, "candles": self._finished, "figures": figures, "counts": counts,
        }  # fmt: skip
        return weights, RunEnded(run_id=self.run_id, time=self._now(), state=state, cause=cause, summary=summary)

    def abort(self, cause: str) -> None:
        """End a run whose step failed; its last checkpoint stays as it is."""
        self._close()
        self._say(RunEnded(run_id=self.run_id, time=self._now(), state="failed", cause=cause))

    def has_result(self) -> bool:
        """Tell whether later runs may start from what this one leaves."""
        return self.session.learner.steps > 0 or self.choice.weights is not None

    # From here to the next line: the inference thread.

    def _score_next(self) -> None:
        with self._lock:
            command, arrived_s = self._inbox.popleft()
            self._open += 1
            behind = self._received - self._finished - 1
        self._hand(self._score(command, arrived_s, behind))

    def _scoring_failed(self, error: Exception) -> None:
        self._hand(Handed(failure=error))

    def _hand(self, handed: Handed) -> None:
        with self._lock:
            self._handed.append(handed)
            self._scoring = False
            self._schedule()
        self._wake()

    def _score(self, command: CandleClosed | FeedEnded, arrived_s: float, behind: int) -> Handed:
        if isinstance(command, FeedEnded):
            return Handed(ended=command)
        if self.session.tape.row_of(command.time) is not None:
            return Handed(again=command.time)
        scorer = self.session.scorer
        candle = one_candle(command.time, command.open, command.high, command.low, command.close, command.volume)
        said, closed = scorer.score(candle, behind, after_no_trade=command.after_no_trade)
        predicted = scorer.predict(self.published, command.next_time, arrived_s) if closed.row is not None else None
        # Told together: a page hears at most ten times a second, and what came just before would hold it up.
        self._tell([*said, *([predicted] if predicted else [])])
        scorer.remember()
        state = None
        if self._state_wanted:
            self._state_wanted, state = False, scorer.state()
        return Handed(closed=closed, state=state)

    # ------------------------------------------------

    def _schedule(self) -> None:
        """Give the next candle to the inference thread; without `coalesce` only when the one before it is done with."""
        waits = self._inbox and not (self._scoring or self.paused or self._closed_to_candles)
        if waits and (self.command.coalesce or not self._open):
            self._scoring = True
            self._inference.submit(self._score_next, self._scoring_failed)

    def _take(self, most: int) -> tuple[list[Handed], Json | None]:
        """Take scored candles into learning, up to one whose state a checkpoint waits for; give them and that state."""
        taken: list[Handed] = []
        while self._handed and len(self.session.learning.pending) < most:
            handed = self._handed.popleft()
            taken.append(handed)
            if handed.ended is not None:
                self.ended = ("failed" if handed.ended.cause else "finished", handed.ended.cause)
            elif handed.failure is not None:
                raise handed.failure
            elif handed.closed is not None:
                self._tell(self.session.take(handed.closed))
            if handed.state is not None:
                return taken, handed.state
        return taken, None

    def _let_go(self, taken: Iterable[Handed]) -> None:
        times = [handed.closed.time if handed.closed else handed.again for handed in taken]
        for candle_time in times:
            if candle_time is not None:
                self._say(CandleDone(run_id=self.run_id, candle_time=candle_time))
        with self._lock:
            self._open -= len(times)
            self._finished += sum(candle_time is not None for candle_time in times)
            self._schedule()

    def _settle(self) -> None:
        """Look at no further candle, wait for the inference thread, and take what it has scored."""
        self._close()
        while self._handed:
            taken, _ = self._take(EVERY)
            self._let_go(taken)

    def _close(self) -> None:
        with self._lock:
            self._closed_to_candles = True
        self._inference.settle()

    def _save_if_the_disk_takes_it(self, scorer: Json) -> None:
        """Write a checkpoint; without room the run goes on with an older one, says so once, and tries again."""
        try:
            self._save(scorer)
        except OSError as error:
            self._saved_s = time.monotonic()
            if not self._unsaved:
                message = (
                    f"the checkpoint could not be written: {error.strerror or error}; learning goes on and it is tried "
                    "again; until then a resume would go on from an older one, so make room on the disk"
                )
                self._say(Warned(run_id=self.run_id, time=self._now(), code="not_saved", message=message))
            self._unsaved = True
        else:
            self._unsaved = False

    def _save(self, scorer: Json) -> Weights:
        """Write the newest checkpoint; the one before stays beside it, at least some seconds older.

        None stays that is older than the last time learning was taken back or weights were loaded: a resume from it
        would not know of that.
        """
        weights, state = self.session.checkpoint(scorer)
        newest = self.session.learning.newest
        state["kept"] = {**self._keeping.cuts(), newest.number: newest.data_cut}
        folder = Path(self.command.checkpoint_dir)
        now = time.monotonic()
        if self._stays or now - self._saved_s > SAVE_EVERY_S / 2:
            keep_before(folder)
            self._stays = False
        save(folder / LAST, weights, state)
        self._keeping.keep(newest.number, newest.data_cut, folder / LAST)
        self._saved_s = now
        meta, result = weights.meta, self.has_result()
        self._say(
            CheckpointSaved(
                run_id=self.run_id,
                name=LAST,
                step=meta.step,
                data_cut=meta.data_cut,
                result=result,
                meta=meta.to_json(),
            )
        )
        return weights

    def _started(self) -> RunStarted:
        session, choice = self.session, self.choice
        data = {
            "from": self.command.first_time,
            "history": len(session.tape),
            "left_out": session.left_out,
            "seen_until": session.learner.data_cut,
            "edges": session.learner.edges.source,
        }
        return RunStarted(
            run_id=self.run_id,
            time=self._now(),
            mode="live",
            config=session.config.to_json(),
            origin=choice.origin,
            reason=choice.reason,
            parameters=session.learner.parameter_count,
            device=str(session.setting.device.device),
            dtype=session.setting.device.dtype,
            threads=session.setting.threads,
            data=data,
        )

    def _tell(self, events: Iterable[Event]) -> None:
        if news := self.session.news(events):
            self._say(*news)

    def _now(self) -> int:
        return self.session.setting.clock()


def _unplayed(session: Session, first_time: int | None) -> list[CandleClosed]:
    """Give the candles of the history that come after the checkpoint, as if the feed brought them."""
    candles = session.unplayed
    if not len(candles):
        return []
    following = [*candles.time[1:].tolist(), first_time]
    rows = zip(candles.time.tolist(), *(getattr(candles, name).tolist() for name in PRICES), following, strict=True)
    return [
        CandleClosed(
            run_id=session.setting.run_id,
            time=t,
            open=o,
            high=h,
            low=low,
            close=c,
            volume=None if math.isnan(v) else v,
            next_time=n,
        )
        for t, o, h, low, c, v, n in rows
    ]
