"""Snapshots: what they hold, when they are equal, and what is left when something dies."""

from __future__ import annotations

import io
import json
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest

from annotate import __version__
from annotate.errors import Conflict, InvalidInput, NotFound, StorageFailed
from annotate.exporting.dataset import dataset_path, remove_orphans, snapshot
from annotate.exporting.formats import build
from annotate.exporting.labels_csv import read_labels
from annotate.exporting.sources import open_source
from annotate.models import Checkpoint, Dataset, Json, Run
from annotate.store.datasets import delete_dataset, get_dataset, list_datasets
from annotate.store.series import get_series
from nn import dataset_dir
from tests.annotate.annotations.builders import HOUR, START, Workspace, candles_at, every, point, span, trade


def take(workspace: Workspace, name: str = "first", kept: bool = True, until: int | None = None) -> Dataset:
    return snapshot(
        workspace.database,
        workspace.candles,
        workspace.data_dir,
        workspace.series_id,
        name=name,
        kept=kept,
        until=until,
    )


def content(workspace: Workspace, dataset: Dataset) -> dataset_dir.DatasetDir:
    return dataset_dir.read(dataset_path(workspace.data_dir, dataset.id))


def test_a_snapshot_holds_the_candles_and_the_marks_of_its_series(workspace: Workspace) -> None:
    marks = [workspace.put(body) for body in (trade(30, 40, "Short"), span(5, 9), point(5))]
    held = content(workspace, take(workspace))
    stored = workspace.candles.read(workspace.series_id)
    for name in dataset_dir.COLUMNS:
        assert getattr(held.candles, name).tobytes() == getattr(stored, name).tobytes()
    assert held.annotations == workspace.marks()
    assert sorted(mark["id"] for mark in held.annotations) == sorted(mark["id"] for mark in marks)


def test_the_manifest_says_what_training_needs(workspace: Workspace) -> None:
    for body in (span(5, 9), span(8, 12, "Short"), point(5)):
        workspace.put(body)
    dataset = take(workspace)
    manifest = content(workspace, dataset).manifest
    assert manifest == dataset.manifest
    said = ("format", "symbol", "timeframe", "timeframe_ms", "simulated", "labels", "layers", "split", "exporter")
    assert {name: manifest[name] for name in said} == {
        "format": 1,
        "symbol": "ETH/USDT",
        "timeframe": "1h",
        "timeframe_ms": HOUR,
        "simulated": False,
        "labels": ["Long", "Short", "Range", "Noise"],
        "layers": {"default": ["Long", "Short", "Range", "Noise"]},
        "split": [70, 15, 15],
        "exporter": f"annotate {__version__}",
    }
    assert manifest["counts"] == {"Long": 2, "Short": 1, "Range": 0, "Noise": 0}
    assert manifest["overlapping"] == {"default": 1}
    assert manifest["chance"]["default"] == {
        "candles": {"Long": 3, "Short": 4, "Range": 0, "Noise": 0}, "majority": 4 / 7, "uniform": 0.25,
    }  # fmt: skip
    assert manifest["reviewed"] == 7
    assert manifest["gaps"] == {"count": 0, "missing": 0}
    assert manifest["label_set"]["labels"][0] == {
        "name": "Long", "colour": "#009e73", "key": "1", "layer": "default", "archived": False,
    }  # fmt: skip


def test_the_manifest_names_the_rows_of_each_part_and_what_the_leak_gate_found(workspace: Workspace) -> None:
    reaching = workspace.put(span(60, 75))
    workspace.put(span(10, 20))
    manifest = take(workspace).manifest
    assert {name: part["rows"] for name, part in manifest["parts"].items()} == {
        "train": [0, 65], "validation": [75, 80], "test": [90, 100],
    }  # fmt: skip
    assert manifest["gate"] == {
        "passed": True,
        "horizon": 5,
        "purge": 5,
        "embargo": 5,
        "purged": {"train": [reaching["id"]], "validation": []},
        "modes": {"replay": 0, "hindsight": 2},
        "left_out": 0,
    }


def test_the_manifest_names_its_files(workspace: Workspace) -> None:
    for body in (span(5, 9), span(8, 12, "Short"), point(5)):
        workspace.put(body)
    manifest = take(workspace).manifest
    assert manifest["candles"] | {"sha256": ""} == {
        "rows": 100,
        "first": START,
        "last": START + 99 * HOUR,
        "sha256": "",
    }
    assert manifest["annotations"]["rows"] == 3


def test_an_archived_label_is_a_class_only_where_a_mark_has_it(workspace: Workspace) -> None:
    workspace.put(span(label="Noise"))
    with workspace.database.write() as session:
        label_set = get_series(session, workspace.series_id).label_set
        for label in label_set.labels:
            label.archived = label.name in ("Noise", "Range")
    manifest = take(workspace).manifest
    assert manifest["labels"] == ["Long", "Short", "Noise"]
    assert manifest["counts"] == {"Long": 0, "Short": 0, "Noise": 1}


def test_the_same_content_gives_the_same_hash_and_the_same_zip_bytes(workspace: Workspace) -> None:
    workspace.put(span())
    first, second = take(workspace, "first"), take(workspace, "=second")
    assert first.id != second.id
    assert first.hash == second.hash
    assert zipped(workspace, first) == zipped(workspace, second)
    assert f'"{first.id}"'.encode() not in zipped(workspace, first)


def test_any_change_gives_another_hash(workspace: Workspace) -> None:
    hashes = [take(workspace).hash]
    mark = workspace.put(span())
    hashes.append(take(workspace).hash)
    workspace.put(span(comment="why", revision=1), mark["id"])
    hashes.append(take(workspace).hash)
    workspace.candles.append(workspace.series_id, candles_at([START + 100 * HOUR]))
    hashes.append(take(workspace).hash)
    assert len(set(hashes)) == 4


def test_a_run_takes_an_equal_dataset_that_is_there(workspace: Workspace) -> None:
    mine = take(workspace)
    assert take(workspace, kept=False).id == mine.id
    workspace.put(span())
    own = take(workspace, kept=False)
    assert own.id != mine.id
    assert take(workspace, kept=False).id == own.id
    with workspace.database.read() as session:
        assert [dataset.id for dataset in list_datasets(session)] == [mine.id]


def test_a_run_makes_its_own_where_the_files_of_the_equal_one_are_gone(workspace: Workspace) -> None:
    mine = take(workspace)
    shutil.rmtree(dataset_path(workspace.data_dir, mine.id))
    assert take(workspace, kept=False).id != mine.id


def test_until_leaves_out_later_candles_and_marks_that_were_not_known(workspace: Workspace) -> None:
    known = workspace.put(span(5, 20))
    workspace.put(span(15, 21))
    workspace.put(point(20))
    held = content(workspace, take(workspace, kept=False, until=START + 20 * HOUR))
    assert held.candles.time.tolist() == every("1h", 20)
    assert held.annotations == [known]


def test_a_history_before_the_first_candle_is_empty(workspace: Workspace) -> None:
    held = content(workspace, take(workspace, kept=False, until=START))
    assert len(held.candles) == 0
    assert held.manifest["candles"]["first"] is None


def test_a_dataset_without_candles_is_refused_and_leaves_nothing(workspace: Workspace) -> None:
    workspace.series_id = workspace.add_series(candles_at([]))
    with pytest.raises(InvalidInput, match="no candles"):
        take(workspace)
    assert list((workspace.data_dir / "datasets").iterdir()) == []


def test_the_candles_of_one_file_are_linked_and_those_of_several_written(workspace: Workspace) -> None:
    linked = dataset_path(workspace.data_dir, take(workspace).id) / "candles.arrow"
    assert linked.stat().st_nlink == 2
    workspace.candles.append(workspace.series_id, candles_at([START + 100 * HOUR]))
    written = dataset_path(workspace.data_dir, take(workspace).id) / "candles.arrow"
    assert written.stat().st_nlink == 1
    assert len(dataset_dir.read_candles(written)) == 101


def test_a_linked_and_a_written_file_are_the_same_bytes(workspace: Workspace, tmp_path: Path) -> None:
    linked = dataset_path(workspace.data_dir, take(workspace).id) / "candles.arrow"
    sha256 = dataset_dir.write_candles(tmp_path / "again.arrow", dataset_dir.read_candles(linked))
    assert (tmp_path / "again.arrow").read_bytes() == linked.read_bytes()
    assert workspace.candles.only_file(workspace.series_id) == linked_name(workspace, sha256)


def test_a_snapshot_outlives_its_series_candles(workspace: Workspace) -> None:
    dataset = take(workspace)
    workspace.candles.delete_files(workspace.series_id)
    assert content(workspace, dataset).candles.time.tolist() == every("1h", 100)


def test_the_zip_holds_six_files_that_say_what_the_dataset_says(workspace: Workspace) -> None:
    for body in (trade(30, 40, stop=1.5), span(5, 9, comment="=1+1"), point(5)):
        workspace.put(body)
    dataset = take(workspace)
    with zipfile.ZipFile(io.BytesIO(zipped(workspace, dataset))) as archive:
        assert archive.testzip() is None
        names = [member.filename for member in archive.infolist()]
        assert {member.date_time for member in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        files = {name: archive.read(name) for name in names}
    assert names == [
        "manifest.json", "candles.arrow", "annotations.jsonl", "labels.csv", "candles.csv", "candles.parquet",
    ]  # fmt: skip
    assert json.loads(files["manifest.json"]) == dataset.manifest
    lines = files["annotations.jsonl"].decode().splitlines()
    assert [json.loads(line) for line in lines] == workspace.marks()
    assert sorted(read_labels(files["labels.csv"].decode()), key=lambda mark: str(mark["id"])) == sorted(
        workspace.marks(), key=lambda mark: str(mark["id"])
    )
    assert len(files["candles.csv"].splitlines()) == 101


def test_an_unpacked_zip_is_a_dataset_directory(workspace: Workspace, tmp_path: Path) -> None:
    workspace.put(span())
    dataset = take(workspace)
    with zipfile.ZipFile(io.BytesIO(zipped(workspace, dataset))) as archive:
        archive.extractall(tmp_path / "unpacked")
    unpacked, held = dataset_dir.read(tmp_path / "unpacked"), content(workspace, dataset)
    assert (unpacked.manifest, unpacked.annotations) == (held.manifest, held.annotations)
    assert np.array_equal(unpacked.candles.close, held.candles.close)


def test_annotations_are_written_one_canonical_line_a_mark(workspace: Workspace) -> None:
    workspace.put(span(comment="é\n "))
    text = (dataset_path(workspace.data_dir, take(workspace).id) / "annotations.jsonl").read_text("utf-8")
    assert text == "".join(
        json.dumps(mark, sort_keys=True, ensure_ascii=False, separators=(",", ":")) + "\n" for mark in workspace.marks()
    )


def test_a_start_removes_what_a_death_left_and_nothing_else(workspace: Workspace) -> None:
    dataset = take(workspace)
    folder = workspace.data_dir / "datasets"
    for name in (".making-abc", str(dataset.id + 1), "notes of mine"):
        (folder / name).mkdir()
    remove_orphans(workspace.database, workspace.data_dir)
    assert sorted(path.name for path in folder.iterdir()) == sorted([str(dataset.id), "notes of mine"])


def test_a_folder_left_from_a_death_is_no_obstacle(workspace: Workspace) -> None:
    (workspace.data_dir / "datasets" / "1" / "old").mkdir(parents=True)
    dataset = take(workspace)
    assert dataset.id == 1
    assert not (dataset_path(workspace.data_dir, 1) / "old").exists()


def test_a_disk_that_refuses_is_said_and_no_row_is_left(workspace: Workspace) -> None:
    shutil.rmtree(workspace.data_dir / "datasets")
    (workspace.data_dir / "datasets").write_text("a file where a folder should be")
    with pytest.raises(StorageFailed, match="Nothing was stored"):
        take(workspace)
    with workspace.database.read() as session:
        assert list_datasets(session) == []


def test_a_dataset_that_a_checkpoint_needs_stays(workspace: Workspace) -> None:
    dataset = take(workspace)
    run = add_run(workspace, dataset, "finished", with_checkpoint=True)
    with pytest.raises(Conflict, match=f"run {run}") as refused, workspace.database.write() as session:
        delete_dataset(session, dataset.id)
    assert refused.value.details == {"runs": [run]}


def test_a_dataset_goes_and_the_runs_that_need_it_no_more_stay(workspace: Workspace) -> None:
    dataset = take(workspace)
    run = add_run(workspace, dataset, "finished", with_checkpoint=False)
    with workspace.database.write() as session:
        delete_dataset(session, dataset.id)
    with workspace.database.read() as session:
        kept = session.get(Run, run)
        assert kept is not None
        assert kept.dataset_id is None
        with pytest.raises(NotFound):
            get_dataset(session, dataset.id)


def add_run(workspace: Workspace, dataset: Dataset, state: str, *, with_checkpoint: bool) -> int:
    facts: Json = {"series_id": workspace.series_id, "created": 1}
    with workspace.database.write() as session:
        run = Run(mode="batch", dataset_id=dataset.id, state=state, config={}, **facts)
        session.add(run)
        session.flush()
        if with_checkpoint:
            session.add(Checkpoint(run_id=run.id, model="gru", name="best", step=1, result=True, meta={}, **facts))
        return run.id


def zipped(workspace: Workspace, dataset: Dataset) -> bytes:
    file = io.BytesIO()
    source = open_source(workspace.database, workspace.data_dir, dataset.id)
    build("dataset", source, file, lambda _share: None)
    return file.getvalue()


def linked_name(workspace: Workspace, sha256: str) -> Path:
    return workspace.data_dir / "candles" / str(workspace.series_id) / f"{sha256}.arrow"
