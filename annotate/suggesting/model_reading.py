"""Suggestions by the trained model: its label head, asked piece by piece, and held against what the marks teach.

Knows neither process; the trainer and the suggester are asked through what is handed over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotate.annotations.geometry import KINDS

Json = dict[str, Any]

PIECE = 4_000  # candles of a question, so that a quick one never waits long behind it
LEAST_MARKS = 5  # fewer marks that neither had seen say nothing of which reads better
MOST_CANDLES = 20_000  # that are read to compare the two
COVERED = 5  # a suggestion of which marks hold more than a fifth says nothing new
ACCEPTED = "model_accepted"

ReadLabels = Callable[[Json], Json]


@dataclass(frozen=True, slots=True)
class ModelReading:
    """The label head of one series' newest weights; `ask` raises what the trainer answers."""

    ask: ReadLabels
    candles: str  # path of the candle file
    timeframe_ms: int
    marks: Sequence[Json]
    cursor: int | None
    hindsight: bool

    def pieces(self, start: int | None, end: int | None) -> Iterator[Json]:
        """Give `{done, total, suggestions, run_id, …}` piece by piece for candles in [start, end); none over marks."""
        done, last = 0, start
        while True:
            body = self._read(start, end, done, PIECE)
            fresh = [one for one in body["suggestions"] if last is None or one["start"] >= last]
            last = max((one["end"] for one in fresh), default=last)  # two pieces may see one span each in its own way
            yield {**body, "suggestions": [one for one in fresh if not self._is_marked(one)]}
            done = body["done"]
            if done >= body["total"]:
                return

    def seen_to(self) -> Json:
        """Give `{run_id, model, step, data_cut}`: whose weights these are, and the newest candle that they know."""
        return self._read(None, None, 0, 0)

    def held_out(self) -> list[Json]:
        """Give the marks that neither the model nor a lesson of the earlier marks has seen: a person's own spans."""
        cut = self.seen_to()["data_cut"]
        own = (mark for mark in self.marks if mark["kind"] == "span" and mark.get("source") != ACCEPTED)
        unseen = [mark for mark in own if cut is not None and mark["start"] > cut]
        unseen.sort(key=lambda mark: int(mark["start"]))
        until = unseen[0]["start"] + MOST_CANDLES * self.timeframe_ms if unseen else 0
        return [mark for mark in unseen if mark["end"] <= until]

    def found_over(self, marks: Sequence[Json]) -> list[Json]:
        """Read the stretch of time that these marks lie in, over them too."""
        found: list[Json] = []
        start, end = stretch_of(marks)
        done, total = 0, 1
        while done < total:
            body = self._read(start, end, done, PIECE)
            found += body["suggestions"]
            done, total = body["done"], body["total"]
        return found

    def _read(self, start: int | None, end: int | None, at: int, count: int) -> Json:
        places = {"start": start, "end": end, "cursor": self.cursor, "at": at, "count": count}
        whole = {"candles": self.candles, "timeframe_ms": self.timeframe_ms, "hindsight": self.hindsight}
        return self.ask({**whole, **places})

    def _is_marked(self, one: Json) -> bool:
        spans = (mark for mark in self.marks if mark["kind"] == "span")
        shared = sum(max(0, min(one["end"], mark["end"]) - max(one["start"], mark["start"])) for mark in spans)
        return bool(COVERED * shared > one["end"] - one["start"])


def stretch_of(marks: Sequence[Json]) -> tuple[int, int]:
    """Give the beginning of the first mark and the end of the last, ms UTC."""
    return min(mark["start"] for mark in marks), max(mark["end"] for mark in marks)


def marks_before(marks: Sequence[Json], start: int) -> list[Json]:
    """Give the marks of any kind that end before a time; one on the whole chart has none, and says nothing here."""
    ends = [(mark, KINDS[mark["kind"]].last(mark)) for mark in marks]
    return [mark for mark, last in ends if last is not None and last < start]


def earlier(ranges: Sequence[Sequence[int]], start: int) -> list[list[int]]:
    """Give the parts of ranges before a time: what is said of later candles would give the answer away."""
    return [[first, min(end, start)] for first, end in ranges if first < start]


def learnt_by(facts: Mapping[str, Any] | None, body: Json) -> list[Json]:
    """Tell what the weights learnt from, in the words of a lesson; `facts` are those of their run, where known."""
    known = facts or {}
    marks = known.get("marks") or {}
    return [
        {
            "kind": "span",
            "layer": "",
            "reader": f"{body['model']} of run {body['run_id']}",
            "hindsight": False,
            "marks": marks,
            "weights": {ACCEPTED: known["accepted_weight"]} if "accepted_weight" in known else {},
            "rejected": known.get("rejected", 0),
            "taught": sum(marks.values()),
            "scores": {},
            "reliability": None,
        }
    ]
