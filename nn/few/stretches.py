"""What a stretch of candles between two local extremes looks like. Hindsight.

Every size is in units of the slow σ at the stretch's end, so that a quiet and a wild market look alike.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nn.few.market import TINY, Market

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

LONGEST = 400  # candles of the longest stretch
MOST = 60  # ends that are tried for each beginning
FAR = 12.0  # σ beyond which a reversal is simply large
LOOKS = (
    "size", "log_length", "against", "speed", "straightness", "overshoot",
    "reversal_after", "reversal_before", "travel_before_end", "against_share",
    "led_12", "led_24", "led_48", "led_96", "followed_12", "followed_24", "followed_48", "followed_96", "rising",
)  # fmt: skip
SIZE, LENGTH, AGAINST, SPEED, STRAIGHTNESS, OVERSHOOT, AFTER, BEFORE, _, SHARE = range(10)
RISING = len(LOOKS) - 1
CONTEXT = (12, 24, 48, 96)  # candles before and after it over which price's move, in its own direction, is looked at


class Stretches(NamedTuple):
    """Candidate stretches: candles (begin, end], as positions (m,), with their looks (m, len(LOOKS))."""

    begin: Ints  # the extreme that the move comes from; the stretch's first candle is the next one
    end: Ints  # the extreme that it goes to; the stretch's last candle
    looks: Floats

    def only(self, rows: npt.NDArray[np.bool_]) -> Stretches:
        """Give the stretches of the rows that are true."""
        return Stretches(self.begin[rows], self.end[rows], self.looks[rows])


def stretches(market: Market, start: int, end: int) -> Stretches:
    """Describe every candidate stretch whose two extremes lie in [start, end)."""
    places = market.places[np.searchsorted(market.places, start) : np.searchsorted(market.places, end)]
    reversals = _reversals(market.log_price, places)
    parts = [_from(market, places, i, reversals) for i in range(len(places) - 1)]
    parts = [part for part in parts if len(part.begin)]
    if not parts:
        return Stretches(np.empty(0, np.int64), np.empty(0, np.int64), np.empty((0, len(LOOKS))))
    return Stretches(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def widened(looks: Floats) -> Floats:
    """Add hinges at a few σ (m, 30): a turn counts from some size on, which a straight line cannot say."""
    sizes = looks[:, [SIZE, AGAINST, AFTER, BEFORE]]
    least = np.minimum(np.minimum(sizes[:, 0], sizes[:, 2]), sizes[:, 3])
    over = looks[:, OVERSHOOT] <= 1e-9
    hinges = [np.maximum(sizes - limit, 0) for limit in (2.0, 4.0, 6.0)]
    extra = np.stack([least, np.minimum(least, 8.0) * over, over, least - sizes[:, 1]], axis=1)
    return np.concatenate([looks[:, :-1], np.log1p(np.maximum(sizes, 0)), *hinges, extra], axis=1)


def signed(looks: Floats) -> Floats:
    """Give looks that tell classes apart (m, 9): signed size and speed, length, straightness, counter-move."""
    sign = 2 * looks[:, [RISING]] - 1
    plain = looks[:, [SIZE, LENGTH, AGAINST, SPEED, STRAIGHTNESS, SHARE]]
    return np.concatenate([sign, sign * looks[:, [SIZE, SPEED]], plain], axis=1)


def _from(market: Market, places: Ints, index: int, reversals: Floats) -> Stretches:
    begin, ends = places[index], places[index + 1 : index + 1 + MOST]
    ends = ends[ends - begin <= LONGEST]
    if not len(ends):
        return Stretches(ends, ends, np.empty((0, len(LOOKS))))
    path, length, sigma = market.log_price[begin : ends[-1] + 1], ends - begin, market.sigma[ends]
    top, bottom = np.maximum.accumulate(path), np.minimum.accumulate(path)
    fall, rise = np.maximum.accumulate(top - path)[length], np.maximum.accumulate(path - bottom)[length]
    travelled = np.cumsum(np.abs(np.diff(path)))[length - 1]
    move = path[length] - path[0]
    up = (move > 0).astype(np.int64)
    size, against = np.abs(move) / sigma, np.where(up, fall, rise) / sigma
    after = reversals[index + 1 : index + 1 + len(ends)]
    rows = np.arange(len(ends))
    looks = [
        size,
        np.log(length),
        against,
        size / np.sqrt(length),
        np.abs(move) / np.maximum(travelled, TINY),
        (top[length] - bottom[length]) / sigma - size,
        np.minimum(after[rows, up, 0] / sigma, FAR),
        np.minimum(reversals[index, 1 - up, 1] / sigma, FAR),
        np.minimum(after[rows, up, 1] / sigma, FAR),
        against / np.maximum(size, 1e-9),
        *_context(market, begin, ends, 2 * up - 1),
        up.astype(np.float64),
    ]
    return Stretches(np.full(len(ends), begin), ends, np.stack(looks, axis=1))


def _context(market: Market, begin: int, ends: Ints, sign: Ints) -> list[Floats]:
    """Give the moves before a stretch's beginning and after its end, in its direction: positive where price goes on."""
    path, last = market.log_price, len(market) - 1
    led = [(path[begin] - path[max(0, begin - scale)]) / market.sigma[begin] / np.sqrt(scale) for scale in CONTEXT]
    followed = [
        (path[np.minimum(ends + scale, last)] - path[ends]) / market.sigma[ends] / np.sqrt(scale) for scale in CONTEXT
    ]
    return [sign * np.clip(move, -FAR, FAR) for move in (*led, *followed)]


def _reversals(log_price: Floats, places: Ints) -> Floats:
    """How far price turns from each place before it goes beyond it: (m, low or high, after or before), in log price."""
    found = np.zeros((len(places), 2, 2))
    for i, place in enumerate(places.tolist()):
        after = log_price[place : place + LONGEST] - log_price[place]
        before = log_price[max(0, place - LONGEST) : place + 1][::-1] - log_price[place]
        for side, path in enumerate((after, before)):
            found[i, 1, side] = -path[: _first(path > 0)].min(initial=0.0)
            found[i, 0, side] = path[: _first(path < 0)].max(initial=0.0)
    return found


def _first(mask: npt.NDArray[np.bool_]) -> int:
    index = int(mask.argmax())
    return index if mask[index] else len(mask)
