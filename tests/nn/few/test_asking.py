"""Doubted marks, the next places, the learning curve."""

import numpy as np
import pytest

from nn.few.chances import Chances, calibrate
from nn.few.choice import Chosen, choose
from nn.few.curve import learning_curve
from nn.few.doubts import rank_doubtful
from nn.few.market import Market
from nn.few.places import BY, next_places
from nn.few.readers import READERS
from nn.few.spans import Span
from tests.nn.few.markets import marked, market, swings_of

N = 6_000
GENERAL = {name: READERS[name] for name in ("segments", "stretches", "states")}


@pytest.fixture(scope="module")
def path() -> Market:
    return market(N, seed=5)


@pytest.fixture(scope="module")
def taught(path: Market) -> tuple[Chosen, Chances]:
    chosen = choose(path, marked([s for s in swings_of(path) if s.end < N // 2][:40], [(N // 2, N // 2 + 1_000)]))
    return chosen, calibrate(chosen)


@pytest.mark.parametrize("kind", ["flip", "stretch"])
def test_planted_wrong_marks_come_first_without_the_rule_that_made_them(path: Market, kind: str) -> None:
    spans = swings_of(path, 3.0)[:160]
    wrong = np.random.default_rng(1).choice(len(spans), 8, replace=False).tolist()
    for i in wrong:
        longer = spans[i].end + max(4, (spans[i].end - spans[i].start) // 2)
        changed = {"flip": {"label": 1 - spans[i].label}, "stretch": {"end": longer}}
        spans[i] = spans[i]._replace(**changed[kind])
    ranked = rank_doubtful(choose(path, marked(spans), GENERAL))
    top = {doubt.span for doubt in ranked[: len(spans) // 10]}
    assert len(ranked) == len(spans)
    assert len(top & {spans[i] for i in wrong}) >= 6


def test_a_doubt_says_what_was_read_instead(path: Market) -> None:
    spans = swings_of(path, 4.0)[:60]
    flipped = spans[20]._replace(label=1 - spans[20].label)
    first = rank_doubtful(choose(path, marked([*spans[:20], flipped, *spans[21:]])))[0]
    assert first.span == flipped
    assert first.instead is not None
    assert first.instead.label == spans[20].label
    assert 0 <= first.doubt <= 1


@pytest.mark.parametrize("order", BY)
def test_places_are_open_spread_and_in_order(taught: tuple[Chosen, Chances], order: str) -> None:
    chosen, chances = taught
    places = next_places(chosen, chances, (0, N), order, count=8)
    assert len(places) == 8
    scores = [place.score for place in places]
    assert scores == sorted(scores, reverse=True)
    taken = np.zeros(N, bool)
    for start, end in [*((s.start, s.end) for s in chosen.lesson.marked.spans), *chosen.lesson.marked.reviewed]:
        taken[start:end] = True
    assert all(taken[place.start : place.end].mean() <= 0.5 for place in places)
    starts = sorted(place.start for place in places)
    assert min(np.diff(starts)) >= places[0].end - places[0].start


def test_an_unseen_regime_is_asked_for_first(path: Market, taught: tuple[Chosen, Chances]) -> None:
    chosen, _ = taught
    rows = path.candles
    steady = np.arange(N) > N - 600
    close = np.where(steady, rows.close[-600] * np.exp(0.004 * np.maximum(0, np.arange(N) - (N - 600))), rows.close)
    odd = Market(type(rows)(rows.time, close, close, close, close, rows.volume))
    again = choose(odd, chosen.lesson.marked)
    places = next_places(again, calibrate(again), (N // 2, N), "unseen", count=2)
    assert places[0].start > N - 800


def test_an_order_that_does_not_exist_is_refused(taught: tuple[Chosen, Chances]) -> None:
    with pytest.raises(ValueError, match="no order 'luck'; there are random"):
        next_places(*taught, (0, N), "luck")


def test_the_curve_rises_with_marks_and_says_how_sure_it_is(path: Market) -> None:
    chosen = choose(path, marked(swings_of(path)[:60]), {"segments": READERS["segments"]})
    curve = learning_curve(chosen)
    assert [point.marks for point in curve.points] == sorted({point.marks for point in curve.points})
    assert curve.points[-1].f1 > curve.points[0].f1
    low, high = curve.points[-1].interval or (0.0, 0.0)
    assert 0 < low <= curve.points[-1].f1 <= high <= 1
    assert curve.saturated in (True, False)


def test_too_few_marks_give_a_curve_that_tells_nothing_more(path: Market) -> None:
    curve = learning_curve(choose(path, marked(swings_of(path)[:5])))
    assert curve.saturated is None


def test_reading_of_a_mark_does_not_use_the_mark(path: Market) -> None:
    spans = swings_of(path, 4.0)[:30]
    odd = Span(spans[10].start, spans[10].end, 1 - spans[10].label)
    chosen = choose(path, marked([*spans[:10], odd, *spans[11:]]))
    block = next(i for i, fold in enumerate(chosen.folds) if fold.held_out[0] <= odd.middle < fold.held_out[1])
    assert odd not in chosen.unseen[block]
