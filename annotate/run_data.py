"""What a run learns from: dataset directories that it makes for itself, and the candles of its feed."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from annotate.candles import Candles
from annotate.exporting.dataset import dataset_path, snapshot
from annotate.exporting.recipe import Recipe
from annotate.store.annotations import list_annotations
from annotate.store.candle_catalogue import Bounds
from annotate.store.datasets import get_dataset
from annotate.store.series import get_series
from annotate.store.suggestions import rejections

if TYPE_CHECKING:
    from annotate.candle_store import CandleStore
    from annotate.db import Database

Json = dict[str, Any]


class Labelling(NamedTuple):
    """What people have said of a series' candles, as it stands now."""

    annotations: list[Json]
    rejected: list[Json]  # suggestions, {label, start, end}


class RunData:
    """Snapshots for runs and predictions; any thread may call, and each call may take as long as a copy takes."""

    def __init__(self, data_dir: Path, database: Database, candles: CandleStore) -> None:
        self._data_dir = data_dir
        self._database = database
        self._candles = candles
        self._whole: dict[int, tuple[Bounds, Path]] = {}  # series → its extent and the snapshot that covers it
        self._whole_lock = threading.Lock()

    def check_series(self, series_id: int) -> None:
        """Raise NotFound unless there is such a series."""
        with self._database.read() as session:
            get_series(session, series_id)

    def market(self, series_id: int) -> tuple[str, str]:
        """Give a series' symbol and timeframe; raise NotFound."""
        with self._database.read() as session:
            series = get_series(session, series_id)
            return series.symbol, series.timeframe

    def candles(self, series_id: int, start: int | None = None) -> Candles:
        """Give the stored candles from an open time on."""
        return self._candles.read(series_id, start)

    def labelling(self, series_id: int) -> Labelling:
        """Give the marks of a series and the suggestions that someone rejected."""
        with self._database.read() as session:
            return Labelling(list_annotations(session, series_id), rejections(session, series_id))

    def make(self, series_id: int, before: int | None = None, config: Mapping[str, Any] | None = None) -> int:
        """Snapshot a series, its candles before an open time alone where it is given; give the dataset's number.

        Split and horizon are those of the run's config. Raises Leak where the leak gate refuses a mark.
        """
        recipe = Recipe.of_config(config or {})
        return snapshot(
            *(self._database, self._candles, self._data_dir, series_id),
            name="made for a run",
            kept=False,
            until=before,
            recipe=recipe,
        ).id

    def split_of(self, dataset_id: int) -> list[float]:
        """Give the split that a dataset was made with; raise NotFound."""
        with self._database.read() as session:
            split: list[float] = get_dataset(session, dataset_id).manifest["split"]
        return split

    def directory(self, dataset_id: int) -> Path:
        """Give the directory of a dataset."""
        return dataset_path(self._data_dir, dataset_id)

    def series_of(self, dataset_id: int) -> int:
        """Give the series that a dataset was made of; raise NotFound."""
        with self._database.read() as session:
            return get_dataset(session, dataset_id).series_id

    def whole_series(self, series_id: int) -> Path:
        """Give a snapshot of all candles that a series has now, made anew only when it has grown."""
        bounds = self._candles.bounds(series_id)
        with self._whole_lock:
            known = self._whole.get(series_id)
            if known is None or known[0] != bounds:
                known = self._whole[series_id] = (bounds, self.directory(self.make(series_id)))
        return known[1]
