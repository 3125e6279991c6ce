"""Zip archives from outside, read part by part: nothing in them is trusted, no part is larger than it may be."""

from __future__ import annotations

import json
import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from annotate.errors import InvalidInput

MOST_MEMBERS = 100_000
MOST_TEXT = 256 << 20
MOST_RATIO = 1_200  # DEFLATE reaches 1,032; what claims more is no DEFLATE
CHUNK = 1 << 20
# What zipfile raises for bytes that are no whole zip, or one of a kind that it cannot read.
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError)


class Zip:
    """An opened archive. Raises InvalidInput naming the part that cannot be taken."""

    def __init__(self, archive: zipfile.ZipFile, name: str) -> None:
        self._archive = archive
        self._name = name
        self._parts: dict[str, zipfile.ZipInfo] = {}
        infos = archive.infolist()
        if len(infos) > MOST_MEMBERS:
            raise InvalidInput(f"{name} holds {len(infos):,} files; at most {MOST_MEMBERS:,} are read")
        for info in infos:
            self._parts[info.filename] = self._checked(info)

    @property
    def names(self) -> list[str]:
        """Give the names of its parts, in the archive's order."""
        return list(self._parts)

    def text(self, part: str, most: int = MOST_TEXT) -> str:
        """Give a part as text."""
        try:
            return b"".join(self._blocks(part, most)).decode("utf-8")
        except UnicodeDecodeError:
            raise InvalidInput(f"{part}: not UTF-8") from None

    def json(self, part: str) -> Any:
        """Give a part as JSON."""
        return parsed_json(self.text(part), part)

    def copy(self, part: str, target: Path, most: int) -> None:
        """Write a part to a file; raises OSError too, where the disk refuses."""
        with target.open("wb") as file:
            for block in self._blocks(part, most):
                file.write(block)

    def _blocks(self, part: str, most: int) -> Iterator[bytes]:
        info = self._parts.get(part)
        if info is None:
            raise InvalidInput(f"{self._name} holds no {part}")
        if info.file_size > most:
            raise InvalidInput(f"{part} is larger than {most >> 20} MiB")
        try:
            with self._archive.open(info) as file:
                while block := file.read(CHUNK):
                    yield block
        except DAMAGED as error:
            raise InvalidInput(f"{part} in {self._name} is damaged ({error}); make the file anew") from None

    def _checked(self, info: zipfile.ZipInfo) -> zipfile.ZipInfo:
        name = info.filename
        if name in self._parts:
            raise InvalidInput(f"{self._name} holds {name!r} twice; make the file anew")
        if name.startswith(("/", "\\")) or ".." in name.replace("\\", "/").split("/"):
            raise InvalidInput(f"{self._name} holds the unsafe name {name!r}; make the file anew")
        if stat.S_ISLNK(info.external_attr >> 16):
            raise InvalidInput(f"{name} in {self._name} is a link; make the file anew")
        if info.flag_bits & 1:
            raise InvalidInput(f"{name} in {self._name} is encrypted; unpack it first")
        if info.file_size > MOST_RATIO * max(1, info.compress_size) + CHUNK:
            raise InvalidInput(f"{name} in {self._name} claims to be {info.file_size:,} bytes; make the file anew")
        return info


@contextmanager
def open_zip(source: Path | IO[bytes], name: str) -> Iterator[Zip]:
    """Open an archive; raise InvalidInput for what is none."""
    try:
        archive = zipfile.ZipFile(source)
    except DAMAGED as error:
        raise InvalidInput(f"{name}: not a zip that can be read: {error}") from None
    with archive:
        yield Zip(archive, name)


def parsed_json(text: str, name: str) -> Any:
    """Read JSON from outside; raise InvalidInput for NaN, half characters and nesting without end too."""
    try:
        value = json.loads(text, parse_constant=_no_number)
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except RecursionError:
        raise InvalidInput(f"{name}: no JSON: nested too deep") from None
    except ValueError as error:
        raise InvalidInput(f"{name}: no JSON: {error}") from None
    return value


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no number of JSON")
