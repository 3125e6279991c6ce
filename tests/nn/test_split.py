"""Splits by time and gaps: a closure of the market is none, a missing candle is one."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from nn.split import calendar_of, segment_ids, segments, split_rows, window_starts

HOUR, DAY = 3_600_000, 86_400_000
MONDAY = 1_704_067_200_000  # 2024-01-01T00:00:00Z


def test_every_missing_candle_is_a_gap_where_the_market_never_closes() -> None:
    time = MONDAY + HOUR * np.delete(np.arange(24 * 60), [100, 101, 700])
    assert [end - start for start, end in segments(time, HOUR)] == [100, 598, 739]


def test_a_weekend_is_no_gap_in_a_market_that_closes_for_it() -> None:
    time = forex_hours(weeks=10)
    assert segments(time, HOUR) == [(0, len(time))]


def test_an_hour_missing_on_a_trading_day_is_a_gap_even_there() -> None:
    time = np.delete(forex_hours(weeks=10), [500])
    assert [end - start for start, end in segments(time, HOUR)] == [500, len(time) - 500]


def test_a_weekend_in_a_series_too_short_for_a_timetable_is_a_gap() -> None:
    assert len(segments(forex_hours(weeks=2), HOUR)) == 2


def test_a_closure_longer_than_five_days_is_a_gap() -> None:
    time = forex_hours(weeks=10)
    whole_week = (time >= MONDAY + 28 * DAY) & (time < MONDAY + 35 * DAY)
    assert len(segments(time[~whole_week], HOUR)) == 2


def test_a_holiday_is_no_gap_between_daily_candles_but_a_missing_week_is() -> None:
    days = np.array([day for day in range(200) if day % 7 < 5])
    holiday = MONDAY + DAY * days[days != 70]
    missing_week = MONDAY + DAY * days[(days < 70) | (days > 76)]
    assert segments(holiday, DAY) == [(0, len(holiday))]
    assert len(segments(missing_week, DAY)) == 2


def test_a_missing_day_is_a_gap_where_every_day_is_traded() -> None:
    time = MONDAY + DAY * np.delete(np.arange(60), [30])
    assert len(segments(time, DAY)) == 2


def test_the_night_is_no_gap_on_an_exchange_with_hours() -> None:
    hours = [day * 24 + hour for day in range(70) if day % 7 < 5 for hour in range(14, 21)]
    time = MONDAY + HOUR * np.array(hours)
    assert segments(time, HOUR) == [(0, len(time))]


def test_candles_come_one_by_one_to_the_same_verdict() -> None:
    time = forex_hours(weeks=10)
    calendar = calendar_of(time, HOUR)
    one_by_one = [bool(calendar.is_gap(a, b)) for a, b in pairwise(time)]
    assert one_by_one == np.diff(segment_ids(time, HOUR)).astype(bool).tolist()


def test_n_candles_give_n_minus_t_plus_1_windows_the_newest_included() -> None:
    starts = window_starts(np.zeros(50, np.int64), 0, 50, 20)
    assert len(starts) == 31
    assert starts[-1] + 20 == 50


def test_no_window_crosses_a_gap() -> None:
    segment = np.r_[np.zeros(30, np.int64), np.ones(25, np.int64), np.full(5, 2)]
    starts = window_starts(segment, 0, 60, 20)
    assert starts.tolist() == [*range(11), *range(30, 36)]


@pytest.mark.parametrize("n", [0, 1, 19])
def test_too_few_candles_give_no_window(n: int) -> None:
    assert not len(window_starts(np.zeros(n, np.int64), 0, n, 20))


def test_rows_whose_targets_reach_the_next_part_do_not_count_nor_those_after_the_border() -> None:
    split = split_rows(1000, [70, 15, 15], horizon=5)
    assert split.validation is not None
    assert split.test is not None
    assert (split.train.start, split.train.end, split.train.first, split.train.last) == (0, 700, 0, 695)
    assert (split.validation.first, split.validation.last) == (705, 845)
    assert (split.test.first, split.test.last) == (855, 1000)


def test_a_share_of_nothing_is_no_part() -> None:
    split = split_rows(1000, [1, 0, 0], horizon=5)
    assert (split.validation, split.test) == (None, None)
    assert split.train.last == 1000


def test_a_part_that_purge_and_embargo_eat_up_is_none() -> None:
    assert split_rows(40, [70, 15, 15], horizon=5).validation is None


def forex_hours(weeks: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Give hours from Sunday 22:00 to Friday 22:00, 120 a week."""
    hours = [week * 168 + hour for week in range(weeks) for hour in range(-2, 118)]
    return MONDAY + HOUR * np.array(hours, dtype=np.int64)
