"""What goes wrong in other labelling tools, tried here, with the right value; the names are those of the reports."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from annotate.annotations.classes import CandleTimes
from annotate.annotations.draft import AnnotationDraft
from annotate.annotations.labels import LabelSetDraft
from annotate.annotations.timeline import Timeline
from annotate.candles import aggregate
from annotate.exporting.content import read_content
from annotate.exporting.description import describe, warnings_of
from annotate.exporting.labels_csv import COLUMNS, read_labels, write_labels
from annotate.exporting.recipe import Recipe
from annotate.mark_files import Chart, read_marks
from annotate.mark_import import Import, import_marks
from annotate.models import Json
from annotate.store.bulk import Bulk, apply_bulk
from annotate.store.label_sets import label_set_to_json, save_label_set
from annotate.store.series import get_series
from annotate.store.undo import Gesture
from tests.annotate.annotations.builders import HOUR, START, Workspace, candles_at, every, point, said, span
from tests.annotate.annotations.test_room import make_exclusive, places

MANIFEST: Json = {"symbol": "ETH/USDT", "timeframe": "1h", "candles": {"sha256": "ab12"}}
NEW_YORK_SPRING = 1_710_050_400_000  # 2024-03-10T06:00:00Z: an hour later the clocks there go forward


def clear(workspace: Workspace) -> None:
    """Delete every mark in one gesture."""
    workspace.clock += 1
    removed: dict[str, int | None] = {mark["id"]: mark["revision"] for mark in workspace.marks()}
    timeline = Timeline(workspace.candles.read(workspace.series_id).time, "1h")
    with workspace.database.write() as session:
        apply_bulk(session, workspace.series_id, Bulk({}, removed), timeline, Gesture(author="me", now=workspace.clock))


def add_layer(workspace: Workspace, name: str) -> None:
    """Give the label set a label in a layer of its own."""
    with workspace.database.write() as session:
        label_set = get_series(session, workspace.series_id).label_set
        wanted = label_set_to_json(session, label_set)
        wanted["labels"].append({"name": name, "colour": "#112233", "key": None, "layer": name.lower()})
        save_label_set(session, label_set.id, LabelSetDraft.from_json(wanted))


def test_ls_5_a_span_over_the_last_candle_ends_at_its_close(workspace: Workspace) -> None:
    mark = workspace.put(span(98, 100))
    assert (mark["end"], mark["known_at"]) == (START + 100 * HOUR, START + 100 * HOUR)
    assert "NaN" not in write_labels([mark], MANIFEST)


def test_ls_14_in_an_exclusive_layer_good_then_bad_share_the_candles(workspace: Workspace) -> None:
    make_exclusive(workspace, "default")
    workspace.put(span(0, 100, "Long"))
    workspace.put(span(70, 120, "Short"))
    assert places(workspace) == [("Long", 0, 70), ("Short", 70, 120)]


def test_ls_18_and_report_43_each_mark_is_exported_once_after_copy_and_edit(workspace: Workspace) -> None:
    first = workspace.put(span(10, 20))
    copy = workspace.put(span(30, 40))
    workspace.put(span(31, 41, revision=1), copy["id"])
    rows = read_labels(write_labels(workspace.marks(), MANIFEST))
    assert [row["id"] for row in rows] == [first["id"], copy["id"]]


def test_ls_20_two_times_of_one_day_are_exported_to_the_millisecond(workspace: Workspace) -> None:
    mark = workspace.put({"kind": "span", "label": "Long", "start": START + 10 * HOUR + 358, "end": START + 18 * HOUR})
    text = write_labels([mark], MANIFEST)
    assert "2024-01-01T10:00:00.358Z,2024-01-01T18:00:00Z" in text
    assert read_labels(text) == [mark]


def test_ts_1_a_thousand_labels_come_back_as_the_same_thousand(tmp_path: Path) -> None:
    workspace = Workspace.make(tmp_path, every("1h", 2_000))
    with workspace.database.write() as session:
        drafts = {f"00000000-0000-4000-8000-{n:012}": AnnotationDraft.from_json(point(2 * n), "") for n in range(1_000)}
        timeline = Timeline(workspace.candles.read(workspace.series_id).time, "1h")
        apply_bulk(session, workspace.series_id, Bulk(drafts), timeline, Gesture(author="me", now=workspace.clock))
    before = workspace.marks()
    text = write_labels(before, MANIFEST)
    clear(workspace)
    chart = Chart(workspace.candles.read(workspace.series_id), "1h")
    found = read_marks(text.encode(), "labels.csv", chart, {})
    with workspace.database.write() as session:
        report = import_marks(session, workspace.series_id, chart, found, Import(Gesture(author="me", now=1)))
    assert (report["new"], report["conflicts"]) == (1_000, [])
    assert workspace.marks() == before
    workspace.close()


def test_ts_7_and_report_45_two_labels_of_two_layers_stay_on_one_candle(workspace: Workspace) -> None:
    add_layer(workspace, "Trend")
    workspace.put(span(10, 11, "Long"))
    workspace.put(span(10, 11, "Trend"))
    with workspace.database.read() as session:
        content = read_content(session, workspace.series_id, Recipe())
    assert sorted(mark["label"] for mark in content.annotations) == ["Long", "Trend"]


def test_ts_8_and_sa_1_clear_all_leaves_nothing_and_undo_brings_all_back(workspace: Workspace) -> None:
    for place in (10, 20, 30):
        workspace.put(span(place, place + 5))
    before = workspace.marks()
    clear(workspace)
    assert workspace.marks() == []
    workspace.undo()
    assert said(workspace.marks()) == said(before)


def test_ta_2_a_point_that_is_sent_twice_is_one_label(workspace: Workspace) -> None:
    mark = workspace.put(point(10, 101.5))
    assert workspace.put(point(10, 101.5), mark["id"]) == mark
    assert workspace.marks() == [mark]


def test_no_mark_that_was_acknowledged_gives_way_to_a_like_one(workspace: Workspace) -> None:
    for body in (point(10, 101.5), point(10, 101.5), span(10, 20), span(10, 20)):
        workspace.put(body)
    assert len(workspace.marks()) == 4


def test_sa_3_a_class_without_marks_is_a_header_without_rows(workspace: Workspace) -> None:
    workspace.put(span(10, 20, "Long"))
    shorts = [mark for mark in workspace.marks() if mark["label"] == "Short"]
    assert write_labels(shorts, MANIFEST) == ",".join(COLUMNS) + "\n"


def test_cu_1_a_brush_over_candles_100_to_120_labels_exactly_21(tmp_path: Path) -> None:
    workspace = Workspace.make(tmp_path, every("1h", 200))
    mark = workspace.put(span(100, 121))
    rows = CandleTimes(workspace.candles.read(workspace.series_id).time, "1h")
    classes = rows.layer_classes([mark], ["Long"]).classes
    assert np.flatnonzero(classes == 0).tolist() == list(range(100, 121))
    workspace.close()


def test_lw_10_a_daily_candle_keeps_its_date(tmp_path: Path) -> None:
    day = 1_560_816_000_000  # 2019-06-18
    workspace = Workspace.make(tmp_path, every("1d", 3, day), "1d")
    mark = workspace.put({"kind": "span", "label": "Long", "start": day, "end": day + 24 * HOUR})
    assert "2019-06-18T00:00:00Z,2019-06-19T00:00:00Z" in write_labels([mark], MANIFEST)
    workspace.close()


def test_report_9_a_span_over_a_change_of_clocks_holds_the_four_candles_that_were_meant(tmp_path: Path) -> None:
    workspace = Workspace.make(tmp_path, every("1h", 10, NEW_YORK_SPRING))
    mark = workspace.put({"kind": "span", "label": "Long", "start": NEW_YORK_SPRING, "end": NEW_YORK_SPRING + 4 * HOUR})
    rows = CandleTimes(workspace.candles.read(workspace.series_id).time, "1h")
    assert rows.touched(mark) == slice(0, 4)
    workspace.close()


def test_wf_3_a_label_that_was_added_deleted_and_undone_is_back(workspace: Workspace) -> None:
    mark = workspace.put(span())
    workspace.delete(mark)
    workspace.undo()
    assert said(workspace.marks()) == said([mark])
    again = workspace.marks()[0]
    assert workspace.put(span(11, 21, revision=again["revision"]), mark["id"])["start"] == START + 11 * HOUR


def test_wf_5_a_class_that_someone_deletes_stays_on_the_marks_that_use_it(workspace: Workspace) -> None:
    mark = workspace.put(span(10, 20, "Noise"), author="Ben")
    with workspace.database.write() as session:
        label_set = get_series(session, workspace.series_id).label_set
        wanted = label_set_to_json(session, label_set)
        wanted["labels"] = [label for label in wanted["labels"] if label["name"] != "Noise"]
        save_label_set(session, label_set.id, LabelSetDraft.from_json(wanted))
        archived = {label.name for label in label_set.labels if label.archived}
    assert archived == {"Noise"}
    assert workspace.marks() == [mark]


def test_wf_8_everything_is_exported_with_its_status_and_the_finished_are_counted(workspace: Workspace) -> None:
    for place, status in ((10, "done"), (20, "draft"), (30, "done")):
        workspace.put(span(place, place + 5, status=status))
    rows = read_labels(write_labels(workspace.marks(), MANIFEST))
    assert [row["status"] for row in rows] == ["done", "draft", "done"]
    with workspace.database.read() as session:
        content = read_content(session, workspace.series_id, Recipe())
    facts = describe(content, workspace.candles.read(workspace.series_id).time, Recipe())
    assert facts["finished"] == [2, 3]
    assert "2 of 3 marks are done; drafts give no candle a class" in warnings_of(facts)


@pytest.mark.parametrize("timeframe", ["4h", "1d", "1w"])
def test_lw_1_and_lw_2_a_mark_keeps_its_time_and_lies_in_the_coarser_candle_that_contains_it(timeframe: str) -> None:
    opens = np.array(every("1h", 24 * 14), np.int64)
    coarse = aggregate(candles_at(opens.tolist()), timeframe).time
    at = CandleTimes(coarse, timeframe).touched({"kind": "point", "time": START + 34 * HOUR, "price": 1.0})
    assert at.stop - at.start == 1
    assert int(coarse[at.start]) <= START + 34 * HOUR < int(np.append(coarse, coarse[-1] + 10**12)[at.stop])
