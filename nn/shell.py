"""A batch run in a terminal: prints the lines that the page shows, and keeps checkpoints where it is told to."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

from nn.config import BatchConfig, ModelConfig
from nn.dataset_dir import DatasetDir
from nn.device import calibrate_threads, choose, memory_line
from nn.events import EpochDone, Event, RunEnded, RunResumed, RunStarted, Warned
from nn.fit import Control, Said, fit
from nn.job import Job
from nn.learner import Learner, Schedule
from nn.ranks import join, leave
from nn.targets import head_classes
from nn.windows import noise

STOPPED = 130  # exit code after Ctrl+C, as shells have it


def fit_in_shell(
    config: BatchConfig,
    dataset: DatasetDir,
    *,
    device: str,
    threads: int,
    checkpoints: Path | None,
    resume: bool,
    say: Callable[[str], object],
) -> int:
    """Train and say each line; give the exit code. Raises DeviceError, NothingToTrain, CheckpointError.

    Under `torchrun` all processes train one model, and the first alone says lines and keeps checkpoints.
    """
    ranks = join()
    if ranks.rank > 0:
        say = _nothing
    chosen = choose(device, use_amp=config.use_amp)
    count = threads or fastest_threads(str(chosen.device))
    say(f"{chosen.device}, {chosen.dtype}, {count} threads: {chosen.reason}. {memory_line(chosen.device)}")
    job = Job(
        run_id=1,
        config=config,
        dataset=dataset,
        device=chosen,
        threads=count,
        checkpoint_dir=checkpoints,
        reason="the shell starts fresh",
        resume=resume,
        ranks=ranks,
    )
    control = Control()
    if ranks.size > 1:
        _end_together(control)
    try:
        for said in fit(job, control):
            for line in lines_of(said):
                say(line)
    except RuntimeError as error:
        if ranks.size == 1:
            raise
        raise RankLost(f"process {ranks.rank} of {ranks.size} lost another one: {error}") from error
    except KeyboardInterrupt:
        say("stopped" + (f"; --resume goes on from {checkpoints}" if checkpoints else "; nothing was kept"))
        return STOPPED
    leave(ranks)
    return STOPPED if control.end else 0


class RankLost(ValueError):
    """One of the processes that share a run is gone; the run cannot go on, its last checkpoint can."""


def _end_together(control: Control) -> None:
    """Have Ctrl+C and a termination end the run after the present step, in all processes alike, fit to be resumed."""

    def end(_number: int, _frame: object) -> None:
        control.end = "interrupted"

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)


def _nothing(_line: str) -> None:
    """Say nothing: the first process speaks for all."""


def fastest_threads(device: str) -> int:
    """Set and give the thread count at which a training step of the default size runs fastest here."""
    config, classes = ModelConfig(), head_classes(())
    learner = Learner(config, Schedule(1e-3), device=device)
    batch = noise(config, classes, device)
    return calibrate_threads(lambda: learner.step(batch))


def lines_of(said: Said) -> list[str]:
    """Give the printed line of an event, and what the page shows beside it."""
    line = said.line if isinstance(said, Event) else None
    return ([line] if line else []) + _more(said)


def _more(said: Said) -> list[str]:
    """Give what the page shows beside the printed lines of an event."""
    match said:
        case RunStarted():
            return [f"{said.config['model']}, {said.parameters} parameters, {said.origin}: {said.reason}", *said.notes]
        case RunResumed():
            return [f"resumed at step {said.step} from {said.from_checkpoint}"]
        case EpochDone():
            return _judged(said)
        case Warned():
            return [f"warning: {said.message}"]
        case RunEnded():
            return [f"{said.state}: {said.summary.get('step')} steps, best epoch {said.summary.get('best_epoch')}"]
        case _:
            return []


def _judged(epoch: EpochDone) -> list[str]:
    """Give one line a head: its validation figures beside the baselines', and the verdict."""
    if epoch.validation is None:
        return ["  validation: none"]
    lines = []
    for head, of in epoch.validation["heads"].items():
        interval = " [{:.1%}, {:.1%}]".format(*of["interval"]) if of["interval"] else ""
        rivals = ", ".join(f"{name} {b['accuracy']:.1%}" for name, b in epoch.validation["baselines"][head].items())
        lines.append(f"  validation {head}: {of['accuracy']:.1%}{interval} of {of['n']} ({rivals}): {of['verdict']}")
    return lines
