"""Real files beside the clone, where they stand: each gives the facts that its manifest states."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from annotate.errors import InvalidInput, NeedsAnswer
from annotate.importing import Imported, read_file

CANDLES = Path(__file__).parents[4] / "shared" / "candles"
PRICES = ("open", "high", "low", "close")


def entries() -> list[dict[str, Any]]:
    manifest = CANDLES / "manifest.json"
    return json.loads(manifest.read_text())["files"] if manifest.exists() else []


def read(entry: dict[str, Any]) -> Imported:
    """Read a file; facts of files that state no zone are of the file's own clock, so their answer is UTC."""
    path = CANDLES / entry["file"]
    try:
        series = read_file(path, path.name, {})
    except NeedsAnswer as asked:
        questions = asked.details["questions"]
        likely = {each["name"]: next(c["value"] for c in each["choices"] if c["likely"]) for each in questions}
        assert set(likely) <= {"zone", "stamp"}
        series = read_file(path, path.name, likely | {"zone": "UTC"})
    assert len(series) == 1
    return series[0]


def row_at(found: Imported, row: int) -> dict[str, float | int | None]:
    candles = found.candles
    volume = float(candles.volume[row])
    cells = {name[0]: float(getattr(candles, name)[row]) for name in PRICES}
    return {"t": int(candles.time[row]), **cells, "v": None if math.isnan(volume) else volume}


def expected_row(fact: dict[str, Any]) -> dict[str, float | int | None]:
    cells = {letter: None if fact[letter] is None else float(fact[letter]) for letter in "ohlcv"}
    return {"t": fact["t_ms"], **cells}


if ENTRIES := entries():
    IMPORTED = [entry for entry in ENTRIES if entry["facts"]["rows"]]
    REFUSED = [entry for entry in ENTRIES if not entry["facts"]["rows"]]

    @pytest.mark.parametrize("entry", IMPORTED, ids=lambda entry: entry["id"])
    def test_a_real_file_gives_its_facts(entry: dict[str, Any]) -> None:
        found, facts = read(entry), entry["facts"]
        candles, report = found.candles, found.report
        assert len(candles) == facts["unique_timestamps"]
        assert report["rows_read"] == facts["rows"]
        assert report["order"] == facts["file_order"]
        assert report["duplicates"]["exact"] == facts["exact_duplicate_rows"]
        assert report["duplicates"]["conflicting"] == facts["conflicting_duplicate_timestamps"]
        assert report["gaps"]["count"] == facts["gaps_longer_than_modal_step"]
        assert report["violations"]["count"] == facts["rows_breaking_high_low_rule"]
        assert report["null_volumes"] == facts["rows_null_volume"]
        assert report["sha256"] == entry["sha256"]
        assert row_at(found, 0) == expected_row(facts["first_row_chronological"])
        assert row_at(found, -1) == expected_row(facts["last_row_chronological"])
        assert int(candles.time.sum()) == facts["sum_t_ms"]
        assert float(candles.low.min()) == float(facts["min_low"])
        assert float(candles.high.max()) == float(facts["max_high"])
        for name in (*PRICES, "volume"):
            total = facts.get(f"sum_{name}")
            if total is not None:
                assert float(np.nansum(getattr(candles, name))) == pytest.approx(float(total), rel=1e-9)

    @pytest.mark.parametrize("entry", REFUSED, ids=lambda entry: entry["id"])
    def test_a_real_file_without_candles_says_so(entry: dict[str, Any]) -> None:
        path = CANDLES / entry["file"]
        with pytest.raises(InvalidInput, match="no candles"):
            read_file(path, path.name, {})

    def test_a_shifted_clock_would_be_seen() -> None:
        entry = next(entry for entry in IMPORTED if "broker SERVER time" in entry["timezone"])
        path = CANDLES / entry["file"]
        moved = read_file(path, path.name, {"zone": "New York+7"})[0]
        assert int(moved.candles.time.sum()) != entry["facts"]["sum_t_ms"]
