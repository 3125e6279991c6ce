"""The label head over a stretch of a series: its probabilities candle by candle, decoded into spans.

Every candle is answered by a window that ends with it or soon after, on a grid that begins with its segment: no later
candle changes an answer. Only the decoding of history looks back from later candles.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import torch

from nn.dataset_dir import Candles, read_candles
from nn.features import Rows, compute
from nn.few.decoding import sticky_filter, viterbi
from nn.few.spans import Span, runs
from nn.snapshot import Snapshot, logits_of
from nn.split import segment_ids
from nn.tape import finite

Json = dict[str, Any]
Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

STAY = 0.97  # chance that the state of a candle is that of the one before
RUN_UP = 400  # candles read before those asked for, so that it no longer matters where the decoding began
RUN_OUT = 500  # and after them, so that a span that goes on is seen to its end
AT_ONCE = 16  # windows


@dataclass(frozen=True, slots=True)
class Series:
    """The candles of a series, with the model's features and the number of each one's gapless stretch."""

    candles: Candles
    timeframe_ms: int
    rows: Rows  # (n, F)
    segment: Indices  # (n,)

    @classmethod
    def of(cls, path: Path, timeframe_ms: int) -> Self:
        """Read a candle file; raise DatasetError."""
        candles = finite(read_candles(path))
        return cls(candles, timeframe_ms, compute(candles).rows, segment_ids(candles.time, timeframe_ms))

    def rows_of(self, start: int | None, end: int | None) -> tuple[int, int]:
        """Give the rows of the candles that open in [start, end), ms UTC; None: from the first, to the last."""
        first = 0 if start is None else int(np.searchsorted(self.candles.time, start))
        last = len(self.candles) if end is None else int(np.searchsorted(self.candles.time, end))
        return first, max(first, last)


def read_labels(snapshot: Snapshot, series: Series, start: int, end: int, limit: int, *, hindsight: bool) -> list[Json]:
    """Give the spans whose middle lies in rows [start, end) as drafts of annotations with `probability`.

    Nothing at or after row `limit` is looked at. A span's probability is the mean one of its label over its candles.
    With one label there is nothing to tell it from: every candle has it.
    """
    first, last = max(0, start - RUN_UP), min(limit, end + RUN_OUT)
    likely = _probabilities(snapshot, series, first, last)
    states = _states(likely, series.segment[first:last], hindsight=hindsight)
    spans = [span for span in runs(states, likely.shape[1]) if start <= first + span.middle < end]
    return [_draft(snapshot, series, likely, span, first) for span in spans]


def _probabilities(snapshot: Snapshot, series: Series, first: int, last: int) -> Floats:
    """Give P(label) of rows [first, last): (m, K)."""
    length = snapshot.config.sequence_length
    step = max(1, length // 2)
    likely = np.zeros((last - first, len(snapshot.labels)))
    plan = _plan(series.segment, first, last, step)
    for at in range(0, len(plan), AT_ONCE):
        some = plan[at : at + AT_ONCE]
        x = np.stack([_window(series.rows, low, high - length, high) for low, _, high in some])
        found = logits_of(snapshot, torch.from_numpy(x))["label"].double().softmax(-1).cpu().numpy()
        for window, (_, begin, high) in zip(found, some, strict=True):
            a, b = max(begin, first), min(high, last)
            likely[a - first : b - first] = window[a - (high - length) : b - (high - length)]
    return likely


def _plan(segment: Indices, first: int, last: int, step: int) -> list[tuple[int, int, int]]:
    """Give (first row of the segment, first row answered, row after the window) on each segment's own grid."""
    borders = [first, *(first + 1 + np.flatnonzero(np.diff(segment[first:last]))).tolist(), last]
    plan = []
    for begin, end in pairwise(borders):
        low = int(np.searchsorted(segment, segment[begin])) if begin < end else begin
        grid = range(low + (begin - low) // step * step, end, step)
        plan += [(low, at, at + step) for at in grid]
    return plan


def _window(rows: Rows, low: int, start: int, end: int) -> Rows:
    """Give rows [start, end), nothing before the segment and nothing where the series has ended: (T, F)."""
    window = np.zeros((end - start, rows.shape[1]), rows.dtype)
    a, b = max(low, start), min(end, len(rows))
    window[a - start : b - start] = rows[a:b]
    return window


def _states(likely: Floats, segment: Indices, *, hindsight: bool) -> Indices:
    """Give the state of each row, K for nothing: where no label is likelier than chance."""
    nothing = np.full((len(likely), 1), 1 / max(1, likely.shape[1]))
    seen = np.maximum(np.concatenate([likely, nothing], axis=1), 1e-12)
    cuts = np.flatnonzero(np.diff(segment)) + 1
    parts = np.split(seen, cuts)  # a gap ends every span
    decoded = [viterbi(np.log(part), STAY) if hindsight else sticky_filter(part, STAY).argmax(axis=1) for part in parts]
    return np.concatenate(decoded) if decoded else np.empty(0, np.int64)


def _draft(snapshot: Snapshot, series: Series, likely: Floats, span: Span, first: int) -> Json:
    time = series.candles.time
    return {
        "kind": "span",
        "label": snapshot.labels[span.label],
        "start": int(time[first + span.start]),
        "end": int(time[first + span.end - 1]) + series.timeframe_ms,
        "probability": round(float(likely[span.start : span.end, span.label].mean()), 4),
    }
