"""Timeframes: names, buckets, closes, nesting."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.errors import InvalidInput
from annotate.timeframe import USER_TIMEFRAMES, ceil, close_of, floor, name, nests, offered, parse
from tests.annotate.candles.builders import ms

TIMES = st.integers(ms("1900-01-01"), ms("2199-12-31"))


@pytest.mark.parametrize(
    ("text", "length"), [("1s", 1_000), ("15m", 900_000), ("4h", 14_400_000), ("1d", 86_400_000), ("1w", 604_800_000)]
)
def test_a_name_gives_its_length_in_ms(text: str, length: int) -> None:
    assert parse(text) == length


@pytest.mark.parametrize("text", [*USER_TIMEFRAMES, "7m", "45m", "3mo", "2w"])
def test_a_name_comes_back_from_its_length(text: str) -> None:
    assert name(parse(text)) == text


def test_the_same_length_has_one_name() -> None:
    assert [name(parse(text)) for text in ("60s", "60m", "24h", "7d")] == ["1m", "1h", "1d", "1w"]


@pytest.mark.parametrize("text", ["", "0m", "1", "m", "1M", "1 h", "-1h", "1.5h", "1h ", "１h", "9999999s"])
def test_what_is_no_timeframe_is_refused_by_name(text: str) -> None:
    with pytest.raises(InvalidInput, match="such as 1m or 4h") as refused:
        parse(text)
    assert refused.value.details["timeframe"] == text


def test_thirty_days_are_refused_since_they_would_pass_for_a_month() -> None:
    with pytest.raises(InvalidInput, match="1mo"):
        parse("30d")


def test_less_than_a_second_is_no_timeframe() -> None:
    with pytest.raises(InvalidInput, match="shortest is 1s"):
        name(500)


@pytest.mark.parametrize(
    ("time", "timeframe", "opened"),
    [
        ("2024-02-29T23:59:59", "1m", "2024-02-29T23:59:00"),
        ("2024-02-29T23:59:59", "4h", "2024-02-29T20:00:00"),
        ("2024-02-29T23:59:59", "1d", "2024-02-29T00:00:00"),
        ("2024-03-03T23:59:59", "1w", "2024-02-26T00:00:00"),
        ("2024-03-04T00:00:00", "1w", "2024-03-04T00:00:00"),
        ("2024-02-29T23:59:59", "1mo", "2024-02-01T00:00:00"),
        ("2024-02-29T23:59:59", "3mo", "2024-01-01T00:00:00"),
        ("1969-12-28T12:00:00", "1w", "1969-12-22T00:00:00"),
        ("1969-12-31T23:00:00", "1mo", "1969-12-01T00:00:00"),
    ],
)
def test_a_time_lies_in_the_bucket_of_the_calendar(time: str, timeframe: str, opened: str) -> None:
    assert floor(ms(time), timeframe) == ms(opened)


def test_a_month_closes_when_the_next_one_opens() -> None:
    assert close_of(ms("2024-02-01"), "1mo") == ms("2024-03-01")
    assert close_of(ms("2023-12-01"), "1mo") == ms("2024-01-01")


def test_a_week_closes_seven_days_on() -> None:
    assert close_of(ms("2024-02-26"), "1w") == ms("2024-03-04")


@given(TIMES, st.sampled_from(USER_TIMEFRAMES))
def test_every_time_is_in_its_bucket(time: int, timeframe: str) -> None:
    opened = floor(time, timeframe)
    assert opened <= time < close_of(opened, timeframe)
    assert floor(opened, timeframe) == opened
    assert ceil(time, timeframe) == (opened if opened == time else close_of(opened, timeframe))


@given(TIMES, st.sampled_from(USER_TIMEFRAMES), st.sampled_from(USER_TIMEFRAMES))
def test_a_nested_candle_stays_in_one_coarser_one(time: int, inner: str, outer: str) -> None:
    opened = floor(time, inner)
    inside = floor(opened, outer) == floor(close_of(opened, inner) - 1, outer)
    assert inside or not nests(inner, outer)


def test_a_week_nests_in_no_month_and_three_minutes_in_no_five() -> None:
    assert not nests("1w", "1mo")
    assert not nests("3m", "5m")


def test_a_series_offers_its_own_timeframe_and_those_it_nests_in() -> None:
    assert offered("1h") == ["1h", "2h", "4h", "6h", "8h", "12h", "1d", "1w", "1mo"]
    assert offered("45m") == ["45m", "6h", "12h", "1d", "1w", "1mo"]
    assert offered("7m") == ["7m"]
    assert offered("1w") == ["1w"]
