"""A batch run in a terminal: prints the lines that the page shows, and keeps checkpoints where it is told to."""

from __future__ import annotations

import dataclasses
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nn.audit import CLEAN, audit_leaks
from nn.config import BatchConfig, ConfigError, ModelConfig, SkillConfig
from nn.crew import fit_together
from nn.dataset_dir import DatasetDir
from nn.device import calibrate_threads, choose, memory_line
from nn.events import EpochDone, Event, JudgedOnTest, RunEnded, RunResumed, RunStarted, Warned
from nn.fit import Control, Said, fit
from nn.job import Job
from nn.learner import Learner, Schedule
from nn.loaded import Choice, as_loaded
from nn.ranks import RankLost, Ranks, join, leave
from nn.skill import SKILL, is_it_skill
from nn.targets import head_classes
from nn.windows import noise

Json = dict[str, Any]

STOPPED = 130  # exit code after Ctrl+C, as shells have it


def fit_in_shell(
    config: BatchConfig,
    folder: Path,
    dataset: DatasetDir,
    *,
    device: str,
    threads: int,
    checkpoints: Path | None,
    resume: bool,
    say: Callable[[str], object],
) -> int:
    """Train on the dataset of `folder` and say each line; give the exit code.

    Raises ConfigError, DeviceError, NothingToTrain, CheckpointError, RankLost. Under `torchrun`, or with `ranks`, all
    processes train one model, and the first alone says lines and keeps checkpoints.
    """
    joined = join()
    config = _with_ranks_of(config, joined)
    if joined.rank > 0:
        say = _nothing
    chosen = choose(device, use_amp=config.use_amp)
    count = threads or max(1, fastest_threads(str(chosen.device)) // config.ranks)
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
        ranks=joined,
    )
    control = Control()
    if config.ranks > 1:
        _end_together(control)
    try:
        for said in fit(job, control) if joined.size > 1 else fit_together(job, control, folder):
            for line in lines_of(said):
                say(line)
    except RuntimeError as error:
        if joined.size == 1:
            raise
        raise RankLost(f"process {joined.rank} of {joined.size} lost another one: {error}") from error
    except KeyboardInterrupt:
        say("stopped" + (f"; --resume goes on from {checkpoints}" if checkpoints else "; nothing was kept"))
        return STOPPED
    leave(joined)
    return STOPPED if control.end else 0


def audit_in_shell(
    config: BatchConfig, dataset: DatasetDir, *, device: str, threads: int, say: Callable[[str], object]
) -> int:
    """Ask whether a run with this config is skill, or look for leaks, and say each line.

    Give 0 for skill and for no leak, 1 for the other answer. Raises DeviceError, NothingToTrain.
    """
    chosen = choose(device, use_amp=config.use_amp)
    count = threads or fastest_threads(str(chosen.device))
    reason = "the shell starts fresh"
    job = Job(run_id=1, config=config, dataset=dataset, device=chosen, threads=count, reason=reason)
    if isinstance(config, SkillConfig):
        kind, good, audit = "skill", SKILL, is_it_skill(job, Control())
    else:
        labels = tuple(dataset.manifest.get("labels") or ())
        fresh = as_loaded(Choice(None, "fresh", reason), config, job.run_id, labels)
        kind, good, audit = "leaks", CLEAN, audit_leaks(job, Control(), fresh.snapshot, reason)
    try:
        for said in audit:
            if isinstance(said, RunEnded):
                found = said.summary[kind]
                say(str(found.get("words", found["verdict"])))
                return 0 if found["verdict"] == good else 1
            for line in lines_of(said):
                say(line)
    except KeyboardInterrupt:
        say("stopped")
    return STOPPED


def _with_ranks_of(config: BatchConfig, joined: Ranks) -> BatchConfig:
    """Have the config say how many processes `torchrun` started; raise ConfigError where it asks for another number."""
    if joined.size == 1:
        return config
    if config.ranks not in (1, joined.size):
        raise ConfigError("ranks", config.ranks, f"torchrun started {joined.size} processes; leave --ranks out")
    return dataclasses.replace(config, ranks=joined.size)


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
            return _judged("validation", said.validation)
        case JudgedOnTest():
            return _judged("test", said.test)
        case Warned():
            return [f"warning: {said.message}"]
        case RunEnded():
            return [f"{said.state}: {said.summary.get('step')} steps, best epoch {said.summary.get('best_epoch')}"]
        case _:
            return []


def _judged(part: str, found: Json | None) -> list[str]:
    """Give one line a head: its figures on a part of the split beside the baselines', and the verdict."""
    if found is None:
        return [f"  {part}: none"]
    lines = []
    for head, of in found["heads"].items():
        interval = " [{:.1%}, {:.1%}]".format(*of["interval"]) if of["interval"] else ""
        rivals = ", ".join(f"{name} {b['accuracy']:.1%}" for name, b in found["baselines"][head].items())
        lines.append(f"  {part} {head}: {of['accuracy']:.1%}{interval} of {of['n']} ({rivals}): {of['verdict']}")
        if doubt := of.get("uncertainty"):
            within = " [{:+.4f}, {:+.4f}]".format(*doubt["interval"]) if doubt["interval"] else ""
            lines.append(f"  {part} {head}: the uncertainty head changes the NLL by {doubt['difference']:+.4f}{within}")
    return lines
