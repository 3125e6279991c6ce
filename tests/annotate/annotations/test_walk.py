"""Where a replay's cursor goes; it never goes past the last candle nor before the first."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.annotations.veil import Veil
from annotate.annotations.walk import Walk
from annotate.errors import InvalidInput
from annotate.models import Json
from tests.annotate.annotations.builders import HOUR, START, every


def hours(count: int = 100, *, without: tuple[int, ...] = ()) -> Walk:
    """Candles of an hour, some of them missing."""
    times = [time for place, time in enumerate(every("1h", count)) if place not in without]
    return Walk(np.array(times, np.int64), "1h")


def at(place: int) -> int:
    """The close of the candle of this place."""
    return START + (place + 1) * HOUR


def test_a_start_shows_what_had_closed_by_then() -> None:
    assert hours().at(START + HOUR) == at(0)
    assert hours().at(START + 10 * HOUR + 1) == at(9)
    assert hours().at(START + 10_000 * HOUR) == at(99)
    with pytest.raises(InvalidInput, match="choose a later time"):
        hours().at(START + HOUR - 1)


def test_steps_go_on_and_back_by_candles_and_stop_at_the_ends() -> None:
    walk = hours()
    assert walk.stepped(at(10), 1, "1h") == at(11)
    assert walk.stepped(at(10), -1, "1h") == at(9)
    assert walk.stepped(at(10), 1_000, "1h") == at(99)
    assert walk.stepped(at(10), -1_000, "1h") == at(0)
    assert walk.stepped(at(10), 0, "1h") == at(10)


def test_a_step_crosses_a_gap_to_the_next_candle() -> None:
    assert hours(without=(11, 12, 13)).stepped(at(10), 1, "1h") == at(14)
    assert hours(without=(11, 12, 13)).stepped(at(14), -1, "1h") == at(10)


def test_a_coarser_step_ends_with_a_coarser_candle() -> None:
    walk = hours()
    assert walk.stepped(at(5), 1, "4h") == at(7)  # the candle 04:00 is open at 06:00 and closes with hour 7
    assert walk.stepped(at(7), 1, "4h") == at(11)
    assert walk.stepped(at(5), 2, "4h") == at(11)
    assert walk.stepped(at(5), -1, "4h") == at(3)
    assert walk.stepped(at(7), -2, "4h") == at(0)
    assert walk.stepped(at(97), 5, "4h") == at(99)


def test_a_timeframe_that_the_candles_do_not_fill_is_refused() -> None:
    with pytest.raises(InvalidInput, match="1h candles do not fill it"):
        hours().stepped(at(10), 1, "30m")


@given(st.integers(2, 5_000), st.integers())
def test_a_random_start_has_candles_before_and_after_it(count: int, seed: int) -> None:
    walk = hours(count)
    row = walk.row(walk.random(Random(seed)))
    assert 0 <= row < count - 1
    assert row >= min(100, count // 2) - 1


@given(st.integers(0, 99), st.lists(st.tuples(st.integers(-20, 20), st.sampled_from(["1h", "4h", "1d"])), max_size=6))
def test_the_cursor_is_always_the_close_of_a_candle(place: int, steps: list[tuple[int, str]]) -> None:
    walk = hours(without=(20, 21, 50))
    cursor = walk.close(place)
    for step, timeframe in steps:
        moved = walk.stepped(cursor, step, timeframe)
        assert (moved - cursor) * step >= 0
        cursor = moved
    assert cursor == walk.close(walk.row(cursor))


@pytest.mark.parametrize(
    ("veil", "mark", "shown"),
    [
        (Veil("Ann"), {"author": "Ben"}, True),
        (Veil("Ann", cursor=10), {"known_at": 10, "decided_at": 10}, True),
        (Veil("Ann", cursor=10), {"known_at": 11, "decided_at": 5}, False),
        (Veil("Ann", cursor=10), {"known_at": 5, "decided_at": 11}, False),
        (Veil("Ann", hides="others"), {"author": "Ben"}, False),
        (Veil("Ann", hides="others", since=9), {"created": 5}, True),
        (Veil("Ann", hides="all", since=9), {"created": 8}, False),
        (Veil("Ann", hides="all", since=9), {"created": 9}, True),
        (Veil("Ann", cursor=10, hides="others"), {"known_at": 11}, False),
    ],
)
def test_a_veil_shows_what_was_known_and_decided_by_whom_it_may_be(veil: Veil, mark: Json, shown: bool) -> None:
    whole = {"author": "Ann", "known_at": 1, "decided_at": 1, "created": 1, **mark}
    assert veil.shows(whole) is shown
