"""The timeframe of a file: from the steps between its candles; a name is only a hint."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotate import timeframe
from annotate.errors import InvalidInput
from annotate.importing.doubts import Choice, Doubts

Times = NDArray[np.int64]

# A file changes its step when 95 of 100 steps of one length come before 95 of 100 of the other.
CLEAR_SHARE = 0.95
LEAST_STEPS = 20
# Without a step: fewer than a quarter of ten or more steps are the most frequent one.
FEWEST_STEPS, RARE_SHARE = 10, 0.25
USUAL = ("1m", "5m", "15m", "1h", "4h", "1d")


@dataclass(frozen=True, slots=True)
class ChosenTimeframe:
    """A timeframe by name and why it is the one."""

    name: str
    reason: str

    @property
    def ms(self) -> int:
        """Give its length; a month counts 30 days."""
        return timeframe.parse(self.name)


def choose_timeframe(times: Times, hint: str | None, doubts: Doubts, *, date_only: bool) -> ChosenTimeframe:
    """Decide the timeframe of strictly rising times; ask when there is no step or when the step changes."""
    answer = doubts.given("timeframe")
    if len(times) < 2:
        return _without_step(times, hint, doubts, date_only=date_only)
    steps = np.diff(times)
    modal = _modal(steps)
    irregular = _is_irregular(steps, modal)
    if answer is not None:
        return _answered(answer, None if irregular else modal)
    if irregular:
        return _asked_length(steps, hint, doubts)
    found = _name(modal)
    if hint is not None and hint != found and _hint_fits(times, hint, modal):
        return ChosenTimeframe(
            hint, f"the file name says {hint}, and the candles lie on its grid but not on that of {found}"
        )
    asked = _asked_change(steps, found, hint, doubts)
    said = f"; the file name says {hint}" if hint not in (None, found) else ""
    return asked or ChosenTimeframe(found, f"the most frequent step between candles{said}")


def _modal(steps: Times) -> int:
    """Give the most frequent step of rising times, the shortest of equals, in ms."""
    if steps.min() == steps.max():  # no sorting of a million equal steps
        return int(steps[0])
    lengths, counts = np.unique(steps, return_counts=True)
    return int(lengths[np.argmax(counts)])


def _name(modal: int) -> str:
    if modal >= 28 * timeframe.DAY:
        months = max(1, round(modal / (30.44 * timeframe.DAY)))
        return f"{months}mo"
    if modal < timeframe.SECOND or modal % timeframe.SECOND:
        raise InvalidInput(
            f"the most frequent step between candles is {modal} ms; timeframes are whole seconds, so join them to 1s",
            timeframe_ms=modal,
        )
    return timeframe.name(modal)


def _is_irregular(steps: Times, modal: int) -> bool:
    """Tell whether candles have no step: the most frequent one is rare, and most are no multiple of it."""
    if len(steps) < FEWEST_STEPS or modal >= 28 * timeframe.DAY:
        return False
    rare = np.count_nonzero(steps == modal) < RARE_SHARE * len(steps)
    return bool(rare and np.count_nonzero(steps % modal) > 0.5 * len(steps))


def _asked_length(steps: Times, hint: str | None, doubts: Doubts) -> ChosenTimeframe:
    typical = int(np.median(steps))
    likely = hint or next((name for name in reversed(("1s", *USUAL)) if timeframe.parse(name) <= typical), "1s")
    choices = [Choice(name, name, likely=name == likely) for name in dict.fromkeys((likely, "1s", *USUAL))]
    reason = "The candles have no common step, as bars of ticks, ranges or volume have none."
    answer = doubts.ask("timeframe", "Which timeframe is this file to have?", choices, reason, free=True)
    return ChosenTimeframe(timeframe.name(timeframe.parse(answer)), reason)


def _answered(answer: str, modal: int | None) -> ChosenTimeframe:
    length = timeframe.parse(answer)
    shortest = 28 * timeframe.DAY if length % timeframe.MONTH == 0 else length
    if modal is not None and modal < shortest:
        raise InvalidInput(
            f"timeframe {answer} was given, but the candles of the file are mostly {modal // 1000} s apart",
            name="timeframe",
            value=answer,
        )
    return ChosenTimeframe(timeframe.name(length), "as answered")


def _hint_fits(times: Times, hint: str, modal: int) -> bool:
    """Tell whether a sparse file has its candles on the grid of the finer hint only."""
    length = timeframe.parse(hint)
    if length >= modal or length % timeframe.MONTH == 0:
        return False
    since = times - times[0]
    return not np.any(since % length) and bool(np.any(since % modal))


def _asked_change(steps: Times, found: str, hint: str | None, doubts: Doubts) -> ChosenTimeframe | None:
    """Ask where one step is followed for good by another; gaps and weekends stand among the others and do not count."""
    if hint == found or steps.min() == steps.max():
        return None
    lengths, counts = np.unique(steps, return_counts=True)
    frequent = lengths[np.argsort(-counts, kind="stable")[:2]].tolist()
    if len(frequent) < 2 or np.sort(counts)[-2] < LEAST_STEPS:
        return None
    places = [np.flatnonzero(steps == length) for length in frequent]
    earlier, later = sorted((0, 1), key=lambda at: float(np.median(places[at])))
    if np.quantile(places[earlier], CLEAR_SHARE) >= np.quantile(places[later], 1 - CLEAR_SHARE):
        return None
    names = [_name(frequent[earlier]), _name(frequent[later])]
    choices = [Choice(name, name, likely=name == min(names, key=timeframe.parse)) for name in names]
    reason = f"The step changes within the file: candles are {names[0]} at first and {names[1]} later."
    answer = doubts.ask("timeframe", "Which timeframe is this file?", choices, reason, free=True)
    return ChosenTimeframe(answer, reason)


def _without_step(times: Times, hint: str | None, doubts: Doubts, *, date_only: bool) -> ChosenTimeframe:
    answer = doubts.given("timeframe")
    if answer is not None:
        return ChosenTimeframe(timeframe.name(timeframe.parse(answer)), "as answered")
    aligned = [name for name in USUAL if not np.any(times % timeframe.parse(name))]
    if hint is not None and not np.any(times % min(timeframe.parse(hint), timeframe.DAY)):
        return ChosenTimeframe(hint, "one candle has no step; the file itself or its name says so")
    if date_only:
        return ChosenTimeframe("1d", "one candle has no step; it has a date without a clock")
    likely = aligned[-1] if aligned else "1s"
    choices = [Choice(name, name, likely=name == likely) for name in ("1s", *USUAL)]
    reason = "The file has one candle, so that no step tells how long a candle is."
    return ChosenTimeframe(doubts.ask("timeframe", "How long is a candle?", choices, reason, free=True), "as answered")
