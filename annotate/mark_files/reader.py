"""From the bytes of a file to its marks: tells the format, reads it, asks what it leaves open. Pure."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Mapping
from typing import Any

from annotate.errors import InvalidInput
from annotate.exporting.csv_text import unescape
from annotate.exporting.labels_csv import COLUMNS as LABEL_COLUMNS
from annotate.exporting.labels_csv import read_labels
from annotate.importing.doubts import Doubts
from annotate.mark_files.candle_annotator import is_candle_annotator, read_candle_annotator
from annotate.mark_files.cells import read_rows
from annotate.mark_files.found import Chart, Found
from annotate.mark_files.label_studio import is_label_studio, read_label_studio
from annotate.mark_files.ours import of_marks, read_jsonl
from annotate.mark_files.plain_csv import read_plain
from annotate.mark_files.trainset import is_trainset, read_trainset

MOST_BYTES = 256 << 20
ZIP = b"PK\x03\x04"


def read_marks(content: bytes, name: str, chart: Chart, answers: Mapping[str, Any]) -> Found:
    """Read a file's marks.

    Raises InvalidInput naming line or place for what cannot be read, NeedsAnswer with questions for what can be read
    in more than one way; `answers` holds those that came with the file.
    """
    doubts = Doubts(answers)
    found = _of_zip(content, name) if content.startswith(ZIP) else _of_text(_text(content, name), name, chart, doubts)
    doubts.settle()
    return found


def _of_zip(content: bytes, name: str) -> Found:
    """Read the dataset that a zip holds: its marks, and the look of its labels."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            lines = _member(archive, "annotations.jsonl", name)
            manifest = json.loads(_member(archive, "manifest.json", name))
    except (zipfile.BadZipFile, ValueError) as error:
        raise InvalidInput(f"{name}: not a zip that can be read: {error}") from None
    found = read_jsonl(lines)
    look = manifest.get("label_set") if isinstance(manifest, dict) else None
    return Found("annotate_zip", found.marks, labels=(look or {}).get("labels") or [])


def _member(archive: zipfile.ZipFile, member: str, name: str) -> str:
    if member not in archive.namelist():
        raise InvalidInput(f"{name}: it holds no {member}; a dataset's zip has manifest.json and annotations.jsonl")
    if archive.getinfo(member).file_size > MOST_BYTES:
        raise InvalidInput(f"{name}: {member} is larger than {MOST_BYTES >> 20} MiB")
    return archive.read(member).decode("utf-8")


def _text(content: bytes, name: str) -> str:
    if len(content) > MOST_BYTES:
        raise InvalidInput(f"{name} is larger than {MOST_BYTES >> 20} MiB")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput(f"{name} is not UTF-8 text; save it as UTF-8") from None


def _of_text(text: str, name: str, chart: Chart, doubts: Doubts) -> Found:
    if not text.strip():
        return Found("empty", [], notes=["the file is empty"])
    whole = _json(text)
    if whole is not None:
        return _of_json(whole, text, name, chart, doubts)
    if text.lstrip().startswith("{"):
        return read_jsonl(text, name)
    if text.split("\n", 1)[0].rstrip("\r") == ",".join(LABEL_COLUMNS):
        return of_marks("annotate_csv", read_labels(text), name)
    rows = read_rows(text)
    read: Callable[..., Found] = read_trainset if is_trainset(rows.names) else read_plain
    rows.cells[:] = [[unescape(cell) for cell in cells] for cells in rows.cells]
    return read(rows, chart, doubts)


def _of_json(given: object, text: str, name: str, chart: Chart, doubts: Doubts) -> Found:
    if is_label_studio(given):
        return read_label_studio(given, chart, doubts)  # type: ignore[arg-type]  # the line before has looked
    if is_candle_annotator(given):
        return read_candle_annotator(given, chart, doubts)
    if isinstance(given, dict) and "kind" in given:
        return read_jsonl(text, name)  # a file of a single mark
    raise InvalidInput(
        f"{name}: JSON of a form that is not known; Label Studio's tasks, Candle Annotator's annotations and our own "
        "annotations.jsonl are"
    )


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return None
