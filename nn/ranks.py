"""The processes that share one run (torch.distributed): which of them this is, sums over all, and a common decision."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
from torch import Tensor

from nn.metrics import Classes

MEETING = "meeting"  # the file by which the processes of one machine find each other
PAUSE = timedelta(days=7)  # a paused run lets the others wait so long; a dead process is noticed at once


class RankLost(ValueError):
    """One of the processes that share a run is gone; the run cannot go on, its last checkpoint can."""


@dataclass(frozen=True, slots=True)
class Ranks:
    """One process of `size`. Each call below is made by all of them, in the same order; alone it changes nothing."""

    rank: int = 0
    size: int = 1
    elsewhere: int = 0  # of these, on other hosts

    def share(self, starts: Classes) -> Classes:
        """Give the windows of a batch that this process computes; empty where there are fewer than processes."""
        return starts[self.rank :: self.size]

    def add_up(self, tensors: Sequence[Tensor]) -> None:
        """Put into each tensor the sum over all processes, by one message; they share a number type."""
        if self.size == 1 or not tensors:
            return
        flat = torch.cat([tensor.detach().reshape(-1) for tensor in tensors])
        dist.all_reduce(flat)
        with torch.no_grad():
            for tensor, summed in zip(tensors, torch.split(flat, [each.numel() for each in tensors]), strict=True):
                tensor.copy_(summed.view_as(tensor))

    def highest(self, number: int) -> int:
        """Give the highest number that any process holds, so that all decide alike."""
        if self.size == 1:
            return number
        held = torch.tensor([number], device="cuda" if dist.get_backend() == "nccl" else "cpu")
        dist.all_reduce(held, dist.ReduceOp.MAX)
        return int(held)


ALONE = Ranks()


def join(environment: Mapping[str, str] = os.environ) -> Ranks:
    """Join the processes that `torchrun` started, by gloo on CPUs and by nccl on cards; alone where it did not."""
    if "TORCHELASTIC_RUN_ID" not in environment:
        return ALONE
    if torch.cuda.is_available():
        torch.cuda.set_device(int(environment["LOCAL_RANK"]))
    dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    size = dist.get_world_size()
    return Ranks(dist.get_rank(), size, elsewhere=size - int(environment["LOCAL_WORLD_SIZE"]))


def join_here(folder: Path, ranks: Ranks, device: torch.device) -> None:
    """Join the processes of this machine that meet in `folder`, one call in each; they talk over loopback alone."""
    loopback = next((name for _, name in socket.if_nameindex() if name.startswith("lo")), None)
    if loopback is not None:
        os.environ["GLOO_SOCKET_IFNAME"] = loopback
    backend = "gloo"
    if device.type == "cuda":
        torch.cuda.set_device(ranks.rank)
        backend = "nccl"
    meeting = f"file://{folder / MEETING}"
    dist.init_process_group(backend, init_method=meeting, rank=ranks.rank, world_size=ranks.size, timeout=PAUSE)
    dist.barrier()  # from here on nobody looks into the folder


def leave(ranks: Ranks) -> None:
    """Take leave of the other processes, where they were joined."""
    if ranks.size > 1 and dist.is_initialized():
        dist.destroy_process_group()
