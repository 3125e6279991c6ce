"""Export at size: 1,000,000 candles with 10,000 marks as the zip, against one bare `pandas.to_csv` of the candles.

Once more through the real server, which must keep answering meanwhile.
"""

from __future__ import annotations

import io
import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from uuid import UUID

import numpy as np
import requests

from bench.memory import growth
from bench.report import Measure, alternate, ratios
from nn import dataset_dir
from tests.serving import Server, start_server

ROWS = 1_000_000
MARKS = 10_000
START_MS = 1_700_000_000_000
SECOND = 1_000
ROUNDS = 3
SEED = 7
MIB = 1 << 20
TIME_BAR = 2.0
MEMORY_BAR = 1.5
ANSWER_S = 0.1  # what a person takes for at once


def measures() -> Iterator[Measure]:
    """Give the time of the export against pandas, and how its memory grows with the candles."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        _write_dataset(path)
        pairs = alternate(partial(_in_child, _export_s, path), partial(_in_child, _pandas_s, path), ROUNDS)
        size = (path / "out.zip").stat().st_size / MIB
        note = f"{ROWS:,} candles, {MARKS:,} marks, zip of {size:.0f} MiB, best {min(own for own, _ in pairs):.1f} s"
        yield Measure("export of a dataset", "pandas.to_csv of its candles", ratios(pairs), TIME_BAR, "at most", note)
        yield _bounded_memory(path)
        yield from _served(path)


def _bounded_memory(path: Path) -> Measure:
    """Compare what an export takes with what a half of the candles takes: what is bounded hardly grows with them."""
    whole = _in_child(_growth, path)
    with tempfile.TemporaryDirectory() as folder:
        _write_dataset(Path(folder), ROWS // 2)
        half = _in_child(_growth, Path(folder))
    note = f"{whole / MIB:.0f} and {half / MIB:.0f} MiB"
    return Measure("memory of that export", "that of half the candles", [whole / half], MEMORY_BAR, "at most", note)


def _served(path: Path) -> Iterator[Measure]:
    """Give how late the server answers while it makes, exports and packs the same series."""
    server = start_server(path / "data")
    try:
        series_id = _filled(server, path)
        waits: list[float] = []
        build = server.post("/api/datasets/builds", {"series_id": series_id, "name": "large"})["build"]
        dataset = _followed(server, "/api/datasets/builds", "build", build, waits)["dataset"]
        for begun in (f"/api/datasets/{dataset['id']}/exports", "/api/workspace/exports"):
            body = {"format": "dataset"} if "datasets" in begun else {}
            _followed(server, "/api/exports", "export", server.post(begun, body)["export"], waits)
    finally:
        server.stop()
    late, worst = float(np.percentile(waits, 99)), max(waits)
    note = f"{len(waits):,} calls of /health, median {np.median(waits) * 1000:.0f} ms, longest {worst * 1000:.0f} ms"
    yield Measure("99th percentile of answers meanwhile", f"{ANSWER_S:g} s", [late / ANSWER_S], 1.0, "at most", note)


def _filled(server: Server, path: Path) -> int:
    """Give the series with the candles and marks of the dataset."""
    (path / "bare.csv").rename(path / "BENCH.csv")
    with (path / "BENCH.csv").open("rb") as file:
        made = server.call("POST", "/api/series", files={"file": file}, data={"symbol": "BENCH/USDT"})
    series_id = int(made.json()["series"]["id"])
    lines = io.BytesIO((path / "annotations.jsonl").read_bytes())
    taken = server.call("POST", f"/api/series/{series_id}/annotations/import", files={"file": ("a.jsonl", lines)})
    assert taken.json()["report"]["new"] == MARKS, taken.text
    return series_id


def _followed(server: Server, path: str, name: str, task: dataset_dir.Json, waits: list[float]) -> dataset_dir.Json:
    """Ask for the server's health until work in the background is over; give the work."""
    session = requests.Session()
    while task["state"] in ("queued", "running"):
        for _ in range(20):
            began = time.perf_counter()
            assert session.get(f"{server.address}/health", timeout=60).status_code == 200
            waits.append(time.perf_counter() - began)
            time.sleep(0.005)
        task = server.get(f"{path}/{task['id']}")[name]
    assert task["state"] == "finished", task
    return task


def _write_dataset(path: Path, rows: int = ROWS) -> None:
    from annotate.exporting.content import Content
    from annotate.exporting.description import describe
    from annotate.exporting.recipe import Recipe

    candles, marks = _candles(rows), _marks(rows)
    labels = [{"name": name, "colour": "#009e73", "key": None, "layer": "default", "archived": False} for name in "AB"]
    facts = {"symbol": "BENCH/USDT", "timeframe": "1s", "simulated": True}
    manifest = describe(Content(facts, "Default", labels, marks), candles.time, Recipe())
    files = {"candles": {"sha256": "0" * 64}, "hash": "0" * 64}
    dataset_dir.write(path, {**manifest, **files}, candles, marks)


def _candles(rows: int) -> dataset_dir.Candles:
    draw = np.random.default_rng(SEED)
    close = np.round(30_000 + np.cumsum(draw.normal(0, 0.5, rows)), 2)
    time_ms = START_MS + SECOND * np.arange(rows, dtype=np.int64)
    return dataset_dir.Candles(time_ms, close, close + 1, close - 1, close, np.round(draw.random(rows) * 100, 3))


def _marks(rows: int) -> list[dataset_dir.Json]:
    step = rows // MARKS
    starts = [START_MS + SECOND * step * number for number in range(MARKS)]
    said = {"comment": "", "confidence": None, "author": "me", "source": "human", "mode": "hindsight", "revision": 1}
    times = {"decided_at": START_MS + SECOND * rows, "created": START_MS, "updated": START_MS}
    return [
        {
            "id": str(UUID(int=number)), "kind": "span", "label": "AB"[number % 2], "start": start,
            "end": start + SECOND * step // 2, "known_at": start + SECOND * step // 2, **said, **times,
        }
        for number, start in enumerate(starts)
    ]  # fmt: skip


def _in_child(work: Callable[[Path], float], path: Path) -> float:
    """Run in a fresh process, so that neither side finds the other's memory."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(work, (path,))


def _export_s(path: Path) -> float:
    _export(path)  # imports what it needs
    started = time.perf_counter()
    _export(path)
    return time.perf_counter() - started


def _pandas_s(path: Path) -> float:
    import pandas as pd

    candles = dataset_dir.read_candles(path / "candles.arrow")
    frame = pd.DataFrame({name: getattr(candles, name) for name in dataset_dir.COLUMNS})
    frame.head().to_csv(path / "bare.csv", index=False)
    started = time.perf_counter()
    frame.to_csv(path / "bare.csv", index=False)
    return time.perf_counter() - started


def _export(path: Path) -> None:
    from annotate.exporting.formats import build
    from annotate.exporting.member import Source

    with (path / "out.zip").open("wb") as file:
        build("dataset", Source(path, dataset_dir.read(path)), file, lambda _share: None)


def _growth(path: Path) -> float:
    """Give by how much an export raises the peak memory of a process that has its libraries, in bytes."""
    import pandas  # noqa: F401  # Arrow imports it on its first conversion

    from annotate.exporting.formats import build  # noqa: F401

    return growth(os.getpid(), lambda: _export(path))


if __name__ == "__main__":
    for measure in measures():
        print(measure.line(), flush=True)
