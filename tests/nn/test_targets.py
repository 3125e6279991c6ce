"""Targets: what came of each candle, in classes whose borders are fair, with ties and gaps left out."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from nn.features import compute
from nn.targets import (
    BUCKETS,
    MASKED,
    NORMAL_QUINTILES,
    Edges,
    bucket,
    candle_class,
    fit_edges,
    head_classes,
    label_targets,
    range_class,
    targets,
    trend_class,
)
from tests.nn.live_market import MINUTE, START, market

MARKET = market(800)
SIGMA = compute(MARKET).sigma
WHOLE = np.zeros(800, np.int64)  # one segment


def test_quintiles_of_the_train_candles_make_five_classes_of_equal_size() -> None:
    edges = fit_edges(MARKET, SIGMA)
    classes = targets(MARKET, SIGMA, edges, 5, WHOLE).classes
    for head in ("candle", "range"):
        counts = np.bincount(classes[head][classes[head] != MASKED], minlength=BUCKETS)
        assert counts == pytest.approx(np.full(BUCKETS, 799 / 5), abs=2)


def test_under_500_candles_the_edges_are_those_of_the_standard_normal() -> None:
    edges = fit_edges(MARKET.slice(0, 499), SIGMA[:499])
    assert edges.candle == NORMAL_QUINTILES
    assert "standard normal" in edges.source


def test_equal_returns_share_a_class_and_still_leave_five_rising_edges() -> None:
    close = MARKET.close.copy()
    for i in range(1, 800, 2):
        close[i] = close[i - 1]  # half of the candles do not move
    tied = dataclasses.replace(MARKET, close=close)
    edges = fit_edges(tied, SIGMA)
    classes = targets(tied, SIGMA, edges, 5, WHOLE).classes["candle"][:-1:2]
    assert len(set(classes.tolist())) == 1
    assert np.all(np.diff(edges.candle) > 0)
    assert Edges.from_json(edges.to_json()) == edges


def test_a_market_that_never_moved_falls_back_on_the_standard_normal() -> None:
    flat = dataclasses.replace(MARKET, close=np.full(800, 3.0), high=np.full(800, 3.0), low=np.full(800, 3.0))
    assert fit_edges(flat, SIGMA).candle == NORMAL_QUINTILES


def test_one_due_candle_gets_the_class_that_the_whole_series_gives_it() -> None:
    edges = fit_edges(MARKET, SIGMA)
    whole = targets(MARKET, SIGMA, edges, 5, WHOLE).classes
    for i in (0, 17, 500, 794):
        assert candle_class(MARKET.close[i], MARKET.close[i + 1], SIGMA[i], edges) == whole["candle"][i]
        assert range_class(MARKET.low[i + 1], MARKET.high[i + 1], SIGMA[i], edges) == whole["range"][i]
        assert trend_class(MARKET.close[i], MARKET.close[i + 5]) == whole["trend"][i]


def test_ties_of_the_trend_are_masked_and_counted() -> None:
    close = np.tile([1.0, 2.0, 3.0, 4.0], 200)
    found = targets(dataclasses.replace(MARKET, close=close), SIGMA, Edges(), 4, WHOLE)
    assert found.ties == 796
    assert (found.classes["trend"] == MASKED).all()


def test_what_lies_beyond_the_end_or_a_gap_is_masked() -> None:
    segment = np.r_[np.zeros(400, np.int64), np.ones(400, np.int64)]
    found = targets(MARKET, SIGMA, Edges(), 5, segment).classes
    assert np.flatnonzero(found["candle"] == MASKED).tolist() == [399, 799]
    assert set(np.flatnonzero(found["trend"] == MASKED)) >= {*range(395, 400), *range(795, 800)}


def test_due_targets_do_not_change_when_later_candles_do() -> None:
    close = MARKET.close.copy()
    close[400:] *= 3
    changed = targets(dataclasses.replace(MARKET, close=close), SIGMA, Edges(), 5, WHOLE).classes
    plain = targets(MARKET, SIGMA, Edges(), 5, WHOLE).classes
    assert np.array_equal(changed["candle"][:399], plain["candle"][:399])
    assert np.array_equal(changed["trend"][:395], plain["trend"][:395])


def test_a_value_on_an_edge_belongs_above_it() -> None:
    assert bucket([-9.0, -1.0, 0.0, 9.0], (-1.0, 0.0, 1.0, 2.0)).tolist() == [0, 1, 2, 4]


def test_of_overlapping_spans_the_last_updated_wins() -> None:
    marks = [span("Short", 4, 8, updated=20), span("Long", 2, 6, updated=10)]
    found = label_targets(marks, ("Long", "Short"), times(10), MINUTE)
    assert found.classes.tolist() == [-1, -1, 0, 0, 1, 1, 1, 1, -1, -1]
    assert found.overlapped == 2


def test_a_candle_that_holds_the_start_of_a_finer_mark_is_covered() -> None:
    mark = span("Long", 2, 4) | {"start": START + 2 * MINUTE + 1, "end": START + 3 * MINUTE + 1}
    assert label_targets([mark], ("Long",), times(6), MINUTE).classes.tolist() == [-1, -1, 0, 0, -1, -1]


def test_marks_of_other_kinds_and_other_labels_give_no_class() -> None:
    marks = [span("Gone", 0, 5), span("Long", 0, 5) | {"kind": "point"}]
    assert (label_targets(marks, ("Long",), times(6), MINUTE).classes == MASKED).all()


def test_without_labels_there_is_no_label_head() -> None:
    assert head_classes(()) == {"candle": 5, "trend": 2, "range": 5}
    assert head_classes(("Long", "Short", "Range"))["label"] == 3


@pytest.mark.parametrize("edges", [[0, 1, 2], [0, 1, 1, 2], [0, 1, 2, float("nan")], [3, 2, 1, 0]])
def test_edges_that_do_not_rise_are_refused(edges: list[float]) -> None:
    with pytest.raises(ValueError, match="edges of candle"):
        Edges.from_json({"candle": edges, "range": [1, 2, 3, 4], "source": "test"})


def span(label: str, first: int, end: int, updated: int = 0) -> dict[str, Any]:
    start, stop = START + first * MINUTE, START + end * MINUTE
    return {"kind": "span", "label": label, "start": start, "end": stop, "updated": updated, "known_at": stop}


def times(n: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return START + MINUTE * np.arange(n, dtype=np.int64)
