"""What the order of asking saves: a simulated person marks what **Next** shows, through the real HTTP API.

Hidden swings (a turn of 5 slow σ) are marked place by place: 3 places at random first, then two by the order, until 20
marks. After each round the last fifth of the series, never marked, is suggested and scored. `python -m bench.asking`
prints the table: marks to reach 90% of the plateau, by order, and what each order saves against `random`, seed by seed.
"""

from __future__ import annotations

import sys
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bench.few_labels import FACTS, LARGE, ROOT, _read
from bench.report import Measure
from nn.dataset_dir import Candles
from nn.few.market import Market
from nn.few.spans import Span, agreement
from nn.few.zigzag import zigzag
from tests.serving import Server, start_server

Json = dict[str, Any]
Floats = npt.NDArray[np.float64]

HOUR_MS = 3_600_000
START_MS = 1_500_000_000_000 - 1_500_000_000_000 % HOUR_MS
CANDLES = 6_000
TURN = 5.0
TEST = 0.8  # what lies after is scored and never marked
ORDERS = ("random", "time", "entropy", "margin", "disagreement", "unseen")
SEEDS = range(10)
FIRST, MORE, MOST = 3, 2, 20  # places at first and in each round; marks at the end
REACHED = 0.9  # share of the plateau
NAMES = ("Short", "Long")
ERRS = 0.1  # of the noisy person: a flipped label, or an end off by a quarter of the swing
WAIT_S = 300


class Person(NamedTuple):
    """A hidden rule, and how often the one who follows it errs."""

    name: str
    candles: Candles
    errs: float


class Way(NamedTuple):
    """One way through the series: marks drawn and F1 on the part that is scored, after each round."""

    marks: list[int]
    f1: list[float]


def people() -> Iterator[Person]:
    """Give the sample EUR/USD, L1 and L2b where the folder of facts is there, and a noisy one on the sample."""
    sample = _read(ROOT / "data" / "sample" / "eurusd-1h.csv.gz")
    yield Person("EUR/USD sample", sample, 0.0)
    yield Person("EUR/USD sample, errs on 10%", sample, ERRS)
    for name, file in FACTS.items():
        if (LARGE / file).exists():
            whole = _read(LARGE / file)
            yield Person(name, whole.slice(len(whole) - CANDLES, len(whole)), 0.0)


class Marking:
    """A person who marks one series through the API."""

    def __init__(self, server: Server, person: Person, seed: int) -> None:
        self.server, self.person = server, person
        self.draw = np.random.default_rng(seed)
        self.seed = seed
        self.times = START_MS + HOUR_MS * np.arange(len(person.candles), dtype=np.int64)
        self.swings = zigzag(Market(person.candles), TURN)[1:-1]
        self.test = int(TEST * len(person.candles))
        self.series_id = upload(server, person, self.times)
        self.drawn: set[Span] = set()

    def walk(self, order: str) -> Way:
        """Mark by an order until there are enough marks; give how F1 grew."""
        grown = Way([], [])
        self._mark(self._places("random", FIRST) if order != "time" else self._in_time(FIRST))
        while True:
            grown.marks.append(len(self.drawn))
            grown.f1.append(self._score())
            if len(self.drawn) >= MOST:
                return grown
            before = len(self.drawn)
            self._mark(self._in_time(2 * FIRST) if order == "time" else self._places(order, MORE))
            if len(self.drawn) == before:
                return grown

    def plateau(self) -> float:
        """Mark every swing that may be marked and give F1."""
        self._mark([span[:2] for span in self.swings if span.end <= self.test])
        return self._score()

    def _places(self, order: str, count: int) -> list[tuple[int, int]]:
        if not self.drawn:
            width = 48
            starts = self.draw.choice(self.test // width, count, replace=False)
            return [(int(start) * width, int(start + 1) * width) for start in starts]
        asked = {
            "order": order,
            "count": count,
            "seed": self.seed + len(self.drawn),
            "from": self._at(0),
            "to": self._at(self.test),
        }
        items = self.server.post(f"/api/series/{self.series_id}/places", asked)["items"]
        return [tuple(np.searchsorted(self.times, [item["start"], item["end"]]).tolist()) for item in items]

    def _in_time(self, count: int) -> list[tuple[int, int]]:
        left = [span for span in self.swings if span not in self.drawn and span.end <= self.test]
        return [span[:2] for span in left[:count]]

    def _mark(self, places: Sequence[tuple[int, int]]) -> None:
        """Mark each swing whose middle the place shows, or that holds the place's middle."""
        for start, end in places:
            for span in self.swings:
                shown = start <= span.middle < end or span.start <= (start + end) // 2 < span.end
                if shown and span.end <= self.test and span not in self.drawn:
                    self.drawn.add(span)
                    self._put(self._as_drawn(span))

    def _as_drawn(self, span: Span) -> Span:
        if self.draw.random() >= self.person.errs:
            return span
        if self.draw.random() < 0.5:
            return span._replace(label=1 - span.label)
        off = max(2, (span.end - span.start) // 4)
        return span._replace(end=min(span.end + off, self.test))

    def _put(self, span: Span) -> None:
        body = {"kind": "span", "label": NAMES[span.label], "start": self._at(span.start), "end": self._at(span.end)}
        answer = self.server.call("PUT", f"/api/series/{self.series_id}/annotations/{uuid.uuid4()}", json=body)
        assert answer.status_code == 200, answer.text

    def _score(self) -> float:
        """Suggest over the part that is never marked and give F1 of the spans found there."""
        path = f"/api/series/{self.series_id}/suggestions"
        task = self.server.post(path, {"from": self._at(self.test - 600)})["task"]

        def done() -> Json | None:
            now: Json = self.server.get(f"/api/suggestion-tasks/{task['id']}")["task"]
            return now if now["state"] != "running" else None

        ended = self.server.wait_for(done, within_s=WAIT_S, every_s=0.05)
        assert ended["state"] == "finished", ended
        items = self.server.get(f"{path}?from={self._at(self.test)}")["items"]
        found = [self._span(item) for item in items if item["start"] >= self._at(self.test) - 2 * HOUR_MS]
        return agreement(found, [span for span in self.swings if span.start >= self.test]).f1

    def _span(self, item: Json) -> Span:
        start, end = np.searchsorted(self.times, [item["start"], item["end"]]).tolist()
        return Span(start, end, NAMES.index(item["label"]))

    def _at(self, candle: int) -> int:
        return int(self.times[candle]) if candle < len(self.times) else int(self.times[-1]) + HOUR_MS


def marks_to_reach(grown: Way, plateau: float) -> float:
    """Give how many marks it took to 90% of the plateau, between two rounds by a straight line; `MOST` if never."""
    wanted = REACHED * plateau
    for i, f1 in enumerate(grown.f1):
        if f1 < wanted:
            continue
        if i == 0 or f1 == grown.f1[i - 1]:
            return float(grown.marks[i])
        share = (wanted - grown.f1[i - 1]) / (f1 - grown.f1[i - 1])
        return grown.marks[i - 1] + share * (grown.marks[i] - grown.marks[i - 1])
    return float(MOST)


def interval(values: Floats) -> tuple[float, float]:
    """Give the 95% interval of a mean by drawing the seeds anew."""
    draws = np.random.default_rng(0).choice(values, (4_000, len(values))).mean(axis=1)
    low, high = np.percentile(draws, [2.5, 97.5])
    return float(low), float(high)


def table(person: Person, plateau: float, ways: dict[str, list[Way]]) -> list[str]:
    """Give the lines to print: marks to 90% of the plateau by order, and what each saves against chance."""
    took = marks_by_order(plateau, ways)
    lines = [f"{person.name}: F1 {plateau:.3f} with every mark; {len(ways['random'])} seeds"]
    for order, marks in took.items():
        saved = 1 - marks / took["random"]
        low, high = interval(saved)
        told = "" if order == "random" else f", saves {saved.mean():+.0%} [{low:+.0%}, {high:+.0%}]"
        end, start = (np.mean([way.f1[i] for way in ways[order]]) for i in (-1, 0))
        never = sum(way.f1[-1] < REACHED * plateau for way in ways[order])
        lines.append(f"  {order}: {marks.mean():.1f} marks{told}; F1 {start:.3f} to {end:.3f}; not reached {never}")
    return lines


def marks_by_order(plateau: float, ways: dict[str, list[Way]]) -> dict[str, Floats]:
    """Give the marks that each order took to 90% of the plateau, by seed."""
    return {order: np.array([marks_to_reach(way, plateau) for way in found]) for order, found in ways.items()}


def measures() -> Iterator[Measure]:
    """Walk every order on every market that is at hand; the bar is not to need more marks than chance."""
    for person in people():
        with tempfile.TemporaryDirectory() as folder:
            server = start_server(Path(folder) / "data")
            try:
                plateau = Marking(server, person, 0).plateau()
                ways = {order: [Marking(server, person, seed).walk(order) for seed in SEEDS] for order in ORDERS}
            finally:
                server.stop()
        print("\n".join(table(person, plateau, ways)), flush=True)
        took = marks_by_order(plateau, ways)
        for order in ORDERS[1:]:
            ratios = (took[order] / took["random"]).tolist()
            yield Measure(f"{person.name}: marks to 90% by {order}", "random", ratios, 1.0, "at most")


def upload(server: Server, person: Person, times: npt.NDArray[np.int64], timeframe: str = "1h") -> int:
    """Make a series of the person's candles; bytes that came before would give that series, so these differ."""
    name = uuid.uuid4().hex[:8].upper()
    prices = (getattr(person.candles, column).tolist() for column in ("open", "high", "low", "close"))
    rows = (",".join(map(repr, row)) for row in zip(times.tolist(), *prices, strict=True))
    text = "time,open,high,low,close\n" + "\n".join(rows) + "\n" * (1 + int(name, 16) % 5_000)
    answer = server.call(
        "POST", "/api/series", files={"file": ("candles.csv", text)}, data={"symbol": name, "timeframe": timeframe}
    )
    assert answer.status_code == 201, answer.text
    series_id: int = answer.json()["series"]["id"]
    return series_id


if __name__ == "__main__":
    for measure in measures():
        print(measure.line(), flush=True)
    sys.exit(0)
