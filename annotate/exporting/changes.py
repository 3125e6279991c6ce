"""What changed from one dataset to another: marks by id, candles by time, classes and the rest by name. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from nn.dataset_dir import COLUMNS, Candles, DatasetDir

Json = dict[str, Any]
Times = npt.NDArray[np.int64]

LISTED = 100  # candle times that are named; all are counted
OTHER = {
    "symbol": "symbol",
    "split": "split",
    "label_set": "label set",
    "reviewed_ranges": "reviewed ranges",
    "rejected": "rejected suggestions",
}  # fields of a manifest, and what they are called


def changes(before: DatasetDir, after: DatasetDir) -> Json:
    """Give `{same, marks: {added, removed, changed}, candles: the same, labels: {added, removed}, other}`.

    Marks are named by id, a changed one with both versions of what differs; candles are counted, the first hundred
    named by their open times; `other` names what else differs, of what both say.
    """
    marks = _marks(before.annotations, after.annotations)
    candles = _candles(before.candles, after.candles)
    labels = _names(before.manifest["labels"], after.manifest["labels"])
    other = _other(before.manifest, after.manifest)
    same = not any([*marks.values(), *labels.values(), *(of["count"] for of in candles.values()), other])
    return {"same": same, "marks": marks, "candles": candles, "labels": labels, "other": other}


def _marks(before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]) -> Json:
    old, new = ({mark["id"]: mark for mark in marks} for marks in (before, after))
    both = [(mark_id, old[mark_id], mark) for mark_id, mark in new.items() if mark_id in old]
    return {
        "added": [mark_id for mark_id in new if mark_id not in old],
        "removed": [mark_id for mark_id in old if mark_id not in new],
        "changed": [
            {"id": mark_id, "fields": _fields(earlier, later)} for mark_id, earlier, later in both if earlier != later
        ],
    }


def _fields(before: Mapping[str, Any], after: Mapping[str, Any]) -> Json:
    names = sorted({*before, *after})
    return {
        name: {"before": before.get(name), "after": after.get(name)}
        for name in names
        if before.get(name) != after.get(name)
    }


def _candles(before: Candles, after: Candles) -> Json:
    kept, old_rows, new_rows = np.intersect1d(before.time, after.time, assume_unique=True, return_indices=True)
    differs = np.zeros(len(kept), np.bool_)
    for name in COLUMNS[1:]:
        old, new = getattr(before, name)[old_rows], getattr(after, name)[new_rows]
        differs |= ~((old == new) | (np.isnan(old) & np.isnan(new)))
    return {
        "added": _counted(np.setdiff1d(after.time, before.time, assume_unique=True)),
        "removed": _counted(np.setdiff1d(before.time, after.time, assume_unique=True)),
        "changed": _counted(kept[differs]),
    }


def _other(before: Json, after: Json) -> list[str]:
    known = {name: title for name, title in OTHER.items() if name in after or name == "rejected"}
    return [title for name, title in known.items() if before.get(name, []) != after.get(name, [])]


def _counted(times: Times) -> Json:
    return {"count": len(times), "times": times[:LISTED].tolist()}


def _names(before: Sequence[str], after: Sequence[str]) -> Json:
    return {
        "added": [name for name in after if name not in before],
        "removed": [name for name in before if name not in after],
    }
