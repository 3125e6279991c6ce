"""`python -m annotate`: what the page does, for scripts."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from annotate.__main__ import main
from annotate.data_folder import FolderLock
from annotate.models import Json
from tests.annotate.annotations.builders import HOUR, START, Workspace, span


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder with a series of 100 hours and one mark, named in the environment."""
    made = Workspace.make(tmp_path / "data")
    made.put(span(10, 20, comment="=1+1"))
    made.close()
    monkeypatch.setenv("ANNOTATE_DATA_DIR", str(tmp_path / "data"))
    return tmp_path


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[Json]:
    """Run a command that must succeed; give what it printed."""
    assert main(arguments) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run a command that must be refused; give what it said."""
    assert main(arguments) == 1
    said = capsys.readouterr()
    assert said.out == ""
    return said.err


@pytest.mark.usefixtures("folder")
def test_series_and_datasets_are_listed_and_made(capsys: pytest.CaptureFixture[str]) -> None:
    (series,) = told(capsys, "series")
    assert (series["symbol"], series["candles"]) == ("ETH/USDT", 100)
    assert told(capsys, "datasets") == []
    (made,) = told(capsys, "datasets", "--series", "1", "--make", "first")
    assert told(capsys, "datasets") == [made]


@pytest.mark.usefixtures("folder")
def test_datasets_are_previewed_compared_renamed_and_deleted(capsys: pytest.CaptureFixture[str]) -> None:
    recipe = ("--split", "60/20/20", "--horizon", "3")
    (shown,) = told(capsys, "datasets", "--series", "1", "--preview", *recipe)
    (made,) = told(capsys, "datasets", "--series", "1", "--make", "first", "--note", "why", *recipe)
    assert {name: made["manifest"][name] for name in shown["facts"]} == shown["facts"]
    assert (made["note"], made["manifest"]["split"]) == ("why", [60, 20, 20])
    (bare,) = told(capsys, "datasets", "--series", "1", "--make", "bare", "--without-hindsight")
    (changed,) = told(capsys, "datasets", "--changes", "1", "--to", "2")
    assert len(changed["marks"]["removed"]) == 1
    assert told(capsys, "datasets", "--changes", "1")[0]["same"] is True
    assert told(capsys, "datasets", "--rename", "1", "=second")[0]["name"] == "=second"
    assert told(capsys, "datasets", "--delete", str(bare["id"])) == [{"deleted": bare["id"]}]
    assert [each["name"] for each in told(capsys, "datasets")] == ["=second"]
    assert "split" in refused(capsys, "datasets", "--series", "1", "--preview", "--split", "a/b")
    assert "no dataset 9" in refused(capsys, "datasets", "--delete", "9")


@pytest.mark.usefixtures("folder")
def test_a_series_is_renamed_and_deleted(capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, "series", "--rename", "1", "BTC/USDT")[0]["symbol"] == "BTC/USDT"
    assert "no number" in refused(capsys, "series", "--rename", "BTC", "x")
    assert told(capsys, "series", "--delete", "1") == [{"deleted": 1}]
    assert told(capsys, "series") == []


def test_a_refused_export_leaves_the_file_that_stood_there(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = folder / "out.zip"
    out.write_bytes(b"mine")
    told(capsys, "datasets", "--series", "1", "--make", "x")
    next((folder / "data" / "datasets").glob("*/candles.arrow")).unlink()
    refused(capsys, "export", str(out), "--dataset", "1")
    assert out.read_bytes() == b"mine"
    assert [path.name for path in folder.glob("out*")] == ["out.zip"]


def test_an_export_says_what_it_wrote_and_what_was_lost(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = folder / "out.zip"
    (done,) = told(capsys, "export", str(out), "--series", "1", "--format", "trainset")
    assert "1 comments" in done["lost"]
    with zipfile.ZipFile(out) as archive:
        assert "trainset-1-default.csv" in archive.namelist()


def test_marks_go_out_and_come_in_again(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = folder / "out.zip"
    told(capsys, "export", str(out), "--series", "1")
    (report,) = told(capsys, "import", str(out), "--series", "1")
    assert (report["same"], report["new"]) == (1, 0)
    table = folder / "marks.csv"
    table.write_text(f"when,label\n{START + 50 * HOUR},Short\n")
    assert "--answer time=…" in refused(capsys, "import", str(table), "--series", "1")
    (asked,) = told(capsys, "import", str(table), "--series", "1", "--answer", "time=when", "--dry-run")
    (done,) = told(capsys, "import", str(table), "--series", "1", "--answer", "time=when")
    assert (asked["new"], asked["stored"], done["new"], done["stored"]) == (1, False, 1, True)


def test_a_workspace_moves_to_a_folder_that_is_not_there_yet(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = folder / "first.zip", folder / "second.zip"
    told(capsys, "export", str(first), "--workspace")
    monkeypatch.setenv("ANNOTATE_DATA_DIR", str(folder / "elsewhere"))
    (report,) = told(capsys, "import", str(first))
    assert [each["new"] for each in report["series"]] == [1]
    told(capsys, "export", str(second), "--workspace")
    assert first.read_bytes() == second.read_bytes()


def test_a_conflict_is_listed_and_settled_by_replace(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = folder / "out.zip"
    told(capsys, "export", str(out), "--series", "1")
    with zipfile.ZipFile(out) as archive:
        mark = json.loads(archive.read("annotations.jsonl"))
    marks = folder / "marks.jsonl"
    marks.write_text(json.dumps({**mark, "comment": "other"}))
    (kept,) = told(capsys, "import", str(marks), "--series", "1")
    assert [each["replaced"] for each in kept["conflicts"]] == [False]
    (taken,) = told(capsys, "import", str(marks), "--series", "1", "--replace")
    assert [each["replaced"] for each in taken["conflicts"]] == [True]
    assert "name their --series" in refused(capsys, "import", str(marks), "--replace")


def test_candles_become_a_series(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"{START + n * HOUR},100,102,99,101,5" for n in range(30)]
    (folder / "candles.csv").write_text("time,open,high,low,close,volume\n" + "\n".join(rows) + "\n")
    (made,) = told(capsys, "import", str(folder / "candles.csv"), "--symbol", "BTC/USDT")
    assert made["series"][0]["symbol"] == "BTC/USDT"
    assert [each["candles"] for each in told(capsys, "series")] == [100, 30]
    more = [f"{START + n * HOUR},100,102,99,101,5" for n in range(40)]
    (folder / "more.csv").write_text("time,open,high,low,close,volume\n" + "\n".join(more) + "\n")
    told(capsys, "import", str(folder / "more.csv"), "--into", "2")
    assert [each["candles"] for each in told(capsys, "series")] == [100, 40]


def test_a_folder_that_a_server_holds_is_left_alone(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lock = FolderLock.take(folder / "data")
    assert "in use by another Annotate" in refused(capsys, "series")
    lock.release()
    assert len(told(capsys, "series")) == 1


@pytest.mark.usefixtures("folder")
def test_what_cannot_be_done_is_said(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert "no file" in refused(capsys, "import", "nowhere.csv")
    assert "no dataset 7" in refused(capsys, "export", "out.zip", "--dataset", "7")
    assert "say what to export" in refused(capsys, "export", "out.zip")
    monkeypatch.setenv("ANNOTATE_DATA_DIR", "nowhere")
    assert "no data folder" in refused(capsys, "series")
    assert not Path("nowhere").exists()


def test_a_wrong_command_line_ends_with_2() -> None:
    done = subprocess.run([sys.executable, "-m", "annotate", "explode"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "invalid choice" in done.stderr
