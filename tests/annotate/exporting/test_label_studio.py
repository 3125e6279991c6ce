"""Label Studio: every time passes its parser, every mark has a region, names are data."""

from __future__ import annotations

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotate.models import Json
from tests.annotate.annotations.builders import HOUR, START, candles_at, point, span, trade
from tests.annotate.exporting.builders import dataset_of, exported, labels_of, lost, plain

NUMBERS = {"Y": 4, "m": 2, "d": 2, "H": 2, "M": 2, "S": 2, "L": 3}


def utc_parse(pattern: str, text: str) -> int | None:
    """Give ms UTC, or None where d3's `utcParse`, which Label Studio calls, gives null.

    A port of its rules: a directive takes at most so many digits, every other letter stands for itself, and nothing may
    be left over.
    """
    found: dict[str, int] = {}
    at = 0
    for directive, letter in re.findall(r"%(\w)|(.)", pattern):
        if letter:
            if text[at : at + 1] != letter:
                return None
            at += 1
            continue
        digits = re.match(r"\s*\d+", text[at : at + NUMBERS[directive]])
        if digits is None:
            return None
        found[directive] = int(digits[0])
        at += len(digits[0])
    if at != len(text):
        return None
    day = datetime(found["Y"], found["m"], found["d"], tzinfo=UTC)
    moment = day + timedelta(hours=found["H"], minutes=found["M"], seconds=found["S"])
    return int((moment - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds()) * 1000 + found.get("L", 0)


@pytest.mark.parametrize(
    ("pattern", "text", "ms"),
    [
        ("%Y-%m-%d %H:%M:%S", "2024-01-01 10:00:00", START + 10 * HOUR),
        ("%Y-%m-%d %H:%M:%S.%L", "2024-01-01 10:00:00.358", START + 10 * HOUR + 358),
        ("%Y-%m-%d %H:%M:%S", "2024-01-01 10:00:00Z", None),
        ("%Y-%m-%d %H:%M:%S", "2024-01-01 10:00:00+00:00", None),
        ("%Y-%m-%d %H:%M:%S", "2024.01.01 10:00:00", None),
        ("%Y-%m-%d %H:%M:%S.%L", "2024-01-01 10:00:00.358000", None),
        ("%Y-%m-%d %H:%M:%S.%L", "2024-01-01 10:00:00", None),
    ],
)
def test_the_ported_parser_takes_and_refuses_what_label_studio_does(pattern: str, text: str, ms: int | None) -> None:
    assert utc_parse(pattern, text) == ms


@settings(deadline=None, max_examples=30)
@given(st.lists(st.integers(0, 10**7), min_size=1, max_size=5, unique=True), st.sampled_from([1, 1000, HOUR]))
def test_every_time_passes_the_parser_and_means_the_same(places: list[int], step: int) -> None:
    times = [START + place * step for place in sorted(places)]
    candles = plain(candles_at(times))
    files = exported(dataset_of([point(0) | {"time": times[0]}], candles, timeframe="1s"), "label_studio")
    pattern = time_format(files)
    rows = csv.DictReader(io.StringIO(files["candles.csv"].decode()))
    assert [utc_parse(pattern, row["time"]) for row in rows] == times
    assert [utc_parse(pattern, region["value"]["start"]) for region in regions(files)] == times[:1]


def test_a_span_ends_with_its_last_candle_and_a_point_is_an_instant() -> None:
    files = exported(
        dataset_of([span(10, 20, confidence=0.5, comment="why"), point(30, 101.5, "Short")]), "label_studio"
    )
    first, second = regions(files)
    assert first["value"] == {
        "start": "2024-01-01 10:00:00",
        "end": "2024-01-01 19:00:00",
        "instant": False,
        "timeserieslabels": ["Long"],
    }
    assert first["meta"] == {"text": ["comment: why", "confidence: 0.5"]}
    assert second["value"]["instant"] is True
    assert second["value"]["start"] == second["value"]["end"]
    assert second["meta"] == {"text": ["price: 101.5"]}


def test_a_trade_is_two_instants_and_a_relation_with_its_prices_in_the_notes() -> None:
    files = exported(dataset_of([trade(10, 20, "Short", "short", stop=104.25)]), "label_studio")
    entry, leave, relation = regions(files)
    assert [entry["value"]["start"], leave["value"]["start"]] == ["2024-01-01 10:00:00", "2024-01-01 20:00:00"]
    assert entry["meta"]["text"] == ["price: 100.0", "side: short", "stop: 104.25"]
    assert relation == {"type": "relation", "from_id": entry["id"], "to_id": leave["id"], "direction": "right"}
    assert "1 trades: two instants and a relation, prices in the notes" in lost(files)


def test_each_author_has_an_annotation_of_their_own() -> None:
    files = exported(dataset_of([span(author="Ann"), span(30, 40, author="Bob"), point(author="Ann")]), "label_studio")
    task = json.loads(files["tasks.json"])[0]
    assert [(each["created_username"], len(each["result"])) for each in task["annotations"]] == [("Ann", 2), ("Bob", 1)]
    assert task["predictions"] == []


def test_names_are_data_in_the_labeling_interface() -> None:
    names = ['"quoted" & <b>', "=1+1", "验证🚀", "\u202eltr"]
    files = exported(dataset_of([span(label=names[0])], labels=labels_of(names)), "label_studio")
    view = ET.fromstring(files["label-config.xml"].decode())
    assert [label.attrib["value"] for label in view.iter("Label")] == names
    assert regions(files)[0]["value"]["timeserieslabels"] == [names[0]]


def test_suggestions_are_predictions_of_their_lesson_with_their_probability() -> None:
    proposed = [
        {**span(10, 20), "id": "a", "confidence": 0.75, "comment": "", "lesson": "marks 1"},
        {**point(30, 101.5), "id": "b", "confidence": 0.25, "comment": "", "lesson": "marks 1"},
        {**span(40, 50), "id": "c", "confidence": None, "comment": "", "lesson": "rule 2"},
    ]
    files = exported(dataset_of([]), "label_studio", suggestions=proposed)
    first, second = json.loads(files["tasks.json"])[0]["predictions"]
    assert (first["model_version"], first["score"], len(first["result"])) == ("marks 1", 0.5, 2)
    assert first["result"][0]["value"]["end"] == "2024-01-01 19:00:00"
    assert (second["model_version"], second["score"]) == ("rule 2", None)


def test_a_name_that_xml_cannot_hold_is_changed_everywhere_and_said() -> None:
    files = exported(dataset_of([span(label="null\0")], labels=labels_of(["null\0"])), "label_studio")
    view = ET.fromstring(files["label-config.xml"].decode())
    assert [label.attrib["value"] for label in view.iter("Label")] == ["null�"]
    assert regions(files)[0]["value"]["timeserieslabels"] == ["null�"]
    assert "1 names of labels with letters that XML cannot hold: � stands for them" in lost(files)


def test_spans_off_the_candles_are_counted_as_lost() -> None:
    odd = span() | {"start": START + 10 * HOUR + 60_000}
    assert "1 spans whose edges lie inside a candle or a gap: they end on candles" in lost(
        exported(dataset_of([odd, span(40, 50)]), "label_studio")
    )


def test_a_null_volume_is_an_empty_cell() -> None:
    text = exported(dataset_of([]), "label_studio")["candles.csv"].decode().splitlines()
    assert text[0] == "time,open,high,low,close,volume"
    assert text[3] == "2024-01-01 02:00:00,102,103.25,101,102.1,"


def time_format(files: dict[str, bytes]) -> str:
    series = ET.fromstring(files["label-config.xml"].decode()).find("TimeSeries")
    assert series is not None
    return series.attrib["timeFormat"]


def regions(files: dict[str, bytes]) -> list[Json]:
    found: list[Any] = json.loads(files["tasks.json"])
    return [part for each in found[0]["annotations"] for part in each["result"]]
