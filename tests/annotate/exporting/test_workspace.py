"""The whole workspace out and in: byte for byte into an empty instance, beside what stands in a filled one."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from annotate.annotations.labels import LabelSetDraft
from annotate.candles import COLUMNS
from annotate.errors import InvalidInput
from annotate.exporting.workspace import Choice, write_workspace
from annotate.exporting.workspace_import import import_workspace
from annotate.models import Json, Run
from annotate.store.candle_hours import add_hours
from annotate.store.events import add_events, events_after
from annotate.store.imports import add_report
from annotate.store.label_sets import create_label_set, list_label_sets
from annotate.store.people import add_people, people_of
from annotate.store.runs import add_run, list_runs
from annotate.store.series import delete_series, list_series
from annotate.store.undo import Gesture
from annotate.watch import Watch
from tests.annotate.annotations.builders import (
    HOUR,
    START,
    Workspace,
    candle_class,
    candles_at,
    chart_class,
    every,
    level,
    point,
    span,
    trade,
    trend_line,
)
from tests.annotate.exporting.random_workspaces import ODD, add_random_series, empty
from tests.annotate.marks.moving import bring, files_of, wipe


def arrow(**changes: list[object]) -> bytes:
    """Give a candle file of three candles with some columns changed."""
    columns: dict[str, list[object]] = {"time": [1, 2, 3], **{name: [1.0, 2.0, 3.0] for name in COLUMNS[1:]}}
    table, sink = pa.table(columns | changes), pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def out(workspace: Workspace, choice: Choice | None = None) -> bytes:
    file = io.BytesIO()
    write_workspace(workspace.database, workspace.candles, file, choice or Choice(), lambda _share: None)
    return file.getvalue()


def into(workspace: Workspace, content: bytes, watch: Watch = lambda _share: None) -> Json:
    workspace.clock += 1
    with TemporaryDirectory() as folder:
        (Path(folder) / "in.zip").write_bytes(content)
        gesture = Gesture(author="Ann", now=workspace.clock)
        where = (workspace.database, workspace.candles, Path(folder) / "in.zip", Path(folder))
        report = import_workspace(*where, gesture, watch=watch)
        assert [path.name for path in Path(folder).iterdir()] == ["in.zip"]
        return report


def test_a_workspace_comes_back_byte_for_byte_into_an_empty_instance(workspace: Workspace, tmp_path: Path) -> None:
    fill(workspace)
    choice = Choice(runs=True, views={"zone": "Asia/Tokyo"})
    before = out(workspace, choice)
    other = empty(tmp_path / "other")
    report = into(other, before)
    assert report["views"] == {"zone": "Asia/Tokyo"}
    assert (report["runs"], report["conflicts"]) == (1, [])
    assert out(other, choice) == before
    with other.database.read() as session:
        (run,) = list_runs(session)
        assert [event["seq"] for event in events_after(session, run.id, 0)] == [1, 2]
        assert people_of(session, list_series(session)[0].id) == PEOPLE
        assert list_label_sets(session)[1].exclusive == ["odd, layer"]
    other.close()


def test_importing_into_the_same_instance_changes_nothing(workspace: Workspace) -> None:
    fill(workspace)
    before = out(workspace, Choice(runs=True))
    report = into(workspace, before)
    assert out(workspace, Choice(runs=True)) == before
    assert [(each["known"], each["new"]) for each in report["series"]] == [(True, 0), (True, 0)]
    assert report["conflicts"] == []


def test_what_collides_is_listed_and_both_stay(workspace: Workspace, tmp_path: Path) -> None:
    mark = workspace.put(span(10, 20))
    before = out(workspace)
    workspace.put(span(12, 22, revision=1), mark["id"])
    with workspace.database.write() as session:
        (label_set,) = list_label_sets(session)
        label_set.labels[0].colour = "#123456"
    workspace.candles.append(workspace.series_id, candles_at([START + 100 * HOUR]))
    report = into(workspace, before)
    assert [(each["what"], each["name"]) for each in report["conflicts"]] == [
        ("label_set", "Default"), ("series", "ETH/USDT 1h"), ("mark", mark["id"]),
    ]  # fmt: skip
    with workspace.database.read() as session:
        assert [series.symbol for series in list_series(session)] == ["ETH/USDT", "ETH/USDT"]
        assert len(list_label_sets(session)) == 2


def test_wiped_marks_come_back_onto_the_series_that_stands_here(workspace: Workspace) -> None:
    fill(workspace)
    before, marks = out(workspace), workspace.marks()
    for mark in marks:
        workspace.delete(mark)
    report = into(workspace, before)
    assert report["series"][0]["known"] is True
    assert workspace.marks() == marks
    assert workspace.undo("Ann").title == f"draw {len(marks)} marks"


def test_a_deleted_series_does_not_go_along(workspace: Workspace) -> None:
    with workspace.database.write() as session:
        delete_series(session, workspace.series_id, workspace.clock)
    with zipfile.ZipFile(io.BytesIO(out(workspace))) as archive:
        assert archive.namelist() == ["workspace.json"]


@pytest.mark.parametrize(
    ("name", "change", "named"),
    [
        ("workspace.json", {"format": 2}, "format"),
        ("workspace.json", {"series": [{"symbol": "x"}]}, "series"),
        ("workspace.json", {"label_sets": []}, "label_set"),
        ("workspace.json", {"files": []}, "files"),
        ("series/1/annotations.jsonl", b'{"id": "no"}\n', "annotations.jsonl, line 1"),
        ("series/1/annotations.jsonl", b"[" * 10_000, "annotations.jsonl, line 1: no JSON"),
        ("series/1/annotations.jsonl", b"\xff", "annotations.jsonl: not UTF-8"),
        ("series/1/candles.arrow", b"none", "candles.arrow: no candle file"),
        ("series/1/candles.arrow", arrow(time=[3, 2, 1]), "candles.arrow: candle 1: its time"),
        ("series/1/candles.arrow", arrow(close=[1.0, float("inf"), 1.0]), "candles.arrow: candle 1: close is inf"),
        ("series/1/candles.arrow", arrow(open=[1.0, None, 1.0]), "a time or a price is null"),
        ("series/1/candles.arrow", arrow(volume=["1", "2", "3"]), "its columns are .* volume string"),
        ("runs/1.jsonl", b"", "runs/1.jsonl: body"),
        ("runs/1.jsonl", b'{"mode": "evil"}', "runs/1.jsonl: mode"),
        ("runs/1.jsonl", b'{"mode": NaN}', "runs/1.jsonl, line 1: no JSON: NaN"),
        ("runs/1.jsonl", b'{"mode": "\\ud800"}', "runs/1.jsonl, line 1: no JSON"),
    ],
)
def test_a_zip_that_is_none_is_refused_by_its_part_and_nothing_is_stored(
    workspace: Workspace, tmp_path: Path, name: str, change: Json | bytes, named: str
) -> None:
    fill(workspace)
    other = empty(tmp_path / "other")
    with pytest.raises(InvalidInput, match=named):
        into(other, altered(out(workspace, Choice(runs=True)), name, change))
    with other.database.read() as session:
        assert list_series(session) == []
        assert list_label_sets(session) == []
    other.close()


@pytest.mark.parametrize("name", ["series/1/annotations.jsonl", "series/1/candles.arrow", "runs/1.jsonl"])
def test_a_part_that_was_changed_since_the_export_is_refused(workspace: Workspace, name: str) -> None:
    fill(workspace)
    before = out(workspace, Choice(runs=True))
    with pytest.raises(InvalidInput, match=f"{name} is not the file that workspace.json names"):
        into(workspace, altered(before, name, b" ", hashes=False))
    with pytest.raises(InvalidInput, match=f"holds no {name}|not the file"):
        into(workspace, altered(before, name, None))
    assert out(workspace, Choice(runs=True)) == before


def test_a_zip_of_a_time_before_the_hashes_is_read(workspace: Workspace, tmp_path: Path) -> None:
    fill(workspace)
    other = empty(tmp_path / "other")
    into(other, altered(out(workspace), "workspace.json", {"files": None}))
    assert out(other) == out(workspace)
    other.close()


def test_an_import_that_is_called_off_stores_nothing(workspace: Workspace, tmp_path: Path) -> None:
    fill(workspace)
    other, shares = empty(tmp_path / "other"), list[float]()

    def watch(share: float) -> None:
        shares.append(share)
        if share > 0.7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        into(other, out(workspace), watch)
    assert shares == sorted(shares)
    with other.database.read() as session:
        assert list_series(session) == []
    other.close()


def test_bytes_that_are_no_zip_are_refused(workspace: Workspace) -> None:
    with pytest.raises(InvalidInput, match="not a zip"):
        into(workspace, b"PK but no zip")


# Without shrinking: each try makes three databases, and the examples are small as they are.
@settings(max_examples=10, phases=[Phase.generate])
@given(st.data())
def test_any_workspace_comes_back_byte_for_byte_in_every_lossless_form(data: st.DataObject) -> None:
    with TemporaryDirectory() as folder:
        first, second, third = (empty(Path(folder) / name) for name in ("first", "second", "third"))
        series = [add_random_series(first, data) for _ in range(data.draw(st.integers(1, 2)))]
        before = out(first)
        into(second, before)
        assert out(second) == before
        first.series_id = data.draw(st.sampled_from(series))
        held = files_of(first)
        for name in ("annotations.jsonl", "labels.csv", "zip"):
            wipe(first)
            bring(first, held[name])
            assert files_of(first) == held
        assert out(first) == before
        third.series_id = into(third, held["zip"])["series"][0]["id"]
        assert files_of(third) == held
        for each in (first, second, third):
            each.close()


REJECTED: Json = {
    "author": "Ann",
    "decided": 8,
    "label": "Long",
    "kind": "span",
    "start": START,
    "end": START + HOUR,
    "geometry": {"start": START, "end": START + HOUR},
    "probability": 0.25,
}
PEOPLE: dict[str, list[Json]] = {
    "rejected": [REJECTED],
    "reviewed": [{"author": "Ann", "start": START, "end": START + HOUR}],
    "passes": [{"author": ODD, "hides": "others", "started": 5, "ended": None}],
    "views": [{"author": "Ann", "place": "chart", "value": {"from": 1.5, "note": ODD}, "updated": 9}],
}


def fill(workspace: Workspace) -> None:
    """Two series with label sets of their own, marks of every kind, an upload's report and a run."""
    lines = (level(), level(time=START + 3 * HOUR, until=START + 9 * HOUR, status="draft"), trend_line(extend="both"))
    classes = (candle_class(7, "Noise"), chart_class(), chart_class(20, 40, "Range", confidence=0.25))
    for body in (span(10, 20, comment=ODD), trade(30, 40, "Short", "short"), point(5), *lines, *classes):
        workspace.put(body, author=ODD[:10])
    first = workspace.series_id
    workspace.series_id = workspace.add_series(candles_at(every("1s", 50)), "1s", "=1+1")
    with workspace.database.write() as session:
        labels = [{"name": ODD, "colour": "#010203", "key": "1", "layer": "odd, layer"}]
        drawn = {"name": ODD, "labels": labels, "exclusive": ["odd, layer"]}
        second = create_label_set(session, LabelSetDraft.from_json(drawn))
        series = list_series(session)[1]
        series.label_set_id = second.id
        add_report(
            session, series_id=first, sha256="ab" * 32, created=5, report={"rows": 100, "added_to_series": False}
        )
        run = add_run(session, mode="batch", series_id=first, dataset_id=None, config={"model": "gru"}, created=7)
        run.state, run.cause, run.started, run.ended, run.summary = "finished", None, 8, 9, {"best": 1}
        session.flush()
        add_events(
            session,
            [{"run_id": run.id, "seq": n, "time": n, "type": "warning", "message": ODD + "\u2028"} for n in (1, 2)],
        )
        assert session.scalar(select(Run.id)) == run.id
        add_people(session, first, PEOPLE, now=9)
        run.note = ODD
        add_hours(session, run.id, [{"hour": START, "last_seq": 1, "scored": 5}])
    workspace.put({"kind": "point", "time": START, "price": 1.5, "label": ODD})
    workspace.series_id = first


def altered(content: bytes, name: str, change: Json | bytes | None, *, hashes: bool = True) -> bytes:
    """Give the zip with one file changed: fields of its JSON, other bytes, or None to leave it out.

    With `hashes` workspace.json names the changed file too.
    """
    with zipfile.ZipFile(io.BytesIO(content)) as source:
        files = {member: source.read(member) for member in source.namelist()}
    if change is None:
        del files[name]
    else:
        files[name] = json.dumps({**json.loads(files[name]), **change}).encode() if isinstance(change, dict) else change
    if hashes and name != "workspace.json" and change is not None:
        head = json.loads(files["workspace.json"])
        head["files"][name] = hashlib.sha256(files[name]).hexdigest()
        files["workspace.json"] = json.dumps(head).encode()
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as target:
        for member, held in files.items():
            target.writestr(member, held)
    return file.getvalue()
