"""What a file of marks leaves open: questions that must be answered, and readings that a person may change. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from annotate.errors import InvalidInput
from annotate.importing.doubts import KNOWN, Choice, Doubts

Json = dict[str, Any]

OF_MARKS = frozenset(("label", "start", "end", "time", "price", "comment", "confidence", "end_is", "rows_are", "task"))


@dataclass(slots=True)
class MarkDoubts(Doubts):
    """Doubts that also note how the file is read, so that a preview can offer the other readings."""

    offers: dict[str, Json] = field(default_factory=dict)

    def __post_init__(self) -> None:
        unknown = sorted(set(self.answers) - KNOWN - OF_MARKS)
        if unknown:
            known = ", ".join(sorted(KNOWN | OF_MARKS))
            raise InvalidInput(f"answer {unknown[0]}: nothing asks for it; known are {known}", name=unknown[0])

    def offer(
        self, name: str, question: str, choices: Sequence[Choice], reason: str = "", *, free: bool = False
    ) -> str:
        """Give the answer to a question that need not be asked, else the likely one; a person may change it.

        Raises InvalidInput for an answer that is none of the choices, unless `free`.
        """
        likely = next((choice for choice in choices if choice.likely), choices[0]).value
        answer = likely if self.given(name) is None else self.ask(name, question, choices, reason, free=free)
        shown = [choice.to_json() | {"likely": choice.value == answer} for choice in choices]
        if free and answer not in [choice.value for choice in choices]:
            shown.insert(0, Choice(answer, answer, likely=True).to_json())
        self.offers[name] = {"name": name, "question": question, "choices": shown, "reason": reason}
        return answer
