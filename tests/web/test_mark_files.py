"""Files of marks, and the whole workspace, over HTTP."""

from __future__ import annotations

import io
import time
from pathlib import Path

import pytest

from annotate.models import Json
from tests.annotate.annotations.builders import HOUR, START, span
from tests.web.marking import Marking, answered, refused, serving

TABLE = "start,end,label\n2024-01-01T10:00:00Z,2024-01-01T20:00:00Z,Long\n2030-01-01T00:00Z,2030-01-02T00:00Z,Bull\n"


def send(marking: Marking, text: str, status: int = 200, **form: str) -> Json:
    """Import a file's marks."""
    data = {"file": (io.BytesIO(text.encode()), "marks.csv"), **form}
    return answered(marking.client.post(f"/api/series/{marking.series_id}/annotations/import", data=data), status)


def test_a_dry_run_says_what_an_import_does_and_changes_nothing(marking: Marking) -> None:
    before = answered(marking.client.get("/api/label-sets"))
    asked = send(marking, TABLE, dry_run="1")["report"]
    assert (asked["stored"], asked["new"], asked["labels_added"]) == (False, 1, ["Bull"])
    assert marking.marks() == []
    assert answered(marking.client.get("/api/label-sets")) == before
    done = send(marking, TABLE)["report"]
    assert {**done, "stored": False} == asked
    (mark,) = marking.marks()
    assert (mark["start"], mark["end"], mark["source"]) == (START + 10 * HOUR, START + 20 * HOUR, "import")
    assert [each["where"] for each in done["unplaced"]] == ["line 3"]
    path = f"/api/series/{marking.series_id}/annotations"
    seen_by_ben = answered(marking.client.get(path, headers={"X-Author": "Ben"}))["items"]
    assert seen_by_ben == [mark], "whoever opens the chart sees what was imported"


def test_an_import_is_undone_by_its_author(marking: Marking) -> None:
    send(marking, TABLE)
    answered(marking.client.post(f"/api/series/{marking.series_id}/undo"))
    assert marking.marks() == []


def test_a_file_that_leaves_something_open_asks_and_takes_the_answers(marking: Marking) -> None:
    text = "when,what\n2024-01-01T10:00:00Z,Long\n"
    data = {"file": (io.BytesIO(text.encode()), "marks.csv")}
    error = refused(marking.client.post(f"/api/series/{marking.series_id}/annotations/import", data=data), 422)
    assert error["code"] == "needs_answer"
    report = send(marking, text, answers='{"time": "when", "label": "what"}')["report"]
    assert (report["new"], report["mapping"]["time"]) == (1, "when")


def test_a_call_without_a_file_says_so(marking: Marking) -> None:
    for path in (f"/api/series/{marking.series_id}/annotations/import", "/api/workspace"):
        assert refused(marking.client.post(path, data={}), 422)["details"]["field"] == "file"
    refused(marking.client.post("/api/series/999/annotations/import", data={"file": (io.BytesIO(b"x"), "x.csv")}), 404)


def test_a_workspace_moves_from_one_instance_to_another(marking: Marking, tmp_path: Path) -> None:
    marking.put_ok(span(10, 20, comment="=why"))
    with marking.client.get('/api/workspace/download?views={"zone":"UTC"}') as answer:
        assert answer.content_type == "application/zip"
        content = answer.data
    with serving(tmp_path) as other:
        data = {"file": (io.BytesIO(content), "workspace.zip")}
        report = answered(other.client.post("/api/workspace", data=data), 201)["report"]
        assert report["views"] == {"zone": "UTC"}
        new = report["series"][-1]
        other.series_id = new["id"]
        assert other.marks() == marking.marks()
        assert {each["symbol"] for each in report["series"] if each["known"]} == {"EUR/USD", "AAPL", "SIM/USDT"}
    assert refused(marking.client.get("/api/workspace/download?views=[1]"), 422)["details"]["field"] == "views"


def test_a_workspace_is_built_and_taken_in_in_the_background(marking: Marking, tmp_path: Path) -> None:
    marking.put_ok(span(10, 20))
    begun = answered(marking.client.post("/api/workspace/exports", json={"views": {"zone": "UTC"}}), 202)["export"]
    assert (begun["dataset_id"], begun["format"]) == (None, "workspace")
    assert over(marking, f"/api/exports/{begun['id']}")["state"] == "finished"
    content = marking.client.get(f"/api/exports/{begun['id']}/download", buffered=True).data
    with serving(tmp_path) as other:
        data = {"file": (io.BytesIO(content), "workspace.zip")}
        asked = answered(other.client.post("/api/workspace/imports", data=data), 202)["import"]
        done = over(other, f"/api/workspace/imports/{asked['id']}")
        assert (done["state"], done["progress"], done["filename"]) == ("finished", 1.0, "workspace.zip")
        other.series_id = done["report"]["series"][-1]["id"]
        assert other.marks() == marking.marks()
        assert list((tmp_path / "uploads").iterdir()) == []
        bad = {"file": (io.BytesIO(content[: len(content) // 2]), "half.zip")}
        failed = answered(other.client.post("/api/workspace/imports", data=bad), 202)["import"]
        ended = over(other, f"/api/workspace/imports/{failed['id']}")
        assert (ended["state"], ended["error"]["code"]) == ("failed", "invalid_input")
        assert answered(other.client.delete(f"/api/workspace/imports/{failed['id']}"))["import"] == ended
        assert list((tmp_path / "uploads").iterdir()) == []
        refused(other.client.get("/api/workspace/imports/99"), 404)
    assert (
        refused(marking.client.post("/api/workspace/exports", json={"views": [1]}), 422)["details"]["field"] == "views"
    )


def test_what_a_kill_left_of_an_import_goes_at_the_next_start(tmp_path: Path) -> None:
    left = tmp_path / "uploads" / "workspace-abc"
    left.mkdir(parents=True)
    (left / "candles.arrow").write_bytes(b"half")
    (tmp_path / "uploads" / "x.workspace").write_bytes(b"half")
    with serving(tmp_path):
        assert list((tmp_path / "uploads").iterdir()) == []


@pytest.mark.parametrize("route", ["/api/workspace", "marks"])
@pytest.mark.parametrize("content", [b"PK\x03\x04 and no zip", b"\0" * 500, b"PK\x05\x06" + b"\0" * 18])
def test_a_file_that_is_none_is_refused_and_never_breaks_the_server(
    marking: Marking, route: str, content: bytes
) -> None:
    path = f"/api/series/{marking.series_id}/annotations/import" if route == "marks" else route
    assert refused(marking.client.post(path, data={"file": (io.BytesIO(content), "x.zip")}), 422)["message"]


def over(marking: Marking, path: str) -> Json:
    """Give work in the background once it has ended."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        (task,) = answered(marking.client.get(path)).values()
        if task["state"] not in ("queued", "running"):
            ended: Json = task
            return ended
        time.sleep(0.02)
    raise AssertionError("it did not end")


def test_a_datasets_zip_makes_a_series_with_its_marks(marking: Marking, tmp_path: Path) -> None:
    marking.put_ok(span(10, 20))
    made = answered(marking.client.post("/api/datasets", json={"series_id": marking.series_id, "name": "x"}), 201)
    with marking.client.get(f"/api/datasets/{made['dataset']['id']}/download", buffered=True) as answer:
        content = answer.data
    with serving(tmp_path) as other:
        data = {"file": (io.BytesIO(content), "dataset.zip")}
        (series,) = answered(other.client.post("/api/workspace", data=data), 201)["report"]["series"]
        other.series_id = series["id"]
        assert (series["symbol"], other.marks()) == ("ETH/USDT", marking.marks())
