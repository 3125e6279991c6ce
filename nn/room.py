"""Refuses what cannot fit into the memory that is free, before it takes any.

A network far too large would hold a machine up for minutes, until the system kills something.
"""

from __future__ import annotations

import dataclasses
import math

import torch

from nn.config import BatchConfig, ModelConfig
from nn.device import Device
from nn.free_memory import free_memory
from nn.memory import estimate
from nn.ranks import ALONE, Ranks

DOUBT = 1.25  # the estimate lies within a quarter of what was measured


class NoRoom(ValueError):
    """A step needs more memory than there is, by more than the estimate may err; says what to change."""


def check_room(config: ModelConfig, device: Device, ranks: Ranks = ALONE) -> None:
    """Raise NoRoom where a step of this config is sure not to fit; what may fit is tried.

    Of `ranks` those count that share this memory: all on this host, or the one on its card.
    """
    there = _free_on(device.device)
    together = 1 if device.device.type == "cuda" else ranks.size - ranks.elsewhere
    if isinstance(config, BatchConfig):
        config = dataclasses.replace(
            config, ranks=together, batch_size=math.ceil(config.batch_size * together / ranks.size)
        )
    told = estimate(config, there, amp=device.dtype == "bfloat16")
    if there is not None and told["needed"] > DOUBT * there:
        raise NoRoom(f"out of memory before it began: {told['words']}")


def _free_on(device: torch.device) -> int | None:
    return torch.cuda.mem_get_info(device)[0] if device.type == "cuda" else free_memory()
