"""Drift alarms on the loss of unseen candles: Page-Hinkley beside a dummy that alarms by the clock. No torch.

Both are river's. An alarm that means something is followed by a higher loss than stood before it; the dummy's is not.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any, Self

from river.drift import PageHinkley
from river.drift.dummy import DummyDriftDetector
from river.stats import Mean

Json = dict[str, Any]

DELTA = 0.05  # nats a candle that a rise must exceed; smaller ones are no news
THRESHOLD = 20.0  # nats above the mean, summed: with losses of σ 0.5 a false alarm in about 100,000 candles
LEAST = 100  # candles before the first alarm after a start or an alarm
DUMMY_EVERY = 500  # candles
WATCHED = 100  # candles before and after an alarm whose mean losses are compared
NUMBERS = ("_sum_increase", "_sum_decrease", "_min_increase", "_max_decrease", "_drift_detected")


@dataclass(slots=True)
class Alarms:
    """How many alarms a detector gave, and how much higher the loss stood after them."""

    count: int = 0
    rises: int = 0  # alarms whose following candles are all known
    rise_sum: float = 0.0
    waiting: list[Json] = field(default_factory=list)  # {before, left, sum} of alarms that still look ahead

    def add(self, before: float) -> None:
        """Take an alarm; `before` is the mean loss that stood before it."""
        self.count += 1
        self.waiting.append({"before": before, "left": WATCHED, "sum": 0.0})

    def see(self, loss: float) -> None:
        """Take the loss of a candle after the alarms."""
        for alarm in self.waiting:
            alarm["sum"] += loss
            alarm["left"] -= 1
            if not alarm["left"]:
                self.rises += 1
                self.rise_sum += alarm["sum"] / WATCHED - alarm["before"]
        self.waiting = [alarm for alarm in self.waiting if alarm["left"]]

    def to_json(self) -> Json:
        """Give `{alarms, rise}`: the mean of the loss after less before, null while nobody can say."""
        return {"alarms": self.count, "rise": round(self.rise_sum / self.rises, 5) if self.rises else None}


class Drift:
    """Hears the loss of each unseen candle and says when it has risen for good."""

    def __init__(self) -> None:
        self._detector = PageHinkley(min_instances=LEAST, delta=DELTA, threshold=THRESHOLD, mode="up")
        self._dummy = DummyDriftDetector(t_0=DUMMY_EVERY)
        self._real, self._by_clock = Alarms(), Alarms()
        self._last: deque[float] = deque(maxlen=2 * WATCHED)

    def update(self, loss: float) -> bool:
        """Take a loss, nats; tell whether it gives an alarm."""
        for alarms in (self._real, self._by_clock):
            alarms.see(loss)
        for detector, alarms in ((self._detector, self._real), (self._dummy, self._by_clock)):
            detector.update(loss)  # type: ignore[no-untyped-call]  # the library types its base classes only
            if detector.drift_detected:
                alarms.add(self._before())
        self._last.append(loss)
        return bool(self._detector.drift_detected)

    def losses(self) -> tuple[float, float]:
        """Give the mean loss of the last WATCHED candles, and of as many before those."""
        last = list(self._last)
        newest = last[-WATCHED:]
        return sum(newest) / max(1, len(newest)), self._before()

    def to_json(self) -> Json:
        """Give `{alarms, rise, dummy: {alarms, rise}}`."""
        return {**self._real.to_json(), "dummy": self._by_clock.to_json()}

    def state(self) -> Json:
        """Give everything as plain data, for a checkpoint; nothing of the library is pickled."""
        detector, mean = vars(self._detector), vars(vars(self._detector)["_x_mean"])
        return {
            "detector": {name: detector[name] for name in NUMBERS} | {"n": mean["n"], "mean": mean["_mean"]},
            "dummy": vars(self._dummy)["_n"],
            "real": _alarms_json(self._real),
            "by_clock": _alarms_json(self._by_clock),
            "last": list(self._last),
        }

    @classmethod
    def restore(cls, state: Json) -> Self:
        """Rebuild from `state()`."""
        made, detector = cls(), state["detector"]
        mean = Mean()
        vars(mean).update(n=detector["n"], _mean=detector["mean"])
        vars(made._detector).update({name: detector[name] for name in NUMBERS}, _x_mean=mean)
        vars(made._dummy).update(_n=state["dummy"])
        made._real, made._by_clock = Alarms(**state["real"]), Alarms(**state["by_clock"])
        made._last.extend(state["last"])
        return made

    def _before(self) -> float:
        """Give the mean loss of the candles before the last WATCHED ones, of all while there are none."""
        last = list(self._last)
        before = last[:-WATCHED] or last
        return sum(before) / max(1, len(before))


def _alarms_json(alarms: Alarms) -> Json:
    waiting = [dict(alarm) for alarm in alarms.waiting]
    return {"count": alarms.count, "rises": alarms.rises, "rise_sum": alarms.rise_sum, "waiting": waiting}
