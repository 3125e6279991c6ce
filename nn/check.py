"""`python -m nn check`: what this machine trains on, one training step held against a reference, speed, memory."""

from __future__ import annotations

import dataclasses
import multiprocessing
import time
from collections.abc import Callable
from functools import partial
from statistics import median

import torch
from torch import Tensor, nn

from nn.config import ModelConfig
from nn.device import Device, choose, keep_memory_tight, memory_line, peak_resident_bytes, resident_bytes
from nn.features import FEATURES
from nn.learner import Learner, Schedule
from nn.logline import GIB
from nn.losses import counts_of, losses_of, weighted_loss
from nn.models import build
from nn.models.parts import LOOKBACK
from nn.shell import fastest_threads
from nn.targets import head_classes
from nn.windows import Batch, noise

SPEED_S = 5.0
LEAST_ROUNDS = 4
MATRIX = {"cpu": 1024, "cuda": 8192}  # rows of what is multiplied: enough for the device to reach its rate
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
    rate, share = speed(config, device)
    say(
        f"speed: {rate:.0f} windows/s of {config.sequence_length} candles; arithmetic at {share:.0%} of what "
        f"torch.matmul reaches here in {device.dtype}"
    )
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


def speed(config: ModelConfig, device: Device) -> tuple[float, float]:
    """Give windows a second of whole training steps, and their arithmetic a second over that of torch.matmul.

    Both in turn over SPEED_S seconds, so that whatever else the machine does slows both alike.
    """
    where = str(device.device)
    learner, batch = Learner(config, Schedule(1e-3), device=where), noise(config, head_classes(()), where)
    size = MATRIX[device.device.type]
    square = torch.randn(size, size, device=where, dtype=getattr(torch, device.dtype))
    end = time.perf_counter() + SPEED_S
    rates: list[float] = []
    products: list[float] = []
    while time.perf_counter() < end or len(rates) < LEAST_ROUNDS:
        rates.append(len(batch) / _seconds(lambda: learner.step(batch), where))
        products.append(2 * size**3 / _seconds(lambda: square @ square, where))
    rate, product = median(rates[1:]), median(products[1:])  # the first of each loads what it needs
    return rate, rate * operations(config) / config.batch_size / product


def _seconds(work: Callable[[], object], device: str) -> float:
    began = time.perf_counter()
    work()
    if device != "cpu":
        torch.cuda.synchronize()
    return time.perf_counter() - began


def operations(config: ModelConfig) -> float:
    """Count the multiplications and additions that a step of the Transformer, a token a candle, cannot do without.

    Those of the matrix products and of attention to earlier candles, three times: forward, and twice backward.
    """
    d, tokens = config.d_model, config.sequence_length
    answers = sum(head_classes(()).values())
    a_token = LOOKBACK * len(FEATURES) * d + config.n_layers * 12 * d * d + answers * d
    attention = config.n_layers * 2 * d * (tokens + 1) / 2  # scores and mixing, over this candle and earlier ones
    return 3 * 2 * config.batch_size * tokens * (a_token + attention)


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
    # What torch loads at a first step, and at the first that recomputes, does not count.
    _steps(dataclasses.replace(config, batch_size=1, use_gradient_checkpointing=True), device)
    on, off = (
        dataclasses.replace(config, use_gradient_checkpointing=use, batch_size=MEMORY_BATCH) for use in (True, False)
    )
    if device == "cpu":
        keep_memory_tight()
    before = _held(device)
    # The smaller first: the peak of a process only rises.
    peaks = [peak_of(partial(_steps, used, device), device, before) for used in (on, off)]
    return peaks[0], peaks[1]


def peak_of(work: Callable[[], object], device: str = "cpu", before: int | None = None) -> int:
    """Give the most memory held up to the end of `work`, beside `before`, by default what is held when it begins."""
    before = _held(device) if before is None else before
    if device != "cpu":
        torch.cuda.reset_peak_memory_stats()  # what was measured earlier would stand as the peak
    work()
    return _peak(device) - before


def _held(device: str) -> int:
    return torch.cuda.memory_allocated() if device != "cpu" else resident_bytes()


def _peak(device: str) -> int:
    return torch.cuda.max_memory_allocated() if device != "cpu" else peak_resident_bytes()


def _steps(config: ModelConfig, device: str) -> None:
    parts = int(getattr(config, "accumulate", 1))
    learner = Learner(config, Schedule(1e-3), device=device, parts=parts)
    batch = noise(config, head_classes(()), device)
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
