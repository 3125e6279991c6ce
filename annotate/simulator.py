"""SIM/USDT: a seeded market whose law is known, so that a model can be held against the best possible accuracy.

Each return is normal given the observed past: a regime (seen in the volume) makes it follow or oppose a momentum, and
its variance follows from earlier returns. Whatever predicts it better than `Law` does has seen the future.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from annotate.candles import Candles
from annotate.timeframe import SECOND

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]
Number = TypeVar("Number", float, Floats)

SYMBOL = "SIM/USDT"
TIMEFRAME = "1s"
SEED = 1
ROWS = 86_400
START = 1_735_689_600_000  # 2025-01-01T00:00:00Z

PRICE = 2_000.0
TICK = 0.01
SWITCH = 0.92  # a uniform draw at or above it changes the regime
SCALES = (1.4, 0.45)  # of momentum, of reversal
PULLS = (0.5, -0.9)
NOISE = 0.7
BASE_VARIANCE = 1e-8
KEPT = 0.6  # share of the momentum that stays each candle


@dataclass(frozen=True)
class Law:
    """A simulated market and its true law; row t of every array is what is known at the close of candle t, (n,)."""

    candles: Candles
    sign: Floats  # regime g: +1 momentum, -1 reversal
    volatility: Floats  # square root of the variance h
    momentum: Floats
    log_price: Floats  # before rounding to the tick

    @cached_property
    def mean(self) -> Floats:
        """Mean of the next log return, (n,)."""
        return self.unit * _pull(self.sign, self.momentum)

    @cached_property
    def deviation(self) -> Floats:
        """Standard deviation of the next log return, (n,)."""
        return NOISE * self.unit

    @cached_property
    def unit(self) -> Floats:
        """Size of one unit of the standardised move, (n,)."""
        return _unit(self.sign, self.volatility**2)

    def candle_bayes(self, edges: Floats, sigma: Floats) -> Floats:
        """Give the probability of each class of the next candle, (n, classes); row t is about candle t + 1.

        Classes are bands of return / sigma cut at `edges` (ascending); sigma (n,) is the model's own scale at t.
        """
        bounds = edges[None, :] * sigma[:, None]
        below = ndtr((bounds - self.mean[:, None]) / self.deviation[:, None])
        padded = np.concatenate([np.zeros((len(sigma), 1)), below, np.ones((len(sigma), 1))], axis=1)
        return np.diff(padded, axis=1)

    def trend_up_probability(self, horizon: int, paths: int = 256, rows: Ints | None = None, seed: int = 0) -> Floats:
        """Give the probability that close[t + horizon] is above close[t], given that the two differ.

        By Monte Carlo from the true law for the given rows t (all by default); the last step of each path is exact.
        """
        rows = np.arange(len(self.candles)) if rows is None else rows
        generator = np.random.default_rng(seed)
        parts = np.array_split(rows, max(1, len(rows) * paths // 1_000_000))
        return np.concatenate([self._trend_up(part, horizon, paths, generator) for part in parts])

    def _trend_up(self, rows: Ints, horizon: int, paths: int, generator: np.random.Generator) -> Floats:
        shape = (len(rows), paths)
        sign, momentum, variance, moved = (
            np.broadcast_to(values[rows, None], shape)
            for values in (self.sign, self.momentum, self.volatility**2, self.log_price)
        )
        for _ in range(horizon - 1):
            noise = generator.standard_normal(shape)
            pull, unit = _pull(sign, momentum), _unit(sign, variance)
            moved = moved + unit * (pull + NOISE * noise)
            momentum = _next_momentum(momentum, pull + NOISE * noise)
            variance = _next_variance(variance, noise)
            sign = np.where(generator.random(shape) >= SWITCH, -sign, sign)
        mean, deviation = moved + _unit(sign, variance) * _pull(sign, momentum), NOISE * _unit(sign, variance)
        close = self.candles.close[rows, None]
        up = ndtr((mean - np.log((close + TICK / 2) / PRICE)) / deviation)
        down = ndtr((np.log((close - TICK / 2) / PRICE) - mean) / deviation)
        chance: Floats = up.mean(axis=1) / (up + down).mean(axis=1)
        return chance


def simulate(seed: int = SEED, rows: int = ROWS) -> Candles:
    """Give the candles of a seed; the same seed gives the same candles, bit for bit."""
    return simulate_law(seed, rows).candles


def simulate_law(seed: int = SEED, rows: int = ROWS) -> Law:
    """Give a simulated market with its law. Draws in this order: noise, uniform, volume, wicks (rows, 2)."""
    generator = np.random.default_rng(seed)
    noise = generator.standard_normal(rows)
    sign = np.where(np.cumsum(generator.random(rows) >= SWITCH) % 2 == 0, 1.0, -1.0)
    volume = np.exp(1 + sign * (0.3 + 0.4 * np.abs(generator.standard_normal(rows))))
    wicks = np.abs(generator.standard_normal((rows, 2)))
    volatility, momentum, returns = _path(noise, sign)
    log_price = np.cumsum(returns)
    candles = _candles(log_price, _unit(sign, volatility**2), wicks, volume)
    return Law(candles, sign, volatility, momentum, log_price)


def expected_accuracy(predicted: Ints, probabilities: Floats) -> float:
    """Give the accuracy that class predictions (n,) have on average under the law (n, classes): free of label luck."""
    return float(probabilities[np.arange(len(predicted)), predicted].mean())


def _path(noise: Floats, sign: Floats) -> tuple[Floats, Floats, Floats]:
    """Give the square root of the variance, the momentum and the log return of each candle; the first has not moved."""
    variances, momenta, returns = [BASE_VARIANCE], [0.0], [0.0]
    for draw, regime in zip(noise[1:].tolist(), sign[:-1].tolist(), strict=True):
        scale, pull = (SCALES[0], PULLS[0]) if regime > 0 else (SCALES[1], PULLS[1])
        move = pull * math.tanh(3 * momenta[-1]) + NOISE * draw
        returns.append(scale * math.sqrt(variances[-1]) * move)
        momenta.append(_next_momentum(momenta[-1], move))
        variances.append(_next_variance(variances[-1], draw))
    return np.sqrt(variances), np.array(momenta), np.array(returns)


def _next_momentum(momentum: Number, move: Number) -> Number:
    return KEPT * momentum + (1 - KEPT) * move


def _next_variance(variance: Number, noise: Number) -> Number:
    return 0.01 * BASE_VARIANCE + 0.06 * variance * noise**2 + 0.93 * variance


def _pull(sign: Floats, momentum: Floats) -> Floats:
    return np.where(sign > 0, *PULLS) * np.tanh(3 * momentum)


def _unit(sign: Floats, variance: Floats) -> Floats:
    return np.where(sign > 0, *SCALES) * np.sqrt(variance)


def _candles(log_price: Floats, unit: Floats, wicks: Floats, volume: Floats) -> Candles:
    # A whole number of ticks divided by 100 is the double nearest to the decimal price; wicks are rounded outward.
    ticks = round(1 / TICK)
    close = np.rint(PRICE * np.exp(log_price) * ticks) / ticks
    opened = np.concatenate([[PRICE], close[:-1]])
    upper = np.maximum(opened, close) * np.exp(0.4 * unit * wicks[:, 0])
    lower = np.minimum(opened, close) * np.exp(-0.4 * unit * wicks[:, 1])
    time = START + SECOND * np.arange(len(close), dtype=np.int64)
    return Candles(time, opened, np.ceil(upper * ticks) / ticks, np.floor(lower * ticks) / ticks, close, volume)
