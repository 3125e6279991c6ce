"""Which reader is chosen, and how well it reads what it has not seen."""

import itertools

import numpy as np
import pytest

from nn.few.choice import blocks, choose
from nn.few.ground import Ground
from nn.few.habit import Habit, habit, shifted
from nn.few.lesson import Lesson
from nn.few.marked import UNKNOWN, Marked, candle_classes, passed_over
from nn.few.market import Market
from nn.few.piece import Piece
from nn.few.readers import READERS
from nn.few.spans import Agreement, Span, agreement
from tests.nn.few.markets import bursts_of, marked, market, shaky, swings_of

N, TEST = 6_000, 3_000


def on_the_rest(path: Market, chosen_read: object, wanted: list[Span]) -> Agreement:
    read = chosen_read(Piece(path, TEST - 300, N))  # type: ignore[operator]
    return agreement([s for s in read if s.start >= TEST], [s for s in wanted if s.start >= TEST])


@pytest.fixture(scope="module")
def path() -> Market:
    return market(N)


def test_twenty_clean_swings_teach_to_read_the_rest(path: Market) -> None:
    swings = swings_of(path)
    chosen = choose(path, marked([s for s in swings if s.end < TEST][:20]))
    found = on_the_rest(path, chosen.read, swings)
    assert found.f1 > 0.8
    assert found.both_ends > 0.6


def test_without_the_rule_that_made_them_swings_are_still_read_better_than_by_the_plain_recipe(path: Market) -> None:
    swings = swings_of(path)
    general = {name: reader for name, reader in READERS.items() if name != "swings"}
    chosen = choose(path, marked([s for s in swings if s.end < TEST][:30]), general)
    plain = READERS["states"].learn(chosen.lesson)
    assert on_the_rest(path, chosen.read, swings).quality > on_the_rest(path, plain, swings).quality


def test_a_shaky_hand_is_read_no_worse_than_by_the_plain_recipe(path: Market) -> None:
    swings = swings_of(path)
    chosen = choose(path, marked(shaky([s for s in swings if s.end < TEST][:40])))
    plain = READERS["states"].learn(chosen.lesson)
    assert on_the_rest(path, chosen.read, swings).f1 >= on_the_rest(path, plain, swings).f1


def test_one_class_that_is_no_swing_is_read_by_a_general_reader(path: Market) -> None:
    bursts = bursts_of(path)
    chosen = choose(path, marked([s for s in bursts if s.end < TEST][:40], classes=1))
    plain = READERS["states"].learn(chosen.lesson)
    assert chosen.name.startswith(("segments", "states"))
    assert on_the_rest(path, chosen.read, bursts).f1 > max(0.3, on_the_rest(path, plain, bursts).f1)


def test_marks_without_a_pattern_are_not_claimed_to_be_read_well(path: Market) -> None:
    draw = np.random.default_rng(4)
    starts = np.sort(draw.choice(np.arange(0, N - 100, 60), 40, replace=False)).tolist()
    spans = [Span(a, a + int(draw.integers(5, 50)), int(draw.integers(2))) for a in starts]
    readers = {name: READERS[name] for name in ("segments", "states", "stretches")}
    assert choose(path, marked(spans), readers).score.f1 < 0.4


def test_a_hand_that_begins_late_is_learnt(path: Market) -> None:
    late = [Span(s.start + 3, s.end - 2, s.label) for s in swings_of(path) if s.end - s.start > 8]
    chosen = choose(path, marked([s for s in late if s.end < TEST][:30]))
    assert on_the_rest(path, chosen.read, late).both_ends > 0.5


def test_no_marks_are_refused(path: Market) -> None:
    with pytest.raises(ValueError, match="no marked spans"):
        choose(path, marked([]))


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_very_few_marks_give_a_reader_and_no_error(path: Market, count: int) -> None:
    chosen = choose(path, marked(swings_of(path)[:count]))
    assert isinstance(chosen.read(Piece(path, 0, 500)), list)


def test_blocks_cover_time_once_and_hold_as_many_marks_each(path: Market) -> None:
    spans = marked(swings_of(path)[:23])
    cut = blocks(spans, N)
    assert cut[0][0] == 0
    assert cut[-1][1] == N
    assert all(a[1] == b[0] for a, b in itertools.pairwise(cut))
    counts = [sum(a <= s.middle < b for s in spans.spans) for a, b in cut]
    assert max(counts) - min(counts) <= 2


def test_a_lesson_knows_nothing_of_the_range_that_is_held_out(path: Market) -> None:
    spans = marked(swings_of(path)[:30])
    ground = Ground(path, spans)
    held_out = blocks(spans, N)[2]
    lesson = Lesson(ground, held_out)
    inside = (ground.rows >= held_out[0]) & (ground.rows < held_out[1])
    assert (lesson.classes[inside] == UNKNOWN).all()
    assert not any(held_out[0] <= s.middle < held_out[1] for s in lesson.marked.spans)
    table = ground.stretches
    reaches_in = (table.begin + 1 < held_out[1]) & (table.end >= held_out[0])
    assert (lesson.matches[reaches_in] == UNKNOWN).all()
    assert (ground.matches[reaches_in] != UNKNOWN).any()


def test_rooms_between_touching_marks_say_nothing_and_between_lone_ones_they_do() -> None:
    touching = [Span(i * 20, i * 20 + 20, i % 2) for i in range(20) if i != 7]
    assert passed_over(Marked(touching, [], 2)) == []
    apart = Marked([Span(i * 60, i * 60 + 20, 0) for i in range(1, 9)], [], 1)
    classes = candle_classes(apart, 700)
    assert (classes[90:110] == 1).all()
    assert (classes[60:80] == 0).all()


def test_reviewed_candles_without_a_mark_are_nothing() -> None:
    classes = candle_classes(Marked([Span(10, 20, 0), Span(20, 30, 1)], [(0, 50)], 2), 100)
    assert classes[:10].tolist() == [2] * 10
    assert classes[60:].tolist() == [UNKNOWN] * 40


def test_accepted_marks_weigh_less_and_do_not_judge(path: Market) -> None:
    spans = swings_of(path)[:24]
    own, accepted = spans[:16], spans[16:]
    lesson = Lesson(Ground(path, Marked(spans, [], 2, dict.fromkeys(accepted, 0.25))))
    assert lesson.marked.own == own
    assert lesson.judged(spans) == own
    assert set(lesson.ground.weights.tolist()) == {0.25, 1.0}


def test_a_habit_needs_five_pairs_and_keeps_spans_apart() -> None:
    found = [Span(i * 20, i * 20 + 20, 0) for i in range(6)]
    marks = [Span(s.start + 3, s.end + 3, 0) for s in found]
    assert habit(found, marks) == Habit(3, 3)
    assert habit(found[:4], marks[:4]) == Habit()
    wider = shifted(found, Habit(-2, 2))
    assert all(a.end <= b.start for a, b in itertools.pairwise(wider))
