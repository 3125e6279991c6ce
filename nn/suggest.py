"""The few-label model behind plain data: a dataset and a request in, suggestions, doubts, places and figures out.

No torch: the worker answers these requests beside its training. Times are ms UTC. Everything but `live` looks at later
candles too, up to the cursor, and its answers say so (`hindsight`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from nn.dataset_dir import Candles, DatasetDir
from nn.few.annotations import ACCEPTED, Group, groups, to_json
from nn.few.chances import Chances, calibrate
from nn.few.choice import Chosen, choose
from nn.few.curve import learning_curve
from nn.few.doubts import Doubt, rank_doubtful
from nn.few.history import SIZE, Suggested, read_history
from nn.few.live import LiveReader, learn_live, momentum
from nn.few.marked import Range
from nn.few.market import Market
from nn.few.places import next_places
from nn.few.readers import READERS, Reader
from nn.few.rules import by_rule
from nn.few.spans import Span, runs
from nn.offers import ORDERS, RULES

Json = dict[str, Any]
Floats = npt.NDArray[np.float64]

LIVE_CANDLES = 500
BLAS_THREADS = 1  # the matrices are small: on a busy machine threads that wait for each other took ten times as long


GROWN = 0.25  # share by which marks must have grown for every reader to be tried again
LEAST_GROWN = 6


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


class Known(NamedTuple):
    """Which reader was chosen for a kind and layer when all were tried, and of how many marks."""

    reader: str
    marks: int


class Taught:
    """The marks of a dataset, learnt; asked again with the same marks it answers at once."""

    def __init__(
        self, dataset: DatasetDir, request: Request, known: Mapping[tuple[str, str], Known] | None = None
    ) -> None:
        """Learn; raise NothingMarked where the dataset holds no span, trade or point before the cursor.

        `known` is what `known` of an earlier lesson gave: until the marks have grown by a quarter, only its reader and
        the plain recipe are tried, which takes a third of the time.
        """
        self.request = request
        self.timeframe_ms = int(dataset.manifest["timeframe_ms"])
        self.candles = _before(dataset.candles, request.cursor)
        marks = [mark for mark in dataset.annotations if _known(mark, request.cursor)]
        self.market = Market(self.candles)
        found = groups(
            marks,
            self.candles,
            self.timeframe_ms,
            dataset.manifest.get("layers") or {},
            (*request.reviewed, *request.rejected),
            request.accepted_weight,
        )
        if not found:
            raise NothingMarked("no span, trade or point is marked here; mark a few first, twenty make a start")
        with threadpool_limits(BLAS_THREADS, user_api="blas"):  # type: ignore[no-untyped-call]
            self.parts = [_Part(self.market, group, (known or {}).get((group.kind, group.layer))) for group in found]

    @property
    def known(self) -> dict[tuple[str, str], Known]:
        """Give which reader was chosen for each kind and layer, for the next lesson."""
        return {(part.group.kind, part.group.layer): part.known for part in self.parts}

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

    def causal(self) -> Iterator[Json]:
        """Give the same as `suggestions` by the causal model: no candle after a suggestion changes it.

        The last one may still go on. Its probability is the mean belief in its class over its candles.
        """
        start, end = self._range()
        total, done = len(self.parts) * (end - start), 0
        for part in self.parts:
            reader = learn_live(part.chosen.folds, part.chosen.lesson)
            found = _causal_spans(reader, self.market, start, end) if reader else iter([(end - start, [])])
            for reached, spans in found:
                told = [
                    to_json(part.group, item, self.candles, self.timeframe_ms)
                    for item in spans
                    if self._wanted(part, item)
                ]
                yield {"done": done + reached, "total": total, "suggestions": told}
            done += end - start

    def summary(self) -> list[Json]:
        """Tell for each kind and layer what it learnt from, which reader was chosen, and how far to trust it."""
        weights = {ACCEPTED: self.request.accepted_weight}
        return [{**part.summary(), "weights": weights, "rejected": len(self.request.rejected)} for part in self.parts]

    def doubts(self, count: int = 50) -> list[Json]:
        """Give the marks that are doubted most, with what was read instead."""
        told = [_doubt(part, item, self) for part in self.parts for item in rank_doubtful(part.chosen)]
        return sorted(told, key=lambda item: -float(item["doubt"]))[:count]

    def places(self) -> list[Json]:
        """Give where to mark next, by the request's order, for the largest group of marks."""
        request, part = self.request, self.parts[0]
        found = next_places(part.chosen, part.chances, self._range(), request.order, request.count, request.seed)
        why = ORDERS[request.order]
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

    def __init__(self, market: Market, group: Group, known: Known | None = None) -> None:
        self.group = group
        marks = len(group.marked.spans)
        again = known is None or abs(marks - known.marks) > max(LEAST_GROWN, GROWN * known.marks)
        self.chosen: Chosen = choose(market, group.marked, READERS if known is None or again else _few(known.reader))
        self.known = Known(self.chosen.name, marks if known is None or again else known.marks)
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
            "taught": len(self.group.marked.spans),
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
    """Give the marks of a rule as suggestions; `labels` name what "rising" and "falling" become, or are left out.

    Raises ValueError naming a rule or a parameter that is wrong.
    """
    candles = _before(dataset.candles, cursor)
    timeframe_ms = int(dataset.manifest["timeframe_ms"])
    names = [labels.get("falling"), labels.get("rising")]
    found = by_rule(Market(candles), name, parameters)
    return [
        {
            "kind": RULES[name].kind,
            "label": label,
            "rule": name,
            **_place(RULES[name].kind, span, candles, timeframe_ms),
        }
        for span in found
        if (label := names[span.label])
    ]


def _place(kind: str, span: Span, candles: Candles, timeframe_ms: int) -> Json:
    last = int(candles.time[span.end - 1])
    if kind == "point":
        return {"time": last, "price": float(candles.close[span.end - 1])}
    return {"start": int(candles.time[span.start]), "end": last + timeframe_ms}


def _few(reader: str) -> Mapping[str, Reader]:
    """Give the plain recipe and one more reader."""
    return {name: READERS[name] for name in dict.fromkeys((next(iter(READERS)), reader))}


def _causal_spans(reader: LiveReader, market: Market, start: int, end: int) -> Iterator[tuple[int, list[Suggested]]]:
    """Give how many candles were read, and the runs that ended since; a run goes on from one piece to the next."""
    nothing, open_since = reader.n_classes, start
    beliefs = np.empty((0, nothing + 1))
    for begin in range(start, end, SIZE):
        until = min(begin + SIZE, end)
        beliefs = np.concatenate([beliefs, reader.beliefs(market, begin, until)])
        classes = beliefs.argmax(axis=1)
        whole = len(classes) if until == end else int(np.flatnonzero(np.diff(classes, prepend=-1))[-1])
        found = [_believed(span, beliefs, open_since) for span in runs(classes[:whole], nothing)]
        beliefs, open_since = beliefs[whole:], open_since + whole
        yield until - start, found


def _believed(span: Span, beliefs: Floats, first: int) -> Suggested:
    probability = float(beliefs[span.start : span.end, span.label].mean())
    return Suggested(Span(span.start + first, span.end + first, span.label), probability)


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
