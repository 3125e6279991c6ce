"""One run in two processes: the same losses as in one, a stop that both hear, and a lost process that is noticed."""

from __future__ import annotations

import dataclasses
import multiprocessing
import os
from pathlib import Path

import pytest
import torch
import torch.distributed as dist

from nn.config import BatchConfig
from nn.dataset_dir import DatasetDir
from nn.device import choose
from nn.events import BatchDone, RunEnded
from nn.fit import Control, fit
from nn.job import Job
from nn.ranks import ALONE, Ranks
from tests.nn.live_market import MINUTE, batch, market

STEPS = 20
STOP_AT = 22  # the step after which one process alone is asked to stop


@pytest.mark.timeout(600)  # three trainings, two of them in processes that start anew
def test_two_processes_take_the_steps_of_one_stop_together_and_notice_a_death(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_train_then_lose_one, args=(rank, tmp_path)) for rank in range(2)]
    for process in processes:
        process.start()
    alone, _ = _losses(ALONE)
    for process in processes:
        process.join(500)
    losses, ends = zip(*(torch.load(tmp_path / f"{rank}.pt", weights_only=True) for rank in range(2)), strict=True)
    assert len(alone) == STOP_AT
    for of in losses:
        assert of[:STEPS] == pytest.approx(alone[:STEPS], abs=1e-5)
    assert ends == (("stopped", STOP_AT), ("stopped", STOP_AT))
    assert [process.exitcode for process in processes] == [0, 9]
    assert "peer" in (tmp_path / "noticed").read_text()


def test_windows_are_shared_out_without_overlap_and_alone_nothing_changes() -> None:
    starts = torch.arange(7).numpy()
    shares = [Ranks(rank, 3).share(starts).tolist() for rank in range(3)]
    assert sorted(start for share in shares for start in share) == starts.tolist()
    held = [torch.ones(2)]
    ALONE.add_up(held)
    assert held[0].tolist() == [1, 1]
    assert ALONE.highest(2) == 2


def _losses(ranks: Ranks) -> tuple[list[float], tuple[str, int]]:
    """Train; give the losses, how the run ended and after which step. The last process asks for the stop."""
    # A batch of 7 shares out unevenly, and the last one of an epoch may leave a process without a window.
    config = BatchConfig.from_json(batch(batch_size=7, dropout=0.0, epochs=3, stride=9))
    data = DatasetDir({"symbol": "TEST", "timeframe": "1m", "timeframe_ms": MINUTE, "labels": []}, market(900), [])
    job = Job(run_id=1, config=config, dataset=data, device=choose("cpu"), threads=1, ranks=ranks)
    control, losses, end = Control(), [], ("", 0)
    for said in fit(job, control):
        if isinstance(said, BatchDone):
            losses.append(said.loss)
            if said.step == STOP_AT and ranks.rank == ranks.size - 1:
                control.end = "stopped"
        elif isinstance(said, RunEnded):
            end = (said.state, int(said.summary["step"]))
    return losses, end


def _train_then_lose_one(rank: int, folder: Path) -> None:
    """Train with another process; then the second dies without a word, while the first waits for it."""
    ranks = _joined(rank, folder, 2)
    torch.save(_losses(ranks), folder / f"{rank}.pt")
    ranks.add_up([torch.ones(1)])
    if rank == 1:
        os._exit(9)
    try:
        ranks.add_up([torch.ones(1)])
    except RuntimeError as error:
        (folder / "noticed").write_text(str(error))
    os._exit(0)


def _joined(rank: int, folder: Path, size: int) -> Ranks:
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=size)
    return dataclasses.replace(ALONE, rank=rank, size=size)
