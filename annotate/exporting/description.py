"""What a dataset holds, in figures: the manifest's facts, and what a person should know before making one. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from annotate import __version__
from annotate.annotations.classes import NO_CLASS, CandleTimes
from annotate.annotations.labels import layers_of
from annotate.exporting.content import Content
from annotate.exporting.leak_gate import check
from annotate.exporting.recipe import Recipe
from annotate.timeframe import closes_all, parse
from nn.split import Part, calendar_of

Json = dict[str, Any]
Times = npt.NDArray[np.int64]

PARTS = ("train", "validation", "test")
FEW_MARKS = 10  # a class with fewer marks teaches little


def describe(content: Content, time: Times, recipe: Recipe) -> Json:
    """Give the manifest's facts, for candles that open at `time` (n,); raises Leak where the gate refuses the marks.

    Neither id, name of the dataset nor clock is inside: the same content gives the same facts.
    """
    timeframe, marks = content.facts["timeframe"], content.annotations
    gate = check(time, timeframe, marks, recipe)
    layers = layers_of(content.labels)
    rows = CandleTimes(time, timeframe)
    classes = {layer: rows.layer_classes(marks, names) for layer, names in layers.items()}
    parts = dict(zip(PARTS, (gate.split.train, gate.split.validation, gate.split.test), strict=True))
    return {
        "exporter": f"annotate {__version__}",
        **content.facts,
        "timeframe_ms": parse(timeframe),
        "labels": [label["name"] for label in content.labels],
        "layers": layers,
        "label_set": label_set_of(content),
        "split": list(recipe.split),
        "parts": {name: _part(part, time) for name, part in parts.items()},
        "gate": {**gate.to_json(recipe.horizon), "left_out": content.left_out},
        "counts": _counts(content),
        "overlapping": {layer: of.overlapping for layer, of in classes.items()},
        "chance": {layer: _chance(of.classes, layers[layer]) for layer, of in classes.items()},
        "gaps": _gaps(time, parse(timeframe)),
        "reviewed": int(np.count_nonzero(rows.reviewed(marks, content.reviewed))),
        "reviewed_ranges": content.reviewed,
        "finished": [sum(mark.get("status") != "draft" for mark in marks), len(marks)],
        **({"rejected": content.rejected} if content.rejected else {}),
    }


def label_set_of(content: Content) -> Json:
    """Give the label set as the manifest holds it."""
    return {"name": content.label_set, "labels": content.labels, "exclusive": content.exclusive}


def warnings_of(facts: Mapping[str, Any]) -> list[str]:
    """Say in words what a person should know before training on a dataset of these facts."""
    gate, said = facts["gate"], []
    if not sum(facts["counts"].values()):
        said.append("no marks: the label head has nothing to learn")
    rare = [name for name, count in facts["counts"].items() if 0 < count < FEW_MARKS]
    if rare:
        said.append(f"fewer than {FEW_MARKS} marks of {', '.join(rare)}: a class so rare teaches little")
    said += [f"{name} is empty: the series is too short for its share" for name in PARTS if not facts["parts"][name]]
    for part, ids in gate["purged"].items():
        if ids:
            said.append(f"marks of {part} that were known only in the next part: {len(ids)}; they are in neither")
    finished, marks = facts["finished"]
    if finished < marks:
        said.append(f"{finished} of {marks} marks are done; drafts give no candle a class")
    if gate["modes"]["hindsight"]:
        said.append(f"marks made in hindsight: {gate['modes']['hindsight']}; leave them out for entries")
    if facts["gaps"]["count"]:
        said.append(
            f"gaps: {facts['gaps']['count']}, candles missing: {facts['gaps']['missing']}; no window crosses one"
        )
    said += [f"{n} candles of layer {layer} lie under several spans" for layer, n in facts["overlapping"].items() if n]
    if facts["simulated"]:
        said.append("simulated: no real market")
    return said


def _part(part: Part | None, time: Times) -> Json | None:
    """Give the rows that count of a part: those between purge and embargo; None where there are none."""
    if part is None or part.last <= part.first:
        return None
    return {
        "candles": part.last - part.first,
        "rows": [part.first, part.last],
        "from": int(time[part.first]),
        "to": int(time[part.last - 1]),
    }


def _counts(content: Content) -> dict[str, int]:
    """Count the marks of each label, those without one too."""
    used = Counter(mark["label"] for mark in content.annotations)
    return {label["name"]: used[label["name"]] for label in content.labels}


def _chance(classes: npt.NDArray[np.int32], names: Sequence[str]) -> Json:
    """Give candles a class, and how often the most frequent one is right by itself."""
    counts = np.bincount(classes[classes != NO_CLASS], minlength=len(names))
    total = int(counts.sum())
    return {
        "candles": dict(zip(names, counts.tolist(), strict=True)),
        "majority": float(counts.max()) / total if total else None,
        "uniform": 1 / len(names),
    }


def _gaps(time: Times, timeframe_ms: int) -> Json:
    """Count the gaps in the data and the candles that would fill them; a market's closing times are none."""
    gaps = calendar_of(time, timeframe_ms).is_gap(time[:-1], time[1:])
    missing = (time[1:] - closes_all(time[:-1], timeframe_ms)) // timeframe_ms
    return {"count": int(np.count_nonzero(gaps)), "missing": int(missing[gaps].sum())}
