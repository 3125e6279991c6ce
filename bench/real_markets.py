"""Real hourly markets: the model's validation and test NLL beside its best baseline's. No bar but honesty: a ratio
below 1 is better than the baseline, and the interval says whether it is more than luck.

The table of docs/training-log.md comes from here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from bench.few_labels import FACTS, LARGE, ROOT, _read
from bench.report import Measure
from nn.config import BatchConfig
from nn.dataset_dir import Candles, DatasetDir
from nn.device import choose
from nn.events import EpochDone, JudgedOnTest
from nn.fit import Control, fit
from nn.job import Job

Json = dict[str, Any]

ROWS = 31_000  # the newest
EPOCHS = 3
HOUR_MS = 3_600_000


def measures() -> Iterator[Measure]:
    """Train once on each market; give a measure for each head on validation and on test."""
    torch.set_num_threads(1)
    for name, candles in markets():
        validation, test = _judged(name, candles)
        for part, report in (("validation", validation), ("test", test)):
            for head, of in report["heads"].items():
                yield _measure(f"{name}, {head}, {part}", of, report["baselines"][head])


def markets() -> Iterator[tuple[str, Candles]]:
    """Give the sample, and L1 and L2b where the folder of facts is there."""
    yield "EUR/USD sample", _read(ROOT / "data" / "sample" / "eurusd-1h.csv.gz")
    for name, file in FACTS.items():
        if (LARGE / file).exists():
            whole = _read(LARGE / file)
            yield name, whole.slice(max(0, len(whole) - ROWS), len(whole))


def _judged(name: str, candles: Candles) -> tuple[Json, Json]:
    manifest = {"symbol": name, "timeframe": "1h", "timeframe_ms": HOUR_MS, "labels": []}
    data = DatasetDir(manifest, candles, [])
    job = Job(run_id=1, config=BatchConfig(epochs=EPOCHS), dataset=data, device=choose("cpu"), threads=1)
    best: Json = {}
    for said in fit(job, Control()):
        if isinstance(said, EpochDone) and said.best and said.validation:
            best = said.validation
        elif isinstance(said, JudgedOnTest) and said.test:
            return best, said.test
    raise RuntimeError(f"{name}: the run judged nothing on test")


def _measure(name: str, of: Json, baselines: dict[str, Json]) -> Measure:
    rival = min(baselines, key=lambda each: float(baselines[each]["nll"]))
    low, high = of["against"][rival]["interval"]
    shares = ", ".join(f"{each} {found['accuracy']:.1%}" for each, found in baselines.items())
    inside = "{:.1%} to {:.1%}".format(*of["interval"])
    note = f"NLL less that of {rival} {low:+.4f} to {high:+.4f}; accuracy {of['accuracy']:.1%} ({inside}; {shares})"
    return Measure(name, f"the NLL of {rival}", [of["nll"] / baselines[rival]["nll"]], 1.05, "at most", note)
