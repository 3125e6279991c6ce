"""Files of marks as other tools write them: the right candles, or a question, or a refusal by place."""

from __future__ import annotations

import json

import numpy as np
import pytest

from annotate.errors import InvalidInput, NeedsAnswer
from annotate.mark_files import Chart, Found, read_marks
from annotate.models import Json
from tests.annotate.annotations.builders import HOUR, START, candles_at, every, point, span, trade
from tests.annotate.exporting.builders import dataset_of, exported

CHART = Chart(candles_at(every("1h", 100)), "1h")
SPAN_FIELDS = ("kind", "label", "start", "end")


def read(text: str | bytes, name: str = "marks.csv", **answers: str) -> Found:
    return read_marks(text.encode() if isinstance(text, str) else text, name, CHART, answers)


def spans(found: Found) -> list[tuple[str, int, int]]:
    """Spans as (label, first candle, candle after the last)."""
    return [
        (mark.body["label"], (mark.body["start"] - START) // HOUR, (mark.body["end"] - START) // HOUR)
        for mark in found.marks
    ]


def test_start_end_label_gives_spans_that_end_with_the_close_unless_told_otherwise() -> None:
    text = "start,end,label,note\n2024-01-01T10:00:00Z,2024-01-01T20:00:00Z,Long,why\n"
    assert spans(read(text)) == [("Long", 10, 20)]
    assert spans(read(text, end_is="last_candle")) == [("Long", 10, 21)]
    assert read(text).marks[0].body["comment"] == "why"
    assert read(text).mapping["comment"] == "note"


def test_time_label_gives_points_on_the_close_where_rows_stand_alone() -> None:
    found = read("time;label\n1704103200;Long\n1704139200;Short\n")
    assert [mark.body["kind"] for mark in found.marks] == ["point", "point"]
    assert found.marks[0].body["price"] == CHART.candles.close[10]
    assert found.mapping["rows_are"] == "points"


def test_time_label_gives_spans_where_neighbours_share_a_label() -> None:
    rows = [f"{START + n * HOUR},{'Long' if n < 20 else 'Short'}" for n in range(10, 30)]
    found = read("timestamp,label\n" + "\n".join(rows) + "\n")
    assert spans(found) == [("Long", 10, 20), ("Short", 20, 30)]
    assert [mark.body["kind"] for mark in read("timestamp,label\n" + "\n".join(rows), rows_are="points").marks] == [
        "point"
    ] * 20


def test_a_stretch_with_a_candle_left_out_is_two_spans() -> None:
    rows = [f"{START + n * HOUR},Long" for n in (10, 11, 13, 14)]
    assert spans(read("time,label\n" + "\n".join(rows))) == [("Long", 10, 12), ("Long", 13, 15)]


def test_times_without_a_zone_are_utc_unless_a_zone_is_named() -> None:
    text = "time,label\n2024-01-01 10:00:00,Long\n"
    assert read(text).marks[0].body["time"] == START + 10 * HOUR
    assert "read in UTC" in read(text).mapping["times"]
    assert read(text, zone="+02:00").marks[0].body["time"] == START + 8 * HOUR


def test_milliseconds_are_kept() -> None:
    found = read("time,label\n2024-01-01T10:00:29.358Z,Long\n")
    assert found.marks[0].body["time"] == START + 10 * HOUR + 29_358


def test_columns_without_a_known_name_are_asked_for_and_the_answer_is_taken() -> None:
    text = "when,what\n2024-01-01T10:00:00Z,Long\n"
    with pytest.raises(NeedsAnswer) as asked:
        read(text)
    questions = asked.value.details["questions"]
    assert {question["name"] for question in questions} == {"label", "time"}
    assert spans_or_points(read(text, time="when", label="what")) == [("point", "Long")]


def spans_or_points(found: Found) -> list[tuple[str, str]]:
    return [(mark.body["kind"], mark.body["label"]) for mark in found.marks]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("time,label\n2024-01-01T10:00:00Z,Long\nyesterday,Long\n", "line 3"),
        ("time,label,confidence\n2024-01-01T10:00:00Z,Long,very\n", "column confidence"),
        ("time,label\n2024-01-01T10:00:00Z\n", "line 2: 1 cells"),
        ('{"series": []}', "JSON of a form"),
        ("\x89PNG\r\n", "no table of marks"),
    ],
)
def test_what_cannot_be_read_is_refused_by_place(text: str, named: str) -> None:
    with pytest.raises(InvalidInput, match=named):
        read(text)


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(InvalidInput, match="UTF-8"):
        read(b"\xff\xfe\x00\x01", "odd.csv")


def test_trainset_rows_of_one_label_are_joined_and_unlabelled_ones_left_out() -> None:
    rows = [f"close,{stamp(n)},100,{'up' if 10 <= n < 20 else ''}" for n in range(100)]
    found = read("series,timestamp,value,label\n" + "\n".join(rows) + "\n", "trainset.csv")
    assert found.format == "trainset"
    assert spans(found) == [("up", 10, 20)]


def test_our_trainset_export_comes_back_as_the_same_spans() -> None:
    dataset = dataset_of([span(10, 20), span(20, 30, "Short"), span(40, 41)])
    text = exported(dataset, "trainset")["trainset-1-default.csv"]
    assert spans(read(text)) == [("Long", 10, 20), ("Short", 20, 30), ("Long", 40, 41)]


def test_our_label_studio_export_comes_back_as_the_same_marks() -> None:
    drawn = [
        span(10, 20, comment="why: =1", confidence=0.5),
        span(99, 100, "Short"),
        point(30, 101.5),
        trade(40, 50, "Short", "short", stop=104.25, target=90.5),
    ]
    dataset = dataset_of(drawn)
    found = read(exported(dataset, "label_studio")["tasks.json"], "tasks.json")
    held = {mark["id"]: mark for mark in dataset.annotations}
    assert found.format == "label_studio"
    for mark in found.marks:
        assert mark.id is not None
        assert {**held[mark.id], **mark.body} == held[mark.id]
    assert {mark.id for mark in found.marks} == set(held)


def test_label_studio_instants_without_notes_stand_on_the_close_and_suggestions_stay_out() -> None:
    value = {
        "start": "2024-01-01 10:00:00",
        "end": "2024-01-01 10:00:00",
        "instant": True,
        "timeserieslabels": ["Long"],
    }
    region = {"id": "xyz", "type": "timeserieslabels", "value": value}
    tasks = [{"id": 7, "annotations": [{"result": [region, {"type": "choices"}]}], "predictions": [{"result": []}]}]
    found = read(json.dumps(tasks), "export.json")
    assert found.marks[0].body["price"] == CHART.candles.close[10]
    assert found.marks[0].id is None
    assert found.notes == ["1 predictions are left aside"]
    assert found.skipped == [{"where": "task 7", "why": "a region of type 'choices' is no mark in time"}]


def test_candle_annotator_spans_end_with_their_last_candle() -> None:
    given: Json = {
        "pair": "ETHUSDT",
        "annotations": [
            {
                "id": "1", "start_time": 1704103200, "end_time": 1704135600, "label": "bull_flag", "confidence": 4,
                "outcome": "win", "notes": "clear",
                "sub_spans": [{"label": "pole", "start_time": 1704103200, "end_time": 1704110400}],
            }
        ],
    }  # fmt: skip
    found = read(json.dumps(given), "annotations.json")
    assert found.format == "candle_annotator"
    assert spans(found) == [("bull_flag", 10, 20), ("pole", 10, 13)]
    assert (found.marks[0].body["confidence"], found.marks[0].body["comment"]) == (0.8, "win; clear")


def test_a_candle_annotator_span_without_an_end_is_named() -> None:
    with pytest.raises(InvalidInput, match="annotation 1: end_time is missing"):
        read('[{"start_time": 1704103200, "end_time": null, "label": "x"}]')


def test_an_empty_file_has_no_marks() -> None:
    assert read("  \n").marks == []


def test_a_span_at_the_end_of_a_gap_ends_with_the_candle_before_it() -> None:
    chart = Chart(candles_at([*every("1h", 10), *every("1h", 10, START + 20 * HOUR)]), "1h")
    assert chart.close_after(START + 9 * HOUR) == START + 10 * HOUR
    assert chart.row_of(START + 12 * HOUR) is None
    assert chart.price_at(START + 20 * HOUR) == chart.candles.close[10]
    assert np.array_equal(chart.opens, chart.candles.time)


def stamp(hour: int) -> str:
    return str(np.datetime64(START + hour * HOUR, "ms").astype("datetime64[s]")) + "Z"
