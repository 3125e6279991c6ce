"""What the worker does before its first run: device, thread count, and one step that loads what torch loads lazily."""

from __future__ import annotations

import importlib
import os
import sys

import torch

from nn.config import ModelConfig
from nn.device import calibrate_threads, choose, memory_line
from nn.events import WorkerReady
from nn.learner import Learner, Schedule
from nn.targets import head_classes
from nn.windows import noise


def start_up(threads: int = 0, wanted_device: str = "auto") -> WorkerReady:
    """Choose the device, set the thread count (0: measure it), and say what this worker runs on.

    The first use of an optimizer imports more of torch; done here, it cannot happen in the middle of a run.
    """
    device, config = choose(wanted_device), ModelConfig()
    learner = Learner(config, Schedule(1e-3), device=device.device)
    batch = noise(config, head_classes(()), device.device)
    if threads == 0:
        threads = calibrate_threads(lambda: learner.step(batch))
    torch.set_num_threads(threads)
    learner.step(batch)
    importlib.import_module("sklearn.linear_model")  # the baselines'; likewise not in the middle of a run
    sys.stderr.write(f"worker: {threads} threads for a training step; {device.reason}\n")
    return WorkerReady(
        pid=os.getpid(),
        device=str(device.device),
        dtype=device.dtype,
        device_reason=device.reason,
        threads=threads,
        memory=memory_line(device.device),
        free_bytes=torch.cuda.mem_get_info(device.device)[0] if device.device.type == "cuda" else 0,
    )
