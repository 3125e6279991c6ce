"""Annotations of a live run: a label counts from the close at which it was known, never before, and comes at once."""

import json
from typing import Any

import numpy as np
import pytest

from nn.dataset_dir import Candles
from nn.events import Warned
from nn.live_marks import LiveMarks
from nn.live_session import Session
from nn.tape import Tape
from nn.windows import Batch
from tests.nn.live_market import MINUTE, START, market, of, play, session
from tests.nn.test_live_session import recorded_batches

LENGTH, HISTORY = 24, 120
TIME = START + MINUTE * np.arange(60, dtype=np.int64)


def span(first: int, last: int, label: str = "Long", **changes: Any) -> dict[str, Any]:
    """Mark the candles first to last, by their number from START."""
    start, end = START + first * MINUTE, START + (last + 1) * MINUTE
    mark = {"id": f"{first}-{last}", "kind": "span", "label": label, "start": start, "end": end, "known_at": end}
    return {**mark, "updated": 1} | changes


def marks(*annotations: dict[str, Any]) -> LiveMarks:
    made = LiveMarks(("Long", "Short"), MINUTE)
    made.take(annotations)
    return made


def closed(number: int) -> int:
    """The moment at which candle `number` has closed."""
    return START + (number + 1) * MINUTE


def test_a_label_is_masked_until_the_very_close_at_which_it_was_known() -> None:
    held = marks(span(10, 14, known_at=closed(20)))
    for now in range(10, 30):
        counts = held.classes(TIME, closed(now)) >= 0
        expected = list(range(10, 15)) if now >= 20 else []
        assert np.flatnonzero(counts).tolist() == expected, now


def test_where_marks_overlap_each_counts_from_when_it_was_known() -> None:
    held = marks(span(10, 14), span(12, 16, "Short", updated=2, known_at=closed(30)))
    assert held.classes(TIME, closed(29))[10:17].tolist() == [0, 0, 0, 0, 0, -1, -1]
    assert held.classes(TIME, closed(30))[10:17].tolist() == [0, 0, 1, 1, 1, 1, 1]


def test_only_what_is_new_or_changed_waits_to_be_shown() -> None:
    tape = Tape(market(60), MINUTE)
    held = marks(span(30, 34))
    assert held.next_window(tape, closed(59), LENGTH) == 35
    held.take([span(30, 34), span(40, 44)])
    assert held.next_window(tape, closed(59), LENGTH) == 45
    held.take([span(30, 34), span(40, 44, "Short", updated=2)])
    assert held.next_window(tape, closed(59), LENGTH) == 45
    held.take([])
    assert held.next_window(tape, closed(59), LENGTH) is None


def test_a_mark_that_is_not_known_yet_waits() -> None:
    tape, held = Tape(market(60), MINUTE), marks(span(30, 34, known_at=closed(50)))
    assert [held.next_window(tape, closed(now), LENGTH) for now in (34, 49, 50, 51)] == [None, None, 35, None]


def test_however_many_marks_lie_ahead_each_comes_when_it_is_known() -> None:
    tape, ahead = Tape(market(600), MINUTE), [span(n, n, known_at=closed(n)) for n in range(599, 99, -1)]
    held = marks(*ahead)
    assert [held.next_window(tape, closed(now), LENGTH) for now in range(100, 600)] == list(range(101, 601))


def test_labels_without_a_class_are_named() -> None:
    held = LiveMarks(("Long",), MINUTE)
    assert held.take([span(1, 2), span(3, 4, "Neu"), span(5, 6, "Alt")]) == ["Alt", "Neu"]


@pytest.mark.parametrize(
    "other",
    [
        {"kind": "point", "label": "Long", "time": START, "price": 1.0},
        {"kind": "trade", "label": "Long", "side": "long", "entry": {"time": START, "price": 1.0}, "exit": None},
        {"kind": "level", "label": "Nowhere", "price": 1.0, "time": None, "until": None},
        {"kind": "chart_class", "label": "Long", "start": None, "end": None},
        {**span(5, 8), "status": "draft"},
        {**span(5, 8), "review": {"verdict": "reject"}},
    ],
    ids=lambda mark: str(mark["kind"]),
)
def test_a_mark_that_gives_candles_no_class_is_left_alone(other: dict[str, Any]) -> None:
    made = LiveMarks(("Long", "Short"), MINUTE)
    time = START + MINUTE * np.arange(20)
    assert made.take([{"id": "other", "known_at": START, "updated": 2} | other, span(1, 3)]) == []
    assert np.flatnonzero(made.classes(time, closed(19)) >= 0).tolist() == [1, 2, 3]
    assert len(made.state()["waiting"]) == 1


def test_a_share_of_what_a_person_only_let_pass_is_a_target_in_every_stretch() -> None:
    held = LiveMarks(("Long", "Short"), MINUTE, accepted_weight=0.3)
    held.take([span(0, 49, source="model_accepted"), span(50, 59, source="model_corrected", updated=2)])
    counts = held.classes(TIME, closed(59)) >= 0
    assert counts[50:].all()
    kept = [int(counts[first : first + 10].sum()) for first in range(0, 50, 10)]
    assert (set(kept) <= {2, 3, 4}, abs(sum(kept) - 15) <= 1) == (True, True)
    assert np.array_equal(held.classes(TIME[20:30], closed(59)) >= 0, counts[20:30])  # whatever the window


def rejected(first: int, last: int, label: str = "Long") -> dict[str, Any]:
    return {"label": label, "start": START + first * MINUTE, "end": START + (last + 1) * MINUTE}


def test_a_rejection_says_from_its_end_on_what_its_candles_are_not() -> None:
    held = marks()
    held.take([], [rejected(10, 14, "Short"), rejected(20, 22, "Elsewhere")])
    assert not (held.refused(TIME, closed(13)) >= 0).any()
    refused = held.refused(TIME, closed(14))
    assert (np.flatnonzero(refused >= 0).tolist(), set(refused[10:15].tolist())) == ([10, 11, 12, 13, 14], {1})


def test_where_a_mark_was_accepted_later_nothing_is_refused_on_candles_that_do_not_count_either() -> None:
    held = LiveMarks(("Long", "Short"), MINUTE, accepted_weight=0.3)
    held.take([span(15, 29, source="model_accepted", known_at=closed(40))], [rejected(10, 19)])
    for now, refused in ((39, list(range(10, 20))), (40, list(range(10, 15)))):
        assert np.flatnonzero(held.refused(TIME, closed(now)) >= 0).tolist() == refused


def test_a_model_of_one_label_takes_no_rejection_since_it_has_no_other_answer() -> None:
    held = LiveMarks(("Long",), MINUTE)
    held.take([], [rejected(10, 14)])
    assert not held.any_refused


def test_the_state_survives_as_text() -> None:
    tape, held = Tape(market(60), MINUTE), LiveMarks(("Long", "Short"), MINUTE)
    held.take([span(30, 34), span(40, 44)], [rejected(50, 52)])
    again = LiveMarks(("Long", "Short"), MINUTE)
    again.restore(json.loads(json.dumps(held.state())))
    for each in (held, again):
        assert [each.next_window(tape, closed(59), LENGTH) for _ in range(4)] == [35, 45, 53, None]
    assert np.array_equal(held.classes(TIME, closed(59)), again.classes(TIME, closed(59)))
    assert np.array_equal(held.refused(TIME, closed(59)), again.refused(TIME, closed(59)))


def labelled(**changes: Any) -> tuple[Session, Candles]:
    """A session whose model knows Long and Short, and the candles of its feed."""
    candles = market(HISTORY + 40)
    return session(candles.slice(0, HISTORY), labels=("Long", "Short"), **changes), candles.slice(HISTORY, HISTORY + 40)


def labels_shown(batches: list[Batch]) -> list[int]:
    """How many labels count in each batch."""
    return [int((batch.targets["label"] >= 0).sum()) for batch in batches]


@pytest.mark.parametrize("policy", ["replay", "last"])
def test_a_new_annotation_is_learnt_in_the_next_step(policy: str) -> None:
    run, feed = labelled(policy=policy, learn_every=4)
    batches = recorded_batches(run)
    play(run, feed.slice(0, 8))
    steps = len(batches)
    assert sum(labels_shown(batches)) == 0
    assert run.take_marks([span(HISTORY, HISTORY + 3)]) == []
    play(run, feed.slice(8, 12), first=False)
    window = batches[steps].targets["label"][1]  # right after the newest window
    assert window[-4:].tolist() == [0, 0, 0, 0]
    assert window[:-4].max() == -1


def test_an_annotation_is_learnt_from_its_known_at_on_and_never_before() -> None:
    known = HISTORY + 13
    run, feed = labelled(learn_every=1)
    run.take_marks([span(HISTORY - 20, HISTORY - 1, known_at=closed(known))])
    batches = recorded_batches(run)
    play(run, feed)
    shown = labels_shown(batches)
    assert shown[: known - HISTORY] == [0] * (known - HISTORY)
    assert shown[known - HISTORY] >= 20  # the step at the very close


def test_a_label_that_the_model_does_not_know_is_said_once() -> None:
    run, _ = labelled()
    (warned,) = of(Warned, run.take_marks([span(1, 2, "Range")]))
    assert (warned.code, "no class for Range" in warned.message) == ("new_label", True)
    assert run.take_marks([span(1, 2, "Range"), span(3, 4, "Range")]) == []


def test_a_taken_back_annotation_is_learnt_no_more() -> None:
    run, feed = labelled(learn_every=1)
    run.take_marks([span(HISTORY - 20, HISTORY - 1)])
    run.take_marks([])
    batches = recorded_batches(run)
    play(run, feed)
    assert sum(labels_shown(batches)) == 0


@pytest.mark.parametrize("policy", ["replay", "last"])
def test_a_rejection_teaches_in_the_next_step_what_its_candles_are_not(policy: str) -> None:
    run, feed = labelled(policy=policy, learn_every=4)
    batches = recorded_batches(run)
    play(run, feed.slice(0, 8))
    steps, drawn = len(batches), span(HISTORY, HISTORY + 1, "Short")
    run.take_marks([drawn])
    play(run, feed.slice(8, 12), first=False)
    run.take_marks([drawn], [rejected(HISTORY, HISTORY + 3)])
    play(run, feed.slice(12, 16), first=False)
    assert batches[steps].refused == {}
    batch = batches[steps + 1] if policy == "replay" else batches[steps + 4]
    assert batch.targets["label"][1][-4:].tolist() == [1, 1, -1, -1]
    assert batch.refused["label"][1][-4:].tolist() == [-1, -1, 0, 0]
