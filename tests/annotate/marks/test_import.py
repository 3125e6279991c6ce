"""Marks of a file onto a series: whole, once, never moved, and taken back in one step."""

from __future__ import annotations

import pytest
from sqlalchemy import func, select

from annotate.errors import InvalidInput
from annotate.models import Annotation, Json
from annotate.store.series import get_series
from nn.dataset_dir import jsonl
from tests.annotate.annotations.builders import HOUR, START, Workspace, candles_at, every, point, span, trade
from tests.annotate.marks.moving import bring, files_of, wipe

DRAWN = [span(10, 20, comment="=1+1"), point(30), trade(40, 50, "Short", "short", stop=104.25)]


@pytest.mark.parametrize("name", ["annotations.jsonl", "labels.csv", "zip"])
def test_exported_wiped_and_imported_marks_are_the_same_byte_for_byte(workspace: Workspace, name: str) -> None:
    for body in DRAWN:
        workspace.put(body, author="Bob, “the” 🚀")
    before = files_of(workspace)
    wipe(workspace)
    report = bring(workspace, before[name])
    assert (report["new"], report["conflicts"], report["unplaced"]) == (3, [], [])
    assert files_of(workspace) == before


def test_an_author_whose_name_holds_a_nul_comes_back_from_the_table(workspace: Workspace) -> None:
    workspace.put(span(3, 9), author="ô\x00")
    held = files_of(workspace)
    wipe(workspace)
    bring(workspace, held["labels.csv"])
    assert files_of(workspace) == held
    assert [mark["author"] for mark in workspace.marks()] == ["ô\x00"]


def test_importing_twice_changes_nothing(workspace: Workspace) -> None:
    workspace.put(DRAWN[0])
    content = jsonl(workspace.marks())
    report = bring(workspace, content)
    assert (report["new"], report["same"], report["conflicts"]) == (0, 1, [])
    table = "start,end,label\n2024-01-01T10:00:00Z,2024-01-01T20:00:00Z,Short\n"
    assert [bring(workspace, table)["new"] for _ in range(2)] == [1, 0]
    assert len(workspace.marks()) == 2


def test_a_mark_stored_with_other_content_is_listed_and_stays_unless_told_to_give_way(workspace: Workspace) -> None:
    mark = workspace.put(span(10, 20))
    content = jsonl(workspace.marks())
    mine = workspace.put(span(12, 22, revision=1), mark["id"])
    report = bring(workspace, content)
    (conflict,) = report["conflicts"]
    assert (conflict["yours"], conflict["stored"], conflict["replaced"]) == (mark, mine, False)
    assert workspace.marks() == [mine]
    assert bring(workspace, content, replace=True)["conflicts"][0]["replaced"] is True
    (now,) = workspace.marks()
    assert (now["start"], now["revision"]) == (mark["start"], 3)


def test_a_mark_of_another_series_keeps_its_place_there(workspace: Workspace) -> None:
    workspace.put(span(10, 20))
    content = jsonl(workspace.marks())
    workspace.series_id = workspace.add_series(candles_at(every("1h", 100)), symbol="BTC/USDT")
    report = bring(workspace, content, replace=True)
    assert (report["new"], report["conflicts"][0]["replaced"]) == (0, False)
    assert workspace.marks() == []


def test_marks_that_fit_no_candle_are_listed_and_not_moved(workspace: Workspace) -> None:
    text = "time,label\n2024-01-01T10:00:00Z,Long\n2030-01-01T00:00:00Z,Long\n2023-12-31T23:59:59.999Z,Long\n"
    report = bring(workspace, text)
    assert report["new"] == 1
    assert [(each["where"], each["stored"]) for each in report["unplaced"]] == [("line 3", False), ("line 4", False)]
    assert [mark["time"] for mark in workspace.marks()] == [START + 10 * HOUR]


def test_our_mark_in_a_gap_comes_back_and_is_listed(workspace: Workspace) -> None:
    workspace.series_id = workspace.add_series(candles_at([*every("1h", 10), *every("1h", 10, START + 20 * HOUR)]))
    drawn = workspace.put(span(12, 15))
    content = jsonl(workspace.marks())
    wipe(workspace)
    report = bring(workspace, content)
    assert [each["stored"] for each in report["unplaced"]] == [True]
    assert workspace.marks() == [drawn]


def test_foreign_marks_are_this_authors_and_missing_labels_are_added(workspace: Workspace) -> None:
    report = bring(workspace, "start,end,label\n2024-01-01T10:00:00Z,2024-01-01T20:00:00Z,=Bull 🚀\n")
    assert report["labels_added"] == ["=Bull 🚀"]
    (mark,) = workspace.marks()
    assert (mark["author"], mark["source"], mark["mode"]) == ("Ann", "import", "hindsight")
    assert (mark["known_at"], mark["decided_at"]) == (START + 20 * HOUR, START + 100 * HOUR)
    with workspace.database.read() as session:
        label_set = get_series(session, workspace.series_id).label_set
    assert (label_set.labels[-1].name, label_set.revision) == ("=Bull 🚀", 2)


def test_one_step_of_undo_takes_an_import_back_and_redo_brings_it_again(workspace: Workspace) -> None:
    rows = "".join(f"{START + n * HOUR},Long\n" for n in range(0, 40, 2))
    bring(workspace, "time,label\n" + rows)
    assert len(workspace.marks()) == 20
    assert workspace.undo("Ann").title == "draw 20 marks"
    assert workspace.marks() == []
    workspace.redo("Ann")
    assert len(workspace.marks()) == 20


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"id": "7D0E"}, "line 1: id"),
        ({"author": ""}, "line 1: author"),
        ({"known_at": "soon"}, "line 1: known_at"),
        ({"kind": "square"}, "line 1: kind"),
        ({"colour": 1}, "line 1: colour"),
        ({"revision": 0}, "line 1: revision"),
    ],
)
def test_a_line_that_is_no_mark_is_named_and_nothing_is_stored(workspace: Workspace, change: Json, named: str) -> None:
    good = workspace.put(span(10, 20))
    other = workspace.put(point(5))
    wipe(workspace)
    with pytest.raises(InvalidInput, match=named):
        bring(workspace, jsonl([{**good, **change}, other]))
    with workspace.database.read() as session:
        assert session.scalar(select(func.count()).select_from(Annotation)) == 0
