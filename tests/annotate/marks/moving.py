"""Marks that leave a series as files and come back."""

from __future__ import annotations

import io
import zipfile

from annotate.exporting.dataset import snapshot
from annotate.exporting.formats import build
from annotate.exporting.sources import open_source
from annotate.mark_files import Chart, read_marks
from annotate.mark_import import Import, import_marks
from annotate.models import Json
from annotate.store.series import get_series
from annotate.store.undo import Gesture
from tests.annotate.annotations.builders import Workspace


def bring(workspace: Workspace, content: bytes | str, *, replace: bool = False, author: str = "Ann") -> Json:
    """Import a file's marks."""
    workspace.clock += 1
    with workspace.database.read() as session:
        timeframe = get_series(session, workspace.series_id).timeframe
    chart = Chart(workspace.candles.read(workspace.series_id), timeframe)
    found = read_marks(content.encode() if isinstance(content, str) else content, "file", chart, {})
    with workspace.database.write() as session:
        how = Import(Gesture(author=author, now=workspace.clock), replace)
        return import_marks(session, workspace.series_id, chart, found, how)


def wipe(workspace: Workspace) -> None:
    """Remove every mark."""
    for mark in workspace.marks():
        workspace.delete(mark)


def files_of(workspace: Workspace) -> dict[str, bytes]:
    """The files of a dataset as it is now, and its zip."""
    where = (workspace.database, workspace.candles, workspace.data_dir, workspace.series_id)
    dataset = snapshot(*where, name="x", kept=True)
    file = io.BytesIO()
    build("dataset", open_source(workspace.database, workspace.data_dir, dataset.id), file, lambda _share: None)
    with zipfile.ZipFile(file) as archive:
        return {**{name: archive.read(name) for name in archive.namelist()}, "zip": file.getvalue()}
