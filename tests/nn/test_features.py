"""Features: known at the close of their candle, exact in any portions, finite whatever the prices."""

from __future__ import annotations

import dataclasses
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nn.dataset_dir import Candles
from nn.features import CLIP, FEATURES, LEAST_SIGMA, LONGEST, USUAL, Computed, FeatureState, compute, move
from tests.nn.live_market import MINUTE, market

MARKET = market(600)
HOUR = 60 * MINUTE
SAMPLE = Path(__file__).parents[2] / "data" / "sample" / "eurusd-1h.csv.gz"


@settings(max_examples=25, deadline=None)
@given(st.sets(st.integers(1, 599), max_size=12))
def test_portions_give_the_same_bits_as_the_whole(cuts: set[int]) -> None:
    whole, parts = compute(MARKET), in_portions(MARKET, [0, *sorted(cuts), 600])
    assert np.array_equal(np.concatenate([part.rows for part in parts]), whole.rows)
    assert np.array_equal(np.concatenate([part.sigma for part in parts]), whole.sigma)


def test_candle_by_candle_gives_the_same_bits_as_the_whole() -> None:
    parts = in_portions(MARKET, list(range(601)))
    assert np.array_equal(np.concatenate([part.rows for part in parts]), compute(MARKET).rows)


def test_a_later_candle_changed_at_will_leaves_every_earlier_row_bit_equal() -> None:
    close = MARKET.close.copy()
    close[300:] = close[300:][::-1] * 7
    changed, plain = compute(dataclasses.replace(MARKET, close=close)), compute(MARKET)
    assert np.array_equal(changed.rows[:300], plain.rows[:300])
    assert np.array_equal(changed.sigma[:300], plain.sigma[:300])
    assert not np.array_equal(changed.rows[300:], plain.rows[300:])


PRICE = st.one_of(st.sampled_from([0.0, -1.0, 1e-300, 1e300, -1e308, 1e308]), st.floats(-1e6, 1e6))
VOLUME = st.one_of(st.just(float("nan")), st.floats(0, 1e300))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(PRICE, PRICE, PRICE, PRICE, VOLUME), min_size=1, max_size=130))
def test_every_number_is_finite_whatever_the_prices(candles: list[tuple[float, ...]]) -> None:
    open_, high, low, close, volume = (np.array(column) for column in zip(*candles, strict=True))
    time = MINUTE * np.arange(len(candles), dtype=np.int64)
    computed = compute(Candles(time, open_, high, low, close, volume))
    assert np.isfinite(computed.rows).all()
    assert np.abs(computed.rows).max() <= CLIP
    assert (computed.sigma >= LEAST_SIGMA).all()


def test_a_flat_market_has_the_least_sigma_and_no_moves() -> None:
    flat = np.full(50, 10.0)
    computed = compute(Candles(MINUTE * np.arange(50, dtype=np.int64), flat, flat, flat, flat, flat))
    assert (computed.sigma == LEAST_SIGMA).all()
    assert not column(computed, "return").any()
    assert told(computed, "range") == pytest.approx(0, abs=1e-6)


def test_the_return_is_the_log_move_over_sigma_of_the_candle_before() -> None:
    computed = compute(MARKET)
    expected = np.log(MARKET.close[1:] / MARKET.close[:-1]) / computed.sigma[:-1]
    assert column(computed, "return")[1:] == pytest.approx(np.clip(expected, -CLIP, CLIP), rel=1e-5, abs=1e-6)


def test_sigma_follows_a_change_of_volatility() -> None:
    draw = np.random.default_rng(0)
    close = 100 * np.exp(np.cumsum(np.r_[draw.normal(0, 1e-3, 1500), draw.normal(0, 3e-3, 1500)]))
    time = MINUTE * np.arange(3000, dtype=np.int64)
    sigma = compute(Candles(time, close, close, close, close, np.ones(3000))).sigma
    assert sigma[500:1500].mean() == pytest.approx(1e-3, rel=0.1)
    assert sigma[2000:].mean() == pytest.approx(3e-3, rel=0.1)


def test_an_unknown_volume_is_flagged_and_leaves_the_average_alone() -> None:
    volume = MARKET.volume.copy()
    volume[100] = np.nan
    computed, plain = compute(dataclasses.replace(MARKET, volume=volume)), compute(MARKET)
    known = column(computed, "volume_known")
    assert known[100] == 0
    assert known.sum() == 599
    assert column(computed, "volume")[100] == 0
    assert column(computed, "volume")[101] == pytest.approx(column(plain, "volume")[101], abs=0.2)


def test_the_clock_turns_with_the_hour_the_day_and_the_week_from_monday_at_midnight_utc() -> None:
    monday = 1_704_067_200_000  # 2024-01-01
    times = monday + np.array([0, HOUR // 4, 6 * HOUR])
    computed = compute(dataclasses.replace(MARKET.slice(0, 3), time=times))
    turns = {"hour": [0, 1 / 4, 0], "day": [0, 1 / 96, 1 / 4], "week": [0, 1 / 672, 1 / 28]}
    for cycle, turned in turns.items():
        angle = 2 * np.pi * np.array(turned)
        assert told(computed, f"{cycle}_sin") == pytest.approx(np.sin(angle), abs=1e-6)
        assert told(computed, f"{cycle}_cos") == pytest.approx(np.cos(angle), abs=1e-6)


def test_the_place_is_one_at_the_top_and_minus_one_at_the_bottom_of_the_range() -> None:
    close = np.r_[np.linspace(10, 20, 120), np.linspace(20, 5, 120)]
    time = MINUTE * np.arange(240, dtype=np.int64)
    place = told(compute(Candles(time, close, close, close, close, np.ones(240))), "place_24")
    assert place[[119, 239]] == pytest.approx([1, -1])


def test_on_a_real_market_all_inputs_lie_about_0_with_a_like_spread() -> None:
    table = pd.read_csv(SAMPLE)
    rows = compute(Candles(*(table[name].to_numpy() for name in table.columns))).rows[LONGEST:]
    still = {"volume_known", "hour_sin", "hour_cos"}  # of hourly candles
    moving = [i for i, name in enumerate(FEATURES) if name not in still]
    assert np.abs(rows[:, moving].mean(axis=0)).max() < 0.5
    assert rows[:, moving].std(axis=0).min() > 0.5
    assert rows[:, moving].std(axis=0).max() < 1.2


def test_no_candles_give_no_rows_and_the_same_state() -> None:
    state = compute(MARKET).state
    computed = compute(MARKET.slice(0, 0), state)
    assert computed.rows.shape == (0, len(FEATURES))
    assert computed.state is state


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [(100.0, 101.0, np.log(1.01)), (0.0, 0.0, 0.0), (-10.0, -20.0, -2 / 3), (0.0, 5.0, 2.0), (5.0, 5.0, 0.0)],
)
def test_a_move_is_a_log_return_or_where_that_has_no_meaning_a_relative_difference(
    before: float, after: float, expected: float
) -> None:
    assert float(move(before, after)) == pytest.approx(expected)


def in_portions(candles: Candles, borders: list[int]) -> list[Computed]:
    state: FeatureState | None = None
    parts = []
    for start, end in pairwise(borders):
        parts.append(compute(candles.slice(start, end), state))
        state = parts[-1].state
    return parts


def column(computed: Computed, name: str) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    values: np.ndarray[tuple[int], np.dtype[np.float32]] = computed.rows[:, FEATURES.index(name)]
    return values


def told(computed: Computed, name: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Give a feature as it was before it was put on the scale of the others."""
    mean, spread = USUAL[name]
    return column(computed, name).astype(np.float64) * spread + mean
