"""Spans: runs, paint, agreement; decoders against brute force."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nn.few.decoding import sticky_filter, viterbi
from nn.few.segmenting import Evidence, best_cut
from nn.few.spans import Span, agreement, iou, paint, runs
from tests.nn.few.markets import market, swings_of


@given(st.lists(st.integers(-1, 2), max_size=40))
@settings(max_examples=50)
def test_painting_the_runs_of_classes_gives_the_classes_back(classes: list[int]) -> None:
    wanted = np.array(classes, np.int64)
    assert (paint(runs(wanted), len(wanted)) == wanted).all()


def test_agreement_counts_hits_by_overlap_and_class() -> None:
    true = [Span(0, 10, 0), Span(10, 20, 1), Span(30, 40, 0)]
    predicted = [Span(1, 11, 0), Span(10, 20, 0), Span(28, 45, 0)]
    found = agreement(predicted, true)
    assert (found.found, found.predicted, found.true) == (2, 3, 3)
    assert found.f1 == pytest.approx(2 * 2 / 6)
    assert found.both_ends == pytest.approx(1 / 3)
    assert found.quality == pytest.approx(2 * (9 / 11 + 10 / 17) / 6)


def test_each_predicted_span_finds_at_most_one_true_span() -> None:
    true = [Span(0, 10, 0), Span(4, 14, 0)]
    assert agreement([Span(2, 12, 0)], true).found == 1


def test_spans_that_are_apart_share_nothing() -> None:
    assert iou(Span(0, 5, 0), Span(5, 9, 0)) == 0
    assert iou(Span(0, 10, 0), Span(5, 15, 1)) == pytest.approx(5 / 15)


def test_viterbi_finds_the_path_that_trying_all_paths_finds() -> None:
    logs = np.log(np.random.default_rng(0).dirichlet(np.ones(3), 7))
    stay = 0.8

    def worth(path: tuple[int, ...]) -> float:
        steps = [np.log(stay if a == b else (1 - stay) / 2) for a, b in itertools.pairwise(path)]
        return float(sum(logs[t, k] for t, k in enumerate(path)) + sum(steps))

    assert tuple(viterbi(logs, stay)) == max(itertools.product(range(3), repeat=7), key=worth)


def test_the_filter_answers_from_the_candles_so_far() -> None:
    seen = np.random.default_rng(1).dirichlet(np.ones(2), 30)
    later = seen.copy()
    later[20:] = later[20:, ::-1]
    assert np.array_equal(sticky_filter(seen, 0.9)[:20], sticky_filter(later, 0.9)[:20])
    assert not np.array_equal(sticky_filter(seen, 0.9)[20:], sticky_filter(later, 0.9)[20:])


def test_the_best_cut_is_the_one_that_trying_all_cuts_finds() -> None:
    draw = np.random.default_rng(2)
    n, k, longest = 7, 2, 4
    evidence = Evidence(
        draw.normal(0, 1, (n, k + 1)),
        draw.normal(0, 1, (n, k)),
        draw.normal(0, 1, (n, k)),
        draw.normal(-1, 0.5, (k, longest)),
        np.block([[draw.normal(0, 1, (k, k + 1))], [draw.normal(0, 1, (1, k)), np.zeros((1, 1))]]),
    )

    def cuts(at: int, before: int) -> list[tuple[float, list[Span]]]:
        if at == n:
            return [(0.0, [])]
        rest = cuts(at + 1, k)
        found = [(v + evidence.transitions[before, k] + evidence.candles[at, k], spans) for v, spans in rest]
        for label, length in itertools.product(range(k), range(1, longest + 1)):
            end = at + length
            if end <= n:
                own = evidence.transitions[before, label] + evidence.candles[at:end, label].sum()
                own += evidence.starts[at, label] + evidence.ends[end - 1, label] + evidence.lengths[label, length - 1]
                found += [(v + own, [Span(at, end, label), *spans]) for v, spans in cuts(end, label)]
        return found

    assert best_cut(evidence) == max(cuts(0, k), key=lambda cut: cut[0])[1]


def test_swings_turn_by_the_threshold_and_alternate() -> None:
    path = market(2_000)
    found = swings_of(path)
    assert all(a.end == b.start and a.label != b.label for a, b in itertools.pairwise(found))
    for span in found:
        move = path.log_price[span.end - 1] - path.log_price[span.start - 1]
        assert (move > 0) == bool(span.label)
        inside = path.log_price[span.start - 1 : span.end]
        assert path.log_price[span.end - 1] in (inside.max(), inside.min())
