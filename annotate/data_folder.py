"""The data folder: made at start, held by one web process at a time, with its log."""

from __future__ import annotations

import errno
import logging
import os
import sys
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import IO

from annotate.errors import Conflict, StorageFailed

LOG_BYTES = 5_000_000
LOG_FILES = 5
LOG_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
FOLDERS = ("candles", "datasets", "checkpoints", "logs", "backups", "uploads", "exports")


class FolderLock:
    """A lock file held for as long as this process serves the folder; the system lets go of it at any death."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    @classmethod
    def take(cls, data_dir: Path) -> FolderLock:
        """Take the lock; raise Conflict naming the process that holds it."""
        file = (data_dir / "lock").open("a+", encoding="ascii")
        try:
            _lock(file)
        except OSError:
            file.seek(0)
            holder = file.read().strip() or "unknown"
            file.close()
            raise Conflict(
                f"{data_dir} is in use by another Annotate (process {holder}); stop it, or set ANNOTATE_DATA_DIR to "
                "another folder"
            ) from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        return cls(file)

    def release(self) -> None:
        """Let go of the folder."""
        self._file.close()


def prepare(data_dir: Path) -> Path:
    """Make the folder and its rooms; raise StorageFailed with the way out. Gives its absolute path."""
    try:
        for name in FOLDERS:
            (data_dir / name).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageFailed(f"cannot use the data folder {data_dir}: {reason(error)}") from error
    return data_dir.resolve()


def open_log(data_dir: Path, level: str) -> logging.Handler:
    """Send log records to data/logs/annotate.log, a few files of a few MB, and give the handler."""
    handler = RotatingFileHandler(
        data_dir / "logs" / "annotate.log", maxBytes=LOG_BYTES, backupCount=LOG_FILES, encoding="utf-8"
    )
    handler.setFormatter(logging.Formatter(LOG_FORMAT))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(level)
    # One line a request would bury what matters, and the first request carries the token in its address.
    logging.getLogger("werkzeug").setLevel(logging.WARNING)
    return handler


def reason(error: OSError) -> str:
    """Say what a person can do about a failed write."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "the disk is full; free some space and try again"
    if error.errno in (errno.EACCES, errno.EROFS, errno.EPERM):
        return "it is not writable; change its rights or set ANNOTATE_DATA_DIR"
    return error.strerror or str(error)


if sys.platform == "win32":
    import msvcrt

    def _lock(file: IO[str]) -> None:
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(file: IO[str]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
