"""What a few marks teach, on L1, L2b and the sample EUR/USD: spans found, live state, wrong marks, time.

Marks follow a hidden zigzag (a turn of 5 slow σ): whole views of 200 candles of the first 60% are marked until N swings
are, and the last 20% are scored, once. The plain recipe is measured beside it in the same run: surroundings, logistic
regression, Viterbi for history, a filter for the live edge. `python -m bench.few_labels` prints the tables.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from bench.report import Measure
from nn.dataset_dir import Candles
from nn.few.choice import Chosen, choose
from nn.few.doubts import rank_doubtful
from nn.few.live import learn_live, momentum
from nn.few.marked import Marked
from nn.few.market import Market
from nn.few.piece import Piece
from nn.few.readers import READERS
from nn.few.spans import Agreement, Ints, Span, agreement, moved, paint
from nn.few.zigzag import zigzag

ROOT = Path(__file__).parents[1]
LARGE = ROOT.parent / "shared" / "candles" / "large"
FACTS = {"L1": "L1_kraken_XBTUSD_60.csv", "L2b": "L2b_oanda_EURUSD_1h_bid_plain_DERIVED.csv"}
CANDLES = 31_000
HOUR_MS = 3_600_000
TURN = 5.0  # slow σ of the hidden rule
VIEW = 200  # candles that a person sees and marks at once
TRAIN, TEST = 0.6, 0.8
RUN_UP = 600
SEEDS = range(100, 108)
GENERAL = {name: reader for name, reader in READERS.items() if name != "swings"}
SPAN_BARS = {("L1", 20): (0.58, 0.30), ("L2b", 20): (0.76, 0.48), ("L1", 60): (0.70, 0.30), ("L2b", 60): (0.84, 0.48)}
JITTER, OMITTED = 2, 0.1
WRONG_MARKS, WRONG_SHARE, WRONG_SEEDS = 200, 0.05, range(200, 210)
BUSY_MARKS = 200


class Field(NamedTuple):
    """A market with the hidden swings, and where training ends and the test begins."""

    name: str
    whole: Market
    train: Market
    swings: list[Span]
    test: int

    @property
    def wanted(self) -> list[Span]:
        """Give the hidden swings of the test part."""
        return [span for span in self.swings if span.start >= self.test]


def measures() -> Iterator[Measure]:
    """Measure spans, noise, live state, wrong marks and time on every market that is at hand."""
    with threadpool_limits(1):  # type: ignore[no-untyped-call]
        for field in fields():
            yield from _clean(field)
            yield from _noisy(field)
            yield from _wrong(field)
        yield _seconds()


def fields() -> Iterator[Field]:
    """Give L1 and L2b where the folder of facts is there, and the sample."""
    for name, file in FACTS.items():
        if (LARGE / file).exists():
            yield _field(name, _read(LARGE / file))
    yield _field("EUR/USD sample", _read(ROOT / "data" / "sample" / "eurusd-1h.csv.gz"))


def views(field: Field, count: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Draw views of the train part until `count` swings begin in them."""
    drawn: list[tuple[int, int]] = []
    swings = 0
    for index in rng.permutation(len(field.train) // VIEW).tolist():
        start, end = index * VIEW, (index + 1) * VIEW
        drawn.append((start, end))
        swings += sum(start <= span.start < end for span in field.swings)
        if swings >= count:
            break
    return drawn


def marks(field: Field, count: int, rng: np.random.Generator, jitter: int = 0, omitted: float = 0.0) -> Marked:
    """Mark the swings of drawn views, cut at their borders; a shaky hand misses ends and leaves swings out."""
    marked: list[Span] = []
    for start, end in views(field, count, rng):
        for span in field.swings:
            if span.end <= start or span.start >= end or rng.random() < omitted:
                continue
            first, last = (edge + int(rng.integers(-jitter, jitter + 1)) for edge in span[:2])
            held = Span(max(first, start), min(last, end), span.label)
            if held.end - held.start >= 2:
                marked.append(held)
    return Marked(marked, [], 2)


def plant(spans: Sequence[Span], rng: np.random.Generator, kinds: Sequence[str]) -> tuple[list[Span], set[Span]]:
    """Spoil a share of the marks: labels flipped, spans shifted by half, or stretched by half on one side."""
    planted, wrong = list(spans), set()
    for i in rng.choice(len(spans), round(WRONG_SHARE * len(spans)), replace=False).tolist():
        planted[i] = _spoilt(spans[i], str(rng.choice(kinds)), rng)
        wrong.add(planted[i])
    return sorted(planted), wrong


def score(field: Field, chosen: Chosen, name: str | None = None) -> Agreement:
    """Score the chosen reader, or the one named, on the test part."""
    read = chosen.read if name is None else READERS[name].learn(chosen.lesson)
    piece = Piece(field.whole, field.test - RUN_UP, len(field.whole))
    return agreement([span for span in read(piece) if span.start >= field.test - 2], field.wanted)


def live_figures(field: Field, chosen: Chosen) -> tuple[float, float]:
    """Give candle F1 of the causal state on the test part: the model's, and the momentum rule's."""
    n = len(field.whole)
    truth = paint(field.swings, n, 0)[field.test :]
    reader = learn_live(chosen.folds, chosen.lesson)
    states = reader.beliefs(field.whole, field.test, n).argmax(axis=1) if reader else np.zeros_like(truth)
    return candle_f1(states, truth), candle_f1(momentum(field.whole, field.test, n), truth)


def candle_f1(states: Ints, truth: Ints) -> float:
    """Give the mean F1 of the two classes over candles."""
    both = [(states == k) & (truth == k) for k in (0, 1)]
    return float(
        np.mean([2 * hit.sum() / max(1, (states == k).sum() + (truth == k).sum()) for k, hit in enumerate(both)])
    )


def _clean(field: Field) -> Iterator[Measure]:
    for count in (20, 60):
        chosen = [choose(field.train, marks(field, count, np.random.default_rng(seed))) for seed in SEEDS]
        scores = [score(field, one) for one in chosen]
        general = [score(field, choose(field.train, one.lesson.marked, GENERAL)) for one in chosen]
        recipe = [score(field, one, "states") for one in chosen]
        f1, ends = SPAN_BARS.get((field.name, count), (0.58, 0.30))
        peer = f"(plain recipe {_mean(recipe)}, without the swings rule {_mean(general)})"
        yield Measure(f"{field.name}, {count} swings: span F1", peer, [s.f1 for s in scores], f1, "at least")
        yield Measure(f"{field.name}, {count} swings: both ends", peer, [s.both_ends for s in scores], ends, "at least")
    live = [live_figures(field, one) for one in chosen]
    yield Measure(
        f"{field.name}, 60 swings: live candle F1",
        f"(momentum {live[0][1]:.3f}; the recipe's filter {np.mean([_recipe_live(field, one) for one in chosen]):.3f})",
        [ours / _recipe_live(field, one) for (ours, _), one in zip(live, chosen, strict=True)],
        0.99,
        "at least",
        "as a ratio to the recipe's filter",
    )


def _noisy(field: Field) -> Iterator[Measure]:
    for count in (20, 60):
        ratios = []
        for seed in SEEDS:
            marked = marks(field, count, np.random.default_rng(seed), JITTER, OMITTED)
            chosen = choose(field.train, marked)
            ratios.append(score(field, chosen).f1 / max(1e-9, score(field, chosen, "states").f1))
        note = f"ends off by up to {JITTER}, {OMITTED:.0%} left out"
        yield Measure(f"{field.name}, {count} shaky swings: span F1", "the plain recipe", ratios, 1.0, "at least", note)


def _wrong(field: Field) -> Iterator[Measure]:
    for kinds, bar in ((("flip",), 0.75), (("flip", "shift", "stretch"), 0.55)):
        for readers, by in ((READERS, "all readers"), (GENERAL, "without the swings rule")):
            found = []
            for seed in WRONG_SEEDS:
                planted, wrong = plant(_some_swings(field, seed), np.random.default_rng(seed), kinds)
                ranked = rank_doubtful(choose(field.whole, Marked(planted, [], 2), readers))
                top = {doubt.span for doubt in ranked[: len(planted) // 10]}
                found.append(len(top & wrong) / len(wrong))
            name = f"{field.name}, 5% wrong marks ({', '.join(kinds)}; {by}): share in the first 10%"
            yield Measure(name, "(random .10)", found, bar, "at least")


def _seconds() -> Measure:
    *_, field = fields()
    market = Market(field.whole.candles.slice(0, 6_000))
    some = Marked(zigzag(market, 2.3)[:BUSY_MARKS], [], 2)
    took = []
    for _ in range(5):
        started = time.perf_counter()
        fresh = Market(market.candles)
        choose(fresh, some).read(Piece(fresh, 0, len(fresh)))
        took.append(time.perf_counter() - started)
    return Measure(f"{len(some.spans)} marks to spans of 6,000 candles", "second", took, 3.0, "at most")


def _recipe_live(field: Field, chosen: Chosen) -> float:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from nn.few.decoding import sticky_filter
    from nn.few.surroundings import SCALES, causal

    known = paint(chosen.lesson.marked.spans, len(field.train))
    rows = causal(field.train, 0, len(field.train))[:, : 2 * len(SCALES)]
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)).fit(rows[known >= 0], known[known >= 0])
    n = len(field.whole)
    ahead = causal(field.whole, field.test - RUN_UP, n)[:, : 2 * len(SCALES)]
    states = sticky_filter(model.predict_proba(ahead), 0.97)[RUN_UP:].argmax(axis=1)
    return candle_f1(states, paint(field.swings, n, 0)[field.test :])


def _some_swings(field: Field, seed: int) -> list[Span]:
    swings = field.swings if len(field.swings) > WRONG_MARKS else zigzag(field.whole, TURN / 2)
    first = int(np.random.default_rng(seed).integers(max(1, len(swings) - WRONG_MARKS)))
    return swings[first : first + WRONG_MARKS]


def _spoilt(span: Span, kind: str, rng: np.random.Generator) -> Span:
    by = max(4, (span.end - span.start) // 2)
    before = bool(rng.integers(2)) and span.start > by
    if kind == "flip":
        return span._replace(label=1 - span.label)
    if kind == "shift":
        return moved([span], -by if before else by)[0]
    return span._replace(start=span.start - by) if before else span._replace(end=span.end + by)


def _mean(scores: Sequence[Agreement]) -> str:
    return f"{np.mean([one.f1 for one in scores]):.3f}/{np.mean([one.both_ends for one in scores]):.2f}"


def _field(name: str, candles: Candles) -> Field:
    whole, n = Market(candles), len(candles)
    return Field(name, whole, Market(candles.slice(0, int(TRAIN * n))), zigzag(whole, TURN), int(TEST * n))


def _read(path: Path) -> Candles:
    """Read `time, open, high, low, close[, volume …]`, with a header or without; times are numbered anew."""
    table = pd.read_csv(path, header=None, low_memory=False)
    table = table.iloc[1:] if isinstance(table.iloc[0, 1], str) else table
    columns = [table.tail(CANDLES)[i].to_numpy(np.float64) for i in range(1, min(6, table.shape[1]))]
    volume = columns[4] if len(columns) > 4 else np.full(len(columns[0]), np.nan)
    time_ms = np.arange(len(volume), dtype=np.int64) * HOUR_MS
    return Candles(time_ms, columns[0], columns[1], columns[2], columns[3], volume)


if __name__ == "__main__":
    for measure in measures():
        print(measure.line(), f"mean {np.mean(measure.ratios):.3f}", flush=True)
