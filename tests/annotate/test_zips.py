"""Archives from outside: whatever is hostile or broken in one is refused by its name."""

from __future__ import annotations

import io
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.errors import InvalidInput
from annotate.zips import open_zip, parsed_json


def zipped(*parts: tuple[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, content in parts:
            archive.writestr(name, content)
    return file.getvalue()


def taken(content: bytes) -> list[str]:
    """Give every part of an archive as text."""
    with open_zip(io.BytesIO(content), "the zip") as archive:
        return [archive.text(name) for name in archive.names]


def link() -> bytes:
    info = zipfile.ZipInfo("a.json")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return zipped((info, b"/etc/passwd"))


def twice() -> bytes:
    return zipped(("a.json", b"1"), ("b.json", b"2")).replace(b"b.json", b"a.json")


def with_flags(flags: int, method: int = 0) -> bytes:
    """Give an archive whose only part claims other flags or another method, in both of its headers."""
    content = bytearray(zipped(("a.json", b"1"), method=zipfile.ZIP_STORED))
    for signature, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = content.index(signature) + at
        content[place : place + 4] = struct.pack("<HH", flags, method)
    return bytes(content)


def broken() -> bytes:
    content = bytearray(zipped(("a.json", bytes(range(256)))))
    content[60:80] = b"\xff" * 20
    return bytes(content)


def claiming(size: int) -> bytes:
    """Give an archive whose part claims to unpack to this size."""
    content = bytearray(zipped(("a.json", b"1" * 100)))
    for signature, at in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        place = content.index(signature) + at
        content[place : place + 4] = struct.pack("<I", size)
    return bytes(content)


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: zipped(("../../a.json", b"1")), "unsafe name '../../a.json'"),
        (lambda: zipped(("/etc/a.json", b"1")), "unsafe name '/etc/a.json'"),
        (lambda: zipped(("x\\..\\a.json", b"1")), "unsafe name"),
        (link, "a.json in the zip is a link"),
        (twice, "holds 'a.json' twice"),
        (lambda: with_flags(1), "a.json in the zip is encrypted"),
        (lambda: with_flags(0, 99), "a.json in the zip is damaged"),
        (broken, "a.json in the zip is damaged"),
        (lambda: claiming(2**31), "a.json in the zip claims to be"),
        (lambda: claiming(50), "a.json in the zip is damaged"),
        (lambda: zipped(("a.json", b"0" * (257 << 20))), "a.json is larger than 256 MiB"),
        (lambda: zipped(("a.json", b"\xff")), "a.json: not UTF-8"),
        (lambda: b"PK\x03\x04 and nothing", "not a zip that can be read"),
        (lambda: zipped(("a.json", b"1"))[:-10], "not a zip that can be read"),
    ],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_what_is_hostile_or_broken_is_refused_by_its_name(make: Callable[[], bytes], named: str) -> None:
    with pytest.raises(InvalidInput, match=named):
        taken(make())


def test_parts_are_given_as_text_as_json_and_as_files(tmp_path: Path) -> None:
    content = zipped(("a.json", b'{"x": [1.5, "\xc3\xa9"]}'), ("b.bin", b"\xff"))
    with open_zip(io.BytesIO(content), "the zip") as archive:
        assert archive.names == ["a.json", "b.bin"]
        assert archive.json("a.json") == {"x": [1.5, "é"]}
        archive.copy("b.bin", tmp_path / "b", 10)
        with pytest.raises(InvalidInput, match="the zip holds no c"):
            archive.text("c.json")
    assert (tmp_path / "b").read_bytes() == b"\xff"


@pytest.mark.parametrize("text", ["", "{", "NaN", "[Infinity]", '"\\ud800"', "[" * 100_000, "1" * 5_000])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="no JSON"):
        parsed_json(text, "x.json")


@given(st.data())
def test_no_flipped_byte_breaks_the_reader(data: st.DataObject) -> None:
    whole = b"a text of some length, " * 8
    content = bytearray(zipped(("a.json", whole)))
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= data.draw(st.integers(1, 255))
    try:
        parts = taken(bytes(content))
    except InvalidInput:
        parts = []
    assert all(zlib.crc32(part.encode()) == zlib.crc32(whole) for part in parts)
