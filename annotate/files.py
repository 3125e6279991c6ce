"""Files that are whole or absent: temporary name, flush, fsync, rename, directory fsync."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

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
