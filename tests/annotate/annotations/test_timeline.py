"""When a mark is known: at the close of the last candle that it touches."""

from __future__ import annotations

import numpy as np
import pytest

from annotate.annotations.draft import AnnotationDraft
from annotate.annotations.timeline import Timeline
from annotate.errors import InvalidInput
from annotate.models import Json
from annotate.timeframe import parse
from tests.annotate.annotations.builders import HOUR, START, every, point, span, trade

ID = "6b1f6a54-5d35-4d9c-8a20-0f6a7f6f3c11"


def timeline(times: list[int] | None = None, timeframe: str = "1h") -> Timeline:
    return Timeline(np.array(times if times is not None else every("1h", 100), np.int64), timeframe)


def known_at(body: Json, on: Timeline) -> int:
    return on.known_at(AnnotationDraft.from_json(body, ID))


@pytest.mark.parametrize(
    ("body", "hours"),
    [
        (span(10, 20), 20),
        (span(10, 11), 11),
        (span(10, 20) | {"end": START + 20 * HOUR + 1}, 21),
        (point(10), 11),
        (point(10) | {"time": START + 11 * HOUR - 1}, 11),
        (trade(10, 20), 21),
        (span(90, 100), 100),
        (span(90, 140), 100),
    ],
)
def test_a_mark_is_known_at_the_close_of_its_last_candle(body: Json, hours: int) -> None:
    assert known_at(body, timeline()) == START + hours * HOUR


def test_a_mark_that_ends_in_a_gap_is_known_at_its_end() -> None:
    times = every("1h", 10) + every("1h", 10, START + 50 * HOUR)
    assert known_at(span(5, 30), timeline(times)) == START + 30 * HOUR
    assert known_at(point(30), timeline(times)) == START + 30 * HOUR + 1


def test_candles_need_not_open_on_the_hour() -> None:
    shifted = timeline([START + place * HOUR + HOUR // 2 for place in range(10)])
    assert known_at(point(3), shifted) == START + 3 * HOUR + HOUR // 2


def test_a_month_closes_by_the_calendar() -> None:
    months = ["2024-01-01", "2024-02-01", "2024-03-01"]
    times = [int(np.datetime64(month, "ms").astype(np.int64)) for month in months]
    february = point() | {"time": times[1] + 5 * parse("1d")}
    assert known_at(february, timeline(times, "1mo")) == times[2]


@pytest.mark.parametrize("body", [span(-10, 0), span(100, 110), point(-1), point(100), trade(100, 101), trade(-9, -1)])
def test_a_mark_outside_of_the_candles_is_refused_with_their_limits(body: Json) -> None:
    with pytest.raises(InvalidInput, match=f"{START} to {START + 100 * HOUR}") as refused:
        timeline().check(AnnotationDraft.from_json(body, ID))
    assert refused.value.details["field"] in {"start", "time", "entry.time"}


@pytest.mark.parametrize("body", [span(0, 1), span(-10, 1), span(99, 100), point(0), point(99), trade(99, 120)])
def test_a_mark_that_touches_the_candles_is_taken(body: Json) -> None:
    timeline().check(AnnotationDraft.from_json(body, ID))


def test_a_series_without_candles_takes_no_mark() -> None:
    with pytest.raises(InvalidInput, match="no candles"):
        timeline([]).check(AnnotationDraft.from_json(span(), ID))
