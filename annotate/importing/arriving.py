"""A file that is still being received: whoever reads it waits for the bytes that are to come."""

from __future__ import annotations

import io
import threading
from pathlib import Path
from typing import Self


class Arriving:
    """How much of a file is there. One thread receives it and tells; any other may wait for bytes.

    As a context manager it breaks off where the block does not come to its end, so that nobody waits for ever.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = 0  # bytes that can be read
        self._over = self._broken = False
        self._news = threading.Condition()

    def grew(self, size: int) -> None:
        """Tell that the first `size` bytes can be read."""
        with self._news:
            self.size = size
            self._news.notify_all()

    def end(self, *, whole: bool) -> None:
        """Tell that no more bytes come; only the first call counts."""
        with self._news:
            self._broken = self._broken or not (whole or self._over)
            self._over = True
            self._news.notify_all()

    def wait(self, size: int | None = None) -> None:
        """Wait until the first `size` bytes are there, or the file is whole; raise OSError where it broke off."""
        with self._news:
            self._news.wait_for(lambda: self._over or (size is not None and self.size >= size))
            if self._broken:
                raise OSError(f"{self.path.name} broke off while it was received")

    def stream(self) -> io.RawIOBase:
        """Open the file from its start; a read waits for as many bytes as it asks for, or for the end."""
        return _Stream(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.end(whole=kind is None)


class _Stream(io.RawIOBase):
    """Reads never come short, so that blocks are cut as in a file that is whole."""

    def __init__(self, arriving: Arriving) -> None:
        super().__init__()
        self._arriving = arriving
        self._file = arriving.path.open("rb")

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        self._arriving.wait(None if size < 0 else self._file.tell() + size)
        return self._file.read(size)

    def close(self) -> None:
        self._file.close()
        super().close()
