"""What a browser sends for one mark, checked. Pure; no database."""

from __future__ import annotations

from dataclasses import dataclass

from annotate.annotations.fields import EARLIEST_MS, Fields
from annotate.annotations.geometry import KINDS, Json

MAX_LABEL = 100
MAX_COMMENT = 10_000
MAX_REVISION = 2**53
STATUSES = ("draft", "done")
KEPT_BY_SERVER = (
    *("id", "author", "source", "mode", "decided_at", "known_at", "created", "updated"),
    *("updated_by", "entry_decided_at", "review", "also"),
)
"""Fields of an answer that the server alone sets; they may come back and are left aside."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotationDraft:
    """A mark as its author wants it; `revision` is the one that the author saw, 0 for a new mark."""

    kind: str
    label: str
    geometry: Json  # the fields of its kind
    comment: str = ""
    confidence: float | None = None  # from 0 to 1
    status: str = "done"
    revision: int = 0

    @classmethod
    def from_json(cls, given: object, annotation_id: str) -> AnnotationDraft:
        """Check what was sent for this id; raise InvalidInput naming the field, its value and what is allowed."""
        return cls.from_fields(Fields(given), annotation_id)

    @classmethod
    def from_fields(cls, fields: Fields, annotation_id: str) -> AnnotationDraft:
        """Check the fields of a mark; raises as `from_json` does."""
        if fields.value("id") not in (None, annotation_id):
            raise fields.bad("id", f"the address names {annotation_id}; send that one or leave id out")
        kind = KINDS[fields.choice("kind", KINDS)]
        fields.only(("kind", "label", *kind.fields, "comment", "confidence", "status", "revision"), KEPT_BY_SERVER)
        return cls(
            kind=str(fields.value("kind")),
            label=fields.text("label", MAX_LABEL),
            geometry=kind.read(fields),
            comment=fields.text("comment", MAX_COMMENT, default=""),
            confidence=_confidence(fields),
            status=fields.choice("status", STATUSES) if fields.has("status") else "done",
            revision=fields.whole("revision", 0, MAX_REVISION) if fields.has("revision") else 0,
        )

    def to_json(self) -> Json:
        """Give the draft as it is kept beside the mark, every field spelled out, so that equal drafts are equal."""
        return {
            "kind": self.kind,
            "label": self.label,
            **self.geometry,
            "comment": self.comment,
            "confidence": self.confidence,
            "status": self.status,
            "revision": self.revision,
        }

    @property
    def first(self) -> int | None:
        """First ms that the mark takes up; None for one on the whole chart."""
        return KINDS[self.kind].first(self.geometry)

    @property
    def last(self) -> int | None:
        """Last ms that the mark takes up, inclusive."""
        return KINDS[self.kind].last(self.geometry)

    @property
    def listed_at(self) -> int:
        """Time by which lists sort the mark; those on the whole chart come first."""
        return EARLIEST_MS if self.first is None else self.first


def _confidence(fields: Fields) -> float | None:
    confidence = fields.optional_number("confidence")
    if confidence is not None and not 0 <= confidence <= 1:
        raise fields.bad("confidence", "must be from 0 to 1")
    return confidence
