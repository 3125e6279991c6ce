"""Prequential scoring: a closed candle meets what was said of it, then the next one is predicted. Learning comes after.

Reads published snapshots only and owns no weights. One thread at a time may use a scorer.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
import torch

from nn.baselines import Logistic
from nn.dataset_dir import Candles
from nn.drift import Drift
from nn.events import CandlePredicted, CandleScored, DriftAlarm
from nn.figures import Figures, nll
from nn.rivals import Rivals
from nn.snapshot import Prediction, Snapshot, predict
from nn.tape import Indices, Tape, is_finite, targets_at
from nn.targets import BUCKETS, MASKED, Edges

Json = dict[str, Any]
Clock = Callable[[], int]

HEADS = {"candle": BUCKETS, "trend": 2}
MARGIN = 0.1  # nats a candle; falling that far behind the frozen start model, beyond doubt, undoes the learning
WATCHED = 100  # unseen candles of one judgement
REFIT_EVERY = 500  # candles; in between the logistic regression stands still
REFIT_ROWS = 5_000  # newest candles that a fit uses
LATE = "late"
OFF_TAPE = (LATE, "not finite")  # reasons for which a candle is not even kept as part of later windows


@dataclass(frozen=True, slots=True)
class Forecast:
    """What was said when row `as_of` closed: of the next candle, and of the trend from there."""

    as_of: int
    snapshot: int
    seen: bool
    edges: Edges
    probabilities: dict[str, dict[str, list[float]]]  # head → predictor → P(class)
    last: dict[str, int]  # head → the newest class known then, which persistence repeats


@dataclass(frozen=True, slots=True)
class Closed:
    """A candle that has been scored and waits to be learnt."""

    time: int
    row: int | None  # its row on the tape; None where it was not kept
    skipped: str | None
    seen: bool
    change: float | None
    accuracy: float | None  # of the last 100 candles that count
    average_accuracy: float | None
    verdict: str | None  # "good" or "behind" the frozen start model; None while nobody can say


class Hit(NamedTuple):
    """How the prediction of a candle turned out."""

    outcome: int
    predicted: int
    correct: bool
    loss: float
    snapshot: int


class Asked(NamedTuple):
    """A prediction that has been made and not yet been remembered."""

    row: int
    snapshot: Snapshot
    seen: bool
    prediction: Prediction


class Scorer:
    """Scores and predicts, candle by candle. `start` is the snapshot that stays frozen beside the learning one."""

    def __init__(self, tape: Tape, start: Snapshot, run_id: int, clock: Clock) -> None:
        self.tape, self.start, self.run_id = tape, start, run_id
        self.length, self.horizon = start.config.sequence_length, start.config.trend_horizon
        self.first_row = len(tape)  # of the candles that this run sees closing
        self._clock = clock
        self._edges = start.edges
        self._figures = {seen: self._new_figures() for seen in (False, True)}
        self._watched: deque[float] = deque(maxlen=WATCHED)
        self._forecasts: deque[Forecast] = deque()  # newest last; kept until their trend falls due
        self._rivals = self._new_rivals()
        self._drift = Drift()
        self.late: list[int] = []  # open times of the candles that came after a newer one
        self._asked: Asked | None = None

    def score(
        self, candle: Candles, behind: int = 0, *, after_no_trade: bool = False
    ) -> tuple[list[CandleScored | DriftAlarm], Closed]:
        """Meet a closed candle (a slice of one row) with what was said of it, and put it on the tape.

        Gives the score, an alarm where the loss has risen for good, and what learning has to know.
        """
        opens = int(candle.time[0])
        if after_no_trade:
            self.tape.after_no_trade.add(opens)
        said = self._said_of_next()
        skipped = self._reason_to_skip(candle) or (None if said else "not predicted")
        seen = said.seen if said and not skipped else covers(self.start.data_cut, opens)
        row = None if skipped in OFF_TAPE else self.tape.append(candle)
        hit = self._score_candle(said, row) if said and row is not None and not skipped else None
        counts = hit is not None and not seen
        verdict = self._judge() if counts else None
        alarm = self._alarm(opens, hit.loss) if hit and counts else []
        trend_as_of, trend_correct = self._score_trend(row) if row is not None else (None, None)
        event = CandleScored(
            run_id=self.run_id,
            time=self._clock(),
            candle_time=opens,
            seen=seen,
            skipped=skipped,
            **(hit._asdict() if hit else dict.fromkeys(Hit._fields)),
            trend_correct=trend_correct,
            trend_as_of=trend_as_of,
            n=self._figures[False]["candle"].n,
            figures=self.figures_json(),
            behind=behind,
            after_no_trade=opens in self.tape.after_no_trade,
        )
        return [event, *alarm], self._closed(candle, row, skipped, seen, verdict)

    def predict(self, snapshot: Snapshot, next_time: int | None, arrived_s: float) -> CandlePredicted | None:
        """Predict the candle after the newest one; None where no full window stands before it or a gap comes first.

        `next_time` is its open time where it is known; `arrived_s` (`time.perf_counter`) when the newest one came in.
        Call `remember` afterwards: what the others say of the same candle can wait until the prediction is on its way.
        """
        row = len(self.tape) - 1
        if row < 0 or self.tape.run[row] < self.length:
            return None
        opens = int(self.tape.time[row]) + self.tape.timeframe_ms if next_time is None else next_time
        if self.tape.is_gap(opens):
            return None
        prediction = predict(snapshot, self._window(row))
        self._asked = Asked(row, snapshot, covers(snapshot.data_cut, opens), prediction)
        return self._predicted(self._asked, opens, (time.perf_counter() - arrived_s) * 1000)

    def remember(self) -> None:
        """Ask the frozen start model and the baselines about the candle just predicted, and keep it all until due."""
        asked, self._asked = self._asked, None
        if asked is None:
            return
        row, snapshot, seen, ours = asked
        untouched = snapshot.params is self.start.params
        frozen = ours if untouched else predict(self.start, self._window(row))
        last = {head: int(classes[0]) for head, classes in self._last(np.array([row]), row).items()}
        probabilities: dict[str, dict[str, list[float]]] = {}
        for head in HEADS:
            rivals = self._rivals[head].answer(self.tape.rows[row], last[head])
            networks = {"model": ours.probabilities[head], "start": frozen.probabilities[head]}
            probabilities[head] = networks | {name: p.tolist() for name, p in rivals.items()}
        self._forecasts.append(Forecast(row, snapshot.number, seen, snapshot.edges, probabilities, last))

    def figures_json(self) -> Json:
        """Give `{of, candle, trend, drift}`: figures of the unseen candles, or of the seen ones until there are any."""
        counting = self._counting()
        of = "seen" if counting is self._figures[True] else "unseen"
        figures = {head: figures.to_json() for head, figures in counting.items()}
        return {"of": of, **figures, "drift": self._drift.to_json()}

    def watch_anew(self) -> None:
        """Judge the model against the frozen start model by candles from now on alone: it has other weights."""
        self._watched.clear()

    def start_over(self, start: Snapshot) -> None:
        """Compare with another frozen model from now on, in its classes; what was said is scored as it was meant."""
        self.start = start
        self._edges = start.edges
        self._watched.clear()
        self._rivals = self._new_rivals()

    def refit_due(self, row: int) -> bool:
        """Tell whether the logistic regressions are to be fitted anew once this row is learnt."""
        return (row - self.first_row + 1) % REFIT_EVERY == 0

    def refit(self, row: int) -> dict[str, Logistic]:
        """Fit the logistic regressions on what is known when `row` has closed; `take_fits` puts them to use."""
        return {head: Logistic.fit(*self._examples(head, row)[:2], k) for head, k in HEADS.items()}

    def take_fits(self, fits: dict[str, Logistic]) -> None:
        """Use newly fitted regressions from the next prediction on."""
        for head, fit in fits.items():
            self._rivals[head].logistic = fit

    def state(self) -> Json:
        """Give everything that the tape does not tell, as plain data, for a checkpoint."""
        return {
            "last_time": int(self.tape.time.newest()) if len(self.tape) else None,
            "edges": self._edges.to_json(),
            "figures": {str(seen): {h: f.state() for h, f in heads.items()} for seen, heads in self._figures.items()},
            "watched": list(self._watched),
            "forecasts": [{**asdict(said), "as_of": int(self.tape.time[said.as_of])} for said in self._forecasts],
            "late": list(self.late),
            "after_no_trade": sorted(self.tape.after_no_trade),
            "rivals": {head: rivals.state() for head, rivals in self._rivals.items()},
            "drift": self._drift.state(),
        }

    def restore(self, state: Json, first_row: int) -> None:
        """Go back to exactly where `state()` was taken; the tape must end with the same candle."""
        self.first_row = first_row
        self._edges = Edges.from_json(state["edges"])
        for seen in (False, True):
            self._figures[seen] = {
                head: Figures.restore(kept, self._overlap(head)) for head, kept in state["figures"][str(seen)].items()
            }
        self._watched.extend(state["watched"])
        self._forecasts.extend(self._forecast_from(kept) for kept in state["forecasts"])
        self._rivals = {head: Rivals.restore(kept) for head, kept in state["rivals"].items()}
        self._drift = Drift.restore(state["drift"])

    def _reason_to_skip(self, candle: Candles) -> str | None:
        opens = int(candle.time[0])
        if len(self.tape) and opens <= self.tape.time.newest():
            self.late.append(opens)
            return LATE
        if not is_finite(candle):
            return "not finite"
        before = int(self.tape.run.newest()) if len(self.tape) else 0
        if before and self.tape.is_gap(opens):
            return "gap"
        if before >= self.length:
            return None
        return "no full window" if before == len(self.tape) else "gap"

    def _said_of_next(self) -> Forecast | None:
        newest = self._forecasts[-1] if self._forecasts else None
        return newest if newest and newest.as_of == len(self.tape) - 1 else None

    def _score_candle(self, said: Forecast, row: int) -> Hit:
        outcome = int(targets_at(self.tape, np.array([row - 1]), row, said.edges, self.horizon)["candle"][0])
        p = said.probabilities["candle"]
        self._figures[said.seen]["candle"].add(p, said.last["candle"], outcome)
        self._rivals["candle"].learn(said.last["candle"], outcome)
        loss, predicted = nll(p["model"], outcome), int(np.argmax(p["model"]))
        if not said.seen:
            self._watched.append(loss - nll(p["start"], outcome))
        return Hit(outcome, predicted, predicted == outcome, loss, said.snapshot)

    def _score_trend(self, row: int) -> tuple[int | None, bool | None]:
        """Score the trend that falls due with `row`; give its `as_of` time and whether it was right."""
        while self._forecasts and self._forecasts[0].as_of < row - self.horizon:
            self._forecasts.popleft()
        if not self._forecasts or self._forecasts[0].as_of != row - self.horizon:
            return None, None
        said = self._forecasts[0]
        outcome = int(targets_at(self.tape, np.array([said.as_of]), row, said.edges, self.horizon)["trend"][0])
        if outcome == MASKED:
            return int(self.tape.time[said.as_of]), None
        self._figures[said.seen]["trend"].add(said.probabilities["trend"], said.last["trend"], outcome)
        self._rivals["trend"].learn(said.last["trend"], outcome)
        return int(self.tape.time[said.as_of]), int(np.argmax(said.probabilities["trend"]["model"])) == outcome

    def _judge(self) -> str | None:
        """Judge the last WATCHED unseen candles against the frozen start model; "behind" starts the count anew."""
        if len(self._watched) < WATCHED:
            return None
        blocks = np.asarray(self._watched).reshape(-1, 10).mean(axis=1)  # neighbours are alike: doubt by blocks of 10
        mean, error = float(blocks.mean()), float(blocks.std(ddof=1)) / len(blocks) ** 0.5
        if mean > MARGIN and mean > 2 * error:
            self._watched.clear()
            return "behind"
        return "good" if mean <= 0 else None

    def _alarm(self, opens: int, loss: float) -> list[DriftAlarm]:
        if not self._drift.update(loss):
            return []
        (now, before), told = self._drift.losses(), self._drift.to_json()
        message = f"the loss of unseen candles has risen for good: {now:.3f} over the last 100, {before:.3f} before"
        return [
            DriftAlarm(
                run_id=self.run_id,
                time=self._clock(),
                candle_time=opens,
                loss=now,
                loss_before=before,
                alarms=told["alarms"],
                dummy_alarms=told["dummy"]["alarms"],
                message=message,
            )
        ]

    def _closed(self, candle: Candles, row: int | None, skipped: str | None, seen: bool, verdict: str | None) -> Closed:
        count = self._counting()["candle"]
        opened, closed = float(candle.open[0]), float(candle.close[0])
        change = (closed - opened) / opened if is_finite(candle) and opened else None
        figures = count.accuracy(100), count.accuracy()
        return Closed(int(candle.time[0]), row, skipped, seen, change, *figures, verdict)

    def _counting(self) -> dict[str, Figures]:
        """Give the figures of the unseen candles; those of the seen ones until an unseen one was scored."""
        return self._figures[not self._figures[False]["candle"].n]

    def _window(self, row: int) -> torch.Tensor:
        return torch.from_numpy(self.tape.rows[row - self.length + 1 : row + 1])  # (T, F)

    def _predicted(self, asked: Asked, opens: int, latency_ms: float) -> CandlePredicted:
        row, snapshot, seen, prediction = asked
        labels = prediction.probabilities.get("label")
        return CandlePredicted(
            run_id=self.run_id,
            time=self._clock(),
            candle_time=opens,
            as_of=int(self.tape.time[row]),
            closed=self.tape.candle(row),
            snapshot=snapshot.number,
            data_cut=snapshot.data_cut,
            seen=seen,
            candle_probabilities=prediction.probabilities["candle"],
            candle_edges=list(snapshot.edges.candle),
            sigma=float(self.tape.sigma[row]),
            trend_up=prediction.trend_up,
            trend_due=opens + (self.horizon - 1) * self.tape.timeframe_ms,
            label_probabilities=dict(zip(snapshot.labels, labels, strict=True)) if labels else None,
            latency_ms=latency_ms,
        )

    def _last(self, rows: Indices, now: int) -> dict[str, Indices]:
        """Give the newest class of each head that is known at each row: persistence repeats it."""
        candle = targets_at(self.tape, rows - 1, now, self._edges, self.horizon)["candle"]
        trend = targets_at(self.tape, rows - self.horizon, now, self._edges, self.horizon)["trend"]
        return {"candle": candle, "trend": trend}

    def _examples(self, head: str, now: int) -> tuple[Any, Indices, Indices]:
        """Give features, target and newest known class of the newest rows, as known when `now` has closed."""
        rows = np.arange(max(0, now + 1 - REFIT_ROWS), now + 1)
        classes = targets_at(self.tape, rows, now, self._edges, self.horizon)[head]
        return self.tape.rows[rows], classes, self._last(rows, now)[head]

    def _new_rivals(self) -> dict[str, Rivals]:
        now = len(self.tape) - 1
        return {head: Rivals.of(k, *self._examples(head, now)) for head, k in HEADS.items()}

    def _new_figures(self) -> dict[str, Figures]:
        return {head: Figures(self._overlap(head)) for head in HEADS}

    def _forecast_from(self, kept: Json) -> Forecast:
        """Give a kept forecast; older candles may have been stored since, so that its row is another one now."""
        row = self.tape.row_from(kept["as_of"])
        return Forecast(**{**kept, "as_of": row, "edges": Edges.from_json(kept["edges"])})

    def _overlap(self, head: str) -> int:
        return self.horizon if head == "trend" else 1


def covers(data_cut: int | None, candle_time: int) -> bool:
    """Tell whether weights with this data cut have seen the candle that opens at `candle_time`."""
    return data_cut is not None and candle_time <= data_cut
