"""Live learning without threads: scored first, learnt after, each candle once, in order, never too early."""

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from nn import live_learning, tape
from nn.checkpoint import Kept, Weights, load, load_state, save
from nn.dataset_dir import Candles
from nn.events import CandleLearnt, CandlePredicted, CandleScored, DriftAlarm, RolledBack, Warned
from nn.learner import StepResult
from nn.live_session import Session
from nn.prequential import Scorer
from nn.windows import Batch
from tests.nn.live_market import MINUTE, joined, market, of, play, session

HISTORY = 120


def halves(n: int = 60, seed: int = 0) -> tuple[Candles, Candles]:
    candles = market(HISTORY + n, seed)
    return candles.slice(0, HISTORY), candles.slice(HISTORY, HISTORY + n)


def params(run: Session) -> dict[str, Any]:
    return {name: p.clone() for name, p in run.learning.newest.params.items()}


def same(a: dict[str, Any], b: dict[str, Any]) -> bool:
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


def without_clock(events: list[Any]) -> list[Any]:
    return [dataclasses.replace(e, latency_ms=0.0) if isinstance(e, CandlePredicted) else e for e in events]


def kept(run: Session) -> Kept:
    weights, state = run.checkpoint(run.scorer.state())
    return Kept("last", weights, state)


def test_every_candle_is_predicted_scored_and_learnt_once_and_in_order() -> None:
    history, feed = halves()
    events = play(session(history), feed)
    times = feed.time.tolist()
    assert [e.candle_time for e in of(CandleScored, events)] == times
    assert [e.candle_time for e in of(CandleLearnt, events)] == times
    assert [e.candle_time for e in of(CandlePredicted, events)] == [*times, times[-1] + MINUTE]


def test_the_first_candle_is_predicted_before_it_comes() -> None:
    history, feed = halves()
    run = session(history)
    (predicted,) = run.open(int(feed.time[0]), 0.0)
    assert isinstance(predicted, CandlePredicted)
    assert predicted.candle_time == feed.time[0]
    assert predicted.as_of == history.time[-1]


def test_a_candle_is_scored_by_what_was_said_before_it_was_learnt() -> None:
    history, feed = halves()
    events = play(session(history), feed)
    said = {e.candle_time: e for e in of(CandlePredicted, events)}
    learnt_with = {e.candle_time: e.snapshot for e in of(CandleLearnt, events)}
    for score in of(CandleScored, events):
        prediction = said[score.candle_time]
        assert score.snapshot == prediction.snapshot < learnt_with[score.candle_time]
        assert score.loss == pytest.approx(-math.log(prediction.candle_probabilities[score.outcome]))
        assert score.correct == (int(np.argmax(prediction.candle_probabilities)) == score.outcome)


def test_the_outcome_is_the_class_of_the_return_in_units_of_sigma() -> None:
    history, feed = halves()
    events = play(session(history), feed)
    said = {e.candle_time: e for e in of(CandlePredicted, events)}
    close = np.concatenate([history.close[-1:], feed.close])
    for i, score in enumerate(of(CandleScored, events)):
        prediction = said[score.candle_time]
        z = math.log(close[i + 1] / close[i]) / prediction.sigma
        assert score.outcome == int(np.searchsorted(prediction.candle_edges, z, side="right"))


def test_the_trend_is_scored_at_the_close_at_which_it_falls_due() -> None:
    history, feed = halves()
    events = play(session(history, trend_horizon=3), feed)
    said = {e.as_of: e for e in of(CandlePredicted, events)}
    scores = of(CandleScored, events)
    closes = dict(zip([*history.time.tolist(), *feed.time.tolist()], [*history.close, *feed.close], strict=True))
    assert [s.trend_as_of for s in scores[:2]] == [None, None]
    for score in scores[2:]:
        prediction = said[score.trend_as_of]
        assert score.trend_as_of == score.candle_time - 3 * MINUTE
        assert prediction.trend_due == score.candle_time
        rose = closes[score.candle_time] > closes[score.trend_as_of]
        assert score.trend_correct == ((prediction.trend_up > 0.5) == rose)


def test_a_later_candle_changes_nothing_that_was_said_before() -> None:
    history, feed = halves()
    changed = dataclasses.replace(feed, close=feed.close.copy(), high=feed.high.copy(), volume=feed.volume.copy())
    changed.close[40:] *= 1.5
    changed.high[40:] *= 1.6
    changed.volume[40:] = 0.0
    before = without_clock(play(session(history), feed))
    after = without_clock(play(session(history), changed))
    upto = next(i for i, e in enumerate(before) if isinstance(e, CandleScored) and e.candle_time == feed.time[40])
    assert before[:upto] == after[:upto]
    assert before[upto:] != after[upto:]  # the control: the change is seen where it may be


def test_no_target_is_learnt_before_its_candle_has_closed() -> None:
    history, feed = halves(40)
    run = session(history, trend_horizon=5, learn_every=1)
    batches = recorded_batches(run)
    play(run, feed)
    assert len(batches) == 40
    for batch in batches:
        newest = {head: classes[0] for head, classes in batch.targets.items()}  # ends before the newest candle
        assert newest["candle"][-1] >= 0
        assert newest["range"][-1] >= 0
        assert (newest["trend"][-4:] == -1).all()
    assert any(batch.targets["trend"][0, -5] >= 0 for batch in batches)


def test_a_target_is_new_once() -> None:
    history, feed = halves(40)
    run = session(history, trend_horizon=5, learn_every=4, batch_size=3)
    batches = recorded_batches(run)
    play(run, feed)
    counts = [(batch.targets["candle"] >= 0).sum(dim=1).tolist() for batch in batches]
    assert [of_one[0] for of_one in counts] == [4] * 10  # the newest window: what four candles made known
    assert all(of_past == 24 for of_one in counts for of_past in of_one[1:])  # past windows whole
    trends = sum(int((batch.targets["trend"][0] >= 0).sum()) for batch in batches)
    assert trends == 40  # from the start on, one falls due with each candle


def recorded_batches(run: Session, change: Callable[[Batch], Batch] = lambda batch: batch) -> list[Batch]:
    """Have the session's learner keep what it learns from, after `change`."""
    batches, step = list[Batch](), run.learner.step

    def recording(batch: Batch, learnt_to: int | None = None) -> StepResult:
        batches.append(change(batch))
        return step(batches[-1], learnt_to)

    run.learner.step = recording  # type: ignore[method-assign]
    return batches


def test_a_step_for_several_candles_gives_each_its_own_loss() -> None:
    history, feed = halves(8)
    learnt = of(CandleLearnt, play(session(history, learn_every=8), feed))
    assert len({e.loss for e in learnt}) == 8
    assert {e.step for e in learnt} == {1}
    assert learnt[-1].average_loss == pytest.approx(sum(e.loss for e in learnt) / 8)


def test_both_printed_lines_stand_in_the_event() -> None:
    history, feed = halves(4)
    learnt = of(CandleLearnt, play(session(history), feed))
    first, second = learnt[-1].line.split("\n")
    assert first.startswith(
        f"Per-candle training: Loss={learnt[-1].loss:.4f} (avg: {learnt[-1].average_loss:.4f}), Acc="
    )
    assert second.startswith("Trained on candle: TEST/USDT 1m @ 2023-11-15 ")


def test_candles_up_to_the_data_cut_are_seen_and_enter_no_prequential_figure() -> None:
    history, feed = halves()
    cut = int(feed.time[19])
    events = play(session(history, weights=with_cut(history, cut)), feed)
    scores = of(CandleScored, events)
    assert [s.seen for s in scores] == [True] * 20 + [False] * 40
    assert [s.figures["of"] for s in scores] == ["seen"] * 20 + ["unseen"] * 40
    assert scores[19].n == 0
    assert scores[-1].n == scores[-1].figures["candle"]["all"]["n"] == 40
    assert all(not e.skipped for e in of(CandleLearnt, events))  # seen ones are learnt too
    hits = [s.correct for s in scores[20:]]
    assert scores[-1].figures["candle"]["all"]["accuracy"] == pytest.approx(sum(hits) / 40, abs=1e-5)


def with_cut(history: Candles, cut: int) -> Weights:
    weights, _ = session(history).checkpoint({})
    return dataclasses.replace(weights, meta=dataclasses.replace(weights.meta, data_cut=cut))


def test_the_data_cut_follows_what_was_learnt() -> None:
    history, feed = halves(8)
    run = session(history)
    assert run.learning.newest.data_cut is None
    play(run, feed)
    assert run.learning.newest.data_cut == feed.time[-1]


def test_no_window_crosses_a_gap_and_each_candle_of_it_is_on_record() -> None:
    history, feed = halves(62)
    torn = joined(feed.slice(0, 10), feed.slice(12, 62))
    events = play(session(history), torn)
    skipped = [s.skipped for s in of(CandleScored, events)]
    assert skipped == [None] * 10 + ["gap"] * 24 + [None] * 26
    assert [e.skipped for e in of(CandleLearnt, events)] == skipped
    predicted = {e.candle_time for e in of(CandlePredicted, events)}
    assert predicted.isdisjoint(torn.time[10:34].tolist())


def test_windows_run_on_across_a_time_without_trades_after_a_resume_too() -> None:
    history, feed = halves(30)
    quiet = joined(feed.slice(0, 8), feed.slice(11, 30))
    run = session(history)
    events = play(run, quiet.slice(0, 8))
    said, _ = run.scorer.score(quiet.slice(8, 9), after_no_trade=True)
    (scored,) = of(CandleScored, said)
    assert (scored.candle_time, scored.skipped, scored.after_no_trade) == (feed.time[11], None, True)
    assert not any(e.after_no_trade for e in of(CandleScored, events))
    stored = joined(history, quiet.slice(0, 9))
    recorded = {"after_no_trade": [scored.candle_time]}
    for back, told in ((kept(run), {}), (None, recorded)):  # from the checkpoint, or from what is stored of it
        again = session(stored, kept=back, recorded=told)
        assert again.tape.run.newest() == HISTORY + 9
    assert session(stored).tape.run.newest() == 1  # the control: without a word it is a gap


def test_a_candle_without_numbers_is_skipped_and_tears_the_windows() -> None:
    history, feed = halves(40)
    feed = dataclasses.replace(feed, close=feed.close.copy())
    feed.close[5] = np.nan
    events = play(session(history), feed)
    skipped = [s.skipped for s in of(CandleScored, events)]
    assert skipped == [None] * 5 + ["not finite"] + ["gap"] * 24 + [None] * 10
    assert all(math.isfinite(e.loss) for e in of(CandleLearnt, events) if not e.skipped)


def test_a_candle_out_of_order_is_recorded_as_late_and_changes_nothing() -> None:
    history, feed = halves(12)
    run, undisturbed = session(history), session(history)
    play(run, feed.slice(0, 8))
    late = out_of_order(feed)
    events = run.step(late, None, 0.0)
    assert [e.skipped for e in of(CandleScored, events)] == ["late"]
    play(undisturbed, feed.slice(0, 8))
    assert np.array_equal(run.tape.rows.values, undisturbed.tape.rows.values)


def out_of_order(feed: Candles) -> Candles:
    """Give a candle that opens just after the fourth one of a feed."""
    return dataclasses.replace(feed.slice(3, 4), time=feed.time[3:4] + 1, close=feed.close[3:4] * 2)


def test_what_was_taken_back_while_candles_waited_is_not_told_again_by_a_resume(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    history, feed = halves(40)
    fell = int(feed.time[9])
    monkeypatch.setattr(Scorer, "_judge", lambda self: "behind" if self.tape.time.newest() == fell else None)
    first = session(history)
    play(first, feed.slice(0, 8))
    checkpoint = kept(first)
    told = play(first, feed.slice(8, 11), first=False)
    assert [e.candle_time for e in of(RolledBack, told)] == [fell]
    assert len(first.learning.pending) == 3
    recorded = {word: int(feed.time[row]) for word, row in {"predicted": 11, "scored": 10, "learnt": 7}.items()}
    second = session(joined(history, feed.slice(0, 11)), kept=checkpoint, recorded=recorded)
    again = second.open(int(feed.time[11]), 0.0) + play(second, feed.slice(8, 11), first=False)
    assert again == []
    assert same(params(second), params(first))


def test_a_candle_that_came_late_while_the_run_was_interrupted_changes_nothing_either() -> None:
    history, feed = halves(40)
    late = out_of_order(feed)
    undisturbed, first = session(history), session(history)
    for run in (undisturbed, first):
        play(run, feed.slice(0, 12))
    stored = joined(history, feed.slice(0, 4), late, feed.slice(4, 12))
    words = {"predicted": 12, "scored": 11, "learnt": 11}
    recorded = {word: int(feed.time[row]) for word, row in words.items()}
    second = session(stored, kept=kept(first), recorded={**recorded, "late": {"to_come": late.time.tolist()}})
    assert second.open(int(feed.time[12]), 0.0) == []
    for run in (undisturbed, second):
        told = [*run.step(late, None, 0.0), *play(run, feed.slice(12, 24), first=False)]
        skipped = [e.candle_time for e in told if isinstance(e, CandleScored | CandleLearnt) and e.skipped == "late"]
        assert skipped == [late.time[0]] * 2
    assert np.array_equal(second.tape.time.values, undisturbed.tape.time.values)
    assert second.learning.counts == undisturbed.learning.counts
    assert same(params(second), params(undisturbed))


def test_a_resume_goes_on_without_a_late_candle_and_tells_it_once() -> None:
    history, feed = halves(40)
    late = out_of_order(feed)
    undisturbed, first = session(history), session(history)
    for run in (undisturbed, first):
        play(run, feed.slice(0, 8))
        told = run.step(late, None, 0.0)
        assert not of(CandlePredicted, told)  # what was said of the next candle stands
        play(run, feed.slice(8, 12), first=False)
    stored = joined(history, feed.slice(0, 4), late, feed.slice(4, 12))
    play(undisturbed, feed.slice(12, 24), first=False)
    for learnt in ([int(late.time[0])], []):
        recorded = {"late": {"scored": [int(late.time[0])], "learnt": learnt}}
        second = session(stored, kept=kept(first), recorded=recorded)
        events = second.open(int(feed.time[12]), 0.0) + play(second, feed.slice(12, 24), first=False)
        assert np.array_equal(second.tape.time.values, undisturbed.tape.time.values)
        assert [e.candle_time for e in of(CandleScored, events)] == feed.time[12:24].tolist()
        told = [e.candle_time for e in of(CandleLearnt, events) if e.skipped == "late"]
        assert (learnt + told) == [late.time[0]]
        assert same(params(second), params(undisturbed)) or not learnt


def test_a_resume_stands_older_candles_that_were_stored_meanwhile() -> None:
    history, feed = halves(40)
    first = session(history.slice(60, HISTORY), learn_every=3)
    play(first, feed.slice(0, 16))
    back = kept(first)
    second = session(joined(history, feed.slice(0, 16)), kept=back, learn_every=3)
    assert [second.tape.time[closed.row] for closed in second.learning.pending] == [feed.time[15]]
    events = play(second, feed.slice(16, 40), first=False)
    assert [e.skipped for e in of(CandleScored, events)] == [None] * 24
    assert [e.candle_time for e in of(CandleLearnt, events)] == feed.time[15:39].tolist()
    trends = [e.trend_as_of for e in of(CandleScored, events)]
    assert trends == feed.time[13:37].tolist()


def test_what_the_tape_lets_go_of_changes_no_weight(monkeypatch: pytest.MonkeyPatch) -> None:
    history, feed = halves(200)
    monkeypatch.setattr(live_learning, "KEPT", 60)
    whole = session(history)
    play(whole, feed)
    monkeypatch.setattr(tape, "LEAST_GONE", 8)
    monkeypatch.setattr(tape, "LEAST_ROOM", 8)
    short = session(history)
    play(short, feed)
    assert same(params(short), params(whole))
    assert (whole.tape.time.first, len(whole.tape)) == (0, len(short.tape))
    assert short.tape.time.first > HISTORY


def test_a_label_that_came_while_the_run_was_interrupted_leaves_its_classes_as_they_were() -> None:
    history, feed = halves(16)
    run, undisturbed = (session(history, labels=("Long", "Short")) for _ in range(2))
    play(run, feed.slice(0, 8))
    play(undisturbed, feed)
    again = session(joined(history, feed.slice(0, 8)), kept=kept(run), labels=("Surprise", "Short", "Long"))
    events = play(again, feed.slice(8, 16), first=False)
    assert same(params(again), params(undisturbed))
    assert set(of(CandlePredicted, events)[-1].label_probabilities) == {"Long", "Short"}
    mark = {"id": "a", "kind": "span", "label": "Surprise", "start": int(feed.time[0]), "end": int(feed.time[3])}
    (warned,) = again.take_marks([{**mark, "known_at": mark["end"], "updated": 1}])
    assert isinstance(warned, Warned)
    assert "no class for Surprise" in warned.message


def test_a_young_series_waits_for_its_first_full_window() -> None:
    candles = market(40)
    scores = of(CandleScored, play(session(candles.slice(0, 4)), candles.slice(4, 40)))
    assert [s.skipped for s in scores] == ["no full window"] * 20 + [None] * 16


def test_a_model_that_learns_noise_is_right_as_often_as_chance() -> None:
    draw = np.random.default_rng(3)
    close = 100 * np.exp(np.cumsum(draw.normal(size=760) * 1e-3))
    noise = dataclasses.replace(market(760), open=close, high=close * 1.0005, low=close * 0.9995, close=close)
    run = session(noise.slice(0, 560), learn_every=1, learning_rate=1e-3)
    scores = of(CandleScored, play(run, noise.slice(560, 760)))
    share = sum(s.correct for s in scores) / 200
    assert abs(share - 0.2) < 3 * math.sqrt(0.2 * 0.8 / 200) + 0.03  # the classes are not quite alike in size


def test_learning_that_does_harm_is_taken_back_and_said() -> None:
    history, feed = halves(200)
    run = session(history, learning_rate=0.3, learn_every=1)
    start = params(run)
    events = play(run, feed.slice(0, 99))
    assert not of(RolledBack, events)  # too few candles to be sure
    assert not same(params(run), start)
    at = 99
    while not of(RolledBack, events):
        spoilt = run.learning.newest.number
        events = run.step(feed.slice(at, at + 1), None, 0.0)
        at += 1
    (told,) = of(RolledBack, events)
    assert (told.asked, told.taken_back, told.back_to, told.snapshot) == (False, spoilt, 1, spoilt + 1)
    assert told.candle_time == feed.time[at - 1]
    assert f"snapshot {spoilt} was taken back" in told.message
    assert same(dict(run.learning.good.params), start)
    assert run.learning.newest.number == spoilt + 2  # the old weights anew, and the step that followed


def test_learning_that_does_no_harm_is_left_alone() -> None:
    history, feed = halves(110)
    run = session(history)
    assert not of(RolledBack, play(run, feed))
    assert run.scorer.figures_json()["candle"]["all"]["n"] == 110


def test_a_step_that_is_not_finite_changes_nothing_and_is_said_once() -> None:
    history, feed = halves(12)
    run = session(history)
    start = params(run)
    recorded_batches(run, lambda batch: Batch(batch.x * math.inf, batch.targets))
    events = play(run, feed)
    learnt = of(CandleLearnt, events)
    assert {e.skipped for e in learnt} == {"loss not finite"}
    assert [w.code for w in of(Warned, events)] == ["non_finite"]
    assert same(params(run), start)


def test_a_session_goes_on_from_a_checkpoint_as_if_nothing_had_been(tmp_path: Any) -> None:
    history, feed = halves(60)
    undisturbed = session(history)
    expected = without_clock(play(undisturbed, feed))
    first = session(history)
    said = without_clock(play(first, feed.slice(0, 22)))
    weights, state = first.checkpoint(first.scorer.state())
    save(tmp_path / "last", weights, state)
    back = Kept("last", load(tmp_path / "last"), load_state(tmp_path / "last"))
    second = session(joined(history, feed.slice(0, 22)), kept=back)
    rest = without_clock(play(second, feed.slice(22, 60), first=False))
    assert said + rest == expected
    assert same(params(second), params(undisturbed))


def test_a_resumed_session_does_not_say_again_what_is_stored() -> None:
    history, feed = halves(40)
    first = session(history)
    play(first, feed.slice(0, 8))
    back = kept(first)
    marks = {"predicted": int(feed.time[17]), "scored": int(feed.time[16]), "learnt": int(feed.time[15])}
    second = session(joined(history, feed.slice(0, 8)), kept=back, recorded=marks)
    events = play(second, feed.slice(8, 40), first=False)
    assert [e.candle_time for e in of(CandleLearnt, events)] == feed.time[16:40].tolist()
    assert [e.candle_time for e in of(CandleScored, events)] == feed.time[17:40].tolist()
    assert of(CandlePredicted, events)[0].candle_time == feed.time[18]


def test_batch_of_one_works() -> None:
    history, feed = halves(8)
    learnt = of(CandleLearnt, play(session(history, batch_size=1, learn_every=1), feed))
    assert [e.step for e in learnt] == list(range(1, 9))


def test_the_figures_of_the_frozen_start_model_stand_beside_the_model() -> None:
    history, feed = halves(60)
    figures = of(CandleScored, play(session(history), feed))[-1].figures
    for head in ("candle", "trend"):
        beside = figures[head]["all"]["baselines"]
        assert beside.keys() == {"start", "majority", "persistence", "logistic"}
        assert all(0 <= of_one["accuracy"] <= 1 and of_one["nll"] > 0 for of_one in beside.values())
    assert figures["candle"]["all"]["nll"] != figures["candle"]["all"]["baselines"]["start"]["nll"]


@pytest.mark.parametrize(("policy", "windows", "every"), [("replay", 3, 4), ("last", 1, 1)])
def test_a_policy_decides_what_a_step_sees_and_how_often(policy: str, windows: int, every: int) -> None:
    history, feed = halves(12)
    run = session(history, policy=policy, learn_every=4, batch_size=3)
    batches = recorded_batches(run)
    play(run, feed)
    assert {len(batch.x) for batch in batches} == {windows}
    assert len(batches) == 12 // every
    assert {int((batch.targets["candle"][0] >= 0).sum()) for batch in batches} == {every}


def test_without_learning_the_weights_stay_and_each_candle_is_on_record() -> None:
    history, feed = halves(12)
    run = session(history, policy="none")
    start, events = params(run), play(run, feed)
    assert same(params(run), start)
    assert [e.skipped for e in of(CandleLearnt, events)] == ["learning is off"] * 12
    assert [e.skipped for e in of(CandleScored, events)] == [None] * 12
    figures = of(CandleScored, events)[-1].figures["candle"]["all"]
    assert figures["nll"] == figures["baselines"]["start"]["nll"]


def test_the_record_counts_what_was_learnt_and_why_the_rest_was_not() -> None:
    history, feed = halves(62)
    torn = joined(feed.slice(0, 10), feed.slice(12, 62))
    learnt = of(CandleLearnt, play(session(history), torn))
    assert learnt[-1].counts == {"learnt": 36, "gap": 24}


def test_where_only_labels_are_learnt_a_candle_without_one_says_so() -> None:
    history, feed = halves(8)
    heads = {"candle": 0, "trend": 0, "range": 0, "label": 1}
    learnt = of(CandleLearnt, play(session(history, labels=("Long", "Short"), heads=heads), feed))
    assert {e.skipped for e in learnt} == {"no label"}


def test_forgetting_goes_back_to_the_weights_and_learns_no_forgotten_candle_again() -> None:
    history, feed = halves(60)
    run = session(history, learn_every=1, trend_horizon=3)
    play(run, feed.slice(0, 10))
    kept_then, cut = run.learning.newest, int(feed.time[9])
    play(run, feed.slice(10, 20), first=False)
    event = run.forget(kept_then, int(feed.time[10]))
    assert (event.asked, event.since, event.back_to, event.data_cut) == (True, feed.time[10], kept_then.number, cut)
    assert same(params(run), dict(kept_then.params))
    batches = recorded_batches(run)
    learnt = of(CandleLearnt, play(run, feed.slice(20, 60), first=False))
    assert all(e.loss > 0 for e in learnt), "the first new candle too has an outcome to learn"
    forgotten = set(range(HISTORY + 10, HISTORY + 20))
    assert batches
    for batch in batches:
        rows = rows_of(run, batch)
        counted = {int(row) + 1 for row in rows[(batch.targets["candle"] >= 0).numpy()]}
        assert not counted & forgotten
        trends = rows[(batch.targets["trend"] >= 0).numpy()]
        assert not {int(row) + ahead for row in trends for ahead in (1, 2, 3)} & forgotten


def rows_of(run: Session, batch: Batch) -> Any:
    """The rows of the tape that a batch shows, (B, T), found by their features."""
    place = {row.tobytes(): number for number, row in enumerate(run.tape.rows.values)}
    return np.array([[place[row.tobytes()] for row in window] for window in batch.x.numpy()])


def test_candles_that_wait_while_they_are_forgotten_are_told_in_their_turn() -> None:
    history, feed = halves(12)
    run = session(history, learn_every=4)
    events = play(run, feed.slice(0, 6))
    run.forget(run.scorer.start, int(feed.time[5]))
    events += play(run, feed.slice(6, 12), first=False)
    learnt = of(CandleLearnt, events)
    assert [e.candle_time for e in learnt] == feed.time[:12].tolist()
    assert [e.skipped for e in learnt] == [None] * 5 + ["forgotten"] + [None] * 6


def test_a_session_that_forgot_goes_on_from_a_checkpoint_as_if_nothing_had_been() -> None:
    history, feed = halves(60)
    first = session(history, learn_every=1)
    play(first, feed.slice(0, 20))
    first.forget(first.scorer.start, int(feed.time[5]))
    back = kept(first)
    second = session(joined(history, feed.slice(0, 20)), kept=back, learn_every=1)
    for run in (first, second):
        play(run, feed.slice(20, 60), first=False)
    assert same(params(first), params(second))


def test_a_rise_of_the_loss_is_told_where_it_happened() -> None:
    history, feed = halves(400)
    wild = dataclasses.replace(feed, close=feed.close.copy(), high=feed.high.copy(), low=feed.low.copy())
    swing = np.exp(0.02 * (-1.0) ** np.arange(240))
    for name in ("close", "high", "low"):
        getattr(wild, name)[160:] *= swing
    calm = expects_no_move(history)
    run = session(history, policy="none", weights=calm)
    alarms = of(DriftAlarm, play(run, wild))
    assert alarms
    assert alarms[0].candle_time > feed.time[160]
    assert alarms[0].loss > alarms[0].loss_before
    assert run.scorer.figures_json()["drift"]["alarms"] == len(alarms)
    assert not of(DriftAlarm, play(session(history, policy="none", weights=calm), feed))  # the control


def expects_no_move(history: Candles) -> Weights:
    """Weights that give most of the probability to the middle class, whatever they see."""
    weights, _ = session(history).checkpoint({})
    params = {
        name: torch.zeros_like(p) if name.startswith("heads.answers.candle") else p
        for name, p in weights.params.items()
    }
    (bias,) = [p for name, p in params.items() if name.startswith("heads.answers.candle") and p.dim() == 1]
    bias[2] = 1.8
    return dataclasses.replace(weights, params=params)
