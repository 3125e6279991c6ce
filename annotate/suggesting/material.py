"""What the suggester learns from: the candles of a series as one file, its marks, what was reviewed or rejected."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from annotate.annotations.labels import layers_of
from annotate.annotations.veil import Veil
from annotate.candle_files import SUFFIX, write_candles
from annotate.store.annotations import list_annotations
from annotate.store.label_sets import labels_to_json
from annotate.store.series import get_series
from annotate.store.suggestions import ranges_of, reviewed_of
from annotate.timeframe import parse

if TYPE_CHECKING:
    from annotate.candle_store import CandleStore
    from annotate.db import Database

Json = dict[str, Any]

FOLDER = "suggesting"
KINDS = ("span", "trade", "point")


class Material:
    """Gives the suggester what it needs of a series; any thread may call."""

    def __init__(self, data_dir: Path, database: Database, candles: CandleStore) -> None:
        self._database = database
        self._candles = candles
        self._folder = data_dir / FOLDER
        self._folder.mkdir(exist_ok=True)

    def of(self, series_id: int, veil: Veil, cursor: int | None) -> Json:
        """Give candles, timeframe, layers, marks, and the reviewed and rejected ranges that were known by the cursor.

        Marks that the veil hides are left out. Raises NotFound for the series.
        """
        with self._database.read() as session:
            series = get_series(session, series_id)
            labels = labels_to_json(series.label_set.labels)
            marks = [mark for mark in list_annotations(session, series_id) if _teaches(mark)]
            known = [mark for mark in marks if veil.shows(mark) and (cursor is None or mark["known_at"] <= cursor)]
            ranges = {
                "reviewed": reviewed_of(session, series_id, cursor),
                "rejected": ranges_of(session, series_id, "rejected", cursor),
            }
        return {
            "candles": str(self._file(series_id)),
            "timeframe_ms": parse(series.timeframe),
            "layers": layers_of(labels),
            "annotations": known,
            "request": ranges,
        }

    def _file(self, series_id: int) -> Path:
        """Give one file with all candles; of a series in several files, or with a live tail, a copy."""
        only = self._candles.only_file(series_id)
        if only is not None:
            return only
        folder = self._folder / str(series_id)
        folder.mkdir(exist_ok=True)
        path, is_new = write_candles(folder, self._candles.read(series_id))
        if is_new:
            for older in folder.glob(f"*{SUFFIX}"):
                if older != path:
                    older.unlink(missing_ok=True)
        return path


def _teaches(mark: Json) -> bool:
    """Tell whether a mark is to be learnt: neither a draft nor one that a reviewer found wrong."""
    found_wrong = (mark.get("review") or {}).get("verdict") in ("correct", "reject")
    return mark["kind"] in KINDS and mark.get("status") != "draft" and not found_wrong
