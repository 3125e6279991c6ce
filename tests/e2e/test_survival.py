"""What the product survives: a killed worker, a killed server, a cut socket, an impatient stop."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.serving import Server, start_server, worker_of

SMALL = {"sequence_length": 32, "d_model": 16, "n_layers": 1, "n_heads": 2}
LONG = {**SMALL, "epochs": 10_000}


@pytest.mark.parametrize(("death", "word"), [(signal.SIGKILL, "SIGKILL"), (signal.SIGSEGV, "SIGSEGV")])
def test_a_killed_worker_is_told_with_its_cause_and_the_next_run_starts(
    shared_server: Server, death: signal.Signals, word: str
) -> None:
    run_id = _training_run(shared_server)
    os.kill(worker_of(shared_server), death)
    died = time.monotonic()
    run = shared_server.wait_for_state(run_id, "failed", within_s=5)
    assert time.monotonic() - died < 5
    assert word in run["cause"]
    assert shared_server.get("/health")["status"] == "ok"
    ended = shared_server.events(run_id)[-1]
    assert (ended["type"], ended["state"]) == ("run_ended", "failed")
    following = _run(shared_server, {**SMALL, "epochs": 1})
    shared_server.wait_for_state(following, "finished")


def test_an_exception_in_a_run_is_told_with_its_words_and_the_next_run_starts(shared_server: Server) -> None:
    first = _training_run(shared_server)
    waiting = _run(shared_server, {**LONG, "split": [60, 20, 20]})
    shutil.rmtree(_dataset_of(shared_server, waiting))
    shared_server.post(f"/api/runs/{first}/stop")
    run = shared_server.wait_for_state(waiting, "failed")
    assert "manifest.json" in run["cause"]
    following = _run(shared_server, {**SMALL, "epochs": 1})
    shared_server.wait_for_state(following, "finished")


def test_stop_is_acknowledged_at_once_and_the_run_ends_soon(shared_server: Server) -> None:
    for _ in range(5):
        run_id = _training_run(shared_server)
        began = time.monotonic()
        shared_server.post(f"/api/runs/{run_id}/stop")
        assert time.monotonic() - began < 5 * 0.2
        shared_server.wait_for_state(run_id, "stopped", within_s=5 * 1.5)


def test_a_killed_server_takes_its_worker_along_and_the_next_start_says_interrupted(tmp_path: Path) -> None:
    server = start_server(tmp_path / "data")
    run_id = _training_run(server)
    worker = worker_of(server)
    server.kill()
    deadline = time.monotonic() + 10
    while _alive(worker) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not _alive(worker)
    following = start_server(tmp_path / "data")
    try:
        assert following.get(f"/api/runs/{run_id}")["run"]["state"] == "interrupted"
        events = following.events(run_id)
        assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
        assert events[-1]["state"] == "interrupted"
        following.post(f"/api/runs/{run_id}/resume")
        following.wait_for(lambda: following.events(run_id, after=len(events) + 3))
        following.post(f"/api/runs/{run_id}/stop")
        following.wait_for_state(run_id, "stopped")
        resumed = following.events(run_id)
        assert [event["seq"] for event in resumed] == list(range(1, len(resumed) + 1))
        steps = [event["step"] for event in resumed if event["type"] == "batch_done"]
        assert steps == list(range(1, len(steps) + 1))
    finally:
        following.stop()


def test_a_second_server_on_the_same_folder_is_refused_in_words(shared_server: Server) -> None:
    with pytest.raises(AssertionError, match="is in use by another Annotate"):
        start_server(shared_server.data_dir)


def test_a_port_in_use_is_said(shared_server: Server, tmp_path: Path) -> None:
    port = shared_server.address.rsplit(":", 1)[1]
    with pytest.raises(AssertionError, match=f"port {port} is in use"):
        start_server(tmp_path / "other", ANNOTATE_PORT=port)


def test_a_misspelt_setting_stops_the_start(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="unknown setting ANNOTATE_PROT"):
        start_server(tmp_path / "data", ANNOTATE_PROT="1")


def _run(server: Server, config: Mapping[str, object]) -> int:
    run: dict[str, int] = server.post("/api/runs", {"mode": "batch", "series_id": 1, "config": config})["run"]
    return run["id"]


def _training_run(server: Server) -> int:
    run_id = _run(server, LONG)
    server.wait_for(lambda: len(server.events(run_id)) > 5)
    return run_id


def _dataset_of(server: Server, run_id: int) -> Path:
    dataset_id = server.get(f"/api/runs/{run_id}")["run"]["dataset_id"]
    return server.data_dir / "datasets" / str(dataset_id)


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"
