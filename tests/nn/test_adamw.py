"""Our AdamW takes the steps of torch.optim.AdamW, and loads nothing for it."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch
from torch import nn

from nn.adamw import BETAS, CLIP_NORM, WEIGHT_DECAY, AdamW


@pytest.mark.parametrize("size", [0.01, 30.0], ids=["short gradients", "clipped gradients"])
def test_it_takes_the_steps_of_torchs_adamw(size: float) -> None:
    ours, theirs = _network(), _network()
    optimizer = AdamW(ours.parameters())
    matrices, others = ([p for p in theirs.parameters() if (p.dim() >= 2) == wanted] for wanted in (True, False))
    groups = [{"params": matrices, "weight_decay": WEIGHT_DECAY}, {"params": others, "weight_decay": 0.0}]
    peer = torch.optim.AdamW(groups, betas=BETAS)
    for step in range(30):
        rate = 1e-2 * (1 + step % 3)
        for network in (ours, theirs):
            x = torch.randn(7, 5, generator=torch.Generator().manual_seed(step))
            network.zero_grad()
            (size * network(x).square().sum()).backward()
        norm = _one_step(optimizer, rate)
        peers_norm = nn.utils.clip_grad_norm_(theirs.parameters(), CLIP_NORM)
        for group in peer.param_groups:
            group["lr"] = rate
        peer.step()
        assert norm == pytest.approx(float(peers_norm), rel=1e-4)
    for mine, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert torch.allclose(mine, other, rtol=0, atol=1e-5)


def test_a_weight_that_the_loss_does_not_reach_stays_as_it_was() -> None:
    network = nn.ModuleList([nn.Linear(3, 2), nn.Linear(3, 2)])
    optimizer, before = AdamW(network.parameters()), [p.detach().clone() for p in network.parameters()]
    network[0](torch.ones(1, 3)).sum().backward()
    _one_step(optimizer, 1e-2)
    moved = [not torch.equal(p, was) for p, was in zip(network.parameters(), before, strict=True)]
    assert moved == [True, True, False, False]


def test_a_state_of_another_network_is_refused_with_both_sizes() -> None:
    small, large = (AdamW(nn.Linear(3, width).parameters()) for width in (2, 4))
    with pytest.raises(ValueError, match=r"optimizer\.mean holds 8 numbers; the network has 16"):
        large.load_state(small.state())


def test_learning_and_answering_load_no_compiler_where_torchs_own_optimizer_does() -> None:
    theirs = "import torch; torch.optim.AdamW(torch.nn.Linear(1, 1).parameters())"
    said = [
        subprocess.run(
            [sys.executable, "-c", f"{code}\nimport sys; print('torch._dynamo' in sys.modules)"],
            capture_output=True, text=True, check=True,
        ).stdout.strip()
        for code in (LEARN_AND_ANSWER, theirs)
    ]  # fmt: skip
    assert said == ["False", "True"]


LEARN_AND_ANSWER = """
from nn.config import ModelConfig
from nn.learner import Learner, Schedule
from nn.snapshot import logits_of
from nn.targets import head_classes
from nn.windows import noise
config = ModelConfig(d_model=8, n_heads=1, batch_size=1)
learner, batch = Learner(config, Schedule(1e-3)), noise(config, head_classes(()))
learner.step(batch)
logits_of(learner.publish(), batch.x)
"""


def _network() -> nn.Sequential:
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(5, 8), nn.GELU(), nn.Linear(8, 2))


def _one_step(optimizer: AdamW, rate: float) -> float:
    gradient = optimizer.gather()
    norm = gradient.norm()
    optimizer.step(gradient, norm, rate)
    return float(norm)
