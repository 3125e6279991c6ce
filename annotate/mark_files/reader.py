"""From the bytes of a file to its marks: tells the format, reads it, asks what it leaves open. Pure."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from annotate.errors import InvalidInput
from annotate.exporting.candle_table import LAYER_PREFIX
from annotate.exporting.csv_text import read_rows as delimited
from annotate.exporting.csv_text import row, unescape
from annotate.exporting.labels_csv import read_labels
from annotate.importing.container import Member
from annotate.importing.text import as_cp1252, load_text
from annotate.mark_files.candle_annotator import is_candle_annotator, read_candle_annotator
from annotate.mark_files.cells import Rows, delimiter_of, read_rows
from annotate.mark_files.doubts import MarkDoubts
from annotate.mark_files.found import Chart, Found
from annotate.mark_files.label_studio import is_label_studio, read_label_studio, tasks_of_table
from annotate.mark_files.ours import of_marks, read_jsonl
from annotate.mark_files.plain_csv import read_plain
from annotate.mark_files.trainset import is_trainset, read_trainset
from annotate.zips import open_zip, parsed_json

MOST_BYTES = 256 << 20
OWN_TABLE = b"label_id,chart_id,"  # how our labels.csv begins
ZIPS = (b"PK\x03\x04", b"PK\x05\x06")


def read_marks(content: bytes, name: str, chart: Chart, answers: Mapping[str, Any]) -> Found:
    """Read a file's marks.

    Raises InvalidInput naming line or place for what cannot be read, NeedsAnswer with questions for what can be read
    in more than one way; `answers` holds those that came with the file.
    """
    if len(content) > MOST_BYTES:
        raise InvalidInput(f"{name} is larger than {MOST_BYTES >> 20} MiB")
    if content.startswith(ZIPS):
        return _of_zip(content, name)
    doubts = MarkDoubts(answers)
    found = _of_text(_text(content, name), name, chart, doubts)
    doubts.settle()
    return dataclasses.replace(found, options=list(doubts.offers.values()))


def _of_zip(content: bytes, name: str) -> Found:
    """Read the dataset that a zip holds: its marks, and the look of its labels."""
    with open_zip(io.BytesIO(content), name) as archive:
        manifest, lines = archive.json("manifest.json"), archive.text("annotations.jsonl")
    held = manifest.get("annotations") if isinstance(manifest, dict) else None
    if not isinstance(held, dict) or held.get("sha256") != hashlib.sha256(lines.encode()).hexdigest():
        raise InvalidInput(
            f"{name}: annotations.jsonl is not the file that manifest.json names; import annotations.jsonl by itself "
            "if it was changed on purpose"
        )
    look = manifest.get("label_set")
    labels = look.get("labels") if isinstance(look, dict) else None
    return Found("annotate_zip", read_jsonl(lines).marks, labels=labels if isinstance(labels, list) else [])


def _text(content: bytes, name: str) -> str:
    """Give text of any encoding; its line ends stay."""
    if not content.strip():
        return ""
    if content.startswith(OWN_TABLE):
        with suppress(UnicodeDecodeError):  # a spreadsheet may have saved it in another encoding
            return content.decode("utf-8")  # names may hold what elsewhere is a sign of no text, such as NUL
    try:
        file = load_text(Member(name, data=content))
    except InvalidInput:
        raise InvalidInput(f"{name} is no text that can be read; save it as CSV or JSON in UTF-8") from None
    try:
        return file.member.whole().decode("utf-8-sig")
    except UnicodeDecodeError:
        return as_cp1252(file).member.whole().decode("utf-8")


def _of_text(text: str, name: str, chart: Chart, doubts: MarkDoubts) -> Found:
    if not text.strip():
        return Found("empty", [], notes=["the file is empty"])
    whole = _json(text, name)
    if whole is not None:
        return _of_json(whole, text, name, chart, doubts)
    if text.lstrip().startswith("{"):
        return read_jsonl(text, name)
    if (labels := _labels_csv(text)) is not None:
        return of_marks("annotate_csv", read_labels(labels), name)
    rows = read_rows(text)
    tasks = tasks_of_table(rows)
    if tasks is not None:
        return read_label_studio(tasks, chart, doubts)
    if is_trainset(rows.names):
        return read_trainset(rows, chart, doubts)
    return read_plain(_unescaped(rows), chart, doubts)


def _of_json(given: object, text: str, name: str, chart: Chart, doubts: MarkDoubts) -> Found:
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


def _json(text: str, name: str) -> object:
    """Give the JSON that the whole text is; None for other text."""
    try:
        json.loads(text)
    except ValueError:
        return None
    except RecursionError:
        pass  # named below
    given: object = parsed_json(text, name)
    return given


def _labels_csv(text: str) -> str | None:
    """Give our labels.csv with commas, where a spreadsheet has saved it with other marks between; None for others."""
    rows = [_trimmed_right(cells) for _, cells in delimited(text, delimiter_of(text)) if any(cells)]
    if not rows or rows[0][:1] != ["label_id"] or "t_start_ms" not in rows[0]:
        return None
    width = len(rows[0])
    return "".join(row(cells + [""] * (width - len(cells))) for cells in rows)


def _trimmed_right(cells: list[str]) -> list[str]:
    filled = [place for place, cell in enumerate(cells, 1) if cell]
    return cells[: filled[-1]]


def _unescaped(rows: Rows) -> Rows:
    """Take away what our own candles.csv put in front of risky cells; other tables say what they say."""
    if not any(name.startswith(LAYER_PREFIX) for name in map(unescape, rows.names)):
        return rows
    cells = [[unescape(cell) for cell in row] for row in rows.cells]
    return dataclasses.replace(rows, names=[unescape(name) for name in rows.names], cells=cells)
