"""A workspace's zip, or a dataset's, opened: checked, and given part by part. Nothing in it is trusted."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from annotate.annotations.fields import Fields
from annotate.candles import COLUMNS, Candles, check_storable
from annotate.errors import InvalidInput
from annotate.exporting.workspace import FORMAT
from annotate.exporting.workspace_given import (
    GivenRun,
    GivenSeries,
    dataset_series,
    dataset_set,
    read_run,
    read_series,
    read_set,
)
from annotate.mark_files.found import Found
from annotate.mark_files.ours import read_jsonl
from annotate.zips import MOST_TEXT, Zip, open_zip
from nn import dataset_dir

MOST_BYTES = 4 << 30  # of one member
DATASET_FILES = {"candles.arrow": "candles", "annotations.jsonl": "annotations"}  # file → where the manifest names it


class WorkspaceZip:
    """An opened zip. Raises InvalidInput naming the file in it that cannot be taken."""

    def __init__(self, archive: Zip, scratch: Path) -> None:
        self._archive = archive
        self._scratch = scratch
        names = set(archive.names)
        self.is_dataset = "workspace.json" not in names
        if self.is_dataset and not {"manifest.json", *DATASET_FILES} <= names:
            raise InvalidInput("the zip holds neither workspace.json nor the files of a dataset")
        head = Fields(archive.json("manifest.json" if self.is_dataset else "workspace.json"))
        if head.value("format") != (dataset_dir.FORMAT if self.is_dataset else FORMAT):
            raise head.bad("format", "this version reads format 1; update Annotate")
        self._hashes = _dataset_hashes(head) if self.is_dataset else _hashes(head)
        self.label_sets = (
            [dataset_set(head)] if self.is_dataset else [read_set(each) for each in head.items("label_sets")]
        )
        self.series = [dataset_series(head)] if self.is_dataset else self._series(head)
        self.views = None if self.is_dataset else head.value("views")

    def candles(self, series: GivenSeries) -> Candles:
        """Give the candles of a series, mapped from a file in the scratch folder."""
        name = series.folder + "candles.arrow"
        path = self._scratch / name.replace("/", "-")
        self._archive.copy(name, path, MOST_BYTES)
        with path.open("rb") as file:
            self._compare(name, hashlib.file_digest(file, "sha256").hexdigest())
        try:
            held = _candles(path)
        except (pa.ArrowException, ValueError, OSError) as error:
            raise InvalidInput(f"{name}: no candle file: {error}") from None
        try:
            check_storable(held)
        except InvalidInput as error:
            raise InvalidInput(f"{name}: {error.message}", **error.details) from None
        return held

    def marks(self, series: GivenSeries) -> Found:
        """Read the marks of a series."""
        name = series.folder + "annotations.jsonl"
        return read_jsonl(self._text(name), name)

    def runs(self) -> Iterator[GivenRun]:
        """Give each run with its events."""
        names = {name for name in (*self._archive.names, *(self._hashes or ())) if name.startswith("runs/")}
        for name in sorted(names, key=lambda name: (len(name), name)):
            yield read_run(self._text(name), name, len(self.series))

    def _series(self, head: Fields) -> list[GivenSeries]:
        return [
            read_series(fields, f"series/{number}/", len(self.label_sets))
            for number, fields in enumerate(head.items("series"), 1)
        ]

    def _text(self, name: str) -> str:
        text = self._archive.text(name, MOST_TEXT)
        self._compare(name, hashlib.sha256(text.encode("utf-8")).hexdigest())
        return text

    def _compare(self, name: str, sha256: str) -> None:
        if self._hashes is not None and self._hashes.get(name) != sha256:
            head = "manifest.json" if self.is_dataset else "workspace.json"
            raise InvalidInput(f"{name} is not the file that {head} names: it was changed since the export")


@contextmanager
def open_workspace(path: Path, scratch: Path) -> Iterator[WorkspaceZip]:
    """Open a zip; `scratch` is an empty folder for its candle files. Raises InvalidInput for what is none."""
    with open_zip(path, "the zip") as archive:
        yield WorkspaceZip(archive, scratch)


def _candles(path: Path) -> Candles:
    with pa.OSFile(str(path), "rb") as file:
        schema = pa.ipc.open_file(file).schema
    if schema.names != list(COLUMNS) or schema.types != list(dataset_dir.TYPES.values()):
        raise ValueError(f"its columns are {', '.join(f'{field.name} {field.type}' for field in schema)}")
    with pa.memory_map(str(path)) as source:
        table = pa.ipc.open_file(source).read_all()
        table.validate(full=True)
        if any(table.column(name).null_count for name in COLUMNS[:-1]):
            raise ValueError("a time or a price is null")
    held = dataset_dir.read_candles(path)
    return Candles(*(getattr(held, column) for column in COLUMNS))


def _hashes(head: Fields) -> Mapping[str, str] | None:
    """Give name → SHA-256; None for a zip that was written before the hashes were."""
    files = head.value("files")
    if files is not None and not isinstance(files, dict):
        raise head.bad("files", "must be an object of names and hashes")
    return files


def _dataset_hashes(head: Fields) -> Mapping[str, str]:
    return {name: head.object(part).text("sha256", 64) for name, part in DATASET_FILES.items()}
