"""Where a live run begins. Pure: times in, a time out."""

from __future__ import annotations

import numpy as np

from annotate.candles import Times
from annotate.errors import InvalidInput
from annotate.timeframe import close_of, parse

LEARNT_ALL = (
    "the model has learnt from every candle of this series already; start at an earlier one with feed.from (its "
    'scores are marked "seen"), add newer candles, or load a new model'
)


DAYS_OF_A_TIMETABLE = 28  # before which a series cannot show when its market is closed (nn/split.py)


def first_candle(times: Times, timeframe: str, *, asked: int | None, data_cut: int | None, window: int) -> int:
    """Give the open time of the first candle of a replay over candles that open at `times` (n,), ms UTC.

    A time that was asked for counts, from the second candle on, since a model looks back; else the candle after the
    model's data cut; else, for a fresh model, the first candle that has `window` candles in a row before it, or, where
    that comes later, the first by which a market's closing times are known, across which a window may run. Raises
    InvalidInput where there is no such candle.

    Examples
    --------
    >>> import numpy as np
    >>> times = np.array([0, 2000, 3000, 4000, 5000])
    >>> [first_candle(times, "1s", asked=None, data_cut=cut, window=3) for cut in (2000, None)]
    [3000, 5000]
    >>> first_candle(times, "1s", asked=2001, data_cut=None, window=3)
    3000
    """
    if asked is not None:
        row = max(1, int(times.searchsorted(asked)))
        problem = f"feed.from = {asked}: this series has no candle at or after that"
    elif data_cut is not None:
        row, problem = int(times.searchsorted(data_cut, side="right")), LEARNT_ALL
    else:
        row = _first_full(times, parse(timeframe), window)
        problem = f"this series has {len(times)} candles; a fresh model needs more than its sequence_length of {window}"
    if row >= len(times):
        raise InvalidInput(problem, field="feed.from", value=asked, candles=len(times))
    return int(times[row])


def _first_full(times: Times, timeframe_ms: int, window: int) -> int:
    """Give the first row with a full window before it; where gaps leave none, that after as many candles."""
    whole = np.flatnonzero(
        times[window - 1 :] - times[: max(0, len(times) - window + 1)] == (window - 1) * timeframe_ms
    )
    known = times[:1] + DAYS_OF_A_TIMETABLE * 86_400_000 - timeframe_ms
    rows = [*(whole[:1] + window), max(window, int(times.searchsorted(known)[0]) + 1 if len(times) else 0)]
    return min([row for row in rows if row < len(times)], default=window)


def next_candle(times: Times, timeframe: str, *, asked: int | None, after: int | None) -> int:
    """Give the open time of the first candle of a feed that follows a series as it grows.

    That is the first stored one from `asked` or after `after`, from the second candle on; else the one that comes next.

    Examples
    --------
    >>> import numpy as np
    >>> times = np.array([0, 60_000, 120_000])
    >>> [next_candle(times, "1m", asked=None, after=after) for after in (None, 0, 120_000)]
    [180000, 60000, 180000]
    >>> next_candle(times, "1m", asked=0, after=None)
    60000
    """
    if asked is None and after is None:
        row = len(times)
    else:
        row = max(1, int(times.searchsorted(asked if asked is not None else (after or 0) + 1)))
    return int(times[row]) if row < len(times) else close_of(int(times[-1]), timeframe)
