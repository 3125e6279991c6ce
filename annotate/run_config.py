"""What a run may be asked: its config checked, and the tables of fields that the page and the API show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from annotate.errors import InvalidInput
from nn.config import MODELS, BatchConfig, ConfigError, LiveConfig, Mode, ModelConfig, config_class

Json = dict[str, Any]
FormMode = Literal["load", "batch", "live", "skill"]
FORMS: tuple[FormMode, ...] = ("load", "batch", "live", "skill")


def checked_config(mode: Mode, given: Mapping[str, Any], default_model: str | None) -> Json:
    """Give the whole config of a run; raise InvalidInput naming the field, its value and what is allowed.

    A load takes the fields of every mode, so that a page may send one form; what shapes no model is left out.
    """
    if not isinstance(given, Mapping):
        raise InvalidInput("config must be an object of fields", field="config", value=given)
    fields = {"model": default_model or next(iter(MODELS))} | dict(given)
    if mode == "load":
        others = {f["name"] for kind in (BatchConfig, LiveConfig) for f in kind.fields()}
        others -= {f["name"] for f in ModelConfig.fields()}
        fields = {name: value for name, value in fields.items() if name not in others}
    try:
        return config_class(mode).from_json(fields).to_json()
    except ConfigError as error:
        raise InvalidInput(str(error), field=error.field, value=error.value, allowed=error.allowed) from error


def catalogue() -> Json:
    """List the models and, for each mode, the fields of its config: name, type, default, meaning, limits, choices."""
    models = [{"name": name, "title": title} for name, title in MODELS.items()]
    return {"items": models, "fields": {mode: config_class(mode).fields() for mode in FORMS}}
