"""A large file through the real server: to its chart against pandas, memory, and windows against a small series."""

from __future__ import annotations

import io
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd
import requests

from bench.import_size import LAYOUTS, START_S, Layout
from bench.memory import growth
from bench.report import Measure, alternate, ratios
from tests.serving import Server, start_server

ROUNDS = 5
REQUESTS = 60  # of a round of windows; their median counts
SMALL, LARGE, HUGE = 1_000, 1_000_000, 10_000_000
WINDOW = 500
POINTS = 1_000  # what the chart of the small series can have
MIB = 1024 * 1024
NO_CANDLES = b"SQLite format 3\0"
SEED = 3


def measures() -> Iterator[Measure]:
    """Give import, memory, windows and zooms of 1,000,000 candles, then those of 10,000,000."""
    with tempfile.TemporaryDirectory() as folder:
        server = start_server(Path(folder) / "data", ANNOTATE_MAX_UPLOAD_MB="2048")
        try:
            small = _kept(server, _plain(Path(folder), SMALL))
            for layout in LAYOUTS:
                path = Path(folder) / layout.file
                layout.write(path)
                yield from _import_measures(server, path, layout)
            large = _kept(server, _plain(Path(folder), LARGE))
            yield from _window_measures(server, large, small, f"{LARGE:,}")
            path = _plain(Path(folder), HUGE)
            sent, took, huge = _import(server, path)
            path.unlink()
            ten_times = [10 * _import(server, _plain(Path(folder), LARGE, START_S + 1))[1]]
            note = f"{took:.1f} s after {sent:.1f} s of sending"
            yield Measure(
                "import of 10,000,000 candles", "ten of 1,000,000", [took / ten_times[0]], 1.5, "at most", note
            )
            yield from _window_measures(server, huge, small, f"{HUGE:,}")
        finally:
            server.stop()


def _import_measures(server: Server, path: Path, layout: Layout) -> Iterator[Measure]:
    sending: list[float] = []
    storing: list[float] = []

    def ours() -> float:
        storing.append(_only_stored(server, path))
        sent, took, series_id = _import(server, path)
        sending.append(sent)
        assert server.call("DELETE", f"/api/series/{series_id}").status_code == 200  # or the same bytes are known
        return took

    bare = partial(pd.read_csv, path, header=None) if "Binance" in path.name else partial(pd.read_csv, path)
    pairs = alternate(ours, partial(_seconds, bare), ROUNDS)
    took = statistics.median(own for own, _ in pairs)
    sent, stored = statistics.median(sending), statistics.median(storing)
    note = f"median {took:.2f} s; sending it took {sent:.2f} s, read on the way, and {stored:.2f} s only stored"
    yield Measure(
        f"served import {layout.name}, to the chart", "pandas.read_csv", ratios(pairs), layout.time_bar, "at most", note
    )
    grown = [growth(server.process.pid, ours) / path.stat().st_size for _ in range(3)]
    note = f"file of {path.stat().st_size / MIB:.0f} MiB, sent as a raw body"
    yield Measure(f"memory of a served import {layout.name}", "the file", grown, layout.memory_bar, "at most", note)


def _import(server: Server, path: Path) -> tuple[float, float, int]:
    """Send a file, import it and ask for its chart; give seconds of sending, seconds from there on, and the series."""
    session = _session(server)
    began = time.perf_counter()
    with path.open("rb") as file:
        upload_id = _send(session, server, path.name, file)
    received = time.perf_counter()
    form = {"upload": upload_id, "symbol": path.stem}
    made = session.post(f"{server.address}/api/series", data=form)
    assert made.status_code == 201, made.text
    series_id = int(made.json()["series"]["id"])
    chart = session.get(f"{server.address}/api/series/{series_id}/candles")
    assert chart.status_code == 200, chart.text
    return received - began, time.perf_counter() - received, series_id


def _send(session: requests.Session, server: Server, name: str, file: IO[bytes]) -> str:
    answer = session.post(
        f"{server.address}/api/uploads",
        params={"filename": name},
        data=file,
        headers={"Content-Type": "application/octet-stream"},
    )
    assert answer.status_code == 201, answer.text
    return str(answer.json()["upload"]["id"])


def _only_stored(server: Server, path: Path) -> float:
    """Give the seconds of sending as many bytes that are known to be no candles, and so are not read on the way."""
    file = io.BytesIO(NO_CANDLES + path.read_bytes()[len(NO_CANDLES) :])
    session = _session(server)
    began = time.perf_counter()
    upload_id = _send(session, server, path.name, file)
    took = time.perf_counter() - began
    assert server.call("DELETE", f"/api/uploads/{upload_id}").status_code == 200
    return took


def _window_measures(server: Server, series_id: int, small: int, name: str) -> Iterator[Measure]:
    session = _session(server)
    ask = partial(_ask, session, server, series_id)
    series = server.get(f"/api/series/{series_id}")["series"]
    first, last = int(series["first"]), int(series["last"])
    source = np.random.default_rng(SEED)

    def window() -> None:
        start = int(source.integers(first, last - WINDOW * 1000))
        ask(start, start + WINDOW * 1000, POINTS)

    def nothing() -> None:
        assert session.get(f"{server.address}/health").status_code == 200

    pairs = alternate(partial(_median_ms, window), partial(_median_ms, nothing), ROUNDS)
    own, peer = (statistics.median(side) for side in zip(*pairs, strict=True))
    note = f"medians {own:.2f} and {peer:.2f} ms"
    yield Measure(f"{WINDOW} of {name} candles", "a request that does nothing", ratios(pairs), 2.0, "at most", note)

    def whole_small() -> None:
        _ask(session, server, small, None, None, POINTS)

    worst: list[float] = []
    for zoom in range(7):
        span = max(POINTS * 1000, (last - first) // 4**zoom)

        def zoomed(span: int = span) -> None:
            start = int(source.integers(first, max(first + 1, last - span)))
            ask(start, start + span, POINTS)

        rounds = ratios(alternate(partial(_median_ms, zoomed), partial(_median_ms, whole_small), ROUNDS))
        worst = max(worst, rounds, key=lambda each: statistics.median(each) if each else 0.0)
    yield Measure(f"pan and zoom of {name} candles, worst level", "1,000 candles", worst, 1.3, "at most")


def _ask(
    session: requests.Session, server: Server, series_id: int, start: int | None, end: int | None, points: int
) -> None:
    query = {"from": start, "to": end, "max_points": points}
    answer = session.get(f"{server.address}/api/series/{series_id}/candles", params=query)
    assert answer.status_code == 200, answer.text


def _median_ms(work: Callable[[], None]) -> float:
    return 1000 * statistics.median(_seconds(work) for _ in range(REQUESTS))


def _seconds(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _session(server: Server) -> requests.Session:
    session = requests.Session()
    session.headers["Authorization"] = f"Bearer {server.token}"
    return session


def _kept(server: Server, path: Path) -> int:
    series_id = _import(server, path)[2]
    path.unlink()
    return series_id


def _plain(folder: Path, rows: int, start_s: int = START_S) -> Path:
    """Write one-second candles in six columns with epoch times."""
    path = folder / f"ROWS{rows}.csv"
    rng = np.random.default_rng(rows)
    close = np.round(30_000 + np.cumsum(rng.normal(0, 0.5, rows)), 2)
    times = (start_s + np.arange(rows)) * 1000
    table = pd.DataFrame({"time": times, "open": close, "high": close + 1, "low": close - 1, "close": close})
    table["volume"] = rng.integers(1, 100, rows)
    table.to_csv(path, index=False, float_format="%.2f")
    return path


if __name__ == "__main__":
    for measure in measures():
        print(measure.line(), flush=True)
