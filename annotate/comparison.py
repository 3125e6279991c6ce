"""Runs beside each other: their curves in one figure each, and the fields of their configs in which they differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from annotate.figures import COURSE, MOST_POINTS, as_figure, line, means, reach
from annotate.models import Json, Run
from annotate.store.events import read_fields, sample_events

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

CURVES: dict[str, tuple[str, tuple[str, ...]]] = {
    "loss": ("Validation loss", ("validation", "loss")),
    "candle_accuracy": ("Candle accuracy, validation", ("validation", "candle_accuracy")),
    "trend_accuracy": ("Trend accuracy, validation", ("validation", "trend_accuracy")),
    "label_f1": ("Label F1, validation", ("validation", "heads", "label", "f1")),
}
STEPS = {"loss": "Train loss", **COURSE}
FACTS: dict[str, tuple[str, ...]] = {
    "state": ("state",),
    "best epoch": ("summary", "best_epoch"),
    "validation loss": ("summary", "validation", "loss"),
    "candle accuracy": ("summary", "validation", "candle_accuracy"),
    "trend accuracy": ("summary", "validation", "trend_accuracy"),
    "verdict": ("summary", "verdict"),
    "note": ("note",),
}


def compare(session: Session, runs: Sequence[Run]) -> Json:
    """Give `{items: figures, differences: [{field, values}], facts: [{field, values}]}`; values are in the runs' order.

    A field stands under `differences` where two runs have other values for it, or one does not have it.
    """
    return {
        "runs": [run.id for run in runs],
        "items": [made for made in _figures(session, runs) if made["figure"]["data"]],
        "differences": _differences(runs),
        "facts": [{"field": name, "values": [_fact(run, path) for run in runs]} for name, path in FACTS.items()],
    }


def _figures(session: Session, runs: Sequence[Run]) -> list[Json]:
    epochs = {run.id: sample_events(session, run.id, "epoch_done", MOST_POINTS) for run in runs}
    fields = ("step", *STEPS)
    steps = {run.id: dict(zip(fields, read_fields(session, run.id, "batch_done", fields), strict=True)) for run in runs}
    told = [run for run in runs if steps[run.id]["step"]]
    course = [
        as_figure(
            "train_loss" if name == "loss" else name,
            title,
            "step",
            [line(_name(run), *means(steps[run.id]["step"], steps[run.id][name])) for run in told],
        )
        for name, title in STEPS.items()
    ]
    made = course[:1]
    for name, (title, path) in CURVES.items():
        traces = [
            line(
                _name(run),
                [epoch["epoch"] * epoch["batches"] for epoch in epochs[run.id]],
                [reach(epoch, *path) for epoch in epochs[run.id]],
                markers=True,
            )
            for run in runs
        ]
        made.append(_close_up(as_figure(name, title, "step", traces, share=name != "loss")))
    return made + course[1:]


def _close_up(named: Json) -> Json:
    """Let the axis of shares begin where the curves do: runs beside each other differ by little."""
    named["figure"]["layout"].get("yaxis", {}).pop("rangemode", None)
    return named


def _differences(runs: Sequence[Run]) -> list[Json]:
    names = sorted({name for run in runs for name in run.config})
    rows = [{"field": name, "values": [run.config.get(name) for run in runs]} for name in names]
    return [row for row in rows if any(value != row["values"][0] for value in row["values"])]


def _fact(run: Run, path: tuple[str, ...]) -> Any:
    return reach({"state": run.state, "summary": run.summary, "note": run.note}, *path)


def _name(run: Run) -> str:
    return f"run {run.id}, {run.config.get('model', run.mode)}"
