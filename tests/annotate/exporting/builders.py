"""A dataset of any content, in memory and exported, without a database."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from annotate.annotations.classes import CandleTimes
from annotate.annotations.geometry import KINDS
from annotate.exporting.content import Content
from annotate.exporting.description import describe
from annotate.exporting.formats import build
from annotate.exporting.member import Source
from annotate.exporting.recipe import Recipe
from annotate.models import Json
from annotate.timeframe import closes_all, parse
from nn import dataset_dir
from nn.dataset_dir import Candles, DatasetDir
from tests.annotate.annotations.builders import START, candles_at, every

LABELS = ("Long", "Short", "Range", "Noise")
STORED: Json = {
    "comment": "", "confidence": None, "author": "me", "source": "human", "mode": "hindsight",
    "created": START, "updated": START, "revision": 1, "status": "done", "updated_by": "me",
    "entry_decided_at": None, "review": None,
}  # fmt: skip


def hours(count: int = 100) -> Candles:
    """Hourly candles; the third volume is null."""
    return plain(candles_at(every("1h", count)))


def plain(candles: Any) -> Candles:
    """The store's candles as a dataset holds them."""
    return Candles(*(getattr(candles, name) for name in dataset_dir.COLUMNS))


def labels_of(names: Sequence[str], layer: str = "default") -> list[Json]:
    """Labels of one layer."""
    return [
        {"name": name, "colour": f"#{place:06x}", "key": None, "layer": layer, "archived": False}
        for place, name in enumerate(names)
    ]


def stored(body: Json, time: np.ndarray[Any, np.dtype[np.int64]], timeframe: str = "1h", number: int = 0) -> Json:
    """A mark as a dataset holds it, decided when every candle was there."""
    closes = closes_all(time, parse(timeframe))
    at = CandleTimes(time, timeframe).touched(body)
    known = (
        int(closes[at.stop - 1]) if at.stop > at.start else (KINDS[body["kind"]].last(body) or int(closes[-1]) - 1) + 1
    )
    limits = {"stop": None, "target": None} if body["kind"] == "trade" else {}
    facts = {"id": f"00000000-0000-4000-8000-{number:012}", "known_at": known, "decided_at": int(closes[-1])}
    return {**STORED, **facts, "updated": START + number, **limits, **body}


def dataset_of(
    marks: Sequence[Json],
    candles: Candles | None = None,
    *,
    timeframe: str = "1h",
    labels: Sequence[Json] | None = None,
    symbol: str = "ETH/USDT",
    recipe: Recipe | None = None,
) -> DatasetDir:
    """A dataset with these marks, each as drawn; by default on 100 hours."""
    held = candles or hours()
    whole = [stored(mark, held.time, timeframe, number) for number, mark in enumerate(marks)]
    content = Content(
        {"symbol": symbol, "timeframe": timeframe, "simulated": False},
        "Default",
        list(labels or labels_of(LABELS)),
        sorted(whole, key=lambda mark: (KINDS[mark["kind"]].first(mark) or 0, str(mark["id"]))),
    )
    facts = describe(content, held.time, recipe or Recipe())
    rows = {"candles": {"rows": len(held), "sha256": "ab12"}, "annotations": {"rows": len(whole), "sha256": "cd34"}}
    return DatasetDir({"format": 1, **facts, **rows, "hash": "0123abcd" * 8}, held, content.annotations)


def exported(dataset: DatasetDir, name: str, **options: Any) -> dict[str, bytes]:
    """Export it and give the files of the zip by name."""
    with TemporaryDirectory() as folder:
        dataset_dir.write(Path(folder), dataset.manifest, dataset.candles, dataset.annotations)
        file = io.BytesIO()
        build(name, Source(Path(folder), dataset, **options), file, lambda _share: None)
    with zipfile.ZipFile(file) as archive:
        assert archive.testzip() is None
        return {member.filename: archive.read(member) for member in archive.infolist()}


def lost(files: dict[str, bytes]) -> list[str]:
    """Give what the manifest of an export says was lost."""
    said: list[str] = json.loads(files["manifest.json"])["export"]["lost"]
    return said
