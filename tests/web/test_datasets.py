"""Datasets over HTTP: made, listed, downloaded, removed."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from annotate.models import Json
from nn import dataset_dir
from tests.annotate.annotations.builders import point, span, trade
from tests.web.marking import Marking, answered, new_series, refused, serving

DATASETS = "/api/datasets"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Marking]:
    with serving(tmp_path_factory.mktemp("served")) as marking:
        yield marking


@pytest.fixture
def marking(served: Marking) -> Marking:
    return new_series(served)


def make(marking: Marking, name: str = "first") -> Json:
    body = {"series_id": marking.series_id, "name": name}
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
            "annotations.jsonl", "candles.arrow", "candles.csv", "labels.csv", "manifest.json",
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
        (good | {"name": "\ud800"}, "name"),
        (good | {"split": [1]}, "split"),
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
