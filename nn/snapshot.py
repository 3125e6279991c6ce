"""Published weights: immutable, numbered, readable from any thread through a functional call."""

from __future__ import annotations

import dataclasses
import math
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn import functional as F

from nn.config import ModelConfig
from nn.models import skeleton
from nn.models.parts import LEAST_DOUBT
from nn.targets import Edges, head_classes

TEMPLATES_KEPT = 4
NO_DOUBT = math.log(math.expm1(1 - LEAST_DOUBT))  # softplus of it, and the least doubt, divide by 1


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """A copy of the weights that nothing ever changes, and what they speak of."""

    number: int
    step: int
    data_cut: int | None  # open time (ms UTC) of the newest candle that these weights learnt from or were chosen on
    created_ms: int
    params: Mapping[str, Tensor]
    config: ModelConfig
    edges: Edges
    labels: tuple[str, ...]
    temperatures: Mapping[str, float] = field(default_factory=dict)  # head → what its logits are divided by


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a snapshot says at the last candle of one window: probabilities of each head's classes."""

    probabilities: dict[str, list[float]]

    @property
    def trend_up(self) -> float:
        """P(up) over the next `trend_horizon` candles."""
        return self.probabilities["trend"][1]


def predict(snapshot: Snapshot, window: Tensor) -> Prediction:
    """Predict from one window (T, F), asked alone: equal snapshot and window give bit-equal probabilities.

    The window should have `sequence_length` rows; a shorter one is answered too.
    """
    logits = logits_of(snapshot, window[None])
    last = {head: F.softmax(values[0, -1].double(), dim=-1) for head, values in logits.items()}
    return Prediction({head: values.tolist() for head, values in last.items()})


def logits_of(snapshot: Snapshot, x: Tensor) -> dict[str, Tensor]:
    """Give the logits {head: (B, T, K)} of windows (B, T, F) in eval mode, fp32, without a graph, calibrated."""
    device = next(iter(snapshot.params.values())).device
    with torch.no_grad():
        out: dict[str, Tensor] = functional_call(
            _template(snapshot), dict(snapshot.params), (x.to(device),), strict=True
        )
    return {head: values / snapshot.temperatures.get(head, 1.0) for head, values in out.items()}


def without_doubt(snapshot: Snapshot) -> Snapshot:
    """Give the same weights with an uncertainty head that doubts nothing: what each head answers before it is divided.

    The choice of a class is the same; how sure it is is not.
    """
    params = dict(snapshot.params)
    for name, values in snapshot.params.items():
        if ".doubts." in name:  # see nn.models.parts.Heads
            params[name] = torch.full_like(values, NO_DOUBT if name.endswith(".bias") else 0.0)
    return dataclasses.replace(snapshot, params=params)


class _Templates(threading.local):
    """Skeletons of this thread: a functional call swaps a module's tensors while it runs, so threads share none."""

    def __init__(self) -> None:
        self.kept: OrderedDict[str, nn.Module] = OrderedDict()


_templates = _Templates()


def _template(snapshot: Snapshot) -> nn.Module:
    shape = {name: getattr(snapshot.config, name) for name in ModelConfig.SHAPE}
    key = repr((shape, len(snapshot.labels)))
    if key not in _templates.kept:
        _templates.kept[key] = skeleton(snapshot.config, head_classes(snapshot.labels))
        while len(_templates.kept) > TEMPLATES_KEPT:
            _templates.kept.popitem(last=False)
    _templates.kept.move_to_end(key)
    return _templates.kept[key]
