"""Where to train: device, number type and the reason in words; memory in use; how many threads are fastest here."""

from __future__ import annotations

import ctypes
import os
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch

from nn.logline import memory_line as line_of

CALIBRATION_S = 2.0
M_MMAP_THRESHOLD = -3  # its number in malloc.h of glibc
LARGE_BLOCK = 1 << 18  # the default batch of 8 has tensors of .4 MB
WORTH = 0.9  # more threads must bring at least a tenth


class DeviceError(ValueError):
    """A device was asked for that is not there."""


@dataclass(frozen=True, slots=True)
class Device:
    """The device, the number type of a training step on it, and why."""

    device: torch.device
    dtype: str  # "float32" or "bfloat16"
    reason: str


def choose(wanted: str = "auto", *, use_amp: bool = True) -> Device:
    """Choose for "auto", "cpu" or "cuda"; raise DeviceError when CUDA is asked for and not there."""
    there = torch.cuda.is_available()
    if wanted == "cuda" and not there:
        raise DeviceError("device = cuda: PyTorch finds no CUDA card here; use auto or cpu")
    if wanted == "cpu" or not there:
        why = "asked for" if wanted == "cpu" else "no CUDA card was found"
        return Device(torch.device("cpu"), "float32", f"CPU: {why}; mixed precision is slower on a CPU and stays off")
    name = torch.cuda.get_device_name()
    if use_amp and torch.cuda.is_bf16_supported():
        return Device(torch.device("cuda"), "bfloat16", f"{name}: mixed precision, weights stay float32")
    why = "it cannot compute in bfloat16" if use_amp else "mixed precision is switched off"
    return Device(torch.device("cuda"), "float32", f"{name}: {why}")


def memory_line(device: torch.device) -> str:
    """Say how much memory is in use: of the card on CUDA, of this process on a CPU."""
    if device.type == "cuda":
        free, total = torch.cuda.mem_get_info(device)
        return line_of("GPU", total - free, total)
    return line_of("Process", resident_bytes(), os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))


def resident_bytes() -> int:
    """Give the memory that this process holds now; its peak where the system does not tell the present."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return peak_resident_bytes()


def keep_memory_tight() -> None:
    """Have the C library give large blocks back as soon as they are freed, for the rest of this process.

    By default glibc keeps freed blocks of up to 32 MB in its heap, where gradient checkpointing, which frees and
    takes such blocks all the time, saved half of what it should. The price, new pages for every block, can double a
    step's time (docs/training.md).
    """
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # other C libraries have none
        if mallopt is not None:
            mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK)


def peak_resident_bytes() -> int:
    """Give the most memory that this process ever held."""
    try:
        status = Path("/proc/self/status").read_text()
        # Of this program alone, where getrusage also counts what the parent held before it became this one.
        return int(status.split("VmHWM:")[1].split()[0]) * 1024
    except (OSError, IndexError):
        pass  # not Linux
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024  # macOS counts bytes, Linux KiB


def calibrate_threads(
    work: Callable[[], object], *, limit_s: float = CALIBRATION_S, clock: Callable[[], float] = time.perf_counter
) -> int:
    """Set and give the number of threads at which `work` runs fastest, by trying 1, 2, 4 … up to the cores here.

    Fewer threads are kept unless more bring at least a tenth: idle threads that spin cost other processes their time.
    Each number has its turn twice, so that what else the machine does for a moment decides nothing.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    counts = sorted({min(2**i, cores) for i in range(cores.bit_length() + 1)})
    end = clock() + limit_s
    least: dict[int, float] = {}
    for count in counts * 2:
        torch.set_num_threads(count)
        work()  # the first run at a count starts its threads
        seconds = min(_seconds(work, clock) for _ in range(2))
        least[count] = min(seconds, least.get(count, seconds))
        if clock() + 3 * seconds > end:
            break
    best = 1
    for count, seconds in least.items():
        best = count if seconds < least[best] * WORTH else best
    torch.set_num_threads(best)
    return best


def _seconds(work: Callable[[], object], clock: Callable[[], float]) -> float:
    start = clock()
    work()
    return clock() - start
