"""What a person asks of the suggester, checked. Pure; no database."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from annotate.annotations.fields import Fields
from annotate.errors import InvalidInput
from annotate.store.suggestions import LEARNT

Json = dict[str, Any]

# Sources: what the marks teach, the label head of the trained model, and of the two the one that finds more of the
# marks that neither has seen.
MARKS, MODEL, BEST = LEARNT
MODES = ("history", "causal")
MAX_NAME = 100
MOST_PLACES = 100
MOST_SEED = 2**31


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Suggestions that are asked for."""

    source: str = MARKS  # or one of LEARNT, or the name of a rule
    mode: str = "history"
    start: int | None = None  # ms UTC
    end: int | None = None
    cursor: int | None = None  # nothing at or after it is looked at
    accepted_weight: float = 0.3
    parameters: Json = field(default_factory=dict)  # of a rule
    labels: Json = field(default_factory=dict)  # of a rule: names for rising and falling

    @classmethod
    def from_fields(cls, fields: Fields) -> Wanted:
        """Read what was sent, defaults for the rest; raise InvalidInput naming the field."""
        fields.only(("source", "mode", "from", "to", "cursor", "accepted_weight", "parameters", "labels"))
        default = cls()
        start, end, cursor = (fields.time(name) if fields.has(name) else None for name in ("from", "to", "cursor"))
        if start is not None and end is not None and end <= start:
            raise fields.bad("to", f"must be after from = {start}")
        return cls(
            source=fields.text("source", MAX_NAME) if fields.has("source") else default.source,
            mode=fields.choice("mode", MODES) if fields.has("mode") else default.mode,
            start=start,
            end=end,
            cursor=cursor,
            accepted_weight=weight_of(fields),
            parameters=_numbers(fields, "parameters"),
            labels=_names(fields, "labels"),
        )


def weight_of(fields: Fields) -> float:
    """Give what a mark counts that a model made and a person accepted, against 1 for a person's own."""
    if not fields.has("accepted_weight"):
        return Wanted().accepted_weight
    weight = fields.number("accepted_weight")
    if not 0 < weight <= 1:
        raise fields.bad("accepted_weight", "lies above 0 and at most at 1")
    return weight


def _numbers(fields: Fields, name: str) -> Json:
    given = fields.value(name) or {}
    if not isinstance(given, dict):
        raise fields.bad(name, "must be an object of numbers")
    inner = Fields(given, f"{name}.")
    return {key: inner.number(key) for key in given}


def _names(fields: Fields, name: str) -> Json:
    given = fields.value(name) or {}
    if not isinstance(given, dict):
        raise fields.bad(name, "must be an object with rising, falling or both")
    inner = Fields(given, f"{name}.")
    inner.only(("rising", "falling"))
    return {key: inner.text(key, MAX_NAME) for key in ("rising", "falling") if inner.has(key)}


def checked_labels(wanted: Wanted, offered: list[str]) -> None:
    """Raise InvalidInput unless a rule has a label to give, and only such as the series has."""
    if wanted.source in LEARNT:
        return
    if not wanted.labels:
        raise InvalidInput("labels: name the label for rising, for falling, or for both", field="labels")
    for key, label in wanted.labels.items():
        if label not in offered:
            raise InvalidInput(
                f"labels.{key} = {label!r}: the label set has {', '.join(offered)}", field=f"labels.{key}"
            )
