"""What a person sends for a label set, checked. Pure; no database."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from annotate.annotations.draft import MAX_LABEL, MAX_REVISION
from annotate.annotations.fields import Fields
from annotate.annotations.geometry import Json

KEYS = "123456789"
MAX_LABELS = 200
DEFAULT_LAYER = "default"
DEFAULT_NAME = "Default"
# Apart for the colour-blind too (the hues are Okabe and Ito's), and readable on a light and on a dark chart.
DEFAULT_LABELS: tuple[tuple[str, str], ...] = (
    ("Long", "#009e73"),
    ("Short", "#d55e00"),
    ("Range", "#e69f00"),
    ("Noise", "#8c8c8c"),
)

_COLOUR = re.compile(r"#[0-9a-fA-F]{6}\Z")
LABEL_FIELDS = ("id", "name", "colour", "key", "layer", "archived")
_SET_FIELDS = ("name", "revision", "labels", "exclusive")
_KEPT_BY_SERVER = ("id", "used_by")


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelDraft:
    """One label as wanted; `id` is None for a new one."""

    id: int | None
    name: str
    colour: str
    key: str | None
    layer: str = DEFAULT_LAYER
    archived: bool = False

    @classmethod
    def from_fields(cls, fields: Fields) -> LabelDraft:
        """Check one label; an archived one gives its key free."""
        fields.only(LABEL_FIELDS)
        archived = fields.flag("archived")
        return cls(
            id=fields.whole("id", 1, MAX_REVISION) if fields.has("id") else None,
            name=fields.text("name", MAX_LABEL),
            colour=_colour(fields),
            key=fields.choice("key", KEYS) if fields.has("key") and not archived else None,
            layer=fields.text("layer", MAX_LABEL) if fields.has("layer") else DEFAULT_LAYER,
            archived=archived,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelSetDraft:
    """A label set as wanted, whole and in order; `revision` is the one that its author saw, 0 for a new set."""

    name: str
    revision: int
    labels: tuple[LabelDraft, ...]
    exclusive: tuple[str, ...] | None = None  # layers in which a candle has one class; None leaves them as they are

    @classmethod
    def from_json(cls, given: object) -> LabelSetDraft:
        """Check what was sent; raise InvalidInput naming the field, its value and what is allowed."""
        fields = Fields(given)
        fields.only(_SET_FIELDS, _KEPT_BY_SERVER)
        labels = tuple(LabelDraft.from_fields(item) for item in fields.items("labels"))
        if len(labels) > MAX_LABELS:
            raise fields.bad("labels", f"a set has at most {MAX_LABELS} labels, this one has {len(labels)}")
        if all(label.archived for label in labels):
            raise fields.bad("labels", "a set needs at least one label that is not archived")
        for name in ("id", "name", "key"):
            _check_unique(fields, name, [getattr(label, name) for label in labels])
        revision = fields.whole("revision", 0, MAX_REVISION) if fields.has("revision") else 0
        exclusive = _exclusive(fields, labels) if fields.has("exclusive") else None
        return cls(name=fields.text("name", MAX_LABEL), revision=revision, labels=labels, exclusive=exclusive)


def default_draft() -> LabelSetDraft:
    """Give the set that every new series takes."""
    labels = [
        LabelDraft(id=None, name=name, colour=colour, key=KEYS[place])
        for place, (name, colour) in enumerate(DEFAULT_LABELS)
    ]
    return LabelSetDraft(name=DEFAULT_NAME, revision=0, labels=tuple(labels))


def layers_of(labels: Sequence[Json]) -> dict[str, list[str]]:
    """Group label names by layer, both in the order of the set."""
    layers: dict[str, list[str]] = {}
    for label in labels:
        layers.setdefault(label["layer"], []).append(label["name"])
    return layers


def _exclusive(fields: Fields, labels: Sequence[LabelDraft]) -> tuple[str, ...]:
    given, layers = fields.value("exclusive"), {label.layer for label in labels}
    if not isinstance(given, list) or not all(isinstance(name, str) for name in given):
        raise fields.bad("exclusive", "must be a list of layers")
    unknown = sorted(set(given) - layers)
    if unknown:
        raise fields.bad(
            "exclusive", f"no label has the layer {unknown[0]!r}; the layers are {', '.join(sorted(layers))}"
        )
    return tuple(sorted(set(given)))


def _colour(fields: Fields) -> str:
    colour = fields.text("colour", 7)
    if not _COLOUR.match(colour):
        raise fields.bad("colour", "must be written as #rrggbb")
    return colour.lower()


def _check_unique(fields: Fields, name: str, values: Sequence[object]) -> None:
    seen: set[object] = set()
    for place, value in enumerate(values):
        if value is not None and value in seen:
            raise fields.items("labels")[place].bad(name, "two labels of a set must not share it")
        seen.add(value)
