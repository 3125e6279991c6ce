"""A workspace's zip, or a dataset's, opened: checked, and given part by part. Nothing in it is trusted."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from annotate.annotations.fields import Fields
from annotate.annotations.labels import LabelSetDraft
from annotate.candles import COLUMNS, Candles
from annotate.errors import InvalidInput
from annotate.exporting.content import LABEL_FACTS
from annotate.exporting.workspace import FORMAT
from annotate.mark_files.found import Found
from annotate.mark_files.ours import read_jsonl
from annotate.store.series import MAX_SYMBOL
from annotate.timeframe import parse
from nn import dataset_dir

Json = dict[str, Any]

MOST_BYTES = 4 << 30  # of one member
MOST_TEXT = 256 << 20
SOURCES = ("sample", "upload", "simulator", "feed")
MAX_NAME = 100


@dataclass(frozen=True, slots=True)
class GivenSet:
    """A label set of the zip."""

    draft: LabelSetDraft
    default: bool


@dataclass(frozen=True, slots=True)
class GivenSeries:
    """A series of the zip; `facts` are the columns of its row."""

    facts: Json
    label_set: int  # its place among the label sets
    reports: list[Json]
    folder: str  # in the zip


class WorkspaceZip:
    """An opened zip. Raises InvalidInput naming the file in it that cannot be taken."""

    def __init__(self, archive: zipfile.ZipFile, scratch: Path) -> None:
        self._archive = archive
        self._scratch = scratch
        names = set(archive.namelist())
        self.is_dataset = "workspace.json" not in names
        if self.is_dataset and not {"manifest.json", "candles.arrow", "annotations.jsonl"} <= names:
            raise InvalidInput("the zip holds neither workspace.json nor the files of a dataset")
        head = Fields(self._json("manifest.json" if self.is_dataset else "workspace.json"))
        if head.value("format") != (dataset_dir.FORMAT if self.is_dataset else FORMAT):
            raise head.bad("format", "this version reads format 1; update Annotate")
        self.label_sets = [_dataset_set(head)] if self.is_dataset else [_set(each) for each in head.items("label_sets")]
        self.series = [_dataset_series(head)] if self.is_dataset else self._series(head)
        self.views = None if self.is_dataset else head.value("views")

    def candles(self, series: GivenSeries) -> Candles:
        """Read the candles of a series, into memory."""
        name = series.folder + "candles.arrow"
        path = self._scratch / "candles.arrow"
        self._check(name, MOST_BYTES)
        with self._archive.open(name) as source, path.open("wb") as target:
            while block := source.read(1 << 20):
                target.write(block)
        try:
            with pa.OSFile(str(path), "rb") as file:
                table = pa.ipc.open_file(file).read_all().cast(dataset_dir.SCHEMA)
            table.validate(full=True)
            held = dataset_dir.read_candles(path)
        except (pa.ArrowException, ValueError, OSError) as error:
            raise InvalidInput(f"{name}: no candle file: {error}") from None
        return Candles(*(getattr(held, column).copy() for column in COLUMNS))

    def marks(self, series: GivenSeries) -> Found:
        """Read the marks of a series."""
        name = series.folder + "annotations.jsonl"
        return read_jsonl(self._text(name), name)

    def runs(self) -> Iterator[list[Json]]:
        """Give each run's lines: the run, then its events."""
        names = [name for name in self._archive.namelist() if name.startswith("runs/")]
        for name in sorted(names, key=lambda name: (len(name), name)):
            lines = self._text(name).splitlines()
            yield [self._parsed(line, name) for line in lines]

    def _series(self, head: Fields) -> list[GivenSeries]:
        return [
            _one_series(fields, f"series/{number}/", len(self.label_sets))
            for number, fields in enumerate(head.items("series"), 1)
        ]

    def _json(self, name: str) -> Any:
        return self._parsed(self._text(name), name)

    def _parsed(self, text: str, name: str) -> Any:
        try:
            return json.loads(text)
        except ValueError as error:
            raise InvalidInput(f"{name}: no JSON: {error}") from None

    def _text(self, name: str) -> str:
        self._check(name, MOST_TEXT)
        try:
            return self._archive.read(name).decode("utf-8")
        except UnicodeDecodeError:
            raise InvalidInput(f"{name}: not UTF-8") from None

    def _check(self, name: str, most: int) -> None:
        try:
            size = self._archive.getinfo(name).file_size
        except KeyError:
            raise InvalidInput(f"the zip holds no {name}") from None
        if size > most:
            raise InvalidInput(f"{name} is larger than {most >> 20} MiB")


@contextmanager
def open_workspace(path: Path, scratch: Path) -> Iterator[WorkspaceZip]:
    """Open a zip; `scratch` is an empty folder for its candle files. Raises InvalidInput for what is none."""
    try:
        with zipfile.ZipFile(path) as archive:
            yield WorkspaceZip(archive, scratch)
    except zipfile.BadZipFile as error:
        raise InvalidInput(f"not a zip that can be read: {error}") from None


def _set(fields: Fields) -> GivenSet:
    labels = _looks(fields.value("labels"))
    return GivenSet(
        LabelSetDraft.from_json({"name": fields.text("name", MAX_NAME), "labels": labels}), fields.flag("default")
    )


def _dataset_set(head: Fields) -> GivenSet:
    look = head.object("label_set")
    return GivenSet(
        LabelSetDraft.from_json({"name": look.text("name", MAX_NAME), "labels": _looks(look.value("labels"))}),
        default=False,
    )


def _looks(labels: object) -> list[Json]:
    given: Sequence[Any] = labels if isinstance(labels, list) else []
    return [{name: each.get(name) for name in LABEL_FACTS} if isinstance(each, dict) else {} for each in given]


def _dataset_series(head: Fields) -> GivenSeries:
    facts = {"symbol": head.text("symbol", MAX_SYMBOL), "timeframe": head.text("timeframe", 20)}
    parse(facts["timeframe"])
    rest = {"source": "upload", "simulated": head.flag("simulated"), "zone": "UTC", "facts": {}, "created": None}
    return GivenSeries({**facts, **rest}, 0, [], "")


def _one_series(fields: Fields, folder: str, label_sets: int) -> GivenSeries:
    facts = {
        "symbol": fields.text("symbol", MAX_SYMBOL),
        "timeframe": fields.text("timeframe", 20),
        "source": fields.choice("source", SOURCES),
        "simulated": fields.flag("simulated"),
        "zone": fields.text("zone", MAX_NAME),
        "facts": fields.value("facts") if isinstance(fields.value("facts"), dict) else {},
        "created": fields.time("created"),
    }
    parse(facts["timeframe"])
    place = fields.whole("label_set", 0, label_sets - 1)
    return GivenSeries(facts, place, [_report(each) for each in fields.items("reports")], folder)


def _report(fields: Fields) -> Json:
    report = fields.value("report")
    if not isinstance(report, dict):
        raise fields.bad("report", "must be a JSON object")
    return {"sha256": fields.text("sha256", 64), "created": fields.time("created"), "report": report}
