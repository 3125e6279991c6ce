"""One suite of checks for every model: causal, seeded, stateless, the same with gradient checkpointing."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from torch import Tensor

from nn.config import MODELS, ModelConfig
from nn.features import FEATURES
from nn.learner import Learner, Schedule, WrongThread
from nn.losses import counts_of, losses_of, weighted_loss
from nn.models import build
from nn.snapshot import predict
from nn.targets import MASKED, head_classes
from nn.windows import Batch, noise

SMALL = ModelConfig(d_model=16, n_layers=2, n_heads=2, sequence_length=24, batch_size=4, dropout=0.2)


SORTS = {name: dataclasses.replace(SMALL, model=name) for name in MODELS} | {
    "patches": dataclasses.replace(SMALL, patch_size=4),
    "uneven_patches": dataclasses.replace(SMALL, patch_size=5),
}


@pytest.fixture(params=SORTS)
def config(request: pytest.FixtureRequest) -> ModelConfig:
    """A small config of each model, and of a Transformer whose tokens are patches."""
    return SORTS[request.param]


@pytest.mark.parametrize("known", [1, 7, 12, 23])
def test_a_later_candle_changes_no_earlier_answer(config: ModelConfig, known: int) -> None:
    module, x = build(config, head_classes(())).eval(), _window(config)
    changed = x.clone()
    changed[:, known:] = torch.randn(changed[:, known:].shape, generator=torch.Generator().manual_seed(9))
    with torch.no_grad():
        before, after = module(x), module(changed)
    for head, logits in before.items():
        assert torch.equal(logits[:, :known], after[head][:, :known])
        assert not torch.equal(logits[:, known], after[head][:, known])  # the newest candle always counts


def test_the_oldest_candle_of_a_window_still_counts(config: ModelConfig) -> None:
    module, x = build(config, head_classes(())).eval(), _window(config)
    changed = x.clone()
    changed[:, 0] += 1.0
    with torch.no_grad():
        assert not torch.equal(module(x)["candle"][:, -1], module(changed)["candle"][:, -1])


def test_a_constant_target_is_learnt(config: ModelConfig) -> None:
    learner = Learner(config, Schedule(1e-2))
    batch = noise(config, head_classes(()))
    constant = Batch(batch.x, {head: torch.zeros_like(of) for head, of in batch.targets.items()})
    for _ in range(40):
        result = learner.step(constant)
    assert all(loss < 0.2 for loss in result.head_losses.values())


def test_the_same_seed_gives_the_same_bits_and_another_seed_others(config: ModelConfig) -> None:
    assert _losses(config) == _losses(config)
    assert _losses(config) != _losses(dataclasses.replace(config, seed=1))


def test_every_parameter_gets_a_gradient(config: ModelConfig) -> None:
    module, batch = (
        build(config, head_classes(("Long", "Short"))).train(),
        noise(config, head_classes(("Long", "Short"))),
    )
    weighted_loss(losses_of(module(batch.x), batch.targets), counts_of(batch.targets), config.heads)[0].backward()  # type: ignore[no-untyped-call]
    for name, parameter in module.named_parameters():
        assert parameter.grad is not None, name
        assert bool(parameter.grad.abs().sum() > 0), name


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("length", [1, 5])
def test_a_batch_of_one_and_a_short_sequence_are_taken(config: ModelConfig, rows: int, length: int) -> None:
    module = build(config, head_classes(())).eval()
    answers = module(torch.randn(rows, length, len(FEATURES)))
    assert {head: tuple(logits.shape) for head, logits in answers.items()} == {
        "candle": (rows, length, 5),
        "trend": (rows, length, 2),
        "range": (rows, length, 5),
    }


@pytest.mark.parametrize("dropout", [0.0, 0.2])
@pytest.mark.parametrize("rows", [1, 4])
@pytest.mark.parametrize("autocast", [False, True], ids=["float32", "bfloat16"])
def test_gradient_checkpointing_changes_no_bit(config: ModelConfig, dropout: float, rows: int, autocast: bool) -> None:
    plain = dataclasses.replace(config, dropout=dropout, batch_size=rows)
    recomputing = dataclasses.replace(plain, use_gradient_checkpointing=True)
    first, second = _loss_and_gradient(plain, autocast=autocast), _loss_and_gradient(recomputing, autocast=autocast)
    assert torch.equal(first[0], second[0])
    for one, other in zip(first[1], second[1], strict=True):
        assert torch.equal(one, other)


def test_a_second_backward_after_a_step_is_as_good_as_the_first(config: ModelConfig) -> None:
    learner, batch = Learner(config, Schedule(1e-3)), noise(config, head_classes(()))
    results = [learner.step(batch) for _ in range(3)]
    assert [result.skipped for result in results] == [None, None, None]
    assert learner.steps == 3


def test_a_step_that_is_not_finite_changes_nothing_and_is_counted(config: ModelConfig) -> None:
    learner, batch = Learner(config, Schedule(1e-3)), noise(config, head_classes(()))
    learner.step(batch)
    before = learner.publish().params
    result = learner.step(Batch(batch.x * float("nan"), batch.targets))
    assert result.skipped is not None
    assert (learner.steps, learner.skipped) == (1, 1)
    after = learner.publish().params
    assert all(torch.equal(before[name], after[name]) for name in before)


def test_masked_targets_count_for_nothing(config: ModelConfig) -> None:
    batch = noise(config, head_classes(()))
    masked = Batch(batch.x, {head: torch.full_like(of, MASKED) for head, of in batch.targets.items()})
    learner = Learner(config, Schedule(1e-3))
    assert learner.step(masked).skipped == "no target"


def test_equal_snapshots_and_windows_give_equal_bits_while_the_owner_trains_on(config: ModelConfig) -> None:
    learner, batch = Learner(config, Schedule(1e-2)), noise(config, head_classes(()))
    learner.step(batch)
    snapshot = learner.publish()
    first = predict(snapshot, batch.x[0])
    learner.step(batch)
    again = predict(snapshot, batch.x[0])
    later = predict(learner.publish(), batch.x[0])
    for head, probabilities in first.probabilities.items():
        assert np.array_equal(probabilities, again.probabilities[head])
        assert not np.array_equal(probabilities, later.probabilities[head])


def test_twenty_steps_kept_and_twenty_more_are_forty(config: ModelConfig) -> None:
    batch, schedule = noise(config, head_classes(())), Schedule(2e-3, total=40)
    whole = Learner(config, schedule)
    for _ in range(40):
        whole.step(batch)
    first = Learner(config, schedule)
    for _ in range(20):
        first.step(batch)
    resumed = Learner(config, schedule)
    resumed.load_state(first.publish().params, first.state())
    for _ in range(20):
        resumed.step(batch)
    ours, theirs = whole.publish().params, resumed.publish().params
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)


def test_a_learner_refuses_another_thread(config: ModelConfig) -> None:
    import threading

    learner, refused = Learner(config, Schedule(1e-3)), []

    def trespass() -> None:
        try:
            learner.publish()
        except WrongThread as error:
            refused.append(str(error))

    thread = threading.Thread(target=trespass)
    thread.start()
    thread.join()
    assert len(refused) == 1


def _window(config: ModelConfig) -> Tensor:
    draw = torch.Generator().manual_seed(3)
    return torch.randn(2, config.sequence_length, len(FEATURES), generator=draw)


def _losses(config: ModelConfig) -> list[float]:
    learner = Learner(config, Schedule(1e-3))
    batch = noise(SMALL, head_classes(()))
    return [learner.step(batch).loss for _ in range(4)]


def _loss_and_gradient(config: ModelConfig, *, autocast: bool) -> tuple[Tensor, tuple[Tensor, ...]]:
    module, batch = build(config, head_classes(())).train(), noise(config, head_classes(()))
    torch.manual_seed(5)
    with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
        loss = weighted_loss(losses_of(module(batch.x), batch.targets), counts_of(batch.targets), config.heads)[0]
    return loss.detach(), torch.autograd.grad(loss, list(module.parameters()))
