"""Run every benchmark, or those named: `python -m bench [page training …]`. Prints a line a measure."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence

from bench import (
    against_peers,
    asking,
    chart,
    export_size,
    few_labels,
    import_served,
    import_size,
    live,
    live_learning,
    live_page,
    page,
    real_markets,
    rules,
    speed,
    suggesting,
    training,
)
from bench.report import Measure

BENCHMARKS: dict[str, Callable[[], Iterator[Measure]]] = {
    "training": training.measures,
    "speed": speed.measures,
    "against_peers": against_peers.measures,
    "rules": rules.measures,
    "real_markets": real_markets.measures,
    "live": live.measures,
    "live_learning": live_learning.measures,
    "live_page": live_page.measures,
    "page": page.measures,
    "chart": chart.measures,
    "import_size": import_size.measures,
    "import_served": import_served.measures,
    "export_size": export_size.measures,
    "few_labels": few_labels.measures,
    "asking": asking.measures,
    "suggesting": suggesting.measures,
}


def main(names: Sequence[str]) -> int:
    """Print each measure as it is known; give 1 where a bar was missed."""
    missed = 0
    for name in names or BENCHMARKS:
        print(f"== {name}", flush=True)
        for measure in BENCHMARKS[name]():
            print(measure.line(), flush=True)
            missed += not measure.reached
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
