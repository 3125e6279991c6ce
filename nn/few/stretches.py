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
AT_ONCE = 128  # beginnings whose paths are looked at together
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
    blocks = [np.arange(at, min(at + AT_ONCE, len(places))) for at in range(0, len(places), AT_ONCE)]
    parts = [_from(market, places, block, reversals) for block in blocks]
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


def _from(market: Market, places: Ints, indices: Ints, reversals: Floats) -> Stretches:
    """Describe the candidates that begin at the places of `indices` (b,), a matrix of paths at once."""
    row, step = np.nonzero(_is_near(places, indices))
    index, last = indices[row], indices[row] + 1 + step
    begin, ends = places[index], places[last]
    path = _paths(market.log_price, places[indices], int((ends - begin).max(initial=0)))
    top, bottom = np.maximum.accumulate(path, axis=1), np.minimum.accumulate(path, axis=1)
    at = row, ends - begin
    fall, rise = (np.maximum.accumulate(turn, axis=1)[at] for turn in (top - path, path - bottom))
    travelled = np.cumsum(np.abs(np.diff(path, axis=1)), axis=1)[row, ends - begin - 1]
    length, sigma = ends - begin, market.sigma[ends]
    move = path[at] - path[row, 0]
    up = (move > 0).astype(np.int64)
    size, against = np.abs(move) / sigma, np.where(up, fall, rise) / sigma
    looks = [
        size,
        np.log(length),
        against,
        size / np.sqrt(length),
        np.abs(move) / np.maximum(travelled, TINY),
        (top[at] - bottom[at]) / sigma - size,
        np.minimum(reversals[last, up, 0] / sigma, FAR),
        np.minimum(reversals[index, 1 - up, 1] / sigma, FAR),
        np.minimum(reversals[last, up, 1] / sigma, FAR),
        against / np.maximum(size, 1e-9),
        *_context(market, begin, ends, 2 * up - 1),
        up.astype(np.float64),
    ]
    return Stretches(begin, ends, np.stack(looks, axis=1))


def _is_near(places: Ints, indices: Ints) -> npt.NDArray[np.bool_]:
    """Tell which of the next places (b, MOST) are no further than the longest stretch."""
    following = indices[:, None] + 1 + np.arange(MOST)
    ends = places[np.minimum(following, len(places) - 1)]
    return np.asarray((following < len(places)) & (ends - places[indices][:, None] <= LONGEST))


def _paths(log_price: Floats, begins: Ints, longest: int) -> Floats:
    """Give the path from each beginning (b, longest + 1); past the series' end it stands still."""
    at = begins[:, None] + np.arange(longest + 1)
    return np.asarray(log_price[np.minimum(at, len(log_price) - 1)])


def _context(market: Market, begin: Ints, ends: Ints, sign: Ints) -> list[Floats]:
    """Give the moves before a stretch's beginning and after its end, in its direction: positive where price goes on."""
    path, last, sigma = market.log_price, len(market) - 1, market.sigma
    led = [(path[begin] - path[np.maximum(0, begin - scale)]) / sigma[begin] / np.sqrt(scale) for scale in CONTEXT]
    followed = [(path[np.minimum(ends + scale, last)] - path[ends]) / sigma[ends] / np.sqrt(scale) for scale in CONTEXT]
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
