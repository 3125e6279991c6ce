"""Is it skill? The same run on the real targets and on shuffled ones, judged on validation NLL. A generator of events.

Accuracy is no judge: on a predictive feature a random rule scores either side of chance. The NLL of runs that have
nothing to learn lies close together, so a run that has learnt something stands apart from them.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Generator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtrit

from nn.config import SkillConfig
from nn.events import ControlEpoch, EpochDone, RunEnded, RunStarted
from nn.fit import Control, Said, fit
from nn.job import Job
from nn.judging import Json
from nn.training_data import NothingToTrain

SKILL, NO_SKILL = "skill", "no skill"
CONFIDENCE = 0.95


class Losses(NamedTuple):
    """The best validation of one run: the weighted NLL, and that of each head."""

    loss: float
    heads: dict[str, float]


def verdict(real: float, shuffled: Sequence[float]) -> Json:
    """Give `{verdict, real, shuffled, limit}`: skill where the real NLL lies below `limit` and every shuffled one.

    `limit` is what one more shuffled run would undercut in 5 of 100 cases: the one-sided prediction limit of a normal
    sample (Hahn and Meeker 1991, section 4.2).
    """
    values = np.array(shuffled)
    spread = float(values.std(ddof=1)) * np.sqrt(1 + 1 / len(values))
    limit = float(values.mean() - stdtrit(len(values) - 1, CONFIDENCE) * spread)
    told = SKILL if real < min(limit, float(values.min())) else NO_SKILL
    return {"verdict": told, "real": real, "shuffled": list(shuffled), "limit": limit}


def summary_of(real: Losses, shuffled: Sequence[Losses]) -> Json:
    """Give the verdict on the weighted loss, that of each head, and it all in words."""
    overall = verdict(real.loss, [of.loss for of in shuffled])
    heads = {head: verdict(real.heads[head], [of.heads[head] for of in shuffled]) for head in real.heads}
    lowest, highest = min(overall["shuffled"]), max(overall["shuffled"])
    words = (
        f"{overall['verdict']}: validation loss {real.loss:.4f} on the real targets, {lowest:.4f} to {highest:.4f} in "
        f"{len(shuffled)} runs on shuffled ones; " + ", ".join(f"{head}: {of['verdict']}" for head, of in heads.items())
    )
    return {**overall, "heads": heads, "words": words}


def is_it_skill(job: Job, control: Control) -> Generator[Said, None, None]:
    """Train once on the real targets, then on so many shufflings of them; the last event has the verdict.

    Each run starts fresh, with a seed of its own, and leaves nothing. Raises NothingToTrain without a validation set.
    """
    return (yield from _Trial(job, control).steps())


class _Trial:
    def __init__(self, job: Job, control: Control) -> None:
        self.job, self.control = job, control
        config = job.config
        assert isinstance(config, SkillConfig)  # noqa: S101 - the command says so
        self.config = config
        self.began = time.perf_counter()
        self.told = False
        self.epochs = 0  # that were judged, over all runs

    def steps(self) -> Generator[Said, None, None]:
        found: list[Losses] = []
        for number in range(self.config.shuffled_runs + 1):
            losses = yield from self._run(number)
            if self.control.end:
                yield self._ended(self.control.end, {})
                return
            if losses is None:
                raise NothingToTrain("there is no validation set to judge by: give split a second share above 0")
            found.append(losses)
        yield self._ended("finished", {"skill": summary_of(found[0], found[1:])})

    def _run(self, number: int) -> Generator[Said, None, Losses | None]:
        config = dataclasses.replace(self.config, seed=self.config.seed + number, shuffle_targets=False)
        job = dataclasses.replace(
            self.job, config=config, checkpoint_dir=None, weights=None, permutation=number or None
        )
        best: Losses | None = None
        for said in fit(job, self.control):
            if isinstance(said, RunStarted) and not self.told:
                self.told = True
                yield dataclasses.replace(said, mode="skill", config=self.config.to_json(), notes=[*said.notes, WHAT])
            elif isinstance(said, EpochDone) and said.validation is not None:
                losses = _losses(said.validation)
                best = losses if best is None or losses.loss < best.loss else best
                yield self._epoch(number, said, losses, best)
            else:
                yield None
        return best

    def _epoch(self, number: int, epoch: EpochDone, losses: Losses, best: Losses) -> ControlEpoch:
        self.epochs += 1
        total = (self.config.shuffled_runs + 1) * self.config.epochs
        done = number * self.config.epochs + epoch.epoch
        which = f"Shuffled {number}/{self.config.shuffled_runs}" if number else "Real targets"
        return ControlEpoch(
            run_id=self.job.run_id,
            time=self.job.now_ms(),
            line=f"{which}, epoch {epoch.epoch}/{epoch.epochs}: validation loss {losses.loss:.4f}",
            number=number,
            runs=self.config.shuffled_runs,
            epoch=epoch.epoch,
            epochs=epoch.epochs,
            loss=losses.loss,
            heads=losses.heads,
            best_loss=best.loss,
            eta_s=(total - done) * (time.perf_counter() - self.began) / self.epochs,
        )

    def _ended(self, state: str, summary: dict[str, Any]) -> RunEnded:
        cause = "a check on skill is not resumed; start it again" if state == "interrupted" else None
        return RunEnded(run_id=self.job.run_id, time=self.job.now_ms(), state=state, cause=cause, summary=summary)


WHAT = "a check on skill: one run on the real targets, the others on shuffled ones; nothing that they learn is kept"


def _losses(validation: Json) -> Losses:
    return Losses(float(validation["loss"]), {head: float(of["nll"]) for head, of in validation["heads"].items()})
