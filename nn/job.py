"""What a batch run is made of, and whose weights it starts from."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from nn.checkpoint import Weights, mismatches
from nn.config import BatchConfig
from nn.dataset_dir import DatasetDir
from nn.device import Device
from nn.logline import clock
from nn.ranks import ALONE, Ranks
from nn.training_data import validation_start


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One batch run."""

    run_id: int
    config: BatchConfig
    dataset: DatasetDir
    device: Device
    threads: int
    checkpoint_dir: Path | None = None  # None: nothing is kept
    weights: Weights | None = None  # to start from; None: fresh
    origin: str = "fresh"  # where `weights` come from: "checkpoint" or "loaded"
    reason: str = "no weights to start from"
    resume: bool = False  # go on from `checkpoint_dir`/last
    recorded_step: int | None = None  # steps and epochs whose events are stored: a resumed run does not say them again
    recorded_epoch: int = 0  # and goes on from no checkpoint past them; None: nobody stores any
    ranks: Ranks = ALONE  # the processes that share the run
    gather: Callable[[], Iterator[None]] = lambda: iter(())  # wait for them, once the first checkpoint is kept
    permutation: int | None = None  # learn shuffled targets, of which this is the number
    now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000


class Start(NamedTuple):
    """Whose weights a run starts from, and why, in words."""

    weights: Weights | None
    origin: str
    reason: str


def choose_start(job: Job) -> Start:
    """Take the job's weights, or none where they do not fit or where validation would judge them on what they know."""
    if job.config.shuffle_targets:
        return Start(None, "fresh", "a control with shuffled targets starts fresh")
    if job.weights is None:
        return Start(None, "fresh", job.reason)
    meta = job.weights.meta
    wrong = mismatches(meta, job.config, tuple(job.dataset.manifest.get("labels") or ()))
    if wrong:
        fields = "; ".join(f"{m.field}: have {m.have}, want {m.want}" for m in wrong)
        return Start(None, "fresh", f"the weights at hand do not fit ({fields})")
    start = validation_start(job.config, job.dataset)
    if start is not None and meta.data_cut is not None and meta.data_cut >= start:
        seen = f"the weights at hand have seen candles up to {clock(meta.data_cut)}"
        return Start(None, "fresh", f"{seen}, validation starts at {clock(start)}: it would judge what they know")
    return Start(job.weights, job.origin, job.reason)
