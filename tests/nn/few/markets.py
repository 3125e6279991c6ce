"""Builders: invented markets, and people who mark them by a hidden rule."""

from typing import Any

import numpy as np

from nn.dataset_dir import Candles, DatasetDir
from nn.few.marked import Marked
from nn.few.market import Market
from nn.few.spans import Span, runs
from nn.few.zigzag import zigzag

Json = dict[str, Any]

HOUR_MS = 3_600_000
START_MS = 1_600_000_000_000


def candles(n: int = 4_000, seed: int = 1) -> Candles:
    """Give a random walk whose volatility wanders; volume is null in places."""
    draw = np.random.default_rng(seed)
    sigma = 0.002 * np.exp(np.convolve(draw.normal(0, 0.5, n), np.ones(60) / 8, "same"))
    steps = draw.standard_t(5, n) * sigma
    close = 100 * np.exp(np.cumsum(steps))
    opened = np.concatenate([[100.0], close[:-1]])
    high = np.maximum(opened, close) * (1 + np.abs(draw.normal(0, 0.3, n)) * sigma)
    low = np.minimum(opened, close) * (1 - np.abs(draw.normal(0, 0.3, n)) * sigma)
    volume = np.where(np.arange(n) % 50 == 7, np.nan, np.exp(draw.normal(0, 1, n)))
    return Candles(START_MS + HOUR_MS * np.arange(n, dtype=np.int64), opened, high, low, close, volume)


def market(n: int = 4_000, seed: int = 1) -> Market:
    return Market(candles(n, seed))


def swings_of(path: Market, turn: float = 5.0) -> list[Span]:
    """Give what a person marks who follows swings; the first and the last are left out as cut by the chart."""
    return zigzag(path, turn)[1:-1]


def bursts_of(path: Market) -> list[Span]:
    """Give what a person marks who looks for wild stretches: one class, with rooms between."""
    moves = np.abs(np.diff(path.log_price, prepend=path.log_price[:1])) / path.sigma
    near = np.convolve(moves, np.ones(24) / 24, "same")
    return [span for span in runs(np.where(near > 1.05, 0, -1)) if span.end - span.start >= 8]


def marked(spans: list[Span], reviewed: list[tuple[int, int]] | None = None, classes: int = 2) -> Marked:
    return Marked(sorted(spans), reviewed or [], classes)


def shaky(spans: list[Span], seed: int = 3, jitter: int = 2, omitted: float = 0.1) -> list[Span]:
    """Give the marks of a hand that misses ends and leaves some out."""
    draw = np.random.default_rng(seed)
    kept = [span for span in spans if draw.random() >= omitted]
    moves = draw.integers(-jitter, jitter + 1, (len(kept), 2)).tolist()
    return [Span(s.start + a, max(s.start + a + 2, s.end + b), s.label) for s, (a, b) in zip(kept, moves, strict=True)]


def changed_after(path: Market, cut: int) -> Market:
    """Give the market with every candle from `cut` on changed at will."""
    old = path.candles
    factor = np.where(np.arange(len(old)) >= cut, np.exp(np.sin(np.arange(len(old))) * 0.2), 1.0)
    prices = [column * factor for column in (old.open, old.high, old.low, old.close, old.volume)]
    return Market(Candles(old.time, prices[0], prices[1], prices[2], prices[3], prices[4]))


def annotation(span: Span, rows: Candles, label: str, **more: object) -> Json:
    """Give a span annotation as a dataset holds it."""
    start, end = int(rows.time[span.start]), int(rows.time[span.end - 1]) + HOUR_MS
    known = {"known_at": end, "source": "human", "id": f"{span.start}-{span.end}", "updated": span.start}
    return {"kind": "span", "label": label, "start": start, "end": end, **known, **more}


def dataset(rows: Candles, annotations: list[Json], **manifest: object) -> DatasetDir:
    return DatasetDir({"timeframe_ms": HOUR_MS, "symbol": "X/Y", **manifest}, rows, annotations)
