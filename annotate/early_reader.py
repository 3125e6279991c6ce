"""Reads the newest large upload while it arrives, so that little is left to do after its last byte."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor

from annotate.importing import Arriving, Opened, open_file

LEAST = 1024 * 1024  # bytes; a smaller file is read in no time


class EarlyReader:
    """Reads one file at a time and keeps what it read until the file goes or the next one comes; any thread may call.

    It opens the file without answers; whoever takes what it gives looks whether that fits.
    """

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, "early-reader")
        self._lock = threading.Lock()
        self._upload_id = ""
        self._arriving: Arriving | None = None
        self._opened: Future[Opened] | None = None

    def begin(self, upload_id: str, filename: str, arriving: Arriving) -> None:
        """Read a file once enough of it is there, unless another one is being read; to be called as it grows."""
        if arriving.size < LEAST or self._upload_id == upload_id:
            return
        with self._lock:
            if self._opened is None or self._opened.done():
                self._upload_id, self._arriving = upload_id, arriving
                self._opened = self._pool.submit(open_file, arriving.path, filename, {}, arriving)

    def opened(self, upload_id: str) -> Opened | None:
        """Give the file as it was read, once it is; None where it was not, or could not be."""
        with self._lock:
            opened = self._opened if self._upload_id == upload_id else None
        return None if opened is None or opened.exception() is not None else opened.result()

    def forget(self, upload_id: str) -> None:
        """Let go of what was read of a file."""
        with self._lock:
            if self._upload_id == upload_id:
                self._upload_id, self._arriving, self._opened = "", None, None

    def close(self) -> None:
        """Wait for no more bytes and end the thread."""
        if self._arriving is not None:
            self._arriving.end(whole=False)
        self._pool.shutdown()
