"""A further process of a run with `ranks` (`python -m nn.rank_process`): reads its orders on stdin, trains, ends.

It ends at once where the first process does, by the end of stdin; Ctrl+C is for the first one, which tells the others.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

from nn.pipe import die_with_parent
from nn.priority import yield_memory

LOST = 1


def main() -> int:
    """Train with the others until the run ends; say nothing of it."""
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with_parent()
    yield_memory()
    orders = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_parent, name="parent", daemon=True).start()
    return _train(orders)


def _end_with_parent() -> None:
    sys.stdin.read()
    os._exit(LOST)


def _train(orders: dict[str, Any]) -> int:
    from nn.config import BatchConfig  # torch comes in from here on
    from nn.crew import READY
    from nn.dataset_dir import read
    from nn.device import choose
    from nn.fit import Control, fit
    from nn.job import Job
    from nn.ranks import Ranks, join_here, leave

    config, folder = BatchConfig.from_json(orders["config"]), Path(orders["folder"])
    device = choose(orders["device"], use_amp=config.use_amp)
    ranks = Ranks(orders["rank"], config.ranks)
    job = Job(
        run_id=1,
        config=config,
        dataset=read(Path(orders["dataset_dir"])),
        device=device,
        threads=orders["threads"],
        checkpoint_dir=Path(orders["checkpoint_dir"]),
        resume=True,
        ranks=ranks,
    )
    (folder / READY.format(ranks.rank)).touch()
    join_here(folder, ranks, device.device)
    for _ in fit(job, Control()):
        pass
    leave(ranks)
    return 0


if __name__ == "__main__":
    sys.exit(main())
