"""The simulated market: repeatable, a proper candle series, and its stated law is the true one."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.stats import norm

from annotate.candles import COLUMNS, check_storable, price_decimals, violations
from annotate.simulator import ROWS, SCALES, START, Floats, Law, expected_accuracy, simulate, simulate_law


@cache
def law(seed: int) -> Law:
    return simulate_law(seed)


def test_a_seed_gives_the_same_candles_to_the_bit() -> None:
    first, second = simulate(7, 5_000), simulate(7, 5_000)
    assert all(getattr(first, name).tobytes() == getattr(second, name).tobytes() for name in COLUMNS)


def test_the_default_market_never_changes() -> None:
    # Prices are on the tick, so that a last bit of exp() on another machine does not show.
    closes = law(1).candles.close
    assert closes[[0, 1, -1]].tolist() == [2000.0, 2000.16, 1860.22]
    assert (closes.min(), closes.max()) == (1848.71, 2008.95)
    assert closes.sum() == pytest.approx(166_966_576.86, abs=0.001)


def test_seeds_give_different_markets() -> None:
    assert not np.array_equal(simulate(1, 1_000).close, simulate(2, 1_000).close)


def test_a_day_of_seconds_starts_in_2025_with_prices_on_the_tick() -> None:
    candles = law(1).candles
    check_storable(candles)
    assert len(candles) == ROWS
    assert candles.time[[0, -1]].tolist() == [START, START + (ROWS - 1) * 1000]
    assert price_decimals(candles) == 2
    assert violations(candles).tolist() == []
    assert np.array_equal(candles.open[1:], candles.close[:-1])


def test_the_volume_shows_the_regime() -> None:
    assert np.array_equal(law(1).candles.volume > np.e, law(1).sign > 0)


def test_a_regime_lasts_as_long_as_its_switching_says() -> None:
    switches = np.count_nonzero(np.diff(law(1).sign))
    assert switches / ROWS == pytest.approx(0.08, abs=0.003)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_moves_are_standard_normal_once_the_law_is_taken_out(seed: int) -> None:
    market = law(seed)
    returns = np.diff(market.log_price)
    normal = (returns - market.mean[:-1]) / market.deviation[:-1]
    assert normal.mean() == pytest.approx(0, abs=0.015)
    assert normal.std() == pytest.approx(1, abs=0.01)
    assert np.corrcoef(normal[1:], normal[:-1])[0, 1] == pytest.approx(0, abs=0.015)
    assert np.mean(normal < -1) == pytest.approx(norm.cdf(-1), abs=0.005)


def test_the_control_moves_are_far_from_independent() -> None:
    returns = np.diff(np.log(law(1).candles.close))
    assert np.corrcoef(returns[1:], returns[:-1])[0, 1] == pytest.approx(0.26, abs=0.02)


def test_the_momentum_follows_from_the_moves_up_to_its_candle() -> None:
    market = law(1)
    unit = np.where(market.sign > 0, *SCALES) * market.volatility
    moves = np.diff(market.log_price) / unit[:-1]
    momentum = 0.0
    for row, move in enumerate(moves[:500].tolist()):
        momentum = 0.6 * momentum + 0.4 * move
        assert market.momentum[row + 1] == pytest.approx(momentum, abs=1e-9)


def past_sigma(closes: Floats, fade: float = 0.995) -> Floats:
    squares = np.concatenate([[0.0], np.diff(np.log(closes)) ** 2])
    result, level = np.empty(len(closes)), 1e-8
    for row, square in enumerate(squares.tolist()):
        level = fade * level + (1 - fade) * square
        result[row] = level**0.5
    return result


def candle_classes(market: Law) -> tuple[Floats, Floats, np.ndarray[tuple[int], np.dtype[np.intp]]]:
    closes = market.candles.close
    sigma = past_sigma(closes)
    moves = np.diff(np.log(closes)) / sigma[:-1]
    edges = np.quantile(moves[: int(0.7 * ROWS)], [0.2, 0.4, 0.6, 0.8])
    return edges, sigma, np.searchsorted(edges, moves)


@pytest.mark.parametrize(("seed", "best", "majority"), [(1, 0.454, 0.209), (2, 0.447, 0.204)])
def test_the_best_candle_accuracy_is_the_one_measured_before(seed: int, best: float, majority: float) -> None:
    market = law(seed)
    edges, sigma, classes = candle_classes(market)
    validation = slice(int(0.7 * ROWS), int(0.85 * ROWS))
    probabilities = market.candle_bayes(edges, sigma)
    best_guess = probabilities[validation].argmax(axis=1)
    assert probabilities.sum(axis=1) == pytest.approx(1)
    assert expected_accuracy(best_guess, probabilities[validation]) == pytest.approx(best, abs=0.005)
    assert np.mean(best_guess == classes[validation]) == pytest.approx(best, abs=0.013)  # 3 standard errors of 12,960
    assert np.bincount(classes[validation]).max() / len(best_guess) == pytest.approx(majority, abs=0.006)


def test_candle_probabilities_are_met_by_the_candles() -> None:
    market = law(1)
    edges, sigma, classes = candle_classes(market)
    probabilities = market.candle_bayes(edges, sigma)[:-1]
    for each in range(5):
        assert probabilities[:, each].mean() == pytest.approx(np.mean(classes == each), abs=0.006)


@pytest.mark.parametrize(("seed", "best"), [(1, 0.686), (2, 0.684)])
def test_the_best_trend_accuracy_is_the_one_measured_before(seed: int, best: float) -> None:
    market = law(seed)
    rows = np.arange(int(0.7 * ROWS), int(0.85 * ROWS) - 5, 3)
    up = market.trend_up_probability(5, 256, rows)
    moved = market.candles.close[rows + 5] - market.candles.close[rows]
    decided = moved != 0
    assert np.maximum(up, 1 - up).mean() == pytest.approx(best, abs=0.006)
    assert np.mean((up > 0.5)[decided] == (moved > 0)[decided]) == pytest.approx(best, abs=0.022)
    assert 1 - decided.mean() == pytest.approx(0.024, abs=0.008)


def test_a_trend_of_one_candle_is_known_without_chance() -> None:
    market, rows = law(1), np.arange(1000, 1200)
    first, second = (market.trend_up_probability(1, 8, rows, seed=seed) for seed in (1, 2))
    assert np.array_equal(first, second)
    half_tick = 0.005 / market.candles.close[rows]
    upper = (market.mean[rows] - half_tick) / market.deviation[rows]
    lower = (-half_tick - market.mean[rows]) / market.deviation[rows]
    # The close is rounded, so the unrounded price may lie up to half a tick off: the odds agree on average.
    assert first.mean() == pytest.approx((norm.cdf(upper) / (norm.cdf(upper) + norm.cdf(lower))).mean(), abs=0.01)


def test_expected_accuracy_takes_the_luck_of_labels_out() -> None:
    probabilities = np.array([[0.7, 0.3], [0.4, 0.6]])
    assert expected_accuracy(np.array([0, 0]), probabilities) == pytest.approx(0.55)
