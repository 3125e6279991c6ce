"""Where a live run begins. Pure: times in, a time out."""

from __future__ import annotations

from annotate.candles import Times
from annotate.errors import InvalidInput
from annotate.timeframe import close_of

LEARNT_ALL = (
    "the model has learnt from every candle of this series already; start at an earlier one with feed.from (its "
    'scores are marked "seen"), add newer candles, or load a new model'
)


def first_candle(times: Times, *, asked: int | None, data_cut: int | None, window: int) -> int:
    """Give the open time of the first candle of a replay over candles that open at `times` (n,), ms UTC.

    A time that was asked for counts, from the second candle on, since a model looks back; else the candle after the
    model's data cut; else, for a fresh model, the first candle that has `window` candles before it. Raises InvalidInput
    where there is no such candle.

    Examples
    --------
    >>> import numpy as np
    >>> times = np.array([0, 60, 120, 180])
    >>> first_candle(times, asked=None, data_cut=60, window=3), first_candle(times, asked=None, data_cut=None, window=3)
    (120, 180)
    >>> first_candle(times, asked=61, data_cut=None, window=3)
    120
    """
    if asked is not None:
        row = max(1, int(times.searchsorted(asked)))
        problem = f"feed.from = {asked}: this series has no candle at or after that"
    elif data_cut is not None:
        row, problem = int(times.searchsorted(data_cut, side="right")), LEARNT_ALL
    else:
        row = window
        problem = f"this series has {len(times)} candles; a fresh model needs more than its sequence_length of {window}"
    if row >= len(times):
        raise InvalidInput(problem, field="feed.from", value=asked, candles=len(times))
    return int(times[row])


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
