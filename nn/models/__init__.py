"""The registry: model name → builder. A new model is one file here and one name in `nn/config.py`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import nn

from nn.config import MODELS, ModelConfig
from nn.features import FEATURES
from nn.models.gru import Gru
from nn.models.multiscale_logistic import MultiscaleLogistic
from nn.models.tcn import Tcn
from nn.models.transformer import Transformer

Builder = Callable[[ModelConfig, int, Mapping[str, int]], nn.Module]

BUILDERS: dict[str, Builder] = {
    "transformer": Transformer,
    "gru": Gru,
    "tcn": Tcn,
    "multiscale_logistic": MultiscaleLogistic,
}
assert BUILDERS.keys() == MODELS.keys()  # noqa: S101 - the two tables name the same models


def build(config: ModelConfig, classes: Mapping[str, int], n_features: int = len(FEATURES)) -> nn.Module:
    """Build the network of `config` with one head for each of `classes`; forward: (B, T, F) → {head: (B, T, K)}.

    The weights are drawn from `config.seed` and leave torch's own random state as it was.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        return BUILDERS[config.model](config, n_features, classes)


def skeleton(config: ModelConfig, classes: Mapping[str, int], n_features: int = len(FEATURES)) -> nn.Module:
    """Build the network without weights (device "meta"), in eval mode: a template for functional calls."""
    with torch.device("meta"):
        return BUILDERS[config.model](config, n_features, classes).eval()


def parameter_count(module: nn.Module) -> int:
    """Count the trainable numbers."""
    return sum(p.numel() for p in module.parameters())
