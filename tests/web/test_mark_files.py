"""Files of marks, and the whole workspace, over HTTP."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from annotate.models import Json
from tests.annotate.annotations.builders import HOUR, START, span
from tests.web.marking import Marking, answered, new_series, refused, serving

TABLE = "start,end,label\n2024-01-01T10:00:00Z,2024-01-01T20:00:00Z,Long\n2030-01-01T00:00Z,2030-01-02T00:00Z,Bull\n"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Marking]:
    with serving(tmp_path_factory.mktemp("served")) as marking:
        yield marking


@pytest.fixture
def marking(served: Marking) -> Marking:
    return new_series(served)


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
