"""What a run needs is told before it starts: exact in weights, near in what a step keeps and in its measured peak."""

from __future__ import annotations

import dataclasses
import multiprocessing

import pytest
import torch
from torch import Tensor

from nn.check import _held, _peak, _steps
from nn.config import MODELS, BatchConfig, ModelConfig
from nn.device import keep_memory_tight
from nn.losses import counts_of, losses_of, weighted_loss
from nn.memory import advice, estimate, in_bytes, need, parameters_of, savings
from nn.models import build, parameter_count
from nn.targets import head_classes
from nn.windows import noise

SMALL = ModelConfig(d_model=32, n_layers=3, sequence_length=80, batch_size=4)
SORTS = [
    *(dataclasses.replace(SMALL, model=name) for name in MODELS),
    dataclasses.replace(SMALL, patch_size=4),
    dataclasses.replace(SMALL, d_model=64, n_layers=1, use_uncertainty_estimation=True),
]


@pytest.mark.parametrize("config", SORTS, ids=lambda of: f"{of.model}-{of.patch_size}-{of.d_model}")
@pytest.mark.parametrize("labels", [0, 3])
def test_the_weights_are_counted_exactly(config: ModelConfig, labels: int) -> None:
    module = build(config, head_classes([str(i) for i in range(labels)]))
    assert parameters_of(config, labels) == parameter_count(module)


@pytest.mark.parametrize("config", SORTS, ids=lambda of: f"{of.model}-{of.patch_size}-{of.d_model}")
def test_what_a_forward_pass_keeps_is_told_within_a_quarter(config: ModelConfig) -> None:
    assert need(config).layers == pytest.approx(_kept_bytes(config), rel=0.25)


MEASURED = [
    ModelConfig(batch_size=48, n_layers=3),
    ModelConfig(batch_size=48, n_layers=3, use_gradient_checkpointing=True),
    ModelConfig(batch_size=16, n_layers=4, model="tcn", use_gradient_checkpointing=True),
    ModelConfig(batch_size=64, patch_size=4),
    ModelConfig(batch_size=64, patch_size=4, use_gradient_checkpointing=True),
    ModelConfig(batch_size=32, model="tcn"),
    ModelConfig(batch_size=4, n_layers=3, d_model=32, model="gru"),  # mostly autograd's records of each candle
    ModelConfig(batch_size=32, d_model=8, n_heads=2),
    BatchConfig(batch_size=64, accumulate=4),
    ModelConfig(batch_size=64, model="multiscale_logistic"),
    ModelConfig(batch_size=1, d_model=512, n_layers=4, sequence_length=50),  # weights alone
]


@pytest.mark.parametrize("config", MEASURED, ids=lambda of: f"{of.model}-{of.patch_size}-{of.d_model}-{of.batch_size}")
def test_the_measured_peak_of_a_step_is_told_within_a_quarter(config: ModelConfig) -> None:
    fresh = multiprocessing.get_context("forkserver")  # it loads torch once for all of them
    fresh.set_forkserver_preload([__name__])
    with fresh.Pool(1) as pool:
        measured = pool.apply(_peak_bytes, (config,))
    assert need(config).total == pytest.approx(measured, rel=0.25)


def test_what_does_not_fit_is_said_with_what_each_change_would_save() -> None:
    config = BatchConfig(batch_size=256, n_layers=8, d_model=256, use_uncertainty_estimation=True)
    needed = need(config).total
    told = estimate(config, there=needed // 2)
    assert not told["fits"]
    by_field = {of["field"]: of for of in told["savings"]}
    assert {"batch_size", "sequence_length", "use_gradient_checkpointing", "d_model", "n_layers", "accumulate"} <= set(
        by_field
    )
    for field, of in by_field.items():
        other = dataclasses.replace(config, **{field: of["value"]})
        assert of["saves"] == needed - need(other).total > 0
    assert [of["saves"] for of in told["savings"]] == sorted((of["saves"] for of in told["savings"]), reverse=True)
    assert "which will not do" in told["words"]
    assert by_field["batch_size"]["change"] == "batch_size = 128"
    assert advice(config).startswith(f"a step needs about {in_bytes(needed)}: ")


def test_what_fits_is_said_in_one_sentence_and_without_a_known_room_it_counts_as_fitting() -> None:
    config = ModelConfig()
    assert estimate(config, there=8 << 30)["words"] == (
        f"a step will need about {in_bytes(estimate(config, None)['needed'])} of the 8.0 GB that are free"
    )
    assert estimate(config, None)["fits"]


def test_half_precision_and_switches_are_offered_only_where_they_help() -> None:
    fields = {of["field"] for of in savings(BatchConfig(use_gradient_checkpointing=True))}
    assert not fields & {"use_gradient_checkpointing", "use_uncertainty_estimation", "use_amp"}
    off = dataclasses.replace(ModelConfig(), use_amp=False)
    assert need(off, amp=True).layers < need(off).layers


def _kept_bytes(config: ModelConfig) -> int:
    """Count what autograd keeps of one forward pass, beside weights and inputs."""
    module, batch = build(config, head_classes(())).train(), noise(config, head_classes(()))
    kept: dict[int, int] = {}

    def keep(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        weighted_loss(losses_of(module(batch.x), batch.targets), counts_of(batch.targets), config.heads)
    known = {p.untyped_storage().data_ptr() for p in module.parameters()} | {batch.x.untyped_storage().data_ptr()}
    return sum(size for place, size in kept.items() if place not in known)


def _peak_bytes(config: ModelConfig) -> int:
    torch.set_num_threads(1)
    if config.use_gradient_checkpointing:
        keep_memory_tight()
    # What torch loads at a first step does not count; a larger network would leave blocks behind for the measured one.
    _steps(dataclasses.replace(config, batch_size=1, d_model=8, n_heads=1, n_layers=1), "cpu")
    before = _held("cpu")
    _steps(config, "cpu")
    return _peak("cpu") - before
