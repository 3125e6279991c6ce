"""Audits in the worker process: their verdict ends the run, they wait like a batch run, a stop ends them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nn import commands, events
from tests.nn.live_market import batch, dataset, market
from tests.nn.worker_process import Worker


def audit(worker: Worker, folder: Path, run_id: int, kind: str, **changes: Any) -> None:
    config = {name: value for name, value in batch(**changes).items() if name != "stride"} | {"stride": 8}
    worker.send(commands.StartAudit(run_id=run_id, series_id=run_id, kind=kind, config=config, dataset_dir=str(folder)))


def test_a_leak_check_says_each_check_and_ends_with_the_verdict(worker: Worker, tmp_path: Path) -> None:
    audit(worker, dataset(tmp_path / "data", market(900)), 7001, "leaks")
    ended = worker.until_ended(7001)
    assert (ended.state, ended.summary["leaks"]["verdict"]) == ("finished", "no leak found")
    assert len(worker.of(events.LeakChecked, 7001)) == len(ended.summary["leaks"]["checks"]) == 9
    assert not worker.of(events.CheckpointSaved, 7001)


def test_a_check_on_skill_is_stopped_after_its_step_and_a_second_batch_is_refused_meanwhile(
    worker: Worker, tmp_path: Path
) -> None:
    folder = dataset(tmp_path / "data", market(900))
    audit(worker, folder, 7002, "skill", epochs=10_000)
    worker.until(lambda said: isinstance(said, events.ControlEpoch) and said.run_id == 7002)
    audit(worker, folder, 7003, "leaks")
    assert "run 7002 is training" in str(worker.until_ended(7003).cause)
    worker.send(commands.StopRun(run_id=7002))
    ended = worker.until_ended(7002)
    assert (ended.state, ended.summary) == ("stopped", {})
