"""Text of any encoding as UTF-8 with LF line ends, and the line numbers of its rows."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from annotate.errors import InvalidInput
from annotate.importing.container import CHUNK, Member
from annotate.importing.encodings import likely_encoding

SAMPLE = 64 * 1024


@dataclass(frozen=True)
class TextFile:
    """A text member in UTF-8; `sample` holds its first whole lines."""

    member: Member
    encoding: str
    sample: list[str] = field(repr=False)

    @cached_property
    def has_quotes(self) -> bool:
        """Tell whether a double quote stands anywhere: only then can a row span lines."""
        with self.member.source() as source:
            while chunk := source.read(CHUNK):
                if b'"' in chunk:
                    return True
        return False

    def lines_of(self, first_line: int, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Give the lines of rows that are counted from 0 at `first_line`; empty lines are no rows."""
        filled = self._sampled_lines
        at = int(np.searchsorted(filled, first_line))
        if len(rows) and at + int(rows.max()) >= len(filled):
            filled = self.filled_lines
        chosen: NDArray[np.int64] = filled[at + rows] if len(rows) else rows
        return chosen

    @cached_property
    def _sampled_lines(self) -> NDArray[np.int64]:
        return np.array([at for at, line in enumerate(self.sample, start=1) if line], dtype=np.int64)

    @cached_property
    def filled_lines(self) -> NDArray[np.int64]:
        """Give the numbers (from 1) of the lines that are not empty; computed when a row must be named."""
        data = np.frombuffer(self.member.whole(), dtype=np.uint8)
        ends = np.append(np.flatnonzero(data == ord("\n")), len(data))
        starts = np.append(0, ends[:-1] + 1)
        only_cr = (ends - starts == 1) & (data[np.minimum(starts, len(data) - 1)] == ord("\r"))
        return np.flatnonzero((ends > starts) & ~only_cr) + 1


def load_text(member: Member) -> TextFile:
    """Recognise the encoding; UTF-8 stays where it is, everything else is rewritten in memory."""
    head = member.head(SAMPLE)
    encoding = _encoding(head, member.name)
    if encoding in ("utf-8", "utf-8-sig") and (b"\n" in head or b"\r" not in head):
        return TextFile(member, encoding, _lines(head, "utf-8-sig", cut=len(head) == SAMPLE))
    text = _decoded(member, encoding).replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    rewritten = replace(member, path=None, data=text.encode())
    return TextFile(rewritten, encoding, _lines(rewritten.head(SAMPLE), "utf-8", cut=len(text) > SAMPLE))


def as_cp1252(file: TextFile) -> TextFile:
    """Rewrite a file that turned out not to be UTF-8 beyond its first lines."""
    text = file.member.whole().decode("cp1252", errors="replace")
    return replace(file, member=replace(file.member, path=None, data=text.encode()), encoding="cp1252")


def with_aligned_columns(file: TextFile) -> TextFile:
    """Part columns that are aligned with runs of spaces by a tab each; a single space stays inside its cell."""
    data = re.sub(rb"^[ \t]+|[ \t]+(?=\r?$)", b"", file.member.whole(), flags=re.MULTILINE)
    parted = replace(file.member, path=None, data=re.sub(rb"[ \t]{2,}", b"\t", data))
    return replace(
        file, member=parted, sample=[re.sub(r"[ \t]{2,}", "\t", line.strip(" \t\r")) for line in file.sample]
    )


def _encoding(head: bytes, name: str) -> str:
    if head.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):  # begins as UTF-16's mark does
        return "utf-32"
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if b"\0" in head:
        return _wide_encoding(head, name)
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)  # a character cut at the end of the sample is no error
    except UnicodeDecodeError:
        if head.startswith(codecs.BOM_UTF8):
            raise InvalidInput(f"{name} is marked as UTF-8 and is not; save it anew", name=name) from None
        return likely_encoding(head)
    return "utf-8-sig" if head.startswith(codecs.BOM_UTF8) else "utf-8"


def _wide_encoding(head: bytes, name: str) -> str:
    """Tell UTF-16 without a mark from binary data: ASCII in UTF-16 has a zero in every second byte."""
    for first, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        zeros, others = head[first::2], head[1 - first :: 2]
        if zeros.count(0) > 0.9 * len(zeros) and others.count(0) == 0:
            return encoding
    raise InvalidInput(f"{name} is binary data of an unknown kind, not candles; export CSV, JSON or Parquet", name=name)


def _decoded(member: Member, encoding: str) -> str:
    try:
        return member.whole().decode(encoding, errors="replace" if encoding == "cp1252" else "strict")
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"{member.name}: byte {error.start} is no {encoding} text; save the file as UTF-8", name=member.name
        ) from None


def _lines(head: bytes, encoding: str, *, cut: bool) -> list[str]:
    text = codecs.getincrementaldecoder(encoding)().decode(head)
    lines = text.replace("\r\n", "\n").split("\n")
    return lines[:-1] if cut and len(lines) > 1 else lines
