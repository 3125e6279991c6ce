"""Import at size: a file of 1,000,000 candles to parsed candles, against one bare `pandas.read_csv` of it."""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bench.memory import growth
from bench.report import Measure, alternate, ratios

ROWS = 1_000_000
START_S = 1_700_000_000
ROUNDS = 5
SEED = 7
KIB = 1024


@dataclass(frozen=True, slots=True)
class Layout:
    """A file to import: who writes it so, and the bars of time (x pandas) and memory (x the file)."""

    name: str
    file: str
    write: Callable[[Path], None]
    time_bar: float
    memory_bar: float


def measures() -> Iterator[Measure]:
    """Give, for each layout, the time of the import against pandas and the memory above idle against the file."""
    with tempfile.TemporaryDirectory() as folder:
        for layout in LAYOUTS:
            path = Path(folder) / layout.file
            layout.write(path)
            pairs = alternate(partial(_seconds, _import, path), partial(_seconds, _pandas, path), ROUNDS)
            megabytes = path.stat().st_size / KIB / KIB
            note = f"{ROWS:,} rows, {megabytes:.0f} MiB, best import {min(own for own, _ in pairs):.2f} s"
            yield Measure(f"import {layout.name}", "pandas.read_csv", ratios(pairs), layout.time_bar, "at most", note)
            grown = _in_child(_growth, path) / path.stat().st_size
            yield Measure(f"memory of import {layout.name}", "the file", [grown], layout.memory_bar, "at most")


def _prices() -> npt.NDArray[np.float64]:
    steps = np.random.default_rng(SEED).normal(0, 0.5, ROWS)
    return np.round(30_000 + np.cumsum(steps), 2)


def _write_binance(path: Path) -> None:
    close = _prices()
    with path.open("w") as file:
        for row, price in enumerate(close):
            opened = (START_S + row) * 1000
            file.write(
                f"{opened},{price:.8f},{price + 1:.8f},{price - 1:.8f},{price:.8f},{row % 97}.04848000,{opened + 999},"
                f"2956.57929850,{row % 50},0.03193000,1947.26861150,0\n"
            )


def _write_iso(path: Path) -> None:
    times = np.datetime_as_string(START_S * 1000 + np.arange(ROWS) * 1000 + np.datetime64(0, "ms"), unit="s")
    with path.open("w") as file:
        file.write("time,open,high,low,close,volume\n")
        for row, (opened, price) in enumerate(zip(times, _prices(), strict=True)):
            file.write(f"{opened}Z,{price:.2f},{price + 1:.2f},{price - 1:.2f},{price:.2f},{row % 97}.5\n")


def _seconds(work: Callable[[Path], object], path: Path) -> float:
    return _in_child(_timed, work, path)


def _in_child(work: Callable[..., float], *arguments: object) -> float:
    """Run in a fresh process, so that neither side finds the other's memory."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(work, arguments)


def _timed(work: Callable[[Path], object], path: Path) -> float:
    """Give the wall time of the second of two runs, in seconds: the first pays for imports."""
    work(path)
    started = time.perf_counter()
    work(path)
    return time.perf_counter() - started


def _growth(path: Path) -> float:
    """Give by how much one import raises the peak memory of a process that has its libraries, in bytes."""
    small = path.with_suffix(".head.csv")
    with path.open() as file, small.open("w") as head:
        head.writelines(line for _, line in zip(range(100), file, strict=False))
    _import(small)
    return growth(os.getpid(), lambda: _import(path))


def _import(path: Path) -> object:
    from annotate.importing import read_file

    return read_file(path, path.name, {})


def _pandas(path: Path) -> object:
    import pandas as pd

    return pd.read_csv(path, header=None if "Binance" in path.name else "infer")


LAYOUTS = (
    Layout("of Binance klines", "BinanceUSDT-1s.csv", _write_binance, 1.0, 2.5),
    Layout("of six columns with ISO times", "ISOUSDT-1s.csv", _write_iso, 3.0, 4.0),
)


if __name__ == "__main__":
    for measure in measures():
        print(measure.line(), flush=True)
