"""What the suggester process is asked and what it says: frozen, JSON-able; one JSON object a line.

Every question is answered by exactly one `Answer`; a Suggest or a Prelabel gives `Suggested` pieces before it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from nn.commands import Command, Shutdown
from nn.events import Answer, Message, WorkerReady

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question(Command):
    """Base of every question: its number, and the candles and marks that it is about."""

    request_id: int
    series_id: int
    candles: str  # absolute path of a candle file
    timeframe_ms: int
    layers: Json = field(default_factory=dict)  # layer → its labels
    annotations: list[Json] = field(default_factory=list)  # as the API shows them
    request: Json = field(default_factory=dict)  # the fields of `nn.suggest.Request`


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggest(Question):
    """Learn the marks and suggest; answered by `{lesson: [...]}` after the last piece."""

    type = "suggest"
    mode: str = "history"  # history: hindsight; causal: nothing after a candle is looked at


@dataclass(frozen=True, slots=True, kw_only=True)
class Prelabel(Question):
    """Suggest by a rule; nothing is learnt."""

    type = "prelabel"
    rule: str
    parameters: Json
    labels: Json  # {rising, falling}: names of labels


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask(Question):
    """Ask what the marks teach: `doubts`, `places`, `curve`, `live` or `summary`; answered by `{found}`."""

    type = "ask"
    what: str
    count: int = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Compare(Question):
    """Ask how well these marks teach to find others, beside spans that another model found there.

    Answered by `{marks, own, other}`: how many marks were held out, and the F1 of either on them.
    """

    type = "compare"
    held_out: list[Json]  # spans that neither saw
    other: list[Json]  # what the other found where they lie


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancel(Command):
    """Give up a question; it is still answered, with what was done."""

    type = "cancel"
    request_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggested(Message):
    """A piece of what was asked for, in order of time; `suggestions` are drafts of annotations with `probability`."""

    type: ClassVar[str] = "suggested"
    request_id: int
    done: int  # candles
    total: int
    suggestions: list[Json]


QUESTIONS: dict[str, type[Command]] = {cls.type: cls for cls in (Suggest, Prelabel, Ask, Compare, Cancel, Shutdown)}
SAID: dict[str, type[Message]] = {cls.type: cls for cls in (WorkerReady, Suggested, Answer)}


def question_from_json(line: Json) -> Command:
    """Rebuild what `to_json` gave; raise KeyError for a question that does not exist."""
    body = dict(line)
    return QUESTIONS[body.pop("command")](**body)


def said_from_json(line: Json) -> Message:
    """Rebuild what `to_json` gave; raise KeyError for a message that does not exist."""
    body = dict(line)
    return SAID[body.pop("message")](**body)
