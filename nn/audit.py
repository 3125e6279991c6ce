"""The leak check as a run: a generator of events that the trainer loop steps through."""

from __future__ import annotations

import time
from collections.abc import Generator

from nn.events import LeakChecked, RunEnded, RunStarted
from nn.fit import Control, Said
from nn.job import Job
from nn.leaks import find_leaks
from nn.snapshot import Snapshot

CLEAN, LEAKING = "no leak found", "leaks found"


def audit_leaks(job: Job, control: Control, snapshot: Snapshot, reason: str) -> Generator[Said, None, None]:
    """Say what each check found; the last event has the verdict and all findings, those that failed first."""
    yield RunStarted(
        run_id=job.run_id,
        time=job.now_ms(),
        mode="leaks",
        config=job.config.to_json(),
        origin="loaded" if snapshot.step else "fresh",
        reason=reason,
        parameters=sum(p.numel() for p in snapshot.params.values()),
        device="cpu",
        dtype="float32",
        threads=job.threads,
        data={"candles": len(job.dataset.candles), "annotations": len(job.dataset.annotations)},
        notes=["a check on leaks: nothing is trained, nothing is kept"],
    )
    began, found = time.perf_counter(), []
    for finding in find_leaks(job.dataset, job.config, snapshot):
        if control.end:
            cause = "a check on leaks is not resumed; start it again" if control.end == "interrupted" else None
            yield RunEnded(run_id=job.run_id, time=job.now_ms(), state=control.end, cause=cause)
            return
        found.append(finding)
        yield LeakChecked(
            run_id=job.run_id,
            time=job.now_ms(),
            line=f"Leak check {finding.check}: {'passed' if finding.passed else 'LEAK'}: {finding.words}",
            check=finding.check,
            passed=finding.passed,
            words=finding.words,
            marks=list(finding.marks),
        )
    failed = [finding for finding in found if not finding.passed]
    summary = {
        "verdict": LEAKING if failed else CLEAN,
        "checks": [{**each._asdict(), "marks": list(each.marks)} for each in sorted(found, key=lambda of: of.passed)],
        "seconds": time.perf_counter() - began,
    }
    yield RunEnded(run_id=job.run_id, time=job.now_ms(), state="finished", summary={"leaks": summary})
