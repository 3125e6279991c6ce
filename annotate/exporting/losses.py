"""What a format cannot hold, in words with counts; said before the download and in the manifest. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from annotate.annotations.geometry import KINDS
from nn.dataset_dir import DatasetDir

Mark = Mapping[str, Any]

PEOPLE = (
    *("author", "source", "mode", "decided_at", "known_at", "created", "updated", "revision"),
    *("status", "updated_by", "review"),
)


def count_marks(dataset: DatasetDir, what: str, is_lost: Callable[[Mark], bool]) -> list[str]:
    """Say how many marks are lost, or lose something; nothing where there is none."""
    count = sum(map(is_lost, dataset.annotations))
    return [f"{count} {what}"] if count else []


def all_kinds_but(dataset: DatasetDir, *kept: str) -> list[str]:
    """Say which marks have no place in a format that knows the `kept` kinds alone."""
    lost = [kind for kind in KINDS if kind not in kept]
    return [line for kind in lost for line in count_marks(dataset, f"marks of kind {kind}", _is_kind(kind))]


def details(dataset: DatasetDir) -> list[str]:
    """Say that comments, confidences and the history of each mark are lost."""
    if not dataset.annotations:
        return []
    return [
        *count_marks(dataset, "comments", lambda mark: bool(mark["comment"])),
        *count_marks(dataset, "confidences", lambda mark: mark["confidence"] is not None),
        "id, " + ", ".join(PEOPLE) + " of each mark",
    ]


def overlaps(dataset: DatasetDir) -> list[str]:
    """Say where a candle keeps one class of several."""
    found = dataset.manifest["overlapping"]
    return [
        f"{n} candles of layer {layer} lie under several spans and keep one class" for layer, n in found.items() if n
    ]


def colours(dataset: DatasetDir) -> list[str]:
    """Say that the label set's look is lost."""
    return ["colours and keys of the labels"] if dataset.manifest["labels"] else []


def _is_kind(kind: str) -> Callable[[Mark], bool]:
    return lambda mark: bool(mark["kind"] == kind)
