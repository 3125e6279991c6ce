"""What people answered about the files of a source, so that the next file of it finds the answers filled in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy.orm import Session

from annotate.models import Json, Setting

NAME = "import_choices"
KEPT = 200  # sources remembered; the oldest goes first
# What belongs to the source. The symbol, the timeframe and which series to take belong to one file.
OF_SOURCE = frozenset(
    (
        "zone",
        "date_order",
        "small_times",
        "ticks_since",
        "clock_digits",
        "after_date",
        "stamp",
        "decimal_comma",
        "decimal_dot",
        "column_order",
    )
)

FREE = ("zone",)  # may be answered with more than the choices


def source_of(report: Mapping[str, Any]) -> str:
    """Name the source of a file: its format and the columns that it was read from."""
    columns = [f"{role}={column['name']}" for role, column in sorted(report["columns"].items())]
    return " ".join([str(report["format"]), *columns])


def remembered(session: Session, source: str) -> Json:
    """Give the answers that were last given for a source, by question; none for an unknown one."""
    stored = session.get(Setting, NAME)
    return dict(stored.value.get(source, {})) if stored else {}


def remember(session: Session, source: str, answers: Mapping[str, Any]) -> None:
    """Keep the answers that belong to the source."""
    lasting = {name: str(value) for name, value in answers.items() if name in OF_SOURCE and str(value).strip()}
    if not lasting:
        return
    stored = session.get(Setting, NAME)
    every = {name: value for name, value in (stored.value if stored else {}).items() if name != source}
    every[source] = lasting
    session.merge(Setting(name=NAME, value=dict(list(every.items())[-KEPT:])))


def prefilled(questions: list[Json], answers: Mapping[str, str]) -> list[Json]:
    """Give the questions with the remembered answers as the likely ones."""
    return [
        question
        if question.get("by_rows") or question["name"] not in answers
        else _likely(question, answers[question["name"]])
        for question in questions
    ]


def _likely(question: Json, answer: str) -> Json:
    choices = [{**choice, "likely": choice["value"] == answer} for choice in question["choices"]]
    if not any(choice["likely"] for choice in choices):
        if question["name"] not in FREE:
            return question  # what fitted that file cannot be in this one
        choices.insert(0, {"value": answer, "label": answer, "likely": True})
    label = next(choice["label"] for choice in choices if choice["likely"])
    return {**question, "choices": choices, "reason": f"{question['reason']} For the last file like this: {label}."}
