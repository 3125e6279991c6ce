"""Reading in pieces gives what one go gives; probabilities; the live edge; rules."""

import itertools
import weakref

import numpy as np
import pytest

from nn.few.chances import calibrate, reliability
from nn.few.choice import choose
from nn.few.history import Suggested, read_history
from nn.few.live import RUN_UP, learn_live
from nn.few.market import Market
from nn.few.piece import Piece
from nn.few.readers import READERS
from nn.few.rules import by_rule
from nn.few.spans import Span
from nn.few.surroundings import causal, hindsight
from nn.offers import RULES
from tests.nn.few.markets import changed_after, marked, market, swings_of

LONG = 10_000


@pytest.fixture(scope="module")
def path() -> Market:
    return market(LONG, seed=2)


def untold(_: Piece, spans: list[Span]) -> list[Suggested]:
    return [Suggested(span, 1.0) for span in spans]


@pytest.mark.parametrize("name", ["segments", "states", "states, snapped", "stretches", "swings"])
def test_reading_in_pieces_gives_what_one_go_gives(path: Market, name: str) -> None:
    chosen = choose(path, marked(swings_of(path)[:30]), {name: READERS[name]})
    whole = chosen.read(Piece(path, 0, LONG))
    steps = list(read_history(path, chosen.read, untold, 0, LONG, size=2_500, overlap=700))  # type: ignore[arg-type]
    spans = [item.span for step in steps for item in step.found]
    assert len(steps) > 2
    assert spans == whole
    assert len(spans) > 25


def test_progress_rises_to_the_whole_and_reading_can_be_left_at_any_piece(path: Market) -> None:
    asked: list[int] = []

    def read(piece: Piece) -> list[Span]:
        asked.append(piece.start)
        return []

    reading = read_history(path, read, untold, 0, LONG, size=4_000, overlap=500)  # type: ignore[arg-type]
    first = next(reading)
    assert 0 < first.done <= 500 < first.total == LONG  # an eighth of a piece: the first suggestions come soon
    seen = len(asked)
    reading.close()  # type: ignore[attr-defined]
    assert len(asked) == seen
    steps = list(read_history(path, read, untold, 0, LONG, size=4_000, overlap=500))  # type: ignore[arg-type]
    done = [step.done for step in steps]
    assert done == sorted(done)
    assert done[-1] == LONG


def test_a_piece_is_no_larger_and_none_is_held_longer_however_long_the_series_is(path: Market) -> None:
    pieces: list[weakref.ref[Piece]] = []
    alive: list[int] = []

    def read(piece: Piece) -> list[Span]:
        assert len(piece) <= 1_000 + 2 * 300
        pieces.append(weakref.ref(piece))
        alive.append(sum(one() is not None for one in pieces))
        return []

    for _ in read_history(path, read, untold, 0, LONG, size=1_000, overlap=300):  # type: ignore[arg-type]
        pass
    assert len(pieces) == LONG // 1_000 + 2  # 125, 250 and 500 candles come first
    assert max(alive) <= 2


def test_a_later_candle_changes_no_live_belief(path: Market) -> None:
    chosen = choose(path, marked(swings_of(path)[:30]), {"states": READERS["states"]})
    reader = learn_live(chosen.folds, chosen.lesson)
    assert reader is not None
    cut = 7_000
    before = reader.beliefs(path, 5_000, cut)
    assert np.array_equal(before, reader.beliefs(changed_after(path, cut), 5_000, cut))
    assert not np.array_equal(before, reader.beliefs(changed_after(path, cut - 5), 5_000, cut))
    assert before.sum(axis=1) == pytest.approx(np.ones(len(before)))


def test_causal_columns_see_no_later_candle_and_hindsight_does(path: Market) -> None:
    for first, cut in ((0, 40), (0, 2_000), (3_000, 4_000)):
        changed = changed_after(path, cut)
        assert np.array_equal(causal(path, first, cut), causal(changed, first, cut))
        assert not np.array_equal(hindsight(path, first, cut), hindsight(changed, first, cut))


def test_columns_do_not_depend_on_the_piece_that_is_asked_for(path: Market) -> None:
    assert hindsight(path, 1_000, 1_500)[100:200] == pytest.approx(hindsight(path, 1_100, 1_200))
    assert causal(path, 1_000, 3_000)[-500:] == pytest.approx(causal(path, 2_500, 3_000), abs=1e-9)
    assert RUN_UP > 0


def test_probabilities_told_are_near_the_share_that_comes_true(path: Market) -> None:
    swings = swings_of(path)
    chosen = choose(path, marked(swings[:60]), {"stretches": READERS["stretches"]})
    chances = calibrate(chosen)
    rest = Piece(path, 5_000, LONG)
    told = chances.tell(rest, chosen.read(rest))
    wanted = {s for s in swings if s.start >= 5_000}
    hits = np.array([any(_same(item.span, s) for s in wanted) for item in told], np.int64)
    found = reliability(np.array([item.probability for item in told]), hits)
    assert -0.2 < found.mean - found.share < 0.1  # marks cut by a block's border make it modest
    assert found.error < 0.2


def test_reliability_catches_a_boaster() -> None:
    hits = np.tile([1, 0], 50).astype(np.int64)
    assert reliability(np.full(100, 0.95), hits).error == pytest.approx(0.45)
    assert reliability(np.full(100, 0.5), hits).error == pytest.approx(0.0)


def test_the_triple_barrier_ends_where_a_barrier_is_first_touched(path: Market) -> None:
    spans = by_rule(path, "triple_barrier", {"up": 2.0, "down": 3.0, "horizon": 30})
    assert {span.label for span in spans} == {0, 1}
    assert all(a.end <= b.start for a, b in itertools.pairwise(spans))
    for span in spans[:200]:
        base = span.start - 1
        moves = (path.log_price[span.start : span.end] - path.log_price[base]) / path.sigma[base]
        touched = (moves >= 2.0) | (moves <= -3.0)
        assert touched[-1]
        assert not touched[:-1].any()
        assert span.end - span.start <= 30
        assert (moves[-1] > 0) == bool(span.label)


def test_the_cross_is_above_where_the_fast_mean_is(path: Market) -> None:
    spans = by_rule(path, "moving_average_cross", {"fast": 5, "slow": 20})
    close = path.candles.close
    for span in spans[1:40]:
        for at in (span.start, span.end - 1):
            assert (close[at - 4 : at + 1].mean() > close[at - 19 : at + 1].mean()) == bool(span.label)


@pytest.mark.parametrize("name", RULES)
def test_every_rule_gives_spans_inside_the_market_and_none_on_an_empty_one(path: Market, name: str) -> None:
    assert all(0 <= span.start < span.end <= len(path) for span in by_rule(path, name, {}))
    assert by_rule(Market(path.candles.slice(0, 0)), name, {}) == []


@pytest.mark.parametrize("name", ["zigzag", "triple_barrier", "moving_average_cross", "CDLENGULFING", "CDLDOJI"])
def test_what_is_common_is_found_with_the_defaults(path: Market, name: str) -> None:
    assert by_rule(path, name, {})


@pytest.mark.parametrize(
    ("name", "given", "says"),
    [
        ("zigzig", {}, "there are zigzag"),
        ("zigzag", {"turns": 3.0}, "takes no turns; it takes turn"),
        ("zigzag", {"turn": -1.0}, "turn = -1; it lies between 0.5 and 50"),
        ("moving_average_cross", {"fast": 30, "slow": 20}, "fast 30 is not below slow 20"),
    ],
)
def test_a_wrong_rule_is_refused_by_name(path: Market, name: str, given: dict[str, float], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        by_rule(path, name, given)


def _same(a: Span, b: Span) -> bool:
    return a.label == b.label and 2 * (min(a.end, b.end) - max(a.start, b.start)) >= max(a.end, b.end) - min(
        a.start, b.start
    )
