"""Files that come with a request."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from flask import request
from werkzeug.datastructures import FileStorage

from annotate.errors import InvalidInput


def sent_file() -> FileStorage:
    """Give the multipart field `file`; raise InvalidInput where there is none."""
    file = request.files.get("file")
    if file is None or not file.filename:
        raise InvalidInput("no file: send it as multipart field `file`", field="file")
    return file


def received_bytes() -> tuple[bytes, str]:
    """Give content and name of the file that was sent; raise InvalidInput where there is none."""
    file = sent_file()
    return file.read(), str(file.filename)


@contextmanager
def received_file(folder: Path) -> Iterator[Path]:
    """Keep the multipart field `file` in a folder for as long as the block lasts."""
    file = sent_file()
    path = folder / uuid4().hex
    try:
        file.save(path)
        yield path
    finally:
        path.unlink(missing_ok=True)
