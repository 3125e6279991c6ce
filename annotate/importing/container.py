"""What an upload holds: a plain file, gzip, or a zip of several members; bombs and unsafe names are refused."""

from __future__ import annotations

import gzip
import hashlib
import re
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any

import pyarrow as pa

from annotate.errors import InvalidInput
from annotate.importing.arriving import Arriving
from annotate.zips import DAMAGED

MIB = 1024 * 1024
MAX_UNPACKED = 2048 * MIB
# Text of candles packs 3 to 30 times; DEFLATE itself reaches 1,032.
MAX_RATIO = 250
RATIO_COUNTS_FROM = 16 * MIB
MAX_MEMBERS = 2000
CHUNK = 4 * MIB

GZIP, ZIP, PARQUET, ARROW, FEATHER_1 = b"\x1f\x8b", b"PK\x03\x04", b"PAR1", b"ARROW1", b"FEA1"
TAR, TAR_AT = b"ustar", 257
EMPTY_ZIP = b"PK\x05\x06"
KNOWN_OTHERS = {
    b"\xd0\xcf\x11\xe0": "an old Excel workbook (.xls)",
    b"%PDF": "a PDF document",
    b"\x89PNG": "a picture (PNG)",
    b"\xff\xd8\xff": "a picture (JPEG)",
    b"SQLite format 3": "an SQLite database",
    b"\x89HDF": "an HDF5 file",
    b"7z\xbc\xaf": "a 7-Zip archive",
    b"Rar!": "a RAR archive",
    b"BZh": "a bzip2 file",
    b"\xfd7zXZ": "an xz file",
    b"(\xb5/\xfd": "a Zstandard file",
    b"\x80\x04\x95": "a Python pickle, which may run code when it is read",
    b"\x80\x05\x95": "a Python pickle, which may run code when it is read",
    b"\x93NUMPY": "a NumPy array, which may hold code to run",
    b"<?xml": "an XML document",
}
# MetaTrader's `<DATE>` is none of these.
HTML = re.compile(
    rb"<(!doctype|html|head|body|table|div|meta|title|script|style|span|p|h\d|br|center|form)[\s>/]|<!--", re.IGNORECASE
)
# Beside the data in vendors' archives: checksums, licences, notes.
SIDE_FILES = (".checksum", ".md", ".pdf", ".html", ".htm", ".md5", ".sha256", ".url", ".rtf")
DATA_FILES = (".csv", ".json", ".parquet", ".feather", ".arrow", ".tsv", ".gz")


@dataclass(frozen=True, slots=True)
class Member:
    """One file to read, on disk, perhaps still arriving, or unpacked in memory; `name` has no folder."""

    name: str
    path: Path | None = None
    data: bytes | None = None
    arriving: Arriving | None = None

    def head(self, size: int) -> bytes:
        """Give the first `size` bytes."""
        if self.path is None:
            return (self.data or b"")[:size]
        self.wait(size)
        with self.path.open("rb") as file:
            return file.read(size)

    def whole(self) -> bytes:
        """Give all bytes."""
        self.wait()
        return self.path.read_bytes() if self.path else self.data or b""

    def source(self) -> pa.NativeFile:
        """Open for Arrow."""
        self.wait()
        return pa.OSFile(str(self.path), "rb") if self.path else pa.BufferReader(self.data or b"")

    def mapped(self) -> pa.NativeFile:
        """Open to read once, as it arrives, or else mapped: what is made of it must not outlive the file."""
        if self.path and self.arriving:
            return pa.PythonFile(self.arriving.stream(), mode="r")
        return pa.memory_map(str(self.path)) if self.path else pa.BufferReader(self.data or b"")

    def wait(self, size: int | None = None) -> None:
        """Wait until the first `size` bytes are there, or all; raise OSError for a file that broke off."""
        if self.arriving:
            self.arriving.wait(size)


@dataclass(frozen=True, slots=True)
class Upload:
    """The members of a file, and the names of those that were passed over."""

    members: list[Member]
    skipped: list[str]


def open_upload(path: Path, filename: str, arriving: Arriving | None = None) -> Upload:
    """Look into a file; raise InvalidInput for what is empty, unsafe, too large or of another kind."""
    name = PurePosixPath(filename.replace("\\", "/")).name or "file"
    plain = Member(name, path=path, arriving=arriving)
    head = plain.head(16)
    if not head:
        raise InvalidInput(f"{name} is empty: it has no bytes; download it again", name=name)
    if head.startswith((ZIP, EMPTY_ZIP, GZIP)):
        plain.wait()
    if head.startswith((ZIP, EMPTY_ZIP)):
        members, skipped = _unzip(path, name)
        return Upload(members, skipped)
    return Upload([_unpacked(plain, path.stat().st_size)], [])


def refuse_others(member: Member) -> None:
    """Raise InvalidInput for a file of a known other kind, by what it is."""
    head = member.head(256).lstrip(b"\xef\xbb\xbf \t\r\n")
    if member.head(TAR_AT + len(TAR))[TAR_AT:] == TAR:
        raise InvalidInput(
            f"{member.name} is a tar archive; unpack it and upload its files, or a zip", name=member.name
        )
    if HTML.match(head):
        raise InvalidInput(
            f"{member.name} is a web page, perhaps an error page saved in place of the data, not candles; "
            "export CSV, JSON or Parquet",
            name=member.name,
        )
    for magic, what in KNOWN_OTHERS.items():
        if head.startswith(magic):
            raise InvalidInput(f"{member.name} is {what}, not candles; export CSV, JSON or Parquet", name=member.name)


def sha256_of(path: Path) -> str:
    """Give the SHA-256 of the bytes as they came."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _unpacked(member: Member, packed_size: int) -> Member:
    if not member.head(2).startswith(GZIP):
        return member
    name = member.name.removesuffix(".gz").removesuffix(".GZ")
    packed: Any = member.source()  # an Arrow file reads like a Python one
    try:
        with packed, gzip.GzipFile(fileobj=packed) as file:
            inner = Member(name, data=_read_capped(file, member.name, packed_size))
    except (OSError, EOFError, zlib.error) as error:
        raise InvalidInput(f"{member.name}: the gzip data is damaged ({error}); download it again") from None
    if inner.head(4).startswith((GZIP, ZIP)):
        raise InvalidInput(f"{member.name} holds an archive inside the archive; unpack it first", name=member.name)
    return inner


def _read_capped(file: IO[bytes] | gzip.GzipFile, name: str, packed_size: int) -> bytes:
    chunks, size = [], 0
    while chunk := file.read(CHUNK):
        size += len(chunk)
        if size > MAX_UNPACKED or (size > RATIO_COUNTS_FROM and size > MAX_RATIO * max(packed_size, 1)):
            raise InvalidInput(
                f"{name} unpacks to more than {MAX_RATIO} times its size or {MAX_UNPACKED // MIB} MiB; "
                "unpack it yourself and upload the parts",
                name=name,
            )
        chunks.append(chunk)
    return b"".join(chunks)


def _unzip(path: Path, name: str) -> tuple[list[Member], list[str]]:
    try:
        with zipfile.ZipFile(path) as archive:
            infos = [info for info in archive.infolist() if not info.is_dir()]
            _check_members(infos, name)
            chosen, skipped = _split_side_files(infos)
            members = [_member(archive, info) for info in chosen]
    except DAMAGED as error:
        raise InvalidInput(
            f"{name}: the zip archive is damaged or of an unknown kind ({error}); pack it anew"
        ) from None
    if not members:
        raise InvalidInput(f"{name}: the zip archive holds no data file", name=name)
    return members, skipped


def _check_members(infos: list[zipfile.ZipInfo], name: str) -> None:
    if len(infos) > MAX_MEMBERS:
        raise InvalidInput(f"{name} holds {len(infos)} files; at most {MAX_MEMBERS} are read at once", name=name)
    if any(info.filename == "xl/workbook.xml" for info in infos):
        raise InvalidInput(f"{name} is an Excel workbook; save its sheet as CSV", name=name)
    if {"content.xml", "mimetype"} <= {info.filename for info in infos}:
        raise InvalidInput(f"{name} is an OpenDocument file; save its sheet as CSV", name=name)
    if any(info.filename.endswith(".pkl") for info in infos):
        raise InvalidInput(
            f"{name} holds a Python pickle, as saved models do, which may run code when it is read; export CSV",
            name=name,
        )
    for info in infos:
        parts = info.filename.replace("\\", "/")
        if parts.startswith("/") or ".." in parts.split("/") or ":" in parts.split("/")[0] or "\0" in parts:
            raise InvalidInput(f"{name} holds the unsafe name {info.filename!r}; pack it anew", name=info.filename)
        if info.flag_bits & 1:
            raise InvalidInput(f"{info.filename} in {name} is encrypted; unpack it first", name=info.filename)
    if sum(info.file_size for info in infos) > MAX_UNPACKED:
        raise InvalidInput(f"{name} unpacks to more than {MAX_UNPACKED // MIB} MiB; upload the parts", name=name)


def _split_side_files(infos: list[zipfile.ZipInfo]) -> tuple[list[zipfile.ZipInfo], list[str]]:
    def is_side(info: zipfile.ZipInfo) -> bool:
        low = info.filename.lower()
        hidden = low.startswith("__macosx/") or PurePosixPath(low).name.startswith(".")
        return hidden or low.endswith(SIDE_FILES) or (low.endswith(".txt") and has_data)

    # A .txt beside .csv files is a note (HistData adds a gap report); alone it may be the data.
    has_data = any(info.filename.lower().endswith(DATA_FILES) for info in infos)
    chosen = sorted((info for info in infos if not is_side(info)), key=lambda info: info.filename)
    return chosen, [info.filename for info in infos if is_side(info)]


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Member:
    name = PurePosixPath(info.filename.replace("\\", "/")).name
    with archive.open(info) as file:
        member = Member(name, data=_read_capped(file, info.filename, info.compress_size))
    if member.head(4) == ZIP:
        raise InvalidInput(f"{info.filename} is an archive inside the archive; unpack it first", name=info.filename)
    return _unpacked(member, len(member.data or b""))
