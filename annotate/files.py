"""Files that are whole or absent: temporary name, flush, fsync, rename, directory fsync."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from io import BufferedIOBase
from pathlib import Path
from uuid import uuid4

import pyarrow as pa

from annotate.data_folder import reason
from annotate.errors import StorageFailed

TEMPORARY = ".tmp"  # suffix of a file that is not whole yet


def write_whole(path: Path, content: bytes | memoryview | pa.Buffer) -> None:
    """Write a file durably, making its folder; when the disk refuses, raise StorageFailed and leave nothing."""
    temporary = path.with_name(path.name + TEMPORARY)
    with storage_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with unless_done(lambda: temporary.unlink(missing_ok=True)):
            with temporary.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
            sync_folder(path.parent)


def write_hashed(folder: Path, suffix: str, write: Callable[[BufferedIOBase], object]) -> tuple[Path, bool]:
    """Write a file durably under the SHA-256 of its bytes; give its path, and whether it is new.

    It is hashed while the disk takes it. When the disk refuses, raise StorageFailed and leave nothing.
    """
    temporary = folder / f"{uuid4().hex}{TEMPORARY}"
    with storage_errors(temporary), unless_done(lambda: temporary.unlink(missing_ok=True)):
        folder.mkdir(parents=True, exist_ok=True)
        with temporary.open("w+b") as file, ThreadPoolExecutor(1) as pool:
            write(file)
            file.flush()
            synced = pool.submit(os.fsync, file.fileno())
            file.seek(0)
            path = folder / f"{hashlib.file_digest(file, 'sha256').hexdigest()}{suffix}"
            synced.result()
        if path.exists():  # whole, since files get their names last, and of the same bytes
            temporary.unlink()
            return path, False
        temporary.replace(path)
        sync_folder(folder)
        return path, True


def sync_folder(folder: Path) -> None:
    """Make renames and removals in a folder durable; Windows has no such call and does it by itself."""
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def unless_done(undo: Callable[[], object]) -> Iterator[None]:
    """Undo a step where the block that builds on it does not come to its end."""
    with ExitStack() as stack:
        stack.callback(undo)
        yield
        stack.pop_all()


@contextmanager
def storage_errors(path: Path) -> Iterator[None]:
    """Turn the disk's errors inside the block into StorageFailed, in words that say what to do."""
    try:
        yield
    except OSError as error:
        raise StorageFailed(
            f"{path.name} was not written: {reason(error)}. Nothing was stored.", file=path.name
        ) from error
