"""A process that imports one file through the real application, to be killed while it does.

Usage: python -m tests.web.import_child <data folder> <file>. Prints `importing` before and `imported` after.
"""

from __future__ import annotations

import sys
from pathlib import Path

from annotate.settings import Settings
from app import close_app, create_app
from tests.conftest import TOKEN


def main(data_dir: Path, file: Path) -> None:
    """Upload the file as a new series KILLED."""
    app = create_app(Settings(data_dir=data_dir, token=TOKEN, threads=1))
    content = file.read_bytes()
    print("importing", flush=True)
    answer = app.test_client().post(
        "/api/series",
        query_string={"filename": file.name, "symbol": "KILLED"},
        data=content,
        headers={"Authorization": f"Bearer {TOKEN}"},
        content_type="application/octet-stream",
    )
    print("imported", answer.status_code, flush=True)
    close_app(app)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
