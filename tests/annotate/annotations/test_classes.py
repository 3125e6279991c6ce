"""The class of each candle in a layer."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from annotate.annotations.classes import NO_CLASS, CandleTimes
from annotate.models import Json
from tests.annotate.annotations.builders import HOUR, START, every, point, span, trade

NAMES = ["Long", "Short"]
CANDLES = 30


def rows(times: list[int] | None = None) -> CandleTimes:
    return CandleTimes(np.array(times or every("1h", CANDLES), np.int64), "1h")


def updated(*marks: Json) -> list[Json]:
    return [{"updated": number, **mark} for number, mark in enumerate(marks)]


def classes(*marks: Json) -> list[int]:
    found: list[int] = rows().layer_classes(updated(*marks), NAMES).classes.tolist()
    return found


def test_a_span_over_candles_10_to_20_gives_exactly_those_a_class() -> None:
    found = classes(span(10, 21, "Short"))
    assert [place for place, number in enumerate(found) if number != NO_CLASS] == list(range(10, 21))
    assert set(found) == {NO_CLASS, 1}


def test_where_spans_overlap_the_last_updated_one_wins_and_the_candles_are_counted() -> None:
    marks = [span(0, 10, updated=5), span(7, 12, "Short", updated=9), span(5, 8, updated=7)]
    found = rows().layer_classes(marks, NAMES)
    assert found.classes.tolist() == [0] * 7 + [1] * 5 + [NO_CLASS] * (CANDLES - 12)
    assert found.overlapping == 5  # candles 5 and 6 by two, 7 by three, 8 and 9 by two


def test_labels_of_another_layer_and_other_kinds_give_no_class() -> None:
    assert set(classes(span(0, 9, "Noise"), point(3), trade(5, 8))) == {NO_CLASS}


def test_a_mark_sits_in_the_candle_that_contains_its_time() -> None:
    inside = span(3, 4) | {"start": START + 3 * HOUR + 1, "end": START + 3 * HOUR + 2}
    assert classes(inside).index(0) == 3
    assert rows().covers(updated(point(3) | {"time": START + 4 * HOUR - 1})).tolist().index(1) == 3


def test_a_trade_touches_its_entry_to_its_exit_candle() -> None:
    assert np.flatnonzero(rows().covers(updated(trade(5, 8)))).tolist() == [5, 6, 7, 8]


def test_a_mark_in_a_gap_touches_no_candle() -> None:
    times = every("1h", 5) + every("1h", 5, START + 10 * HOUR)
    assert rows(times).covers(updated(span(6, 9), point(7), trade(5, 9))).tolist() == [0] * 10


spans = st.builds(
    lambda start, length, label: span(start, start + length, label),
    st.integers(-5, CANDLES + 5),
    st.integers(1, CANDLES),
    st.sampled_from(NAMES),
)


@given(st.lists(spans, max_size=8))
def test_classes_equal_those_of_painting_candle_by_candle(marks: list[Json]) -> None:
    painted, covers = [NO_CLASS] * CANDLES, [0] * CANDLES
    for mark in marks:
        for place in range(CANDLES):
            if mark["start"] <= START + place * HOUR < mark["end"]:
                painted[place] = NAMES.index(mark["label"])
                covers[place] += 1
    found = rows().layer_classes(updated(*marks), NAMES)
    assert found.classes.tolist() == painted
    assert found.overlapping == sum(count > 1 for count in covers)
