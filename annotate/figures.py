"""A run as Plotly figures: loss and accuracies, each with what needs no model beside it. Plain data; the page draws."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from annotate.judged_figures import judged_figures, skill_figures
from annotate.models import Json, Run
from annotate.store.candle_hours import list_hours
from annotate.store.events import read_fields, sample_events

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

MOST_POINTS = 2000  # of one trace; SVG draws more slowly than a person looks
HEADS = {"candle": "Candle", "trend": "Trend"}
SPLITS = {"train": "train", "validation": "validation"}
LIVE_WINDOWS = {"100": "last 100", "1000": "last 1,000", "all": "since the start"}
COURSE = {"learning_rate": "Learning rate", "gradient_norm": "Gradient norm", "windows_per_s": "Windows a second"}
BATCH_FIELDS = ("step", "loss", "candle_accuracy", "trend_accuracy", *COURSE)

Values = Sequence[float | None]


def figures_of(session: Session, run: Run) -> list[Json]:
    """Give `{name, title, figure}` for each figure of a run; `figure` is Plotly's `{data, layout}`.

    Batch figures run over optimizer steps: the batch alone, the epoch's train mean, validation. Live ones run over the
    scored candles, and speak of unseen candles only: prequential. Every accuracy has its baselines as dashed lines.
    """
    if run.mode == "skill":
        return list(skill_figures(run.summary.get("skill")))
    made = {"batch": _batch_figures, "live": _live_figures}.get(run.mode)
    return [] if made is None else list(made(session, run.id))


def _batch_figures(session: Session, run_id: int) -> Iterable[Json]:
    columns = read_fields(session, run_id, "batch_done", BATCH_FIELDS)
    epochs = sample_events(session, run_id, "epoch_done", MOST_POINTS)
    steps, batches = columns[0], dict(zip(BATCH_FIELDS[1:], columns[1:], strict=True))
    ends = [epoch["epoch"] * epoch["batches"] for epoch in epochs]
    for field, title in (("loss", "Loss"), *((f"{head}_accuracy", f"{word} accuracy") for head, word in HEADS.items())):
        traces = [line("batch", *means(steps, batches[field]), width=1)]
        traces += [line(word, ends, _deep(epochs, split, field), markers=True) for split, word in SPLITS.items()]
        if field != "loss":
            traces += _baselines(epochs, ends, field.removesuffix("_accuracy"), "accuracy")
        yield as_figure(field, title, "step", traces, share=field != "loss")
    for head, word in HEADS.items():
        traces = [line("validation", ends, _deep(epochs, "validation", "heads", head, "nll"), markers=True)]
        yield as_figure(
            f"{head}_nll", f"{word} loss (−log P)", "step", [*traces, *_baselines(epochs, ends, head, "nll")]
        )
    for field, title in COURSE.items():
        yield as_figure(field, title, "step", [line("batch", *means(steps, batches[field]), width=1)])
    best = next((epoch for epoch in reversed(epochs) if epoch.get("best")), None)
    tested = sample_events(session, run_id, "test_judged", MOST_POINTS)
    yield from judged_figures(best, tested[-1] if tested else None)


def _baselines(epochs: list[Json], ends: list[int], head: str, figure: str) -> list[Json]:
    """Give the baselines on the validation split; on the train split where there is no other."""
    judged = "validation" if any(epoch["validation"] for epoch in epochs) else "train"
    names = {name for epoch in epochs for name in reach(epoch, judged, "baselines", head) or {}}
    return [
        line(f"{name} ({judged})", ends, _deep(epochs, judged, "baselines", head, name, figure), dash="dash")
        for name in sorted(names)
    ]


def _live_figures(session: Session, run_id: int) -> Iterable[Json]:
    hours = [hour for hour in list_hours(session, run_id) if reach(hour, "figures", "of") == "unseen"]
    newest = [event for event in sample_events(session, run_id, "candle_scored", MOST_POINTS) if not event["seen"]]
    scored = [*hours, *newest]
    times = [_day(event["candle_time"]) for event in scored]
    for figure, word, share in (("accuracy", "accuracy", True), ("nll", "loss (−log P)", False)):
        for head, name in HEADS.items():
            traces = [
                line(title, times, _deep(scored, "figures", head, window, figure))
                for window, title in LIVE_WINDOWS.items()
            ]
            if share:
                traces.insert(0, _interval(scored, times, head))
            traces += _rivals(scored, times, head, figure)
            yield as_figure(f"{head}_{figure}", f"{name} {word}, prequential", "candle", traces, share=share)
    learnt = sample_events(session, run_id, "candle_learnt", MOST_POINTS)
    moments = [_day(event["candle_time"]) for event in learnt]
    losses = [
        line("candle", moments, _deep(learnt, "loss"), width=1),
        line("average", moments, _deep(learnt, "average_loss")),
    ]
    yield as_figure("loss", "Training loss", "candle", losses)


def _interval(scored: list[Json], times: list[str], head: str) -> Json:
    """Give the 95% interval of the accuracy over all candles, as an area."""
    bounds = [reach(event, "figures", head, "all", "interval") for event in scored]
    known = [(time, pair) for time, pair in zip(times, bounds, strict=True) if pair is not None]
    x, low, high = [time for time, _ in known], [pair[0] for _, pair in known], [pair[1] for _, pair in known]
    area = line("95% interval since the start", [*x, *reversed(x)], [*high, *reversed(low)], width=0)
    return {**area, "fill": "toself"}


def _rivals(scored: list[Json], times: list[str], head: str, figure: str) -> list[Json]:
    path = ("figures", head, "all", "baselines")
    names = {name for event in scored for name in reach(event, *path) or {}}
    return [line(name, times, _deep(scored, *path, name, figure), dash="dash") for name in sorted(names)]


def as_figure(name: str, title: str, over: str, traces: list[Json], *, share: bool = False) -> Json:
    """Give `{name, title, figure}`; a trace without a value is left out, `share` writes the values in percent."""
    layout: Json = {"title": {"text": title}, "xaxis": {"title": {"text": over}}}
    if share:
        layout["yaxis"] = {"tickformat": ".0%", "rangemode": "tozero"}
    shown = [trace for trace in traces if any(value is not None for value in trace["y"])]
    return {"name": name, "title": title, "figure": {"data": shown, "layout": layout}}


def line(name: str, x: Sequence[Any], y: Values, *, width: int = 2, dash: str = "solid", markers: bool = False) -> Json:
    """Give a line trace; a dashed one is a baseline."""
    # Always `scatter`: the WebGL traces compile code at run time, which the page's security policy forbids.
    return {
        "type": "scatter",
        "name": name,
        "x": list(x),
        "y": list(y),
        "mode": "lines+markers" if markers else "lines",
        "line": {"width": width, "dash": dash},
    }


def means(x: Values, y: Values) -> tuple[list[float | None], list[float | None]]:
    """Thin a trace to at most MOST_POINTS: the mean of each stretch, at the x of its end."""
    size = max(1, -(-len(x) // MOST_POINTS))
    values = np.array(y, np.float64)  # None becomes NaN
    starts = range(0, len(x), size)
    return [x[min(start + size, len(x)) - 1] for start in starts], [
        _mean(values[start : start + size]) for start in starts
    ]


def _mean(values: np.ndarray[Any, np.dtype[np.float64]]) -> float | None:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else None


def _deep(bodies: Iterable[Json], *path: str) -> list[float | None]:
    return [reach(body, *path) for body in bodies]


def reach(body: Json | None, *path: str) -> Any:
    """Give what stands at a path of names, None where it breaks off."""
    found: Any = body
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return found


def _day(time_ms: int) -> str:
    return str(np.datetime64(time_ms, "ms"))  # UTC, as Plotly reads text without a zone
