"""Candle rules: aggregate, gaps, checks, decimals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotate.candles import Candles, aggregate, check_storable, find_gaps, price_decimals, violations
from annotate.errors import InvalidInput
from annotate.timeframe import parse
from tests.annotate.candles.builders import Row, candles_of, ms, plainly_aggregated, random_candles, rows_of

MINUTE = parse("1m")


def flat(*times: int) -> Candles:
    return candles_of([(time, 1.0, 1.0, 1.0, 1.0, 1.0) for time in times])


def test_a_coarser_candle_has_first_highest_lowest_last_and_sum() -> None:
    start = ms("2024-01-01T10:00:00")
    fine = candles_of(
        [
            (start, 5.0, 6.0, 4.0, 5.5, 1.0),
            (start + MINUTE, 5.5, 9.0, 5.0, 8.0, 2.0),
            (start + 2 * MINUTE, 8.0, 8.5, 3.0, 7.0, 4.0),
        ]
    )
    assert rows_of(aggregate(fine, "5m")) == [(start, 5.0, 9.0, 3.0, 7.0, 7.0)]


def test_null_volumes_add_nothing_and_only_nulls_give_null() -> None:
    start = ms("2024-01-01T10:00:00")
    volumes = [None, 2.0, None, None]
    fine = candles_of([(start + row * MINUTE * 5 // 2, 1.0, 1.0, 1.0, 1.0, v) for row, v in enumerate(volumes)])
    assert [row[5] for row in rows_of(aggregate(fine, "5m"))] == [2.0, None]


def test_a_sum_of_null_and_zero_is_zero() -> None:
    fine = candles_of([(0, 1.0, 1.0, 1.0, 1.0, None), (MINUTE, 1.0, 1.0, 1.0, 1.0, 0.0)])
    assert rows_of(aggregate(fine, "5m"))[0][5] == 0.0


def test_an_empty_bucket_does_not_appear_and_a_cut_one_stays() -> None:
    start = ms("2024-01-01T10:03:00")
    coarse = aggregate(flat(start, ms("2024-01-01T10:21:00")), "5m")
    assert coarse.time.tolist() == [ms("2024-01-01T10:00:00"), ms("2024-01-01T10:20:00")]


def test_no_candles_aggregate_to_none() -> None:
    assert len(aggregate(Candles.empty(), "1h")) == 0


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 400), st.sampled_from(["5m", "1h", "1d", "1w", "1mo"]))
def test_aggregation_equals_the_plain_way(seed: int, rows: int, timeframe: str) -> None:
    fine = random_candles(rows, "15m", seed)
    assert rows_of(aggregate(fine, timeframe)) == plainly_aggregated(rows_of(fine), timeframe)


def test_a_gap_lies_between_a_close_and_the_next_open() -> None:
    (gap,) = find_gaps(flat(0, MINUTE, 5 * MINUTE), MINUTE)
    assert (gap.start, gap.end, gap.missing) == (2 * MINUTE, 5 * MINUTE, 3)


def test_an_unpunctual_candle_is_no_gap() -> None:
    assert find_gaps(flat(0, MINUTE + 900, 2 * MINUTE + 900), MINUTE) == []


def test_months_of_different_lengths_have_no_gap() -> None:
    months = flat(ms("2024-01-01"), ms("2024-02-01"), ms("2024-03-01"), ms("2024-05-01"))
    (gap,) = find_gaps(months, parse("1mo"))
    assert (gap.start, gap.missing) == (ms("2024-04-01"), 1)


def test_a_single_candle_and_none_have_no_gap() -> None:
    assert find_gaps(flat(0), MINUTE) == []
    assert find_gaps(Candles.empty(), MINUTE) == []


BROKEN: list[Row] = [
    (0, 2.0, 3.0, 1.0, 2.0, 1.0),
    (1, 2.0, 1.9, 1.0, 1.5, 1.0),  # high below open
    (2, 2.0, 3.0, 2.1, 2.5, 1.0),  # low above open
    (3, 2.0, 3.0, 1.0, 3.1, 1.0),  # close above high
    (4, 2.0, 2.0, 2.0, 2.0, None),
]


def test_rows_that_break_the_high_and_low_rule_are_found() -> None:
    assert violations(candles_of(BROKEN)).tolist() == [1, 2, 3]


def test_rising_times_and_finite_prices_can_be_stored() -> None:
    check_storable(random_candles(100))


def test_a_time_that_does_not_rise_is_refused_with_its_row() -> None:
    with pytest.raises(InvalidInput, match="candle 2: its time 60000 is not after 60000"):
        check_storable(flat(0, 60_000, 60_000))


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_price_that_is_no_finite_number_is_refused(value: float) -> None:
    with pytest.raises(InvalidInput, match="candle 0: high is"):
        check_storable(candles_of([(0, 1.0, value, 1.0, 1.0, 1.0)]))


@pytest.mark.parametrize(("price", "decimals"), [(1.0, 0), (0.1, 1), (2000.17, 2), (1.05236, 5), (1.234e-8, 10)])
def test_a_price_tells_its_decimals(price: float, decimals: int) -> None:
    assert price_decimals(candles_of([(0, price, price, price, price, None)])) == decimals


def test_a_price_without_end_has_the_most_decimals() -> None:
    assert price_decimals(candles_of([(0, 1 / 3, 1 / 3, 1 / 3, 1 / 3, None)])) == 10


@pytest.mark.parametrize(("price", "decimals"), [(757.94, 2), (0.8375, 4), (0.00000005, 8), (1234567.0, 0)])
def test_a_price_that_went_through_float32_counts_as_before(price: float, decimals: int) -> None:
    noisy = float(np.float32(price))
    assert price_decimals(candles_of([(0, noisy, noisy, noisy, noisy, None)])) == decimals


def test_prices_beyond_any_market_have_decimals_too() -> None:
    assert price_decimals(candles_of([(0, 0.5, 1.7e308, 0.5, 0.5, None)])) == 10


def test_slices_are_views_of_the_same_memory() -> None:
    candles = random_candles(10)
    assert np.shares_memory(candles.slice(2, 5).close, candles.close)


def test_between_is_half_open() -> None:
    assert flat(0, 10, 20, 30).between(10, 30).time.tolist() == [10, 20]


def test_between_an_end_before_its_start_is_nothing() -> None:
    assert len(flat(0, 10, 20).between(20, 10)) == 0


def test_parts_join_to_the_whole() -> None:
    candles = random_candles(10)
    joined = Candles.concat([candles.slice(0, 4), Candles.empty(), candles.slice(4, 10)])
    assert rows_of(joined) == rows_of(candles)
