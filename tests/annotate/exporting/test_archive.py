"""The zip of an export: quick to make, and the same bytes for the same content."""

from __future__ import annotations

import io
import zipfile
import zlib

from annotate.exporting.archive import LEVEL, pack
from annotate.exporting.member import Member

TEXT = b"".join(b"2025-11-22T17:03:41Z,%d,%f\n" % (number, number / 7) for number in range(20_000))


def packed(*members: Member) -> bytes:
    file = io.BytesIO()
    pack(members, file, lambda _share: None, lambda _hashes: [])
    return file.getvalue()


def test_what_shrinks_is_deflated_at_the_quick_level_and_what_does_not_is_stored() -> None:
    content = packed(Member("a.csv", [TEXT]), Member("b.parquet", [TEXT], packed=True))
    text, stored = zipfile.ZipFile(io.BytesIO(content)).infolist()
    quick, slow = (len(_deflated(level)) for level in (LEVEL, 6))
    assert text.compress_size == quick > slow  # zlib's usual level takes several times as long
    assert (stored.compress_type, stored.compress_size) == (zipfile.ZIP_STORED, len(TEXT))


def test_neither_the_clock_nor_the_cut_into_blocks_is_in_the_zip() -> None:
    whole, cut = packed(Member("a.csv", [TEXT])), packed(Member("a.csv", [TEXT[:999], TEXT[999:]], parts=2))
    assert whole == cut
    assert zipfile.ZipFile(io.BytesIO(whole)).infolist()[0].date_time == (1980, 1, 1, 0, 0, 0)


def _deflated(level: int) -> bytes:
    packer = zlib.compressobj(level, zlib.DEFLATED, -15)
    return packer.compress(TEXT) + packer.flush()
