"""What a run is asked to do: model names, fields, defaults, limits. Plain data; no torch.

One table of fields feeds the HTTP API, the page's form, the command line and docs/training.md.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

from nn.feed_config import filled, problem_of

Json = dict[str, Any]
Mode = Literal["load", "batch", "live", "skill", "leaks"]

MODELS: dict[str, str] = {
    "transformer": "Transformer",
    "gru": "GRU",
    "tcn": "TCN",
    "multiscale_logistic": "Multi-scale logistic",
}
"""Wire name → the name a person reads. The builders stand in nn/models."""

HEADS = ("candle", "trend", "range", "label")

POLICIES = ("replay", "last", "none")
"""How a live run learns: a replay batch every few candles, the last candle alone, or not at all."""


class ConfigError(ValueError):
    """A field that cannot be taken; names it, its value and what is allowed."""

    def __init__(self, field: str, value: object, allowed: str) -> None:
        super().__init__(f"{field} = {value!r}: {allowed}")
        self.field = field
        self.value = value
        self.allowed = allowed


def _field(
    default: Any,
    meaning: str,
    *,
    least: float | None = None,
    most: float | None = None,
    choices: tuple[str, ...] | None = None,
) -> Any:
    make = {"default_factory": default} if callable(default) else {"default": default}
    return dataclasses.field(**make, metadata={"meaning": meaning, "least": least, "most": most, "choices": choices})


def _default_heads() -> dict[str, float]:
    return {"candle": 1.0, "trend": 1.0, "range": 0.5, "label": 1.0}


def _accepted_weight() -> Any:
    return _field(
        0.3, "What the label of a mark that a model made and a person accepted counts, against 1.", least=0, most=1
    )


def _default_feed() -> Json:
    return filled({"kind": "replay"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConfig:
    """What shapes the network; weights fit only a config that is equal in the fields of `SHAPE`."""

    model: str = _field("transformer", "Which network: " + ", ".join(MODELS) + ".")
    d_model: int = _field(64, "Width of the network: numbers that describe one candle inside it.", least=8, most=4096)
    n_layers: int = _field(2, "How many blocks are stacked.", least=1, most=64)
    n_heads: int = _field(4, "Attention heads; must divide d_model.", least=1, most=64)
    sequence_length: int = _field(200, "Candles the model looks back over.", least=2, most=8192)
    patch_size: int = _field(
        1, "Candles that one attention token stands for (Transformer); 4 trains faster.", least=1, most=64
    )
    trend_horizon: int = _field(5, "Candles ahead that the trend target looks.", least=1, most=1000)
    dropout: float = _field(0.1, "Share of each block's output set to zero while training.", least=0.0, most=0.9)
    use_uncertainty_estimation: bool = _field(False, "Adds a head that learns how uncertain each answer is.")
    use_gradient_checkpointing: bool = _field(False, "Trades speed for memory: recomputes inside the backward pass.")
    use_amp: bool = _field(True, "Mixed precision (bfloat16) on CUDA; on a CPU it is slower and stays off.")
    heads: dict[str, float] = _field(_default_heads, "Weight of each target in the loss; 0 leaves a head untrained.")
    seed: int = _field(0, "Start of every random draw; the same seed gives the same run.", least=0, most=2**31 - 1)
    batch_size: int = _field(8, "Windows in one optimizer step.", least=1, most=4096)

    SHAPE: ClassVar[tuple[str, ...]] = (
        "model", "d_model", "n_layers", "n_heads", "sequence_length", "patch_size", "trend_horizon",
        "use_uncertainty_estimation",
    )  # fmt: skip

    def __post_init__(self) -> None:
        _check_limits(self)
        if self.model not in MODELS:
            raise ConfigError("model", self.model, "use one of " + ", ".join(MODELS))
        if self.d_model % self.n_heads:
            raise ConfigError("n_heads", self.n_heads, f"must divide d_model = {self.d_model}")
        if self.patch_size > 1 and self.model != "transformer":
            raise ConfigError(
                "patch_size", self.patch_size, f"must be 1 for {self.model}; only the Transformer has tokens"
            )
        if self.patch_size > self.sequence_length:
            raise ConfigError("patch_size", self.patch_size, f"at most sequence_length = {self.sequence_length}")
        _check_heads(self.heads)

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Self:
        """Take the given fields, defaults for the rest; raise ConfigError naming an unknown field or a bad value.

        A load takes the config of any mode and leaves out what does not concern a model.
        """
        given = _mapping("config", given)
        known = {f.name: f for f in dataclasses.fields(cls)}
        if cls is ModelConfig:
            others = {f.name for mode in (BatchConfig, LiveConfig) for f in dataclasses.fields(mode)} - set(known)
            given = {name: value for name, value in given.items() if name not in others}
        unknown = sorted(set(given) - set(known))
        if unknown:
            raise ConfigError(unknown[0], given[unknown[0]], "unknown field; known are " + ", ".join(sorted(known)))
        return cls(**{name: _typed(known[name], value) for name, value in given.items()})

    def to_json(self) -> Json:
        """Give every field, JSON-able."""
        return dataclasses.asdict(self)

    @classmethod
    def fields(cls) -> list[Json]:
        """List the fields for a form: name, type, default, meaning, least, most, choices."""
        return [_described(f) for f in dataclasses.fields(cls)]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchConfig(ModelConfig):
    """A batch run over the train split of one dataset."""

    epochs: int = _field(10, "Passes over the train split.", least=1, most=10_000)
    learning_rate: float = _field(2e-3, "Peak step size of AdamW, after warm-up.", least=1e-7, most=1.0)
    stride: int = _field(50, "Every how many candles a training window starts.", least=1, most=100_000)
    patience: int | None = _field(
        None, "Stop after this many epochs without a better validation loss; empty: never.", least=1, most=10_000
    )
    accumulate: int = _field(
        1, "Parts that a step computes its batch in, one after another: less memory, the same step.", least=1, most=1024
    )
    ema_decay: float = _field(
        0.0,
        "Judge and keep a running mean of the weights that fades so slowly, such as 0.99; 0: off.",
        least=0,
        most=0.99999,
    )
    ranks: int = _field(
        1,
        "Processes of this machine that train one model, each on its share of every batch; an audit uses one.",
        least=1,
        most=64,
    )
    split: list[float] = _field(lambda: [70, 15, 15], "Shares of train, validation and test, in order of time.")
    accepted_weight: float = _accepted_weight()
    shuffle_targets: bool = _field(False, "Control: trains on shuffled targets, where nothing can be learnt.")

    def __post_init__(self) -> None:
        ModelConfig.__post_init__(self)
        good = len(self.split) == 3 and all(0 <= share <= 1e6 for share in self.split)
        if not good or self.split[0] <= 0:
            raise ConfigError("split", self.split, "three shares such as 70/15/15, the first above 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillConfig(BatchConfig):
    """A check on skill: the same batch run on the real targets and on shuffled ones."""

    epochs: int = _field(3, "Passes over the train split, in each of the runs.", least=1, most=10_000)
    shuffled_runs: int = _field(
        8, "Runs on shuffled targets that the real one is held against; fewer than 8 prove nothing.", least=8, most=200
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveConfig(ModelConfig):
    """A live run: predict, score, learn, candle by candle."""

    learning_rate: float = _field(
        3e-4, "Step size of AdamW; above 3e-4 per-candle training becomes unstable.", least=1e-7, most=1.0
    )
    batch_size: int = _field(4, "Windows in one step: the newest and random past ones.", least=1, most=4096)
    policy: str = _field(
        "replay",
        "How it learns: replay (a small batch of the newest and past windows), last (the newest candle alone) or none.",
        choices=POLICIES,
    )
    learn_every: int = _field(4, "With replay, learn every this many candles.", least=1, most=10_000)
    ema_decay: float = _field(
        0.9,
        "Predict from a running mean of the weights that fades so slowly; 0: from the newest.",
        least=0,
        most=0.99999,
    )
    accepted_weight: float = _accepted_weight()
    feed: Json = _field(
        _default_feed,
        "Where candles come from: replay (from, speed), push (from) or exchange (exchange, symbol, history, from).",
    )

    def __post_init__(self) -> None:
        ModelConfig.__post_init__(self)
        problem = problem_of(self.feed)
        if problem is not None:
            raise ConfigError(*problem)


def config_class(mode: str) -> type[ModelConfig]:
    """Give the config of a mode."""
    every: dict[str, type[ModelConfig]] = {
        "load": ModelConfig,
        "batch": BatchConfig,
        "live": LiveConfig,
        "skill": SkillConfig,
        "leaks": BatchConfig,
    }
    return every[mode]


def _check_limits(config: ModelConfig) -> None:
    for f in dataclasses.fields(config):
        value, least, most = getattr(config, f.name), f.metadata["least"], f.metadata["most"]
        choices = f.metadata["choices"]
        if choices is not None and value not in choices:
            raise ConfigError(f.name, value, "use one of " + ", ".join(choices))
        if value is None or (least is None and most is None):
            continue
        # Asked this way round so that NaN, which compares false with everything, is refused.
        if not ((least is None or value >= least) and (most is None or value <= most)):
            raise ConfigError(
                f.name, value, f"must be from {least} to {most}" if most is not None else f"must be at least {least}"
            )


def _check_heads(heads: Mapping[str, float]) -> None:
    for name, weight in heads.items():
        if name not in HEADS:
            raise ConfigError("heads", name, "use " + ", ".join(HEADS))
        number: object = weight  # JSON may hold anything
        if isinstance(number, bool) or not isinstance(number, int | float) or not 0 <= number <= 100:
            raise ConfigError(f"heads.{name}", weight, "a weight from 0 to 100")
    if not any(weight > 0 for weight in heads.values()):
        raise ConfigError("heads", dict(heads), "at least one head needs a weight above 0")


def _typed(f: dataclasses.Field[Any], value: Any) -> Any:
    kind = str(f.type)
    if f.name == "heads":
        return _default_heads() | _mapping(f.name, value)
    if f.name == "feed":
        return filled(_mapping(f.name, value))
    if f.name == "split":
        return _shares(value)
    if value is None and "None" in kind:
        return None
    kinds: dict[str, tuple[type, ...]] = {"bool": (bool,), "int": (int,), "float": (int, float), "str": (str,)}
    if not isinstance(value, kinds[kind.removesuffix(" | None")]) or (isinstance(value, bool) and kind != "bool"):
        raise ConfigError(f.name, value, f"must be of type {kind.removesuffix(' | None')}")
    given: Any = value
    return float(given) if kind == "float" else given


def _mapping(name: str, value: Any) -> Json:
    if not isinstance(value, Mapping):
        raise ConfigError(name, value, "must be an object")
    return dict(value)


def _shares(value: Any) -> list[float]:
    parts = value.split("/") if isinstance(value, str) else value
    try:
        return [float(part) for part in parts]
    except (TypeError, ValueError, OverflowError):
        raise ConfigError("split", value, "three shares such as 70/15/15") from None


def _described(f: dataclasses.Field[Any]) -> Json:
    default = f.default if f.default_factory is dataclasses.MISSING else f.default_factory()
    return {"name": f.name, "type": str(f.type), "default": default, **f.metadata}
