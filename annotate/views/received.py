"""Files that come with a request."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from flask import request

from annotate.errors import InvalidInput


def received_bytes() -> tuple[bytes, str]:
    """Give content and name of the multipart field `file`; raise InvalidInput where there is none."""
    file = request.files.get("file")
    if file is None or not file.filename:
        raise InvalidInput("no file: send it as multipart field `file`", field="file")
    return file.read(), file.filename


@contextmanager
def received_file(folder: Path) -> Iterator[Path]:
    """Keep the multipart field `file` in a folder for as long as the block lasts."""
    file = request.files.get("file")
    if file is None or not file.filename:
        raise InvalidInput("no file: send it as multipart field `file`", field="file")
    path = folder / uuid4().hex
    try:
        file.save(path)
        yield path
    finally:
        path.unlink(missing_ok=True)
