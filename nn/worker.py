"""The worker process: `python -m nn.worker` reads a command a line on stdin and writes an event a line on stdout.

It ends by itself when its stdin ends. Nothing here imports torch before the environment is set.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
from typing import IO, TYPE_CHECKING, NoReturn

from nn.pipe import Outbox, die_with_parent, read_commands, reserve_stdout
from nn.priority import train_behind, yield_memory

if TYPE_CHECKING:
    from nn.trainer_loop import TrainerLoop

LEAVE_S = 5.0  # for saving what is under way, once the parent is gone


def main(arguments: list[str] | None = None) -> NoReturn:
    """Serve until stdin ends or a shutdown is asked for."""
    options = _options(arguments)
    # Threads that spin while they wait slow a busy machine down tenfold; OpenMP reads this when torch is imported.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    outbox = Outbox(reserve_stdout())
    die_with_parent()
    yield_memory()
    from nn.start_up import start_up  # torch is imported from here on
    from nn.trainer_loop import TrainerLoop

    ready = start_up(options.threads, options.device)
    loop = TrainerLoop(outbox.put, ready.threads, options.device)
    threading.Thread(target=_read, args=(sys.stdin, loop), name="pipe-reader", daemon=True).start()
    train_behind()
    outbox.put(ready)
    loop.run()
    sys.stderr.flush()
    os._exit(0)  # an orderly exit would wait for the thread that is blocked in reading stdin


def _read(pipe: IO[str], loop: TrainerLoop) -> None:
    read_commands(pipe, loop.take, _complain)
    loop.leave()
    threading.Event().wait(LEAVE_S)
    os._exit(1)  # a step that hangs must not keep an orphan alive


def _complain(what: str) -> None:
    sys.stderr.write(f"worker: {what}\n")
    sys.stderr.flush()


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m nn.worker", description=__doc__)
    parser.add_argument("--threads", type=int, default=0, help="CPU threads of a step; 0 measures at the start")
    parser.add_argument("--device", default="auto", choices=("auto", "cpu", "cuda"), help="where to train")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
