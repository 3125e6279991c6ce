"""What a run will need of memory, estimated before anything is loaded, and what to change where it does not fit.

Counts numbers; no torch, so that the page can ask at every change of a field. The sizes below were fitted to peaks of
training steps measured on a CPU (docs/training.md holds the table); `python -m nn check` measures this machine's own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nn.config import ConfigError, ModelConfig, config_class
from nn.features import FEATURES
from nn.targets import head_classes

Json = dict[str, Any]

FLOAT = 4  # bytes
LOOKBACK = 4
SCALES = 7
TAPS = 4
COPIES = 5  # of each weight: itself, its gradient, AdamW's two means, and what one step works with
PLAIN = 600  # numbers a candle that a step holds beside its layers: the batch, its targets, losses and counts
SLIM = 10  # and at most so many times d_model: a narrow network works with less
HOLES = 1.3  # more of what layers hold, where a batch goes in parts: gradients that stay leave holes between blocks
AMP_SHARE = 0.6  # of the layers' numbers, where their matrix products are kept in bfloat16
TOLD = 5  # changes that a sentence names
LABELS = 3  # classes of the label head that are reckoned with before a dataset is known
PROCESS = 330 << 20  # bytes of one more process: torch and what it loads
ROOM = 0.9  # of what is free may be used


@dataclass(frozen=True, slots=True)
class Size:
    """Numbers that one layer holds, as multiples of d_model, a token; `plain` numbers a candle that the step does."""

    kept: float  # for the backward pass
    work: float  # beside: what its backward pass works with
    again: float  # in place of both, where it is recomputed inside the backward pass
    plain: int = PLAIN
    graph: int = 0  # bytes a layer and candle of one window that autograd's own records take, whatever the batch


LAYERS: dict[str, Size] = {
    "transformer": Size(kept=18.1, work=6.0, again=21.7),
    "gru": Size(kept=10.0, work=3.0, again=12.0, graph=13_500),
    "tcn": Size(kept=19.0, work=12.0, again=17.0),
    "multiscale_logistic": Size(kept=0.0, work=0.0, again=0.0, plain=400),
}
TIGHT = 150  # numbers a candle in place of `PLAIN` where recomputing keeps memory tight (nn/device.py)
BETWEEN = 7.0  # numbers a candle, as multiples of d_model, that patches need beside their tokens


@dataclass(frozen=True, slots=True)
class Need:
    """Bytes that a training step needs at its peak, beside what the process holds anyway."""

    weights: int  # with gradients and optimizer
    layers: int  # what the forward pass keeps for the backward pass
    work: int

    @property
    def total(self) -> int:
        """Give their sum."""
        return self.weights + self.layers + self.work


def parameters_of(config: ModelConfig, labels: int = 0) -> int:
    """Count the trainable numbers of a network."""
    d, classes = config.d_model, head_classes([str(i) for i in range(labels)])
    answers, heads, doubts = sum(classes.values()), len(classes), int(config.use_uncertainty_estimation)
    if config.model == "multiscale_logistic":
        width = SCALES * len(FEATURES)
        return (width + 1) * (answers + doubts * heads)
    head = 2 * d + (d + 1) * (answers + doubts * heads)
    entry = (max(LOOKBACK, config.patch_size) * len(FEATURES) + 1) * d
    between = 4 * d * d + 5 * d if config.patch_size > 1 else 0
    block = {
        "transformer": 12 * d * d + 13 * d,
        "gru": 6 * d * d + 8 * d,
        "tcn": 2 * (TAPS * d * d + d * d + 4 * d),
    }[config.model]
    return entry + config.n_layers * block + between + head


def need(config: ModelConfig, *, amp: bool = False, labels: int = 0) -> Need:
    """Estimate a step's need; `amp` where the device computes in bfloat16."""
    size, d, length = LAYERS[config.model], config.d_model, config.sequence_length
    tokens = length // config.patch_size
    windows = -(-config.batch_size // int(getattr(config, "accumulate", 1)))
    wider = HOLES if windows < config.batch_size and not config.use_gradient_checkpointing else 1.0
    layers, work, plain = config.n_layers * size.kept * d * tokens, size.work * d * tokens, size.plain
    if config.use_gradient_checkpointing and size.kept:
        layers, work, plain = config.n_layers * d * tokens, size.again * d * tokens, TIGHT
    plain = min(plain, SLIM * d) if size.kept else plain
    entry = SCALES * len(FEATURES) * 3 if not size.kept else LOOKBACK * len(FEATURES) + 2 * d
    between = BETWEEN * d * length if config.patch_size > 1 else 0.0
    if config.use_gradient_checkpointing:
        between = max(0.0, between - work)  # it is given back before the first block is computed again
    averaged, ranks = 1 if getattr(config, "ema_decay", 0.0) else 0, int(getattr(config, "ranks", 1))
    return Need(
        weights=round(ranks * (COPIES + averaged) * FLOAT * parameters_of(config, labels)),
        layers=round(FLOAT * windows * wider * (layers + entry * length + between) * (AMP_SHARE if amp else 1.0)),
        work=round(FLOAT * windows * wider * (work + plain * length))
        + config.n_layers * size.graph * length
        + (ranks - 1) * PROCESS,
    )


def estimate(config: ModelConfig, there: int | None, *, amp: bool = False) -> Json:
    """Give `{needed, there, fits, parts, parameters, words, savings}` in bytes; `there` is what is free, if known.

    `savings` names, most first, what to change and what each change alone would save.
    """
    labels = LABELS if config.heads.get("label", 0) > 0 else 0
    needed = need(config, amp=amp, labels=labels)
    fits = there is None or needed.total <= ROOM * there
    saved = savings(config, amp=amp)
    words = f"a step will need about {in_bytes(needed.total)}"
    words += "" if there is None else f" of the {in_bytes(there)} that are free"
    if not fits:
        words += ", which will not do: " + "; ".join(
            f"{of['change']} saves {in_bytes(of['saves'])}" for of in saved[:4]
        )
    return {
        "needed": needed.total,
        "there": there,
        "fits": fits,
        "parts": dataclasses.asdict(needed),
        "parameters": parameters_of(config, labels),
        "words": words,
        "savings": saved,
    }


def savings(config: ModelConfig, *, amp: bool = False) -> list[Json]:
    """Give `{field, value, change, saves}` of each change that saves memory, most first."""
    now = need(config, amp=amp).total
    found = []
    for field, value in _changes(config, amp=amp).items():
        try:
            other = dataclasses.replace(config, **{field: value})
        except ConfigError:  # such as a width that the heads do not divide
            continue
        saved = now - need(other, amp=amp or (field == "use_amp" and bool(value))).total
        if saved > 0:
            found.append({"field": field, "value": value, "change": f"{field} = {_written(value)}", "saves": saved})
    return sorted(found, key=lambda of: -int(of["saves"]))


def advice(config: ModelConfig, *, amp: bool = False) -> str:
    """Say in words what to change, for a run that ran out of memory."""
    return f"a step needs about {in_bytes(need(config, amp=amp).total)}: {_told(savings(config, amp=amp))}"


def advice_on(mode: str, given: Mapping[str, Any]) -> list[str]:
    """Give the line of `advice` on a run's config as it came; none where that is what is wrong."""
    try:
        return [advice(config_class(mode).from_json(given))]
    except ConfigError:
        return []


def _told(saved: Sequence[Json]) -> str:
    return "; ".join(f"{of['change']} saves about {in_bytes(of['saves'])}" for of in saved[:TOLD])


def in_bytes(count: int) -> str:
    """Write a number of bytes for a person."""
    for unit, size in (("GB", 1 << 30), ("MB", 1 << 20)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count / 1024:.0f} kB"


def _changes(config: ModelConfig, *, amp: bool) -> Mapping[str, Any]:
    halves: Sequence[str] = ("batch_size", "sequence_length", "d_model", "n_layers")
    found: dict[str, Any] = {name: getattr(config, name) // 2 for name in halves if getattr(config, name) > 1}
    switches: dict[str, tuple[bool, Callable[[], Any]]] = {
        "accumulate": (hasattr(config, "accumulate"), lambda: 2 * int(getattr(config, "accumulate", 1))),
        "ranks": (int(getattr(config, "ranks", 1)) > 1, lambda: 1),
        "use_gradient_checkpointing": (not config.use_gradient_checkpointing, lambda: True),
        "use_uncertainty_estimation": (config.use_uncertainty_estimation, lambda: False),
        "use_amp": (not config.use_amp and amp, lambda: True),
        "patch_size": (config.model == "transformer" and config.patch_size == 1, lambda: 4),
    }
    return found | {name: value() for name, (sensible, value) in switches.items() if sensible}


def _written(value: object) -> str:
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)
