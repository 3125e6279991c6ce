"""Every format that goes out: its name on the wire, what it is, how it is written, what it cannot hold."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import IO, Any

from annotate.errors import InvalidInput
from annotate.exporting import dataset_format, freqtrade, hugging_face, label_studio, report, trainset, windows
from annotate.exporting.archive import pack
from annotate.exporting.member import Member, Source
from annotate.watch import Watch

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Format:
    """One way out."""

    title: str
    meaning: str
    members: Callable[[Source], list[Member]]
    lost: Callable[[Source], list[str]]
    options: tuple[str, ...] = ()  # fields of Source that a person may set


FORMATS: dict[str, Format] = {
    "dataset": Format(
        "Annotate dataset",
        "Everything, byte for byte: candles as Arrow, CSV and Parquet, marks as JSON lines and CSV.",
        dataset_format.members,
        dataset_format.lost,
    ),
    "label_studio": Format(
        "Label Studio",
        "Tasks with annotations, the labeling interface, and the candles as CSV.",
        label_studio.members,
        label_studio.lost,
    ),
    "hugging_face": Format(
        "Hugging Face dataset",
        "A folder for datasets.load_dataset: Parquet for train, validation and test, and the marks.",
        hugging_face.members,
        hugging_face.lost,
    ),
    "freqtrade": Format(
        "freqtrade",
        "Candles as feather with its six columns, and the labels in a file beside it.",
        freqtrade.members,
        freqtrade.lost,
    ),
    "trainset": Format("TRAINSET", "One CSV a label layer: the close with its label.", trainset.members, trainset.lost),
    "windows_npz": Format(
        "Windows for NumPy",
        "Model inputs and classes a window, with the names of the features.",
        windows.npz_members,
        windows.lost,
        ("sequence_length", "stride"),
    ),
    "windows_safetensors": Format(
        "Windows for PyTorch",
        "The same as safetensors.",
        windows.safetensors_members,
        windows.lost,
        ("sequence_length", "stride"),
    ),
    "report": Format(
        "HTML report",
        "Candles, marks, trades with results and figures, in one page that opens without a network.",
        report.members,
        report.lost,
    ),
}


def get_format(name: str) -> Format:
    """Give a format; raise InvalidInput naming those that there are."""
    if name not in FORMATS:
        raise InvalidInput(f"format = {name!r}: use one of {', '.join(FORMATS)}", field="format")
    return FORMATS[name]


def formats_json() -> list[Json]:
    """List the formats for a picker: name, title, meaning, options."""
    return [
        {"name": name, "title": each.title, "meaning": each.meaning, "options": list(each.options)}
        for name, each in FORMATS.items()
    ]


def build(name: str, source: Source, file: IO[bytes], watch: Watch) -> None:
    """Write an export as a zip.

    Beside the dataset's own format each zip holds a manifest.json that adds `export`: the format, what it lost, and the
    SHA-256 of each file. Raises what `pack` and the format raise.
    """
    chosen = get_format(name)

    def last(hashes: Mapping[str, str]) -> Iterable[Member]:
        if "manifest.json" in hashes:
            return []
        about = {"format": name, "lost": chosen.lost(source), "files": dict(hashes)}
        manifest = {**source.dataset.manifest, "export": about}
        text = json.dumps(manifest, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
        return [Member("manifest.json", [text.encode("utf-8")])]

    pack(chosen.members(source), file, watch, last)
