"""What the worker does before its first run: device, thread count, and one step that loads what torch loads lazily."""

from __future__ import annotations

import os
import sys

import torch

from nn.config import ModelConfig
from nn.device import calibrate_threads, choose, memory_line
from nn.events import WorkerReady
from nn.features import FEATURES
from nn.learner import Learner, Schedule
from nn.targets import head_classes
from nn.windows import Batch


def start_up(threads: int = 0, wanted_device: str = "auto") -> WorkerReady:
    """Choose the device, set the thread count (0: measure it), and say what this worker runs on.

    The first use of an optimizer imports more of torch; done here, it cannot happen in the middle of a run.
    """
    device, config = choose(wanted_device), ModelConfig()
    learner = Learner(config, Schedule(1e-3), device=device.device)
    batch = _random_batch(config, device.device)
    if threads == 0:
        threads = calibrate_threads(lambda: learner.step(batch))
    torch.set_num_threads(threads)
    learner.step(batch)
    sys.stderr.write(f"worker: {threads} threads for a training step; {device.reason}\n")
    return WorkerReady(
        pid=os.getpid(),
        device=str(device.device),
        dtype=device.dtype,
        device_reason=device.reason,
        threads=threads,
        memory=memory_line(device.device),
    )


def _random_batch(config: ModelConfig, device: torch.device) -> Batch:
    """Make a batch of the default size from noise: its values do not matter for its speed."""
    draw = torch.Generator().manual_seed(config.seed)
    shape = (config.batch_size, config.sequence_length)
    x = torch.randn(*shape, len(FEATURES), generator=draw)
    targets = {head: torch.randint(k, shape, generator=draw).to(device) for head, k in head_classes(()).items()}
    return Batch(x.to(device), targets)
