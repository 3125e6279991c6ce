"""Reading a whole series, however long, in overlapping pieces that are spliced where both readings agree."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from nn.few.market import Market
from nn.few.piece import Piece
from nn.few.readers import Read
from nn.few.spans import Span

SIZE = 8_000  # candles of a piece
OVERLAP = 1_500  # candles to either side of it: decoders forget where they began within a few hundred


class Suggested(NamedTuple):
    """A span that a reader found and the probability that the person would have marked it so."""

    span: Span
    probability: float


class Progress(NamedTuple):
    """The spans that became final, in order of time, and how far the reading is."""

    found: list[Suggested]
    done: int  # candles
    total: int


Tell = Callable[[Piece, Sequence[Span]], list[Suggested]]


def read_history(
    market: Market, read: Read, tell: Tell, start: int, end: int, size: int = SIZE, overlap: int = OVERLAP
) -> Iterator[Progress]:
    """Read candles [start, end); stop by not asking for the next. Memory is that of one piece.

    Spans of one reading do not overlap, so neither do those that are given.
    """
    kept: list[Suggested] = []
    since = start
    long = end - start > size + overlap  # a short one is read at one go
    borders = [*(border for border in _borders(start, end, size) if long and border < end - overlap), end]
    for begin, border in zip([start, *borders[:-1]], borders, strict=True):
        piece = Piece(market, max(start, begin - overlap), min(end, border + overlap))
        new = tell(piece, read(piece))
        cut = since if begin == start else _cut(kept, new, begin, overlap)
        final = [item for item in kept if item.span.end <= cut]
        kept = [item for item in new if item.span.start >= cut]
        if begin > start:
            yield Progress(final, begin - start, end - start)
        since = cut
    yield Progress(kept, end - start, end - start)


def _borders(start: int, end: int, size: int) -> Iterator[int]:
    """Give where pieces end: small ones at first, so that the first suggestions come soon."""
    border, step = start, max(1, size // 8)
    while border + step < end:
        border += step
        step = min(size, 2 * step)
        yield border


def _cut(old: Sequence[Suggested], new: Sequence[Suggested], border: int, overlap: int) -> int:
    """Give the candle nearest to the border that both readings have as an edge, else that no span of either crosses."""
    low, high = border - overlap // 2, border + overlap // 2
    edges = [{edge for item in found for edge in item.span[:2] if low <= edge <= high} for found in (old, new)]
    shared = edges[0] & edges[1] or {edge for edge in edges[0] | edges[1] | {border} if not _crossed(edge, old, new)}
    return min(shared, key=lambda edge: abs(edge - border), default=border)


def _crossed(edge: int, *readings: Sequence[Suggested]) -> bool:
    return any(item.span.start < edge < item.span.end for found in readings for item in found)
