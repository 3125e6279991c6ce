"""Files of marks as other tools write them: the right candles, or a question, or a refusal by place."""

from __future__ import annotations

import json

import numpy as np
import pytest

from annotate.errors import InvalidInput, NeedsAnswer
from annotate.mark_files import Chart, Found, read_marks
from annotate.models import Json
from tests.annotate.annotations.builders import HOUR, START, candles_at, every, point, span, trade
from tests.annotate.exporting.builders import dataset_of, exported, labels_of

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
        read(b"\x00\x01\xff\x02" * 40, "odd.csv")


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


REGION = {"start": "2024-01-01 10:00:00", "end": "2024-01-01 19:00:00", "instant": False, "timeserieslabels": ["Run"]}


def test_the_short_json_and_the_csv_of_label_studio_give_the_same_marks_as_its_json() -> None:
    other = {**REGION, "start": "2024-01-02 10:00:00", "end": "2024-01-02 10:00:00", "instant": True}
    whole = [
        {"id": 1, "data": {"csv": "a.csv"}, "annotations": [{"result": [
            {"id": "x", "type": "timeserieslabels", "value": REGION},
            {"id": "y", "type": "timeserieslabels", "value": other},
        ]}]}
    ]  # fmt: skip
    short = [{"id": 1, "csv": "a.csv", "label": [REGION, other], "annotator": 1, "annotation_id": 7, "lead_time": 1.5}]
    table = (
        "annotation_id,annotator,csv,id,label,lead_time\n7,1,a.csv,1," + quoted(json.dumps([REGION, other])) + ",1.5\n"
    )
    found = [read(json.dumps(whole)), read(json.dumps(short)), read(table)]
    assert [each.format for each in found] == ["label_studio"] * 3
    assert [[mark.body for mark in each.marks] for each in found] == [[mark.body for mark in found[0].marks]] * 3
    assert spans_or_points(found[0]) == [("span", "Run"), ("point", "Run")]


def test_a_region_of_two_labels_is_a_mark_of_each_and_one_of_none_is_listed() -> None:
    regions = [
        {"id": "a", "type": "timeserieslabels", "value": {**REGION, "timeserieslabels": ["Run", "Walk"]}},
        {"id": "b", "type": "timeserieslabels", "value": {**REGION, "timeserieslabels": []}},
        {"id": "c", "type": "timeserieslabels", "value": {"timeserieslabels": ["Run"]}},
        {"id": "d", "type": "timeserieslabels"},
    ]
    found = read(json.dumps([{"id": 1, "annotations": [{"result": regions}, {"was_cancelled": True, "result": []}]}]))
    assert spans(found) == [("Run", 10, 20), ("Walk", 10, 20)]
    assert [each["why"] for each in found.skipped] == [
        "the annotator skipped this task",
        "region b has no label",
        "region c has no start or no end",
        "a region of type 'timeserieslabels' is no mark in time",
    ]


def test_regions_of_a_project_without_a_time_format_are_numbers() -> None:
    value = {**REGION, "start": (START + 10 * HOUR) / 1000, "end": float(START + 19 * HOUR) / 1000}
    assert spans(read(json.dumps([{"id": 1, "label": [value]}]))) == [("Run", 10, 20)]


def test_one_of_several_tasks_can_be_chosen() -> None:
    tasks = [
        {"id": n, "csv": f"{name}.csv", "label": [{**REGION, "timeserieslabels": [name]}]}
        for n, name in ((7, "a"), (9, "b"))
    ]
    every, one = read(json.dumps(tasks)), read(json.dumps(tasks), task="2")
    assert [label for label, _, _ in spans(every)] == ["a", "b"]
    assert every.notes == ["2 tasks are read as marks of this one series"]
    assert [label for label, _, _ in spans(one)] == ["b"]
    (offered,) = [each for each in every.options if each["name"] == "task"]
    assert [choice["label"] for choice in offered["choices"]] == ["all 2 tasks", "task 7: a.csv", "task 9: b.csv"]


def test_an_old_trainset_file_marks_ones_and_no_zeros() -> None:
    rows = [f"run_1,{stamp(n)},100,{int(10 <= n < 20)}" for n in range(100)]
    assert spans(read("filename,timestamp,value,label\r\n" + "\r\n".join(rows) + "\r\n")) == [("1", 10, 20)]


def test_labels_of_two_series_of_a_trainset_file_are_both_kept() -> None:
    rows = [f"{series},{stamp(n)},1,{label}" for n in range(10, 20) for series, label in (("a", "up"), ("b", "fast"))]
    assert spans(read("series,timestamp,value,label\n" + "\n".join(rows))) == [("up", 10, 20), ("fast", 10, 20)]


def test_two_labels_on_the_same_candles_are_two_spans() -> None:
    rows = [f"{START + n * HOUR},{label}" for n in range(10, 20) for label in ("up", "fast")]
    assert spans(read("time,label\n" + "\n".join(rows), rows_are="spans")) == [("up", 10, 20), ("fast", 10, 20)]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_what_a_spreadsheet_saves_is_read(encoding: str, end: str) -> None:
    lines = ["Start;End;Label;Price;Confidence;", "01.01.2024 10:00;13.01.2024 20:00;Größe;1,5;0,75;", ";;;;;"]
    found = read((end.join(lines) + end).encode(encoding))
    (mark,) = found.marks
    assert (mark.body["label"], mark.body["confidence"]) == ("Größe", 0.75)
    assert (mark.body["start"], mark.body["end"]) == (START + 10 * HOUR, START + 12 * 24 * HOUR + 20 * HOUR)


def test_a_decimal_comma_is_told_from_the_column() -> None:
    found = read("time;label;price\n1704103200;Long;1.234,5\n1704106800;Long;99,25\n", rows_are="points")
    assert [mark.body["price"] for mark in found.marks] == [1234.5, 99.25]


def test_day_and_month_are_told_by_both_columns_together() -> None:
    found = read("start,end,label\n02/01/2024 00:00,13/01/2024 00:00,Long\n")
    assert spans(found) == [("Long", 24, 12 * 24)]
    with pytest.raises(NeedsAnswer, match="02/01/2024"):
        read("start,end,label\n02/01/2024 00:00,03/01/2024 00:00,Long\n")


def test_a_local_clock_is_read_in_its_zone_on_both_sides_of_its_summer_time() -> None:
    text = "start,end,label\n2024-03-30 12:00,2024-03-30 20:00,winter\n2024-03-31 12:00,2024-03-31 20:00,summer\n"
    first, second = read(text, zone="Europe/Berlin").marks
    assert (first.body["start"], second.body["start"]) == (1_711_796_400_000, 1_711_879_200_000)  # 11:00Z, 10:00Z
    with pytest.raises(
        InvalidInput, match=r"line 2, column time: '2024-03-31 02:30' is a clock that Europe/Berlin skipped"
    ):
        read("time,label\n2024-03-31 02:30,Long\n", zone="Europe/Berlin")


def test_the_hour_that_happens_twice_is_told_apart_by_the_order_of_rows() -> None:
    rows = "".join(f"2024-10-27 0{hour}:00,Long\n" for hour in (1, 2, 2, 3))
    found = read("time,label\n" + rows, zone="Europe/Berlin", rows_are="points")
    steps = np.diff([mark.body["time"] for mark in found.marks])
    assert steps.tolist() == [HOUR] * 3
    assert "2 clocks happened twice" in found.mapping["times"]


def test_dates_without_a_clock_stay_their_date_and_a_span_holds_its_last_day() -> None:
    found = read("start,end,label\n2024-01-02,2024-01-03,Long\n", zone="Asia/Tokyo")
    assert spans(found) == [("Long", 24, 49)]
    assert found.mapping["end_is"] == "last_candle"


def test_a_span_of_one_candle_ends_with_that_candle() -> None:
    text = "start,end,label\n2024-01-01T10:00Z,2024-01-01T10:00Z,Long\n2024-01-01T12:00Z,2024-01-01T13:00Z,Long\n"
    assert spans(read(text)) == [("Long", 10, 11), ("Long", 12, 14)]


def test_a_table_without_a_header_asks_with_the_likely_columns_and_loses_no_row() -> None:
    text = "2024-01-01T10:00:00Z,2024-01-01T20:00:00Z,Long\n2024-01-02T10:00:00Z,2024-01-02T20:00:00Z,Short\n"
    with pytest.raises(NeedsAnswer) as asked:
        read(text)
    likely = {
        question["name"]: next(choice["value"] for choice in question["choices"] if choice["likely"])
        for question in asked.value.details["questions"]
    }
    assert likely == {"label": "column 3", "start": "column 1", "end": "column 2"}
    found = read(text, start="column 1", end="column 2", label="column 3")
    assert spans(found) == [("Long", 10, 20), ("Short", 34, 44)]


def test_an_end_that_is_called_otherwise_is_asked_for_with_the_other_column_of_times() -> None:
    text = "Start,Ende,Label\n2024-01-01T10:00:00Z,2024-01-01T20:00:00Z,Long\n"
    with pytest.raises(NeedsAnswer) as asked:
        read(text)
    (question,) = asked.value.details["questions"]
    assert (question["name"], [choice["value"] for choice in question["choices"] if choice["likely"]]) == (
        "end",
        ["Ende"],
    )
    assert spans(read(text, end="Ende")) == [("Long", 10, 20)]


def test_every_reading_of_a_table_is_offered_and_can_be_changed() -> None:
    text = "start,end,time,label,kind\n2024-01-01 10:00,2024-01-01 20:00,2024-01-01 12:00,Long,bull\n"
    found = read(text)
    offered = {
        each["name"]: [choice["value"] for choice in each["choices"] if choice["likely"]] for each in found.options
    }
    assert offered == {
        "label": ["label"], "start": ["start"], "end": ["end"], "time": ["–"], "price": ["–"], "comment": ["–"],
        "confidence": ["–"], "zone": ["UTC"], "end_is": ["close"],
    }  # fmt: skip
    assert spans(read(text, label="kind", end="–", start="–", time="time", rows_are="spans")) == [("bull", 12, 13)]
    with pytest.raises(InvalidInput, match="'colour'"):
        read(text, label="colour")
    with pytest.raises(InvalidInput, match="answer colour: nothing asks for it"):
        read(text, colour="label")


def test_rows_without_a_label_are_counted() -> None:
    found = read("time,label\n1704103200,Long\n1704106800,\n1704110400, \n")
    assert (len(found.marks), found.notes) == (1, ["2 rows without a label are left out"])


def test_a_foreign_label_keeps_its_apostrophe_and_our_candles_csv_loses_the_one_it_added() -> None:
    assert read("time,label\n1704103200,'tis\n").marks[0].body["label"] == "'tis"
    dataset = dataset_of([span(10, 20, "=1+1")], labels=labels_of(["=1+1"], "trend;=1"))
    assert spans(read(exported(dataset, "dataset")["candles.csv"])) == [("=1+1", 10, 20)]


@pytest.mark.parametrize(
    "text",
    [
        '[{"annotations": [{"result": [7]}, {"result": null}], "completions": null}]',
        '[{"annotations": [{"result": [{"type": "timeserieslabels", "value": {"start": [], "end": {}}}]}]}]',
        '[{"annotations": [{"result": [{"type": "relation", "from_id": [1], "to_id": {}}]}]}]',
        '[{"annotations": [7]}]',
        '[{"annotations": [{"result": 7}]}]',
        '[{"annotations": 7, "label": [{"timeserieslabels": 7, "start": 1, "end": 2}]}]',
        '{"annotations": [{"start_time": 1704103200, "end_time": 1704103200, "label": "a", "sub_spans": [1]}]}',
        '{"annotations": [{"start_time": 1704103200, "end_time": 1704103200, "label": "a", "confidence": "high"}]}',
        '{"annotations": [{"start_time": "then", "end_time": "now", "label": "a"}]}',
        "[" * 100_000 + "]" * 100_000,
        '{"kind": ' * 100_000,
        "time,label\n1704103200,\x00\n",
        "start,end,label\n" + ",,\n" * 3 + ",,Long\n",
        "time,label\n99999999999999999999999,Long\n",
        "time,time,label\n1,2,3\n",
        "label_id,t_start_ms\n1,2\n",
        'series,timestamp,value,label\n"unclosed,1,2,3\n',
    ],
)
def test_mangled_files_are_refused_or_read_and_never_break(text: str) -> None:
    try:
        marks = read(text).marks
    except InvalidInput:
        marks = []
    assert all(isinstance(mark.body["label"], str) for mark in marks)


def quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"'
