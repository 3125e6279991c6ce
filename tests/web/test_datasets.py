"""Datasets over HTTP: made, listed, downloaded, removed."""

from __future__ import annotations

import io
import json
import time
import zipfile
from pathlib import Path

import pytest

from annotate.models import Json
from nn import dataset_dir
from tests.annotate.annotations.builders import HOUR, START, Workspace, candles_at, every, point, span, trade
from tests.web.marking import Marking, answered, refused

DATASETS = "/api/datasets"


def make(marking: Marking, name: str = "first", **recipe: object) -> Json:
    body = {"series_id": marking.series_id, "name": name, **recipe}
    dataset: Json = answered(marking.client.post(DATASETS, json=body), 201)["dataset"]
    return dataset


def download(marking: Marking, dataset: Json) -> tuple[bytes, str]:
    """Give the zip and what the answer says of its name."""
    with marking.client.get(f"{DATASETS}/{dataset['id']}/download") as answer:
        assert answer.status_code == 200
        assert answer.content_type == "application/zip"
        return answer.data, answer.headers["Content-Disposition"]


def test_a_dataset_is_made_listed_and_given(marking: Marking) -> None:
    marking.put_ok(span())
    made = make(marking, "=first, “Épreuve”")
    assert made["name"] == "=first, “Épreuve”"
    assert made["series_id"] == marking.series_id
    assert made["kept"] is True
    assert made["manifest"]["annotations"]["rows"] == 1
    assert made["hash"] == made["manifest"]["hash"]
    assert answered(marking.client.get(DATASETS))["items"][0] == made
    assert answered(marking.client.get(f"{DATASETS}/{made['id']}")) == {"dataset": made}


def test_the_download_is_a_zip_that_training_reads(marking: Marking, tmp_path: Path) -> None:
    marks = [marking.put_ok(body) for body in (span(1, 5), point(5), trade(10, 20))]
    made = make(marking)
    with zipfile.ZipFile(io.BytesIO(download(marking, made)[0])) as archive:
        assert sorted(archive.namelist()) == [
            "annotations.jsonl", "candles.arrow", "candles.csv", "candles.parquet", "labels.csv", "manifest.json",
        ]  # fmt: skip
        archive.extractall(tmp_path)
    held = dataset_dir.read(tmp_path)
    assert held.annotations == marks
    assert held.manifest == made["manifest"]
    assert len(held.candles) == 100


def test_the_same_content_downloads_as_the_same_bytes(marking: Marking) -> None:
    marking.put_ok(span())
    first, second = (download(marking, make(marking, name))[0] for name in ("first", "second"))
    assert first == second
    marking.put_ok(span(1, 5))
    assert download(marking, make(marking))[0] != first


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", 'a"; filename="b', "two\nlines", "验证🚀", "\u202egpj.exe", "=1+1"]
)
def test_a_name_is_only_a_name(marking: Marking, name: str) -> None:
    made = make(marking, name)
    assert made["name"] == name
    disposition = download(marking, made)[1]
    assert disposition.startswith("attachment; filename=")
    file_name = disposition.removeprefix("attachment; filename=").strip('"')
    assert file_name.isascii()
    assert file_name.removesuffix(".zip").replace("-", "").replace("_", "").isalnum()


def test_a_removed_dataset_is_gone_with_its_files(marking: Marking) -> None:
    made = make(marking)
    folder = marking.parts.settings.data_dir / "datasets" / str(made["id"])
    assert json.loads((folder / "manifest.json").read_text("utf-8")) == made["manifest"]
    assert answered(marking.client.delete(f"{DATASETS}/{made['id']}")) == {"deleted": made["id"]}
    assert not folder.exists()
    for path in ("", "/download"):
        refused(marking.client.get(f"{DATASETS}/{made['id']}{path}"), 404)


def test_what_cannot_be_taken_is_named(marking: Marking) -> None:
    good: Json = {"series_id": marking.series_id, "name": "x"}
    for body, field in [
        (good | {"series_id": "1"}, "series_id"),
        (good | {"series_id": True}, "series_id"),
        (good | {"name": " "}, "name"),
        (good | {"name": "x" * 201}, "name"),
        (good | {"name": "\ud800"}, "body"),
        (good | {"split": [1]}, "split"),
        (good | {"horizon": 0}, "horizon"),
        (good | {"colour": 1}, "colour"),
        ({"name": "x"}, "series_id"),
    ]:
        assert refused(marking.client.post(DATASETS, json=body), 422)["details"]["field"] == field
    refused(marking.client.post(DATASETS, json=good | {"series_id": 999_999}), 404)


def test_a_dataset_whose_files_are_gone_says_so(marking: Marking) -> None:
    made = make(marking)
    folder = marking.parts.settings.data_dir / "datasets" / str(made["id"])
    folder.rename(folder.with_name("elsewhere"))
    assert "gone" in refused(marking.client.get(f"{DATASETS}/{made['id']}/download"), 404)["message"]
    folder.with_name("elsewhere").rename(folder)


def test_versions_count_on_within_a_series_and_no_number_is_given_twice(marking: Marking) -> None:
    first, second = make(marking), make(marking)
    assert (first["version"], second["version"]) == (1, 2)
    answered(marking.client.delete(f"{DATASETS}/{second['id']}"))
    assert make(marking)["version"] == 3
    listed = answered(marking.client.get(f"{DATASETS}?series_id={marking.series_id}"))["items"]
    assert [each["version"] for each in listed] == [3, 1]


def test_a_preview_says_what_a_dataset_would_hold_and_stores_nothing(marking: Marking) -> None:
    marking.put_ok(span(10, 20))
    body = {"series_id": marking.series_id, "split": [60, 20, 20], "horizon": 3}
    before = answered(marking.client.get(DATASETS))
    preview = answered(marking.client.post(f"{DATASETS}/preview", json=body))
    made = answered(marking.client.post(DATASETS, json={**body, "name": "as previewed"}), 201)["dataset"]
    assert {name: made["manifest"][name] for name in preview["facts"]} == preview["facts"]
    assert preview["facts"]["parts"]["train"]["rows"] == [0, 57]
    assert any("fewer than 10 marks of Long" in line for line in preview["warnings"])
    answered(marking.client.delete(f"{DATASETS}/{made['id']}"))
    assert answered(marking.client.get(DATASETS)) == before


def test_name_and_note_change_and_what_it_holds_does_not(marking: Marking) -> None:
    made = make(marking)
    changed = answered(marking.client.patch(f"{DATASETS}/{made['id']}", json={"name": "better", "note": "=why"}))
    assert changed["dataset"] == {**made, "name": "better", "note": "=why"}
    assert (
        refused(marking.client.patch(f"{DATASETS}/{made['id']}", json={"hash": "0"}), 422)["details"]["field"] == "hash"
    )


def test_what_changed_since_a_version_is_named(marking: Marking) -> None:
    kept, gone = marking.put_ok(span(10, 20)), marking.put_ok(point(5))
    before = make(marking)
    assert answered(marking.client.get(f"{DATASETS}/{before['id']}/changes"))["same"] is True
    marking.put_ok({**span(10, 20), "comment": "why", "revision": 1}, kept["id"])
    answered(marking.client.delete(f"/api/series/{marking.series_id}/annotations/{gone['id']}"))
    new = marking.put_ok(span(30, 40))
    marking.parts.candles.append(marking.series_id, candles_at([START + 100 * HOUR]))
    since = answered(marking.client.get(f"{DATASETS}/{before['id']}/changes"))
    assert (since["marks"]["added"], since["marks"]["removed"]) == ([new["id"]], [gone["id"]])
    (changed,) = since["marks"]["changed"]
    assert changed["fields"]["comment"] == {"before": "", "after": "why"}
    assert since["candles"]["added"] == {"count": 1, "times": [START + 100 * HOUR]}
    after = make(marking)
    assert answered(marking.client.get(f"{DATASETS}/{before['id']}/changes?to={after['id']}")) == since


def test_what_changed_beside_marks_and_candles_is_named_too(marking: Marking) -> None:
    marking.put_ok(span(10, 20))
    every, without = make(marking), make(marking, without_hindsight=True)
    changes = [f"{DATASETS}/{made['id']}/changes" for made in (every, without)]
    assert all(answered(marking.client.get(path))["same"] for path in changes)  # also of one that left marks out
    between = answered(marking.client.get(f"{changes[0]}?to={make(marking, split=[0.5, 0.25, 0.25])['id']}"))
    assert (between["other"], between["same"]) == (["split"], False)
    reviewed = {"start": START, "end": START + 5 * HOUR}
    answered(marking.client.put(f"/api/series/{marking.series_id}/reviewed", json=reviewed))
    assert answered(marking.client.get(changes[0]))["other"] == ["reviewed ranges"]


def test_each_format_says_what_it_loses_before_the_download_and_in_its_manifest(marking: Marking) -> None:
    for body in (span(1, 5, comment="why"), point(5), trade(10, 20)):
        marking.put_ok(body)
    made = make(marking)
    formats = answered(marking.client.get(f"{DATASETS}/{made['id']}/formats"))["items"]
    assert [each["lost"] for each in formats if each["name"] == "dataset"] == [[]]
    for each in formats:
        address = f"{DATASETS}/{made['id']}/download?format={each['name']}"
        with marking.client.get(address) as answer, zipfile.ZipFile(io.BytesIO(answer.data)) as archive:
            manifest = json.loads(archive.read("manifest.json"))
        assert manifest["hash"] == made["hash"]
        if each["name"] != "dataset":
            assert manifest["export"]["lost"] == each["lost"] != []
    assert (
        refused(marking.client.get(f"{DATASETS}/{made['id']}/download?format=xml"), 422)["details"]["field"] == "format"
    )


def test_an_export_is_built_in_the_background_and_equals_the_download(marking: Marking) -> None:
    marking.put_ok(span())
    made = make(marking)
    begun = answered(marking.client.post(f"{DATASETS}/{made['id']}/exports", json={"format": "dataset"}), 202)["export"]
    done = ended(marking, begun)
    assert (done["state"], done["progress"]) == ("finished", 1.0)
    with marking.client.get(f"/api/exports/{begun['id']}/download") as answer:
        assert answer.data == download(marking, made)[0]
        assert len(answer.data) == done["bytes"]


def test_a_dataset_is_made_in_the_background_as_at_once(marking: Marking) -> None:
    marking.put_ok(span())
    at_once = make(marking, "one")
    body = {"series_id": marking.series_id, "name": "two", "note": "why"}
    begun = answered(marking.client.post(f"{DATASETS}/builds", json=body), 202)["build"]
    done = ended(marking, begun, f"{DATASETS}/builds", "build")
    assert (done["state"], done["progress"], done["dataset"]["version"]) == ("finished", 1.0, 2)
    assert (done["dataset"]["hash"], done["dataset"]["note"]) == (at_once["hash"], "why")
    assert answered(marking.client.get(f"{DATASETS}/{done['dataset']['id']}"))["dataset"] == done["dataset"]


def test_a_dataset_that_is_called_off_or_refused_is_not_there(marking: Marking) -> None:
    body = {"series_id": marking.series_id, "name": "off"}
    with marking.parts.database.write():  # the first build cannot end yet, so the second one waits
        first, second = (answered(marking.client.post(f"{DATASETS}/builds", json=body), 202)["build"] for _ in range(2))
        off = answered(marking.client.delete(f"{DATASETS}/builds/{second['id']}"))["build"]
    assert off["state"] == "cancelled"
    assert ended(marking, first, f"{DATASETS}/builds", "build")["state"] == "finished"
    listed = answered(marking.client.get(f"{DATASETS}?series_id={marking.series_id}"))["items"]
    assert [each["name"] for each in listed] == ["off"]
    refused(marking.client.post(f"{DATASETS}/builds", json=body | {"series_id": 999_999}), 404)
    refused(marking.client.get(f"{DATASETS}/builds/99"), 404)
    folder = marking.parts.settings.data_dir / "datasets"
    assert not list(folder.glob(".making-*"))


def test_an_export_that_is_called_off_leaves_no_file(marking: Marking) -> None:
    made = make(marking)
    begun = answered(marking.client.post(f"{DATASETS}/{made['id']}/exports", json={"format": "report"}), 202)["export"]
    answered(marking.client.delete(f"/api/exports/{begun['id']}"))
    assert ended(marking, begun)["state"] == "cancelled"
    refused(marking.client.get(f"/api/exports/{begun['id']}/download"), 409)
    assert not (marking.parts.settings.data_dir / "exports" / f"{begun['id']}.zip").exists()


def test_an_export_that_fails_says_why(marking: Marking) -> None:
    made = make(marking)
    folder = marking.parts.settings.data_dir / "datasets" / str(made["id"])
    folder.rename(folder.with_name("elsewhere"))
    begun = answered(marking.client.post(f"{DATASETS}/{made['id']}/exports", json={"format": "trainset"}), 202)[
        "export"
    ]
    done = ended(marking, begun)
    assert done["state"] == "failed"
    assert "gone" in done["cause"]
    folder.with_name("elsewhere").rename(folder)
    refused(marking.client.get("/api/exports/999"), 404)


def test_a_large_export_shows_progress_and_the_server_keeps_answering(served: Marking) -> None:
    marking = large_series(served)
    made = make(marking)
    begun = answered(marking.client.post(f"{DATASETS}/{made['id']}/exports", json={"format": "dataset"}), 202)["export"]
    waits, shares = [], []
    while begun["state"] in ("queued", "running"):
        started = time.monotonic()
        begun = answered(marking.client.get(f"/api/exports/{begun['id']}"))["export"]
        waits.append(time.monotonic() - started)
        shares.append(begun["progress"])
        time.sleep(0.01)
    assert begun["state"] == "finished"
    assert shares == sorted(shares)
    assert any(0 < share < 1 for share in shares)
    assert max(waits) < 2.5  # s: half a second is what a person notices, with slack for a busy machine


def test_a_large_export_stops_at_its_next_block(served: Marking) -> None:
    marking = large_series(served)
    made = make(marking)
    begun = answered(marking.client.post(f"{DATASETS}/{made['id']}/exports", json={"format": "dataset"}), 202)["export"]
    while begun["state"] == "queued" or (begun["state"] == "running" and begun["progress"] == 0):
        begun = answered(marking.client.get(f"/api/exports/{begun['id']}"))["export"]
    answered(marking.client.delete(f"/api/exports/{begun['id']}"))
    done = ended(marking, begun)
    assert done["state"] == "cancelled"
    assert done["progress"] < 1
    assert not (marking.parts.settings.data_dir / "exports" / f"{begun['id']}.zip").exists()


def large_series(served: Marking) -> Marking:
    """Give the application with a series of 200,000 seconds."""
    parts = served.parts
    workspace = Workspace(parts.settings.data_dir, parts.database, parts.candles, 0)
    return Marking(served.app, served.client, workspace.add_series(candles_at(every("1s", 200_000)), "1s"))


def ended(marking: Marking, export: Json, path: str = "/api/exports", name: str = "export") -> Json:
    """Give an export, or other work, once it is over."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        now: Json = answered(marking.client.get(f"{path}/{export['id']}"))[name]
        if now["state"] not in ("queued", "running"):
            return now
        time.sleep(0.02)
    raise AssertionError("the export did not end")
