"""Agreement of two people: known figures, and the rules of matching."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from annotate.annotations.agreement import Side, agreement
from annotate.annotations.classes import CandleTimes
from annotate.models import Json
from tests.annotate.annotations.builders import START, candle_class, every, point, span, trade

ROWS = CandleTimes(np.array(every("1h", 100), np.int64), "1h")
LAYERS = {"default": ["Long", "Short"]}


def compared(first: list[Json], second: list[Json], **options: Any) -> Json:
    stored = [[{"updated": place, **mark} for place, mark in enumerate(marks)] for marks in (first, second)]
    return agreement(Side(stored[0]), Side(stored[1]), ROWS, LAYERS, **options)


def figures(found: Json) -> tuple[Any, ...]:
    return found["first"], found["second"], found["matched"], found["f1"]


def test_points_agree_within_the_tolerance_and_under_one_label() -> None:
    ones = [point(10), point(20), point(30), point(50, label="Short")]
    others = [point(12), point(23), point(30), point(50, label="Long")]
    found = compared(ones, others, tolerance=2)["points"]
    assert figures(found) == (4, 4, 2, 0.5)
    assert (found["precision"], found["recall"]) == (0.5, 0.5)
    assert figures(found["by_label"]["Long"]) == (3, 4, 2, pytest.approx(4 / 7))
    assert figures(compared(ones, others, tolerance=3)["points"]) == (4, 4, 3, 0.75)


def test_each_point_has_one_partner() -> None:
    assert figures(compared([point(10)], [point(9), point(10), point(11)])["points"]) == (1, 3, 1, 0.5)
    assert compared([point(10), point(11)], [point(12), point(13)])["points"]["matched"] == 2


def test_spans_agree_where_they_share_half_of_their_union() -> None:
    half = compared([span(10, 20)], [span(10, 15)])["spans"]
    less = compared([span(10, 20)], [span(10, 14)])["spans"]
    shifted = compared([span(10, 20)], [span(13, 23)])["spans"]  # 7 of 13
    apart = compared([span(10, 20)], [span(14, 24)])["spans"]  # 6 of 14
    assert [each["matched"] for each in (half, less, shifted, apart)] == [1, 0, 1, 0]


def test_the_largest_overlap_is_matched_first() -> None:
    found = compared([span(10, 20), span(10, 18)], [span(10, 18), span(10, 20), span(60, 70)])["spans"]
    assert figures(found) == (2, 3, 2, pytest.approx(0.8))


def test_trades_agree_by_side_and_entry() -> None:
    ones = [trade(10, 20), trade(40, 50, side="short")]
    others = [trade(11, 35, label="Short"), trade(40, 50, side="long")]
    found = compared(ones, others)["trades"]
    assert figures(found) == (2, 2, 1, 0.5)


def test_the_kappa_of_the_candles_is_cohens() -> None:
    # Both looked at 10..29: first says Long 10, Short 10; second Long 10..17, Short 18..29. po = 18/20, pe = .5.
    ones, others = [span(10, 20), span(20, 30, "Short")], [span(10, 18), span(18, 30, "Short")]
    found = compared(ones, others)["candles"]["default"]
    assert (found["n"], found["agreed"], found["kappa"]) == (20, 0.9, pytest.approx((0.9 - 0.5) / 0.5))


def test_candles_count_only_where_both_have_looked_and_none_is_a_class() -> None:
    ranges = [{"start": START, "end": START + 40 * 3_600_000}]
    ones, others = Side([{**span(0, 10), "updated": 1}], ranges), Side([{**span(5, 15), "updated": 1}], ranges)
    found = agreement(ones, others, ROWS, LAYERS)["candles"]["default"]
    assert (found["n"], found["agreed"]) == (40, 0.75)
    assert found["kappa"] == pytest.approx((0.75 - 0.625) / 0.375)


def test_classes_of_candles_count_as_well_as_spans() -> None:
    run = [candle_class(place, "Long" if place % 2 else "Short") for place in range(10, 30)]
    assert compared(run, run)["candles"]["default"] == {"n": 20, "agreed": 1.0, "kappa": 1.0}


def test_nothing_to_compare_gives_no_figure_and_one_class_no_kappa() -> None:
    found = compared([], [])
    assert figures(found["points"]) == (0, 0, 0, None)
    assert found["candles"]["default"] == {"n": 0, "agreed": None, "kappa": None}
    assert compared([span(10, 20)], [span(10, 20)])["candles"]["default"] == {"n": 10, "agreed": 1.0, "kappa": None}


def test_drafts_do_not_count() -> None:
    assert figures(compared([point(10, status="draft")], [point(10)])["points"]) == (0, 1, 0, 0.0)


PLACES = st.lists(st.integers(0, 99), max_size=12)


@given(PLACES, PLACES, st.integers(0, 5))
def test_no_matching_of_points_finds_more_pairs(first: list[int], second: list[int], tolerance: int) -> None:
    found = compared([point(at) for at in first], [point(at) for at in second], tolerance=tolerance)["points"][
        "matched"
    ]
    reach = np.abs(np.subtract.outer(np.array(first, int), np.array(second, int))) <= tolerance
    best = 0
    if reach.size and reach.any():
        best = int(np.sum(maximum_bipartite_matching(csr_array(reach.astype(np.int8)), perm_type="column") >= 0))
    assert found == best


@given(PLACES, PLACES)
def test_agreement_is_the_same_from_either_side(first: list[int], second: list[int]) -> None:
    ones, others = [span(at, at + 7) for at in first if at < 93], [span(at, at + 5) for at in second if at < 95]
    here, there = compared(ones, others), compared(others, ones)
    assert here["spans"]["f1"] == there["spans"]["f1"]
    assert here["candles"] == there["candles"]
