"""Refuses what cannot fit into the memory that is free, before it takes any.

A network far too large would hold a machine up for minutes, until the system kills something.
"""

from __future__ import annotations

import torch

from nn.config import ModelConfig
from nn.device import Device
from nn.free_memory import free_memory
from nn.memory import estimate

DOUBT = 1.25  # the estimate lies within a quarter of what was measured


class NoRoom(ValueError):
    """A step needs more memory than there is, by more than the estimate may err; says what to change."""


def check_room(config: ModelConfig, device: Device) -> None:
    """Raise NoRoom where a step of this config is sure not to fit; what may fit is tried."""
    there = _free_on(device.device)
    told = estimate(config, there, amp=device.dtype == "bfloat16")
    if there is not None and told["needed"] > DOUBT * there:
        raise NoRoom(f"out of memory before it began: {told['words']}")


def _free_on(device: torch.device) -> int | None:
    return torch.cuda.mem_get_info(device)[0] if device.type == "cuda" else free_memory()
