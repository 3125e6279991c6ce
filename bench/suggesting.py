"""How quickly suggestions follow a mark while training goes on, and how a million candles are read beside it.

`python -m bench.suggesting` prints the measures. The peer of each is the second.
"""

from __future__ import annotations

import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bench.asking import START_MS, Person, upload
from bench.few_labels import ROOT, _read
from bench.report import Measure
from nn.dataset_dir import Candles
from nn.few.market import Market
from nn.few.spans import Span
from nn.few.zigzag import zigzag
from tests.serving import Server, start_server

Json = dict[str, Any]

MINUTE_MS = 60_000
CANDLES, MARKS, ROUNDS = 6_000, 200, 7
MANY, FEW_MARKS = 1_000_000, 40
NAMES = ("Short", "Long")
WAIT_S = 600
TRAINED = "SIM/USDT"


def measures() -> Iterator[Measure]:
    """Measure beside a batch run that outlasts it all."""
    with tempfile.TemporaryDirectory() as folder:
        server = start_server(Path(folder) / "data", ANNOTATE_THREADS="0")
        try:
            yield from _quick(server)
            yield from _many(server)
        finally:
            server.stop()


def _quick(server: Server) -> Iterator[Measure]:
    rows = _read(ROOT / "data" / "sample" / "eurusd-1h.csv.gz")
    rows = rows.slice(len(rows) - CANDLES, len(rows))
    series_id = _marked(server, rows, zigzag(Market(rows), 2.3)[1 : MARKS + 1])
    _finished(server, _suggest(server, series_id))
    run = _train(server)
    took = []
    for turn in range(ROUNDS):
        started = time.perf_counter()
        _put(server, series_id, Span(CANDLES - 60 + 3 * turn, CANDLES - 58 + 3 * turn, turn % 2))
        _finished(server, _suggest(server, series_id))
        assert server.get(f"/api/series/{series_id}/suggestions")["items"]
        took.append(time.perf_counter() - started)
    assert server.get(f"/api/runs/{run}")["run"]["state"] == "running", "training ended before the measure did"
    name = f"from a mark to new suggestions, {CANDLES:,} candles, {MARKS} marks, while training"
    yield Measure(name, "second", took, 3.0, "at most")


def _many(server: Server) -> Iterator[Measure]:
    draw = np.random.default_rng(0)
    close = 100 * np.exp(np.cumsum(draw.normal(0, 1e-3, MANY)))
    opened = np.concatenate([[100.0], close[:-1]])
    high, low = np.maximum(opened, close) * 1.0001, np.minimum(opened, close) * 0.9999
    rows = Candles(np.arange(MANY), opened, high, low, close, np.full(MANY, np.nan))
    first = rows.slice(0, 20_000)
    series_id = _marked(server, rows, zigzag(Market(first), 5.0)[1 : FEW_MARKS + 1])
    started = time.perf_counter()
    task = _suggest(server, series_id)
    _until(server, task, lambda now: bool(now["done"]))
    yield Measure("first suggestions of 1,000,000 candles", "second", [time.perf_counter() - started], 15.0, "at most")
    asked = time.perf_counter()
    server.post(f"/api/series/{series_id}/places", {"order": "random", "count": 1})
    yield Measure("a question beside that reading", "second", [time.perf_counter() - asked], 5.0, "at most")
    asked = time.perf_counter()
    cancelled = server.call("DELETE", f"/api/suggestion-tasks/{task}").json()["task"]
    note = f"{cancelled['done']:,} candles read, {cancelled['found']:,} suggestions kept"
    yield Measure("calling it off", "second", [time.perf_counter() - asked], 2.0, "at most", note)


def _marked(server: Server, rows: Candles, spans: list[Span]) -> int:
    """Store candles, a minute each, and marks on them; give the series."""
    times = START_MS + MINUTE_MS * np.arange(len(rows), dtype=np.int64)
    series_id = upload(server, Person("bench", rows, 0.0), times, "1m")
    for span in spans:
        _put(server, series_id, span)
    return series_id


def _put(server: Server, series_id: int, span: Span) -> None:
    times = {"start": START_MS + MINUTE_MS * span.start, "end": START_MS + MINUTE_MS * span.end}
    body = {"kind": "span", "label": NAMES[span.label], **times, "revision": 0}
    answer = server.call("PUT", f"/api/series/{series_id}/annotations/{uuid.uuid4()}", json=body)
    assert answer.status_code == 200, answer.text


def _suggest(server: Server, series_id: int) -> int:
    task: int = server.post(f"/api/series/{series_id}/suggestions", {})["task"]["id"]
    return task


def _finished(server: Server, task: int) -> None:
    assert _until(server, task, lambda now: now["state"] != "running")["state"] == "finished"


def _until(server: Server, task: int, reached: Callable[[Json], bool]) -> Json:
    def look() -> Json | None:
        now: Json = server.get(f"/api/suggestion-tasks/{task}")["task"]
        assert now["state"] != "failed", now
        return now if reached(now) else None

    found: Json = server.wait_for(look, within_s=WAIT_S, every_s=0.02)
    return found


def _train(server: Server) -> int:
    """Start a batch run and wait for its first step."""
    series = next(item for item in server.get("/api/series")["items"] if item["symbol"] == TRAINED)
    body = {"mode": "batch", "series_id": series["id"], "config": {"epochs": 200}}
    run_id: int = server.post("/api/runs", body)["run"]["id"]
    server.wait_for(lambda: any(e["type"] == "batch_done" for e in server.events(run_id)), within_s=WAIT_S)
    return run_id


if __name__ == "__main__":
    for measure in measures():
        print(measure.line(), flush=True)
