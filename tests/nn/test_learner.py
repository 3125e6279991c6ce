"""A step computed in parts is the whole step; the running mean of the weights is what is published and resumed."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import pytest
import torch
from torch import Tensor

from nn.config import ModelConfig
from nn.learner import Learner, Schedule
from nn.targets import MASKED, head_classes
from nn.windows import Batch, noise

CONFIG = ModelConfig(d_model=16, n_layers=1, n_heads=2, sequence_length=24, batch_size=7, dropout=0.0)


@pytest.mark.parametrize("parts", [2, 3, 7, 50])
def test_a_step_in_parts_is_the_step_of_the_whole_batch(parts: int) -> None:
    batch = _uneven(noise(CONFIG, head_classes(())))
    whole, parted = Learner(CONFIG, Schedule(1e-3)), Learner(CONFIG, Schedule(1e-3), parts=parts)
    for _ in range(5):
        one, other = whole.step(batch), parted.step(batch)
    assert other.loss == pytest.approx(one.loss, abs=1e-6)
    assert other.gradient_norm == pytest.approx(one.gradient_norm, rel=1e-4)
    assert all((one.confusion[head] == other.confusion[head]).all() for head in one.confusion)
    assert all(values.shape == (7, 24) for values in other.losses.values())
    _assert_near(whole.publish().params, parted.publish().params, 1e-5)


def test_parts_that_are_averaged_without_regard_to_their_targets_would_differ() -> None:
    """The control: halves that hold unlike numbers of targets do not simply average to the whole."""
    batch = _uneven(noise(CONFIG, head_classes(())))
    halves = [Learner(CONFIG, Schedule(1e-3)).step(part).loss for part in batch.parts(2)]
    assert abs(sum(halves) / 2 - Learner(CONFIG, Schedule(1e-3)).step(batch).loss) > 1e-5


@pytest.mark.parametrize("total", [None, 100])
def test_the_mean_of_the_weights_is_published_and_the_weights_go_on_as_without_it(total: int | None) -> None:
    batch, schedule = noise(CONFIG, head_classes(())), Schedule(1e-2, total)
    plain, averaged = Learner(CONFIG, schedule), Learner(CONFIG, schedule, average=0.9)
    seen, mean = [plain.publish().params], {name: p.clone() for name, p in plain.publish().params.items()}
    for step in range(1, 7):
        assert plain.step(batch).loss == averaged.step(batch).loss
        seen.append(plain.publish().params)
        kept = min(0.9, (1 + step) / (10 + step)) if total else 0.9  # a live run begins with weights worth keeping
        mean = {name: kept * p + (1 - kept) * seen[-1][name] for name, p in mean.items()}
    _assert_near(averaged.publish().params, mean, 1e-6)
    assert not torch.equal(
        averaged.publish().params["heads.answers.candle.weight"], seen[-1]["heads.answers.candle.weight"]
    )


def test_a_run_with_averaged_weights_resumes_bit_for_bit() -> None:
    config, schedule = dataclasses.replace(CONFIG, dropout=0.2), Schedule(2e-3, total=12)
    batch = noise(config, head_classes(()))
    whole, first, resumed = (Learner(config, schedule, average=0.9, parts=2) for _ in range(3))
    for _ in range(12):
        whole.step(batch)
    for _ in range(6):
        first.step(batch)
    resumed.load_state(first.publish().params, first.state())
    for _ in range(6):
        resumed.step(batch)
    for kept in ("publish", "raw"):
        ours, theirs = (_weights(learner, kept) for learner in (whole, resumed))
        assert all(torch.equal(ours[name], theirs[name]) for name in ours), kept


def _weights(learner: Learner, kept: str) -> dict[str, Tensor]:
    return dict(learner.publish().params) if kept == "publish" else learner.state()["weights"]


def _uneven(batch: Batch) -> Batch:
    """Mask most targets of the first windows, so that parts hold unlike numbers of them."""
    targets = {head: classes.clone() for head, classes in batch.targets.items()}
    for classes in targets.values():
        classes[:3, 5:] = MASKED
    return Batch(batch.x, targets)


def _assert_near(ours: Mapping[str, Tensor], theirs: Mapping[str, Tensor], within: float) -> None:
    assert ours.keys() == theirs.keys()
    for name in ours:
        assert torch.allclose(ours[name], theirs[name], rtol=0, atol=within), name
