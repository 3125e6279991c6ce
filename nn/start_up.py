"""What the worker does before its first run: device, thread count, one step, and loading what is loaded lazily."""

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

# Of the features, of the baselines, of gradient checkpointing.
LATE = ("scipy.signal", "sklearn.linear_model", "torch._dynamo")


def start_up(threads: int = 0, wanted_device: str = "auto") -> WorkerReady:
    """Choose the device, set the thread count (0: measure it), and say what this worker runs on.

    What a run needs and loads late is loaded here, so that nobody waits for it between a click and the first batch.
    """
    device, config = choose(wanted_device), ModelConfig()
    learner = Learner(config, Schedule(1e-3), device=device.device)
    batch = noise(config, head_classes(()), device.device)
    if threads == 0:
        threads = calibrate_threads(lambda: learner.step(batch))
    torch.set_num_threads(threads)
    learner.step(batch)
    for name in LATE:
        importlib.import_module(name)
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
