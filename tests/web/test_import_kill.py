"""A process killed while it imports leaves the whole series or nothing, and nothing of the file."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from annotate.settings import Settings
from tests.conftest import TOKEN

ROWS = 200_000
START = 1_704_103_200_000
ROOT = Path(__file__).resolve().parents[2]
IN_THE_SUITE, IN_THE_SOAK = 1, 20
SEED = 11


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file whose import takes a good part of a second."""
    path = tmp_path / "candles.csv"
    closes = 100 + np.arange(ROWS) % 50
    lines = [
        f"{START + row * 1000},{close},{close + 1},{close - 1},{close},5" for row, close in enumerate(closes.tolist())
    ]
    path.write_text("\n".join(["time,open,high,low,close,volume", *lines, ""]))
    return path


def started(data_dir: Path, file: Path) -> subprocess.Popen[str]:
    """Start a process that imports the file, and give it once it begins."""
    command = [sys.executable, "-m", "tests.web.import_child", str(data_dir), str(file)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline().strip() == "importing"
    return process


def whole_import_s(data_dir: Path, file: Path) -> float:
    """Let one import end, and give how long it took."""
    with started(data_dir, file) as process:
        began = time.monotonic()
        assert process.stdout is not None
        assert process.stdout.readline().split() == ["imported", "201"]
        return time.monotonic() - began


def stored_candles(data_dir: Path) -> int:
    """Start the application again; give how many candles the killed import left, having looked at all of them."""
    from app import close_app, create_app

    app = create_app(Settings(data_dir=data_dir, token=TOKEN, threads=1))
    try:
        parts = app.extensions["annotate"]
        web = app.test_client()
        web.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {TOKEN}"
        killed = [each for each in web.get("/api/series").get_json()["items"] if each["symbol"] == "KILLED"]
        assert list((data_dir / "uploads").iterdir()) == []
        assert list((data_dir / "candles").rglob("*.tmp*")) == []
        folders = {int(folder.name) for folder in (data_dir / "candles").iterdir() if any(folder.iterdir())}
        assert folders <= {each["id"] for each in web.get("/api/series").get_json()["items"]}
        if not killed:
            return 0
        (series,) = killed
        assert web.get(f"/api/series/{series['id']}/report").get_json()["report"]["rows_kept"] == ROWS
        times = parts.candles.read(series["id"]).time
        assert np.array_equal(times, START + np.arange(ROWS) * 1000)
        return len(times)
    finally:
        close_app(app)


def run_kills(tries: int, first_start: Path, tmp_path: Path, file: Path) -> None:
    def fresh() -> Path:
        folder = tmp_path / "data"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(first_start, folder)
        return folder

    span = whole_import_s(fresh(), file)
    assert stored_candles(tmp_path / "data") == ROWS  # one that is not killed stores all
    source = random.Random(SEED)
    for number in range(tries):
        with started(fresh(), file) as process:
            time.sleep((number + source.uniform(0, 1.1)) * span / tries)
            process.kill()
        assert stored_candles(tmp_path / "data") in (0, ROWS)


def test_an_import_that_is_killed_leaves_all_or_nothing(first_start: Path, tmp_path: Path, file: Path) -> None:
    run_kills(IN_THE_SUITE, first_start, tmp_path, file)


@pytest.mark.soak
@pytest.mark.timeout(1200)
def test_twenty_imports_that_are_killed_leave_all_or_nothing(first_start: Path, tmp_path: Path, file: Path) -> None:
    run_kills(IN_THE_SOAK, first_start, tmp_path, file)
