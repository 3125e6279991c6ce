"""What a run may be asked: every bad value is refused by its name, with what is allowed."""

from __future__ import annotations

from typing import Any

import pytest

from nn.config import BatchConfig, ConfigError, LiveConfig, ModelConfig, config_class

NAN = float("nan")


@pytest.mark.parametrize("config", [ModelConfig, BatchConfig, LiveConfig])
def test_the_defaults_are_taken_and_come_back(config: type[ModelConfig]) -> None:
    assert config.from_json(config().to_json()) == config()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("model", "lstm"), ("d_model", 7), ("d_model", 64.0), ("d_model", True), ("d_model", 10**400), ("n_heads", 5),
        ("dropout", NAN), ("dropout", 0.95), ("seed", -1), ("epochs", 0), ("epochs", "3"), ("learning_rate", NAN),
        ("learning_rate", float("inf")), ("learning_rate", 0), ("patience", 0), ("patience", 1.5), ("use_amp", 1),
        ("split", [70, 30]), ("split", [0, 50, 50]), ("split", [70, -15, 15]), ("split", [NAN, 1, 1]),
        ("split", "a/b/c"), ("split", 7), ("split", [10**400, 1, 1]), ("sequence_length", 1), ("stride", None),
    ],
)  # fmt: skip
def test_a_bad_value_is_refused_by_its_name(field: str, value: object) -> None:
    with pytest.raises(ConfigError) as refused:
        BatchConfig.from_json({field: value})
    assert refused.value.field == field
    assert field in str(refused.value)


@pytest.mark.parametrize(
    ("heads", "field"),
    [
        ({"candel": 1}, "heads"), ({"candle": NAN}, "heads.candle"), ({"candle": -1}, "heads.candle"),
        ({"candle": "1"}, "heads.candle"), ({"candle": True}, "heads.candle"), ([1], "heads"),
        (dict.fromkeys(("candle", "trend", "range", "label"), 0), "heads"),
    ],
)  # fmt: skip
def test_bad_weights_of_heads_are_refused(heads: Any, field: str) -> None:
    with pytest.raises(ConfigError) as refused:
        BatchConfig.from_json({"heads": heads})
    assert refused.value.field == field


@pytest.mark.parametrize(
    ("feed", "field"),
    [
        ({"kind": "socket"}, "feed.kind"), ({"kind": ["push"]}, "feed.kind"),
        ({"kind": "push", "speed": 1}, "feed.speed"),
        ({"kind": "exchange", "symbol": " "}, "feed.symbol"), ({"kind": "exchange", "exchange": 7}, "feed.exchange"),
        ({"kind": "exchange", "history": -1}, "feed.history"), ({"kind": "exchange", "history": 1e9}, "feed.history"),
        ({"speed": 0}, "feed.speed"), ({"speed": NAN}, "feed.speed"),
        ({"speed": True}, "feed.speed"), ({"from": "today"}, "feed.from"), ({"until": 5}, "feed.until"), (3, "feed"),
    ],
)  # fmt: skip
def test_a_bad_feed_is_refused(feed: Any, field: str) -> None:
    with pytest.raises(ConfigError) as refused:
        LiveConfig.from_json({"feed": feed})
    assert refused.value.field == field


def test_each_kind_of_feed_has_its_own_fields_and_defaults() -> None:
    feeds = [LiveConfig.from_json({"feed": {"kind": kind}}).feed for kind in ("replay", "push", "exchange")]
    assert feeds == [
        {"kind": "replay", "from": None, "speed": 1},
        {"kind": "push", "from": None},
        {"kind": "exchange", "from": None, "exchange": "binance", "symbol": None, "history": 1000},
    ]


def test_an_unknown_field_is_named_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"epoch = 3: unknown field; known are .*epochs"):
        BatchConfig.from_json({"epoch": 3})


@pytest.mark.parametrize("given", [[], None, "epochs", 3])
def test_a_config_that_is_no_object_is_refused(given: Any) -> None:
    with pytest.raises(ConfigError, match=r"config = .*: must be an object"):
        BatchConfig.from_json(given)


def test_a_load_takes_the_config_of_any_run_and_keeps_what_shapes_a_model() -> None:
    given = {"d_model": 32, "n_heads": 2, "epochs": 3, "learn_every": 2, "feed": {"kind": "replay"}}
    config = config_class("load").from_json(given)
    assert (config.d_model, config.n_heads) == (32, 2)
    with pytest.raises(ConfigError, match="epoch"):
        config_class("load").from_json({"epoch": 3})


def test_one_weight_keeps_the_other_defaults() -> None:
    assert BatchConfig.from_json({"heads": {"range": 0}}).heads == {
        "candle": 1.0,
        "trend": 1.0,
        "range": 0,
        "label": 1.0,
    }


def test_a_split_may_be_written_with_strokes() -> None:
    assert BatchConfig.from_json({"split": "80/10/10"}).split == [80, 10, 10]


def test_every_field_of_a_form_has_its_meaning_and_default() -> None:
    fields = {field["name"]: field for field in BatchConfig.fields()}
    assert fields["epochs"] == {
        "name": "epochs", "type": "int", "default": 10, "meaning": "Passes over the train split.",
        "least": 1, "most": 10_000, "choices": None,
    }  # fmt: skip
    assert all(field["meaning"] for field in fields.values())


def test_a_field_with_few_values_names_them_and_refuses_others() -> None:
    (policy,) = [field for field in LiveConfig.fields() if field["name"] == "policy"]
    assert (policy["choices"], policy["default"]) == (("replay", "last", "none"), "replay")
    with pytest.raises(ConfigError, match="policy = 'often': use one of replay, last, none"):
        LiveConfig.from_json({"policy": "often"})
