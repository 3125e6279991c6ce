"""Indicators: known values, warm-up, and the same value however the chart is panned."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from annotate.candles import Candles
from annotate.errors import InvalidInput
from annotate.indicators import INDICATORS, offers, parse_names, shown
from tests.annotate.annotations.builders import HOUR, START

EVERY = "sma:20,ema:20,wma:10,bbands:20-2,rsi:14,macd:12-26-9,atr:14"
# The closes of Wilder's RSI example as StockCharts prints it (cs-rsi.xls), with its first values.
WILDER = (
    *(44.3389, 44.0902, 44.1497, 43.6124, 44.3278, 44.8264, 45.0955, 45.4245, 45.8433, 46.0826, 45.8931, 46.0328),
    *(45.6140, 46.2820, 46.2820, 46.0028, 46.0328, 46.4116, 46.2222, 45.6439),
)


def market(n: int = 500, seed: int = 5) -> Candles:
    """A random walk with wicks."""
    random = np.random.default_rng(seed)
    close = 100 * np.exp(np.cumsum(random.normal(0, 0.01, n)))
    open_ = np.concatenate([[100.0], close[:-1]])
    wick = random.uniform(0, 1, n)
    high, low = np.maximum(open_, close) + wick, np.minimum(open_, close) - wick
    return Candles(START + np.arange(n, dtype=np.int64) * HOUR, open_, high, low, close, np.full(n, 1.0))


def line(candles: Candles, name: str, line_name: str = "value", first: int = 0) -> np.ndarray:
    (found,) = shown(parse_names(name), candles, first)
    values: np.ndarray = found["lines"][line_name]
    return values


def test_averages_and_bands_are_those_of_pandas() -> None:
    candles = market()
    close = pd.Series(candles.close)
    np.testing.assert_allclose(line(candles, "sma:20"), close.rolling(20).mean())
    deviation = close.rolling(20).std(ddof=0)
    np.testing.assert_allclose(line(candles, "bbands:20-2.5", "upper"), close.rolling(20).mean() + 2.5 * deviation)
    weights = np.arange(1, 11) / 55
    weighted = close.rolling(10).apply(lambda window: float(window @ weights), raw=True)
    np.testing.assert_allclose(line(candles, "wma:10"), weighted)


def test_an_exponential_average_starts_from_the_mean_of_its_first_period() -> None:
    candles = market(40)
    expected = np.full(40, np.nan)
    expected[9] = candles.close[:10].mean()
    for place in range(10, 40):
        expected[place] = expected[place - 1] + 2 / 11 * (candles.close[place] - expected[place - 1])
    np.testing.assert_allclose(line(candles, "ema:10"), expected)


def test_wilders_example_gives_wilders_values() -> None:
    close = np.array(WILDER)
    candles = Candles(START + np.arange(len(close), dtype=np.int64) * HOUR, close, close, close, close, close)
    np.testing.assert_allclose(line(candles, "rsi:14")[14:], [70.53, 66.32, 66.55, 69.41, 66.36, 57.97], atol=0.006)


def test_the_average_true_range_is_wilders_mean_of_true_ranges() -> None:
    candles = market(60)
    previous = candles.close[:-1]
    true_range = np.maximum(candles.high[1:], previous) - np.minimum(candles.low[1:], previous)
    expected = np.full(60, np.nan)
    expected[14] = true_range[:14].mean()
    for place in range(15, 60):
        expected[place] = (expected[place - 1] * 13 + true_range[place - 1]) / 14
    np.testing.assert_allclose(line(candles, "atr:14"), expected)


def test_the_histogram_is_macd_less_its_signal() -> None:
    candles = market()
    lines = {name: line(candles, "macd", name) for name in ("macd", "signal", "histogram")}
    np.testing.assert_allclose(lines["histogram"], lines["macd"] - lines["signal"])


@pytest.mark.parametrize(
    ("name", "warm_up"), [("sma:20", 19), ("ema:20", 19), ("rsi:14", 14), ("atr:14", 14), ("macd", 33)]
)
def test_there_is_no_value_during_the_warm_up_and_always_one_after_it(name: str, warm_up: int) -> None:
    (found,) = shown(parse_names(name), market(), 0)
    for values in found["lines"].values():
        assert np.isnan(values[:warm_up]).all()
        assert np.isfinite(values[warm_up:]).all()


@pytest.mark.parametrize("first", [0, 1, 19, 100, 499])
def test_panning_never_changes_a_value(first: int) -> None:
    candles = market()
    for whole, part in zip(
        shown(parse_names(EVERY), candles, 0), shown(parse_names(EVERY), candles, first), strict=True
    ):
        for name, values in whole["lines"].items():
            assert np.array_equal(values[first:], part["lines"][name], equal_nan=True)


def test_later_candles_change_no_earlier_value() -> None:
    whole, short = market(500), market(500).between(None, START + 300 * HOUR)
    for longer, shorter in zip(shown(parse_names(EVERY), whole, 0), shown(parse_names(EVERY), short, 0), strict=True):
        for name, values in shorter["lines"].items():
            assert np.array_equal(longer["lines"][name][:300], values, equal_nan=True)


@pytest.mark.parametrize("n", [0, 1, 5])
def test_fewer_candles_than_the_period_give_no_value_and_none_give_nothing(n: int) -> None:
    lines = [
        values
        for found in shown(parse_names(EVERY), market(5).between(None, START + n * HOUR), 0)
        for values in found["lines"].values()
    ]
    assert {len(values) for values in lines} == {n}
    assert all(np.isnan(values).all() for values in lines)


def test_numbers_that_are_left_out_have_their_defaults_and_doubles_count_once() -> None:
    (asked,) = parse_names("macd, macd")
    assert list(asked.values) == [12, 26, 9]
    assert [list(each.values) for each in parse_names("macd:5-20,bbands:10")] == [[5, 20, 9], [10, 2.0]]


@pytest.mark.parametrize(
    ("names", "told"),
    [
        ("", "name 1 to 20"),
        ("sme:20", "'sme:20' is not known"),
        ("sma:1", "from 2 to 5000"),
        ("sma:2.5", "a whole number"),
        ("sma:x", "a whole number"),
        ("sma:20-5", "too many numbers"),
        ("bbands:20-0", "width must be a number from 0.1 to 10"),
        (",".join(f"sma:{n}" for n in range(2, 30)), "name 1 to 20"),
    ],
)
def test_what_cannot_be_computed_is_refused_by_name(names: str, told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        parse_names(names)


def test_a_fast_period_above_the_slow_one_is_refused() -> None:
    with pytest.raises(InvalidInput, match="must be below the slow one"):
        shown(parse_names("macd:26-12-9"), market(), 0)


def test_every_indicator_is_offered_with_its_limits() -> None:
    assert [each["name"] for each in offers()] == list(INDICATORS)
    for each in offers():
        assert all(p["least"] <= p["default"] <= p["most"] for p in each["parameters"])
        assert each["pane"] in ("price", "own")
