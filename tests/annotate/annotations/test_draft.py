"""What a draft may hold; each thing that it may not is refused by name."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotate.annotations.draft import MAX_COMMENT, MAX_LABEL, AnnotationDraft
from annotate.annotations.fields import EARLIEST_MS, LATEST_MS
from annotate.annotations.geometry import EXTENDS, KINDS
from annotate.errors import InvalidInput
from annotate.models import Json
from tests.annotate.annotations.builders import HOUR, START, chart_class, level, point, span, trade, trend_line

ID = "6b1f6a54-5d35-4d9c-8a20-0f6a7f6f3c11"
TIMES = st.integers(EARLIEST_MS, LATEST_MS)
PRICES = st.floats(allow_nan=False, allow_infinity=False)
LIMITS: st.SearchStrategy[float | None] = st.one_of(st.none(), PRICES)
TEXT = st.text(st.characters(exclude_categories=["Cs"]))


def said() -> st.SearchStrategy[Json]:
    """What every kind has."""
    return st.fixed_dictionaries(
        {"label": TEXT.filter(lambda text: bool(text.strip()) and len(text) <= MAX_LABEL)},
        optional={
            "comment": TEXT,
            "confidence": st.none() | st.floats(0, 1),
            "revision": st.integers(0, 1000),
            "status": st.sampled_from(["draft", "done"]),
        },
    )


@st.composite
def drafts(draw: st.DrawFn) -> Json:
    """A good body of any kind."""
    body = draw(said())
    kind = draw(st.sampled_from(list(KINDS)))
    first, last = sorted(draw(st.tuples(TIMES, TIMES)))
    before = min(first, LATEST_MS - 1)
    after = max(last, before + 1)
    if kind in ("span", "candle_class", "chart_class"):
        place: Json = {"start": before, "end": after}
    elif kind == "point":
        place = {"time": first, "price": draw(PRICES)}
    elif kind == "level":
        place = {"price": draw(PRICES), "time": before, "until": draw(st.none() | st.just(after))}
    elif kind == "trend_line":
        ends = {"start": before, "end": after}
        place = {name: {"time": time, "price": draw(PRICES)} for name, time in ends.items()}
        place |= draw(st.fixed_dictionaries({}, optional={"extend": st.sampled_from(EXTENDS)}))
    else:
        place = {
            "side": draw(st.sampled_from(["long", "short"])),
            "entry": {"time": first, "price": draw(PRICES)},
            "exit": {"time": last, "price": draw(PRICES)},
            **draw(st.fixed_dictionaries({}, optional={"stop": LIMITS, "target": LIMITS})),
        }
    return {"kind": kind, **body, **place}


@given(drafts())
def test_what_was_sent_is_what_is_kept(body: Json) -> None:
    kept = AnnotationDraft.from_json(json.loads(json.dumps(body)), ID).to_json()
    assert {name: kept[name] for name in body} == body
    left_out = {name: value for name, value in kept.items() if name not in body}
    defaults = {"comment": "", "confidence": None, "revision": 0, "stop": None, "target": None}
    defaults |= {"status": "done", "extend": "none"}
    assert left_out == {name: defaults[name] for name in left_out}


@given(drafts())
def test_a_kept_draft_read_again_is_the_same(body: Json) -> None:
    draft = AnnotationDraft.from_json(body, ID)
    assert AnnotationDraft.from_json(json.loads(json.dumps(draft.to_json())), ID) == draft


def test_an_answer_can_be_sent_back_as_a_draft() -> None:
    answer = span() | {"id": ID, "author": "me", "source": "human", "mode": "hindsight", "decided_at": 1, "known_at": 2}
    assert AnnotationDraft.from_json(answer, ID) == AnnotationDraft.from_json(span(), ID)


def test_a_span_takes_up_the_time_before_its_end() -> None:
    draft = AnnotationDraft.from_json(span(10, 20), ID)
    assert (draft.first, draft.last) == (START + 10 * HOUR, START + 20 * HOUR - 1)


BAD: list[tuple[Json, str]] = [
    (span() | {"kind": "square"}, "kind"),
    (level(time=START, until=START), "until"),
    (level(until=START), "until"),
    (level() | {"price": None}, "price"),
    (trend_line(10, 10), "end.time"),
    (trend_line(extend="up"), "extend"),
    (chart_class(10), "end"),
    (span(status="ready"), "status"),
    (span() | {"kind": ["span"]}, "kind"),
    (span(colour="red"), "colour"),
    (span(price=1.0), "price"),
    (span(label=""), "label"),
    (span() | {"label": 7}, "label"),
    (span(label="x" * (MAX_LABEL + 1)), "label"),
    (span(label="\ud800"), "label"),
    (span() | {"start": None}, "start"),
    (span() | {"start": 1.5}, "start"),
    (span() | {"start": "2024-01-01"}, "start"),
    (span() | {"start": True}, "start"),
    (span() | {"start": EARLIEST_MS - 1}, "start"),
    (span() | {"end": LATEST_MS + 1}, "end"),
    (span(20, 20), "end"),
    (span(20, 19), "end"),
    (span(comment=5), "comment"),
    (span(comment="x" * (MAX_COMMENT + 1)), "comment"),
    (span(comment="half \udfff"), "comment"),
    (span(confidence=1.01), "confidence"),
    (span(confidence=-0.01), "confidence"),
    (span(confidence=math.nan), "confidence"),
    (span(revision=-1), "revision"),
    (span(revision=1.0), "revision"),
    (span(id="another"), "id"),
    (point(price=math.nan), "price"),
    (point(price=math.inf), "price"),
    (point(price=10**400), "price"),
    (point() | {"price": "1.5"}, "price"),
    (point(price=False), "price"),
    (trade(20, 19), "exit.time"),
    (trade(side="buy"), "side"),
    (trade(side=""), "side"),
    (trade() | {"entry": None}, "entry"),
    (trade() | {"entry": 5}, "entry"),
    (trade() | {"entry": {"time": START}}, "entry.price"),
    (trade() | {"entry": {"time": START, "price": 1.0, "size": 2}}, "entry.size"),
    (trade(exit={"time": START + HOUR * 20, "price": -math.inf}), "exit.price"),
    (trade(stop=math.nan), "stop"),
    (trade(target="high"), "target"),
]


@pytest.mark.parametrize(("body", "field"), BAD, ids=lambda value: value if isinstance(value, str) else "")
def test_a_bad_field_is_refused_by_name_with_its_value(body: Json, field: str) -> None:
    body = dict(body)
    with pytest.raises(InvalidInput) as refused:
        AnnotationDraft.from_json(body, ID)
    assert refused.value.details["field"] == field
    assert refused.value.message.startswith(field)
    json.dumps(refused.value.to_json(), allow_nan=False).encode("utf-8")


@pytest.mark.parametrize("name", ["kind", "label", "start", "end"])
def test_a_missing_field_is_named(name: str) -> None:
    body = {field: value for field, value in span().items() if field != name}
    with pytest.raises(InvalidInput, match=f"^{name} is missing"):
        AnnotationDraft.from_json(body, ID)


@pytest.mark.parametrize("body", [None, [], "span", 3])
def test_a_body_that_is_no_object_is_refused(body: Any) -> None:
    with pytest.raises(InvalidInput, match="must be a JSON object"):
        AnnotationDraft.from_json(body, ID)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.floats() | TEXT, lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner)
)


@settings(max_examples=40)
@given(ANYTHING)
def test_whatever_is_sent_there_is_a_draft_or_a_refusal(body: Any) -> None:
    bodies = (span() | {"start": body}, trade() | {"entry": body}, point() | {"price": body}, span() | {"label": body})
    for given_body in (body, *bodies):
        assert outcome(given_body) in {"draft", "refusal"}


def outcome(body: Any) -> str:
    try:
        AnnotationDraft.from_json(body, ID)
    except InvalidInput:
        return "refusal"
    return "draft"
