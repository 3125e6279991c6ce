"""A run is repeated from its dataset, after the marks have changed: bit for bit on a CPU."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import uuid
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.serving import ROOT, Server, start_server

CONFIG = {
    "model": "gru", "epochs": 2, "sequence_length": 16, "d_model": 16, "n_layers": 1, "stride": 400, "batch_size": 4,
    "split": [60, 20, 20], "seed": 3,
}  # fmt: skip
CLOCKED = {"run_id", "seq", "time", "windows_per_s", "eta_s", "seconds"}
PRINTED = ("Batch ", "Epoch ")
Json = dict[str, Any]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    started = start_server(tmp_path_factory.mktemp("repeat") / "data")
    yield started
    started.stop()


@pytest.fixture(scope="module")
def first(server: Server) -> Json:
    """A run on the first series with one mark, which has another one since."""
    candles = server.get("/api/series/1/candles?max_points=5000&encoding=list")["time"]
    mark(server, candles[10], candles[40])
    run = finished(server, {"mode": "batch", "series_id": 1, "config": CONFIG})
    mark(server, candles[50], candles[90])
    return run


def test_a_repeated_run_says_the_same_and_leaves_the_same_weights(server: Server, first: Json) -> None:
    loaded = server.post("/api/models/load", {"model": "gru", "series_id": 1, "checkpoint": "new", "config": CONFIG})
    server.wait_for_state(loaded["run"]["id"], "finished")
    config = {name: value for name, value in first["config"].items() if name != "split"}
    second = finished(server, {"mode": "batch", "dataset_id": first["dataset_id"], "config": config})
    assert second["config"] == first["config"]
    assert told(server, first) == told(server, second)
    weights = [server.data_dir / "checkpoints" / str(run["id"]) / "best" for run in (first, second)]
    assert (weights[0] / "model.safetensors").read_bytes() == (weights[1] / "model.safetensors").read_bytes()
    dataset = server.get(f"/api/datasets/{first['dataset_id']}")["dataset"]
    assert dataset["manifest"]["split"] == [60, 20, 20]
    assert {json.loads((each / "meta.json").read_text())["dataset"] for each in weights} == {dataset["hash"]}


def test_the_shell_repeats_a_run_from_the_zip_of_its_dataset_bit_for_bit(
    server: Server, first: Json, tmp_path: Path
) -> None:
    answer = server.call("GET", f"/api/datasets/{first['dataset_id']}/download")
    zipfile.ZipFile(io.BytesIO(answer.content)).extractall(tmp_path / "zip")
    events = server.events(first["id"])
    (threads,) = {event["threads"] for event in events if event["type"] == "run_started"}
    lines = fit(tmp_path / "zip", first["config"], threads, tmp_path / "kept")
    assert [line for line in lines if line.startswith(PRINTED)] == [
        event["line"] for event in events if event.get("line") and event["line"].startswith(PRINTED)
    ]
    weights = server.data_dir / "checkpoints" / str(first["id"]) / "best" / "model.safetensors"
    assert (tmp_path / "kept" / "best" / "model.safetensors").read_bytes() == weights.read_bytes()
    (tmp_path / "zip" / "annotations.jsonl").write_bytes(b"")
    with pytest.raises(AssertionError, match=r"annotations\.jsonl is not the file that manifest\.json names"):
        fit(tmp_path / "zip", first["config"], threads, tmp_path / "kept")


def fit(folder: Path, config: Json, threads: int, kept: Path) -> list[str]:
    """Train in a shell with the config of a run; give the printed lines."""
    options = [part for name, value in config.items() for part in (f"--{name}", json.dumps(value))]
    command = [sys.executable, "-m", "nn", "fit", str(folder), "--checkpoints", str(kept), "--threads", str(threads)]
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_run_on_a_dataset_takes_its_split_and_no_other(server: Server) -> None:
    dataset = server.post("/api/datasets", {"series_id": 1, "name": "x", "split": [50, 25, 25]})["dataset"]
    wrong = {"mode": "batch", "dataset_id": dataset["id"], "config": CONFIG}
    refusal = server.call("POST", "/api/runs", json=wrong)
    assert refusal.status_code == 422
    assert refusal.json()["error"]["details"]["field"] == "split"


def mark(server: Server, start: int, end: int) -> None:
    body = {"kind": "span", "label": "Long", "start": start, "end": end}
    assert server.call("PUT", f"/api/series/1/annotations/{uuid.uuid4()}", json=body).status_code == 200


def finished(server: Server, body: Json) -> Json:
    run = server.post("/api/runs", body)["run"]
    server.wait_for_state(run["id"], "finished", "failed", within_s=120)
    ended: Json = server.get(f"/api/runs/{run['id']}")["run"]
    assert ended["state"] == "finished", ended["cause"]
    return ended


def told(server: Server, run: Json) -> list[Json]:
    """Give what the run said of its learning, without clocks and numbers of its own."""
    kinds = ("batch_done", "epoch_done")
    events = [event for event in server.events(run["id"]) if event["type"] in kinds]
    assert {event["type"] for event in events} == set(kinds)
    return [{name: value for name, value in event.items() if name not in CLOCKED} for event in events]
