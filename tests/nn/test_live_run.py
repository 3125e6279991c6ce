"""A live run between its two threads: checkpoints on the way, which one a resume takes, failures in a thread."""

import errno
import json
import os
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from nn import live_run
from nn.checkpoint import Kept, load, load_state
from nn.commands import FeedEnded, ForgetSince, MarksChanged, StartLive
from nn.events import CandleLearnt, CandlePredicted, CandleScored, CheckpointSaved, RolledBack, RunEnded, Warned
from nn.inference import InferenceThread
from nn.live_run import LiveRun
from nn.live_session import find_kept
from nn.loaded import Choice, Refused
from nn.snapshot import Snapshot
from tests.nn.live_market import candle_commands, live, market, of, play, session

HISTORY, FEED = 120, 24


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let runs write a checkpoint after every candle."""
    monkeypatch.setattr(live_run, "SAVE_EVERY_S", 0.0)


class Playing:
    """A live run in this process, its inference in a thread of its own."""

    def __init__(self, folder: Path, *, coalesce: bool = False, **changes: Any) -> None:
        candles = market(HISTORY + FEED)
        self.history, self.feed = candles.slice(0, HISTORY), candles.slice(HISTORY, HISTORY + FEED)
        self.said: list[Any] = []
        self.together: list[list[type]] = []  # what was said in one breath
        self.inference, self._bell = InferenceThread(), threading.Event()
        first = int(self.feed.time[0])
        command = StartLive(
            run_id=1,
            series_id=1,
            config=live(),
            history_dir="",
            checkpoint_dir=str(folder),
            first_time=first,
            coalesce=coalesce,
        )
        self.session = session(self.history, **changes)
        choice = Choice(None, "fresh", "test")
        self.run = LiveRun(command, self.session, choice, self.inference, self._say, self._bell.set)
        self.run.open()

    def _say(self, *items: Any) -> None:
        self.said += items
        self.together.append([type(item) for item in items])

    def play(self, count: int = FEED) -> None:
        """Send candles and do the loop's part until all are learnt or wait for their turn."""
        for candle in candle_commands(1, self.feed.slice(0, count)):
            self.run.submit(candle)
        self.until(lambda: self.run._finished == count)

    def until(self, reached: Callable[[], bool]) -> None:
        end = time.monotonic() + 30
        while not reached() and time.monotonic() < end:
            if self.run.waits():
                self.run.step()
            else:
                self._bell.wait(0.01)
                self._bell.clear()
        assert reached()

    def close(self) -> None:
        self.inference.close()


def params(run: Playing) -> dict[str, torch.Tensor]:
    return dict(run.session.learning.newest.params)


def kept_in(folder: Path, name: str) -> Kept:
    return Kept(name, load(folder / name), load_state(folder / name))


@pytest.mark.usefixtures("often")
@pytest.mark.parametrize("coalesce", [False, True])
def test_a_checkpoint_on_the_way_holds_the_run_at_one_candle(tmp_path: Path, coalesce: bool) -> None:
    run = Playing(tmp_path, coalesce=coalesce)
    run.play(18)
    run.close()
    kept = kept_in(tmp_path, "last")
    saved = max(i for i, said in enumerate(run.said) if isinstance(said, CheckpointSaved))
    learnt = [e.candle_time for e in of(CandleLearnt, run.said[:saved])]
    pending = [closed["time"] for closed in kept.state["learning"]["pending"]]
    upto = kept.state["scorer"]["last_time"]
    assert learnt + pending == [t for t in run.feed.time.tolist() if t <= upto]
    assert kept.weights.meta.step == kept.state["learning"]["learner"]["steps"] > 0


@pytest.mark.usefixtures("often")
def test_going_on_from_either_checkpoint_ends_with_the_same_weights(tmp_path: Path) -> None:
    first = Playing(tmp_path)
    first.play(18)
    first.close()
    undisturbed = session(first.history)
    play(undisturbed, first.feed)
    for name in ("last", "before"):
        kept = kept_in(tmp_path, name)
        after = int((kept.state["scorer"]["last_time"] - first.feed.time[0]) // 60_000) + 1
        so_far = market(HISTORY + FEED).slice(0, HISTORY + after)
        resumed = session(so_far, kept=kept)
        play(resumed, first.feed.slice(after, FEED), first=False)
        expected = undisturbed.learning.newest.params
        assert all(torch.equal(p, expected[n]) for n, p in resumed.learning.newest.params.items()), name
        assert json.dumps(resumed.scorer.figures_json()) == json.dumps(undisturbed.scorer.figures_json())


@pytest.mark.usefixtures("often")
def test_a_resume_takes_the_newest_checkpoint_that_is_not_ahead_of_what_was_stored(tmp_path: Path) -> None:
    run = Playing(tmp_path)
    run.play(18)
    run.close()
    last, before = (kept_in(tmp_path, name).state["said"] for name in ("last", "before"))
    assert last["scored"] > before["scored"]
    assert named(find_kept(tmp_path, last)) == "last"
    assert named(find_kept(tmp_path, before)) == "before"
    assert find_kept(tmp_path, dict.fromkeys(last)) is None  # both are ahead: the run is done again from its start
    assert find_kept(tmp_path / "nowhere", last) is None


def test_a_checkpoint_that_knows_a_late_candle_of_which_nothing_was_stored_is_ahead(tmp_path: Path) -> None:
    run = Playing(tmp_path)
    run.play(4)
    late = int(run.feed.time[2]) + 1
    run.run.submit(replace(candle_commands(1, run.feed.slice(2, 3))[0], time=late))
    run.until(lambda: run.run._finished == 5)
    run.run.end("interrupted", None)
    run.close()
    said = kept_in(tmp_path, "last").state["said"]
    assert find_kept(tmp_path, {**said, "late": {"to_come": [late]}}) is None
    assert named(find_kept(tmp_path, {**said, "late": {"scored": [late]}})) == "last"


def named(kept: Kept | None) -> str | None:
    return kept.name if kept else None


def test_a_torn_checkpoint_is_passed_over(tmp_path: Path) -> None:
    run = Playing(tmp_path)
    run.play(8)
    run.run.end("interrupted", None)
    run.close()
    (tmp_path / "last" / "state.pt").write_bytes(b"torn")
    assert find_kept(tmp_path, {}) is None


def test_an_interrupted_run_keeps_what_waits_to_be_learnt(tmp_path: Path) -> None:
    run = Playing(tmp_path)
    run.play(6)
    _, ended = run.run.end("interrupted", "why")
    run.close()
    assert (ended.state, ended.cause) == ("interrupted", "why")
    kept = kept_in(tmp_path, "last")
    assert [closed["time"] for closed in kept.state["learning"]["pending"]] == run.feed.time[4:6].tolist()
    assert len(of(CandleLearnt, run.said)) == 4


def test_a_score_and_the_prediction_after_it_are_said_in_one_breath(tmp_path: Path) -> None:
    run = Playing(tmp_path)
    run.play(3)
    run.close()
    assert [said for said in run.together if CandleScored in said] == [[CandleScored, CandlePredicted]] * 3


def test_the_end_of_the_feed_is_seen_after_its_last_candle(tmp_path: Path) -> None:
    run = Playing(tmp_path)
    for candle in candle_commands(1, run.feed.slice(0, 6)):
        run.run.submit(candle)
    run.run.submit(FeedEnded(run_id=1))
    run.until(lambda: run.run.ended is not None)
    weights, ended = run.run.end(*(run.run.ended or ("", None)))
    run.close()
    assert ended.state == "finished"
    assert [e.candle_time for e in of(CandleLearnt, run.said)] == run.feed.time[:6].tolist()
    assert weights.meta.data_cut == run.feed.time[5]


@pytest.mark.usefixtures("often")
def test_a_full_disk_is_said_once_and_the_run_goes_on_and_saves_when_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    run = Playing(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(live_run, "save", full)
        run.play(12)
    assert [(e.code, "No space left on device" in e.message) for e in of(Warned, run.said)] == [("not_saved", True)]
    assert [e.candle_time for e in of(CandleLearnt, run.said)] == run.feed.time[:12].tolist()
    assert kept_in(tmp_path, "last").weights.meta.step == 0
    for candle in candle_commands(1, run.feed.slice(12, FEED)):
        run.run.submit(candle)
    run.until(lambda: run.run._finished == FEED)
    run.close()
    assert kept_in(tmp_path, "last").weights.meta.step >= 4


def test_a_step_for_more_candles_than_a_window_holds_comes_when_the_window_is_full(tmp_path: Path) -> None:
    run = Playing(tmp_path, learn_every=1000)
    run.play(FEED)
    run.close()
    assert [e.candle_time for e in of(CandleLearnt, run.said)] == run.feed.time[:23].tolist()


def test_a_failure_in_the_inference_thread_reaches_the_loop_and_ends_no_thread(tmp_path: Path) -> None:
    run = Playing(tmp_path)

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("planted")

    run.session.scorer.score = broken  # type: ignore[assignment,method-assign]
    run.run.submit(candle_commands(1, run.feed.slice(0, 1))[0])
    with pytest.raises(ZeroDivisionError, match="planted"):
        run.until(lambda: False)
    lives = threading.Event()
    run.inference.submit(lives.set, lambda _: None)
    assert lives.wait(5)
    run.close()


def test_an_aborted_run_says_so_and_keeps_its_last_checkpoint(tmp_path: Path) -> None:
    run = Playing(tmp_path)
    run.play(4)
    run.run.abort("planted")
    run.close()
    (ended,) = of(RunEnded, run.said)
    assert (ended.state, ended.cause) == ("failed", "planted")
    assert kept_in(tmp_path, "last").weights.meta.step == 0


def test_weights_of_another_shape_are_refused_and_the_run_goes_on(tmp_path: Path) -> None:
    run = Playing(tmp_path)
    run.play(4)
    before = params(run)
    other = snapshot(d_model=8)
    with pytest.raises(Refused, match="run 1 is live with another model, stop it first: d_model: have 8, want 16"):
        run.run.take_weights(other)
    assert params(run) == before
    run.run.submit(candle_commands(1, run.feed.slice(4, 5))[0])
    run.until(lambda: run.run._finished == 5)
    run.close()


def test_loaded_weights_become_what_the_run_is_compared_with(tmp_path: Path) -> None:
    run = Playing(tmp_path)
    run.play(8)
    loaded = snapshot(seed=5)
    run.run.take_weights(loaded)
    assert all(torch.equal(p, loaded.params[name]) for name, p in run.session.scorer.start.params.items())
    assert run.run.published.number > of(CandleLearnt, run.said)[-1].snapshot
    run.run.submit(candle_commands(1, run.feed.slice(8, 9))[0])
    run.until(lambda: run.run._finished == 9)
    run.close()
    assert of(CandleScored, run.said)[-1].skipped is None


def snapshot(**changes: Any) -> Snapshot:
    return session(market(HISTORY), **changes).learning.newest


def test_every_checkpoint_is_announced(tmp_path: Path) -> None:
    run = Playing(tmp_path)
    run.play(8)
    run.run.end("stopped", None)
    run.close()
    saved = of(CheckpointSaved, run.said)
    assert [(s.step, s.result) for s in saved] == [(0, False), (2, True)]


def test_forgetting_goes_back_to_a_kept_snapshot_and_is_kept_itself(tmp_path: Path) -> None:
    run = Playing(tmp_path)
    start = params(run)
    run.play(12)
    assert not all(torch.equal(p, start[name]) for name, p in params(run).items())
    run.run.forget(ForgetSince(run_id=1, since=int(run.feed.time[4]), snapshot=1))
    (told,) = of(RolledBack, run.said)
    assert (told.asked, told.back_to, told.snapshot) == (True, 1, run.run.published.number)
    kept = kept_in(tmp_path, "last")  # so that a resume does not learn it anew
    assert all(torch.equal(p, start[name]) for name, p in kept.weights.params.items())
    assert all(torch.equal(p, start[name]) for name, p in params(run).items())
    run.run.submit(candle_commands(1, run.feed.slice(12, 13))[0])
    run.until(lambda: run.run._finished == 13)
    run.close()
    assert (tmp_path / "kept" / "1" / "model.safetensors").exists()


@pytest.mark.parametrize("changed", ["forgotten", "loaded"])
def test_no_resume_goes_on_from_before_a_change_that_no_relearning_could_repeat(tmp_path: Path, changed: str) -> None:
    run = Playing(tmp_path)
    run.play(12)
    if changed == "forgotten":
        run.run.forget(ForgetSince(run_id=1, since=int(run.feed.time[4]), snapshot=1))
    else:
        run.run.take_weights(snapshot(seed=5))
    stored, number = kept_in(tmp_path, "last").state["said"], run.run.published.number
    run.run.submit(candle_commands(1, run.feed.slice(12, 13))[0])
    run.until(lambda: run.run._finished == 13)
    run.run.end("interrupted", None)  # it leaves a checkpoint that is ahead of a server that stored no more
    run.close()
    kept = find_kept(tmp_path, stored)
    assert kept is not None
    assert kept.state["learning"]["learner"]["snapshots"] == number


def test_a_snapshot_that_is_no_longer_kept_is_refused_and_the_run_goes_on(tmp_path: Path) -> None:
    run = Playing(tmp_path)
    run.play(4)
    with pytest.raises(Refused, match="snapshot 77 of run 1 is no longer kept"):
        run.run.forget(ForgetSince(run_id=1, since=0, snapshot=77))
    run.run.submit(candle_commands(1, run.feed.slice(4, 5))[0])
    run.until(lambda: run.run._finished == 5)
    run.close()


def test_annotations_that_change_on_the_way_stand_in_a_checkpoint_at_once(tmp_path: Path) -> None:
    run = Playing(tmp_path, labels=("Long",))
    run.play(4)
    mark = {"id": "a", "kind": "span", "label": "Long", "start": int(run.feed.time[0]), "end": int(run.feed.time[3])}
    run.run.take_marks(MarksChanged(run_id=1, annotations=[{**mark, "known_at": mark["end"], "updated": 1}]))
    run.close()
    kept = kept_in(tmp_path, "last").state["learning"]["marks"]
    assert [each["label"] for each in kept["marks"]] == ["Long"]
    assert len(kept["waiting"]) == 1
