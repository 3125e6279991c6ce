"""A series as it was before a moment: every level and window as if the rest had never been stored."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from annotate.candle_store import FOLD_ROWS
from annotate.candles import COLUMNS, Candles
from tests.annotate.annotations.builders import HOUR, START, Workspace, candles_at, every

LIVE = 30


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Two files and a live tail of minutes, with a gap."""
    times = [time for place, time in enumerate(every("1m", FOLD_ROWS + 2_000)) if not 3_000 <= place < 3_090]
    made = Workspace.make(tmp_path, times[:-LIVE], "1m")
    made.candles.append(made.series_id, tail(times))
    return made


def tail(times: list[int]) -> Candles:
    whole = candles_at(times)
    return whole.between(times[-LIVE], None)


def cut_copy(folder: Path, workspace: Workspace, cut: int) -> Workspace:
    """The same series as it would be, had nothing come from `cut` on."""
    kept = workspace.candles.read(workspace.series_id).between(None, cut)
    made = Workspace.make(folder, timeframe="1m")
    made.series_id = made.add_series(Candles(*(np.array(getattr(kept, name)) for name in COLUMNS)), "1m")
    return made


@pytest.mark.parametrize("minutes", [1, 59, 60, 1_441, 3_000, 3_050, 4_096, 6_000, 6_080])
def test_no_level_and_no_window_knows_what_came_later(workspace: Workspace, tmp_path: Path, minutes: int) -> None:
    cut = START + minutes * 60_000
    other = cut_copy(tmp_path / "cut", workspace, cut)
    store, series_id = workspace.candles, workspace.series_id
    assert store.bounds(series_id, before=cut) == other.candles.bounds(other.series_id)
    for timeframe in ("1m", "5m", "1h", "2h", "1d"):
        for start, end in ((None, None), (START + HOUR, None), (None, cut + HOUR), (cut - HOUR, cut)):
            shown = store.window(series_id, start, end, timeframe, 5_000, before=cut)
            expected = other.candles.window(other.series_id, start, end, timeframe, 5_000)
            assert (shown.level, shown.partial) == (expected.level, expected.partial)
            for name in COLUMNS:
                assert np.array_equal(getattr(shown.candles, name), getattr(expected.candles, name), equal_nan=True), (
                    timeframe,
                    name,
                )
    other.close()


def test_before_the_first_candle_there_is_nothing(workspace: Workspace) -> None:
    assert len(workspace.candles.read(workspace.series_id, before=START)) == 0
    assert workspace.candles.bounds(workspace.series_id, before=START).rows == 0
    assert len(workspace.candles.window(workspace.series_id, None, None, "1h", 100, before=START).candles) == 0


def test_the_coarser_candle_at_the_cut_is_built_from_the_finer_ones_up_to_it(workspace: Workspace) -> None:
    cut = START + 90 * 60_000
    window = workspace.candles.window(workspace.series_id, None, None, "1h", 100, before=cut)
    source = workspace.candles.read(workspace.series_id).between(START + HOUR, cut)
    assert window.candles.time.tolist() == [START, START + HOUR]
    assert float(window.candles.close[-1]) == float(source.close[-1])
    assert float(window.candles.high[-1]) == float(source.high.max())
    assert window.partial == (START + HOUR,)
