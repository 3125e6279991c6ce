"""Doubts: what a file leaves open, what was answered, and what is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotate.errors import InvalidInput, NeedsAnswer

# Every answer that a file may come with; docs/importing.md says what each is for.
KNOWN = frozenset(
    (
        *(
            "symbol",
            "timeframe",
            "zone",
            "symbols",
            "unit",
            "date_order",
            "small_times",
            "ticks_since",
            "clock_digits",
            "after_date",
        ),
        *("stamp", "decimal_comma", "decimal_dot", "column_order", "duplicates", "violations"),
        *(f"column_{role}" for role in ("time", "open", "high", "low", "close", "volume")),
    )
)


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer that a question allows."""

    value: str
    label: str
    likely: bool = False

    def to_json(self) -> dict[str, Any]:
        """Give the choice as the page and the API speak it."""
        return {"value": self.value, "label": self.label, "likely": self.likely}


@dataclass(slots=True)
class Doubts:
    """The answers that came with a file, and the questions that stay open.

    Reading goes on with the likely answer, so that all questions of a file are found in one pass;
    `settle` then refuses to hand out candles that rest on a guess.
    """

    answers: Mapping[str, Any]
    questions: dict[str, dict[str, Any]] = field(default_factory=dict)
    looked_for: dict[str, str | None] = field(default_factory=dict)  # every answer that a step went by, or missed

    def __post_init__(self) -> None:
        unknown = sorted(set(self.answers) - KNOWN)
        if unknown:
            known = ", ".join(sorted(KNOWN))
            raise InvalidInput(f"answer {unknown[0]}: nothing asks for it; known are {known}", name=unknown[0])

    def given(self, name: str) -> str | None:
        """Give the answer to `name` as text, or None when there is none."""
        value = self.answers.get(name)
        text = ("" if value is None else str(value).strip()) or None
        self.looked_for[name] = text
        return text

    def option(self, name: str, allowed: Sequence[str]) -> str:
        """Give a choice that has a stated default, the first of `allowed`; it is never asked."""
        answer = self.given(name)
        if answer is not None and answer not in allowed:
            raise InvalidInput(f"{name}: {answer!r} is not one of {', '.join(allowed)}", name=name, value=answer)
        return answer or allowed[0]

    def ask(
        self,
        name: str,
        question: str,
        choices: Sequence[Choice],
        reason: str,
        *,
        free: bool = False,
        by_rows: bool = False,
    ) -> str:
        """Give the answer to a question, or note it as open and give the likely one.

        `free` allows answers beyond the choices (a time zone, a timeframe); their reader checks them. `by_rows` says
        that the rows make the likely answer so, whatever was answered for another file.
        """
        answer = self.given(name)
        if answer is not None:
            known = [choice.value for choice in choices]
            if not free and answer not in known:
                raise InvalidInput(f"{name}: {answer!r} is not one of {', '.join(known)}", name=name, value=answer)
            return answer
        self.questions[name] = {
            "name": name,
            "question": question,
            "choices": [choice.to_json() for choice in choices],
            "reason": reason,
            "by_rows": by_rows,
        }
        return next((choice for choice in choices if choice.likely), choices[0]).value

    def settle(self) -> None:
        """Raise NeedsAnswer when a question is open."""
        if self.questions:
            asked = " ".join(question["question"] for question in self.questions.values())
            raise NeedsAnswer(f"The file leaves something open. {asked}", questions=list(self.questions.values()))
