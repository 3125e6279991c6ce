"""`python -m nn check`: what this machine trains on, one training step held against a reference, speed, memory."""

from __future__ import annotations

import dataclasses
import multiprocessing
import time
from collections.abc import Callable

import torch
from torch import Tensor, nn

from nn.config import ModelConfig
from nn.device import Device, choose, keep_memory_tight, memory_line, peak_resident_bytes, resident_bytes
from nn.learner import Learner, Schedule
from nn.logline import GIB
from nn.losses import counts_of, losses_of, weighted_loss
from nn.models import build
from nn.shell import fastest_threads
from nn.targets import head_classes
from nn.windows import Batch, noise

SPEED_S = 3.0
SLOPE_STEP = 1e-4
TOLERANCE = {"float32": 1e-3, "bfloat16": 5e-2}
SLOPE_TOLERANCE = 1e-5
MEMORY_BATCH = 64


def check(wanted: str, say: Callable[[str], object]) -> int:
    """Say the check line by line; give 0 when the step is right, 1 when not. Raises DeviceError."""
    device, config = choose(wanted), ModelConfig()
    where = str(device.device)
    say(f"device: {where}, {device.dtype} ({device.reason})")
    say(f"threads: {fastest_threads(where)}, torch {torch.__version__}")
    error, slope = gradient_error(config, device), slope_error(config)
    good = error <= TOLERANCE[device.dtype] and slope <= SLOPE_TOLERANCE
    say(f"training step: gradient within {error:.1e} of float64's, and that within {slope:.1e} of the loss's slope")
    say("training step: right" if good else "training step: WRONG, do not trust what is trained here")
    say(f"speed: {windows_per_s(config, where):.0f} windows/s of {config.sequence_length} candles")
    on, off = peak_bytes(config, where)
    say(f"peak memory of a step, batch {MEMORY_BATCH}: {off / GIB:.3f}GB, with gradient checkpointing {on / GIB:.3f}GB")
    say(memory_line(device.device))
    return 0 if good else 1


def gradient_error(config: ModelConfig, device: Device) -> float:
    """Give |g − g_ref| / |g_ref| of a step on the device, in its number type, against float64 on a CPU; no dropout."""
    config = dataclasses.replace(config, dropout=0.0)
    module, batch = build(config, head_classes(())), noise(config, head_classes(()))
    want = _gradient(module.double(), _double(batch), config)
    there = Batch(batch.x.to(device.device), {head: of.to(device.device) for head, of in batch.targets.items()})
    with torch.autocast(device.device.type, torch.bfloat16, enabled=device.dtype == "bfloat16"):
        loss = _loss(module.float().to(device.device), there, config)
    got = _flat(torch.autograd.grad(loss, list(module.parameters()))).cpu().double()
    return float((got - want).norm() / want.norm())


def slope_error(config: ModelConfig) -> float:
    """Give how far the reference gradient is from the slope of the loss along it, by central differences in float64."""
    config = dataclasses.replace(config, dropout=0.0, batch_size=2)
    module, batch = build(config, head_classes(())).double(), _double(noise(config, head_classes(())))
    gradient = _gradient(module, batch, config)
    direction, start = gradient / gradient.norm(), nn.utils.parameters_to_vector(module.parameters()).detach()
    losses = []
    for step in (SLOPE_STEP, -SLOPE_STEP):
        nn.utils.vector_to_parameters(start + step * direction, module.parameters())
        losses.append(float(_loss(module, batch, config).detach()))
    slope = (losses[0] - losses[1]) / (2 * SLOPE_STEP)
    return abs(slope - float(gradient.norm())) / float(gradient.norm())


def windows_per_s(config: ModelConfig, device: str) -> float:
    """Give the rate of whole training steps on noise, over SPEED_S seconds."""
    learner, batch = Learner(config, Schedule(1e-3), device=device), noise(config, head_classes(()), device)
    learner.step(batch)
    start, steps = time.perf_counter(), 0
    while time.perf_counter() - start < SPEED_S:
        learner.step(batch)
        steps += 1
    return steps * len(batch) / (time.perf_counter() - start)


def peak_bytes(config: ModelConfig, device: str) -> tuple[int, int]:
    """Give the most memory that steps with gradient checkpointing, and without, hold beside what was held before.

    On a CPU in a process of its own, where nothing else raised the peak.
    """
    if device != "cpu":
        return _peaks(config, device)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_peaks, (config, device))


def _peaks(config: ModelConfig, device: str) -> tuple[int, int]:
    if device == "cpu":
        torch.set_num_threads(1)
    _steps(dataclasses.replace(config, batch_size=1), device)  # what torch loads at its first step does not count
    before, peaks = _held(device), []
    for on in (True, False):  # the smaller first: the peak of a process only rises
        if on and device == "cpu":
            keep_memory_tight()
        _steps(dataclasses.replace(config, use_gradient_checkpointing=on, batch_size=MEMORY_BATCH), device)
        peaks.append(_peak(device) - before)
    return peaks[0], peaks[1]


def _held(device: str) -> int:
    return torch.cuda.memory_allocated() if device != "cpu" else resident_bytes()


def _peak(device: str) -> int:
    return torch.cuda.max_memory_allocated() if device != "cpu" else peak_resident_bytes()


def _steps(config: ModelConfig, device: str) -> None:
    learner, batch = Learner(config, Schedule(1e-3), device=device), noise(config, head_classes(()), device)
    for _ in range(2):
        learner.step(batch)


def _loss(module: nn.Module, batch: Batch, config: ModelConfig) -> Tensor:
    return weighted_loss(losses_of(module(batch.x), batch.targets), counts_of(batch.targets), config.heads)[0]


def _gradient(module: nn.Module, batch: Batch, config: ModelConfig) -> Tensor:
    return _flat(torch.autograd.grad(_loss(module, batch, config), list(module.parameters())))


def _flat(parts: tuple[Tensor, ...]) -> Tensor:
    return torch.cat([part.flatten() for part in parts])


def _double(batch: Batch) -> Batch:
    return Batch(batch.x.double(), batch.targets)
