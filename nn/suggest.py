"""The few-label model behind plain data: a dataset and a request in, suggestions, doubts, places and figures out.

No torch: the worker answers these requests beside its training. Times are ms UTC. Everything but `live` looks at later
candles too, up to the cursor, and its answers say so (`hindsight`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from threadpoolctl import threadpool_limits

from nn.dataset_dir import Candles, DatasetDir
from nn.few.annotations import Group, groups, to_json
from nn.few.chances import Chances, calibrate
from nn.few.choice import Chosen, choose
from nn.few.curve import learning_curve
from nn.few.doubts import Doubt, rank_doubtful
from nn.few.history import Suggested, read_history
from nn.few.live import learn_live, momentum
from nn.few.marked import Range
from nn.few.market import Market
from nn.few.places import ORDERS, next_places
from nn.few.rules import by_rule
from nn.few.spans import Span

Json = dict[str, Any]

LIVE_CANDLES = 500
BLAS_THREADS = 1  # the matrices are small: on a busy machine threads that wait for each other took ten times as long


class NothingMarked(ValueError):
    """A request that needs marks where there are none."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for; every field may be left out."""

    reviewed: tuple[Range, ...] = ()  # time ranges in which unmarked candles are nothing
    rejected: tuple[Range, ...] = ()  # time ranges of suggestions that a person rejected: negative examples
    accepted_weight: float = 0.3  # of marks that a model made and a person accepted, against 1 for a person's own
    start: int | None = None  # the first and the end of what is to be suggested
    end: int | None = None
    cursor: int | None = None  # under replay: candles that open at or after it are not looked at
    least_probability: float = 0.0
    order: str = "random"
    count: int = 10
    seed: int = 0

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Self:
        """Rebuild; raise ValueError naming a field that does not exist or has no right value."""
        unknown = sorted(set(given) - set(cls.__dataclass_fields__))
        if unknown:
            raise ValueError(f"no field {', '.join(unknown)}; there are {', '.join(cls.__dataclass_fields__)}")
        values = dict(given)
        for name in ("reviewed", "rejected"):
            values[name] = tuple((int(start), int(end)) for start, end in values.get(name, ()))
        made = cls(**values)
        if not 0 < made.accepted_weight <= 1:
            raise ValueError(f"accepted_weight = {made.accepted_weight}; it lies above 0 and at most at 1")
        if made.order not in ORDERS:
            raise ValueError(f"no order {made.order!r}; there are {', '.join(ORDERS)}")
        return made


class Taught:
    """The marks of a dataset, learnt; asked again with the same marks it answers at once."""

    def __init__(self, dataset: DatasetDir, request: Request) -> None:
        """Learn; raise NothingMarked where the dataset holds no span, trade or point before the cursor."""
        self.request = request
        self.timeframe_ms = int(dataset.manifest["timeframe_ms"])
        self.candles = _before(dataset.candles, request.cursor)
        known = [mark for mark in dataset.annotations if _known(mark, request.cursor)]
        self.market = Market(self.candles)
        found = groups(
            known,
            self.candles,
            self.timeframe_ms,
            dataset.manifest.get("layers") or {},
            (*request.reviewed, *request.rejected),
            request.accepted_weight,
        )
        if not found:
            raise NothingMarked("no span, trade or point is marked here; mark a few first, twenty make a start")
        with threadpool_limits(BLAS_THREADS, user_api="blas"):  # type: ignore[no-untyped-call]
            self.parts = [_Part(self.market, group) for group in found]

    def suggestions(self) -> Iterator[Json]:
        """Give `{done, total, suggestions}` piece by piece, in order of time; stop by not asking for the next.

        A suggestion is a draft of an annotation with its `probability`. Marked candles get none of their own kind.
        """
        start, end = self._range()
        total, done = len(self.parts) * (end - start), 0
        for part in self.parts:
            for progress in read_history(self.market, part.chosen.read, part.chances.tell, start, end):
                found = [item for item in progress.found if self._wanted(part, item)]
                told = [to_json(part.group, item, self.candles, self.timeframe_ms) for item in found]
                yield {"done": done + progress.done, "total": total, "suggestions": told}
            done += end - start

    def summary(self) -> list[Json]:
        """Tell for each kind and layer what it learnt from, which reader was chosen, and how far to trust it."""
        return [part.summary() for part in self.parts]

    def doubts(self, count: int = 50) -> list[Json]:
        """Give the marks that are doubted most, with what was read instead."""
        told = [_doubt(part, item, self) for part in self.parts for item in rank_doubtful(part.chosen)]
        return sorted(told, key=lambda item: -float(item["doubt"]))[:count]

    def places(self) -> list[Json]:
        """Give where to mark next, by the request's order, for the largest group of marks."""
        request, part = self.request, self.parts[0]
        found = next_places(part.chosen, part.chances, self._range(), request.order, request.count, request.seed)
        why = ORDERS[request.order][1]
        return [{**self.times(place.start, place.end), "score": place.score, "why": why} for place in found]

    def curve(self) -> Json:
        """Give how F1 out of fold grew with the marks of the largest group, and whether more still help."""
        curve = learning_curve(self.parts[0].chosen, self.request.seed)
        return {"points": [point._asdict() for point in curve.points], "saturated": curve.saturated}

    def live(self, candles: int = LIVE_CANDLES) -> list[Json]:
        """Give the class probabilities of the newest candles by a causal model: later candles change nothing."""
        return [told for part in self.parts if (told := self._live(part, candles))]

    def _live(self, part: _Part, candles: int) -> Json | None:
        reader = learn_live(part.chosen.folds, part.chosen.lesson)
        if reader is None:
            return None
        n = len(self.market)
        first = max(0, n - candles)
        beliefs = reader.beliefs(self.market, first, n)
        names = [*(name for name, _ in part.group.classes), None]
        return {
            "kind": part.group.kind,
            "layer": part.group.layer,
            "classes": names,
            "time": self.candles.time[first:].tolist(),
            "probabilities": np.round(beliefs, 4).tolist(),
            "momentum": momentum(self.market, first, n).tolist(),  # the rule beside it: 1 where price rose
        }

    def _wanted(self, part: _Part, item: Suggested) -> bool:
        return item.probability >= self.request.least_probability and not part.covers(item.span)

    def _range(self) -> Range:
        start, end = self.request.start, self.request.end
        first = 0 if start is None else int(np.searchsorted(self.candles.time, start, side="left"))
        last = len(self.candles) if end is None else int(np.searchsorted(self.candles.time, end, side="left"))
        return first, max(first, last)

    def times(self, start: int, end: int) -> Json:
        """Give candles [start, end) as times."""
        return {"start": int(self.candles.time[start]), "end": int(self.candles.time[end - 1]) + self.timeframe_ms}


class _Part:
    """What one group of marks taught."""

    def __init__(self, market: Market, group: Group) -> None:
        self.group = group
        self.chosen: Chosen = choose(market, group.marked)
        self.chances: Chances = calibrate(self.chosen)
        taken = np.zeros(len(market) + 1, np.int64)
        for span in group.ids:
            taken[span.start + 1 : span.end + 1] = 1
        self._taken = np.cumsum(taken)

    def covers(self, span: Span) -> bool:
        """Tell whether marks hold more than a fifth of a span: there is nothing to suggest then."""
        return bool(5 * (self._taken[span.end] - self._taken[span.start]) > span.end - span.start)

    def summary(self) -> Json:
        """Give the reader, the marks by source, scores out of fold, and the reliability of the probabilities."""
        told = self.chances.reliability
        return {
            "kind": self.group.kind,
            "layer": self.group.layer,
            "reader": self.chosen.name,
            "hindsight": True,
            "marks": self.group.sources,
            "scores": {score.name: score.agreement._asdict() for score in self.chosen.scores},
            "reliability": told._asdict() if told else None,
        }


def rule(
    dataset: DatasetDir,
    name: str,
    parameters: Mapping[str, float],
    labels: Mapping[str, str],
    cursor: int | None = None,
) -> list[Json]:
    """Give the spans of a rule as suggestions; `labels` name what "rising" and "falling" become, or are left out.

    Raises ValueError naming a rule or a parameter that is wrong.
    """
    candles = _before(dataset.candles, cursor)
    timeframe_ms = int(dataset.manifest["timeframe_ms"])
    names = [labels.get("falling"), labels.get("rising")]
    found = by_rule(Market(candles), name, parameters)
    return [
        {
            "kind": "span",
            "label": names[span.label],
            "start": int(candles.time[span.start]),
            "end": int(candles.time[span.end - 1]) + timeframe_ms,
            "rule": name,
        }
        for span in found
        if names[span.label]
    ]


def _before(candles: Candles, cursor: int | None) -> Candles:
    return candles if cursor is None else candles.slice(0, int(np.searchsorted(candles.time, cursor, side="left")))


def _known(mark: Mapping[str, Any], cursor: int | None) -> bool:
    return cursor is None or int(mark.get("known_at") or 0) <= cursor


def _doubt(part: _Part, item: Doubt, taught: Taught) -> Json:
    name, side = part.group.classes[item.span.label]
    instead = None
    if item.instead is not None:
        other, other_side = part.group.classes[item.instead.label]
        instead = {"label": other, "side": other_side, **taught.times(item.instead.start, item.instead.end)}
    return {
        "id": part.group.ids[item.span],
        "kind": part.group.kind,
        "label": name,
        "side": side,
        **taught.times(item.span.start, item.span.end),
        "doubt": round(item.doubt, 4),
        "reasons": {name: round(getattr(item, name), 4) for name in ("candles", "ends", "overlap", "unread")},
        "instead": instead,
    }
