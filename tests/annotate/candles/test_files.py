"""A file is whole or absent, and a disk that refuses is named with the way out."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from annotate.errors import StorageFailed
from annotate.files import write_hashed, write_whole


def test_a_file_is_written_with_its_folder_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file.bin"
    write_whole(path, b"content")
    assert path.read_bytes() == b"content"
    assert list(path.parent.iterdir()) == [path]


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "file.bin"
    write_whole(path, b"a longer first content")
    with path.open("rb") as reader:
        write_whole(path, b"second")
        assert reader.read() == b"a longer first content"
    assert path.read_bytes() == b"second"


def test_a_failed_write_keeps_the_old_file_and_leaves_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file.bin"
    write_whole(path, b"old")

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageFailed, match=r"file\.bin was not written: the disk is full"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_is_on_the_disk_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[bool] = []
    really = os.fsync
    path = tmp_path / "file.bin"

    def fsync(descriptor: int) -> None:
        synced.append(path.exists())
        really(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    write_whole(path, b"content")
    assert synced == [False, True]  # the content first, then the folder that names it


def test_a_hashed_file_is_on_the_disk_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[list[str]] = []
    really = os.fsync

    def fsync(descriptor: int) -> None:
        synced.append([path.name for path in tmp_path.glob("*.bin")])
        really(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    name = f"{hashlib.sha256(b'content').hexdigest()}.bin"
    assert write_hashed(tmp_path, ".bin", lambda file: file.write(b"content")) == (tmp_path / name, True)
    assert write_hashed(tmp_path, ".bin", lambda file: file.write(b"content")) == (tmp_path / name, False)
    assert synced[:2] == [[], [name]]
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"content"]


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file where a folder should be", "utf-8")
    with pytest.raises(StorageFailed, match="Nothing was stored"):
        write_whole(tmp_path / "taken" / "file.bin", b"content")
