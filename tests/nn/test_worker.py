"""The worker process over its pipe: loads, trains, predicts, learns live, survives failures, and leaves by itself."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nn import commands, events
from nn.checkpoint import load
from nn.priority import BEHIND, FIRST_TO_GO, LEAST
from tests.nn.live_market import MINUTE, batch, candle_commands, dataset, live, market, play, session, small
from tests.nn.worker_process import Worker

HISTORY, FEED = 300, 40
LONG = 10_000  # epochs: such a run ends only when it is told to


@pytest.fixture
def runs(worker: Worker) -> Iterator["Runs"]:
    """Number the runs of a test; whatever is left under way is stopped."""
    numbered = Runs(worker)
    yield numbered
    worker.send(*(commands.StopRun(run_id=run_id) for run_id in numbered.open))
    for run_id in sorted(numbered.open):
        numbered.ended(run_id)


class Runs:
    """Starts runs in the worker under numbers of their own."""

    count = 0

    def __init__(self, worker: Worker) -> None:
        self.worker, self.open = worker, set[int]()

    def start(self, kind: type[Any], **fields: Any) -> int:
        Runs.count += 1
        self.open.add(Runs.count)
        self.worker.send(kind(run_id=Runs.count, **{"series_id": 1000 + Runs.count} | fields))
        return Runs.count

    def ended(self, run_id: int) -> events.RunEnded:
        self.open.discard(run_id)
        return self.worker.until_ended(run_id)


@pytest.fixture
def data(tmp_path: Path) -> "Data":
    return Data(tmp_path)


class Data:
    """A history and a feed that follows it, on disk."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.candles = folder, market(HISTORY + FEED)
        self.history, self.feed = self.candles.slice(0, HISTORY), self.candles.slice(HISTORY, HISTORY + FEED)
        self.history_dir = str(dataset(folder / "history", self.history))
        self.dataset_dir = str(dataset(folder / "dataset", self.candles))

    def checkpoints(self, name: str = "run") -> str:
        return str(self.folder / "checkpoints" / name)

    def live_fields(self, **changes: Any) -> dict[str, Any]:
        first = int(self.feed.time[0])
        fields = {
            "config": live(),
            "history_dir": self.history_dir,
            "checkpoint_dir": self.checkpoints(),
            "first_time": first,
        }
        return fields | {"coalesce": False} | changes

    def batch_fields(self, **changes: Any) -> dict[str, Any]:
        config = batch(**changes)
        return {"config": config, "dataset_dir": self.dataset_dir, "checkpoint_dir": self.checkpoints()}


def test_it_says_what_it_runs_on(worker: Worker) -> None:
    (ready,) = worker.of(events.WorkerReady)
    assert ready.pid == worker.process.pid
    assert ready.threads == 1
    assert ready.device_reason
    assert "memory: " in ready.memory


def test_training_stands_behind_the_threads_that_read_predict_and_speak(worker: Worker) -> None:
    pid, mine = worker.of(events.WorkerReady)[0].pid, os.getpriority(os.PRIO_PROCESS, 0)
    tasks = [int(entry.name) for entry in Path(f"/proc/{pid}/task").iterdir()]
    niceness = {task: os.getpriority(os.PRIO_PROCESS, task) for task in tasks}
    assert niceness.pop(pid) == min(LEAST, mine + BEHIND)  # the main thread has the number of its process
    assert list(niceness.values()).count(mine) >= 2  # the one that reads the pipe, the one that predicts
    here, there = (int(Path(f"/proc/{process}/oom_score_adj").read_text()) for process in ("self", pid))
    assert there == max(here, FIRST_TO_GO)  # a lack of memory ends the run's process first


def test_a_line_that_is_no_command_does_not_end_it(worker: Worker, runs: Runs) -> None:
    worker.write('not json\n{"command": "unknown"}\n{"command": "stop"}\n\n')
    run_id = runs.start(commands.LoadModel, config=small())
    assert runs.ended(run_id).state == "finished"


def test_a_first_load_builds_a_fresh_model_and_says_so(worker: Worker, runs: Runs) -> None:
    run_id = runs.start(commands.LoadModel, config=small())
    assert runs.ended(run_id).state == "finished"
    (loaded,) = worker.of(events.ModelLoaded, run_id)
    assert (loaded.origin, loaded.checkpoint, loaded.data_cut) == ("fresh", None, None)
    assert loaded.model == "transformer"
    assert loaded.parameters > 1000


def test_a_batch_run_leaves_its_best_to_later_runs(worker: Worker, runs: Runs, data: Data) -> None:
    trained = runs.start(commands.StartBatch, series_id=1, **data.batch_fields())
    assert runs.ended(trained).state == "finished"
    assert worker.of(events.BatchDone, trained)
    assert len(worker.of(events.EpochDone, trained)) == 2
    again = runs.start(commands.LoadModel, series_id=1, config=small())
    runs.ended(again)
    (loaded,) = worker.of(events.ModelLoaded, again)
    assert loaded.origin == "loaded"
    assert loaded.checkpoint == f"{trained}/best"
    assert loaded.data_cut is not None


def test_a_shuffled_run_leaves_nothing(worker: Worker, runs: Runs, data: Data) -> None:
    shuffled = runs.start(commands.StartBatch, series_id=2, **data.batch_fields(shuffle_targets=True))
    runs.ended(shuffled)
    after = runs.start(commands.LoadModel, series_id=2, config=small())
    runs.ended(after)
    assert worker.of(events.ModelLoaded, after)[0].origin == "fresh"


def test_the_newest_candidate_that_fits_is_loaded_and_the_others_are_named(
    worker: Worker, runs: Runs, data: Data
) -> None:
    other = runs.start(commands.StartBatch, **data.batch_fields(d_model=8))
    runs.ended(other)
    wrong = data.checkpoints() + "/best"
    fits = data.folder / "fits"
    trained = runs.start(commands.StartBatch, **data.batch_fields() | {"checkpoint_dir": str(fits)})
    runs.ended(trained)
    candidates = [str(data.folder / "absent"), wrong, str(fits / "best")]
    run_id = runs.start(commands.LoadModel, config=small(), candidates=candidates)
    runs.ended(run_id)
    (loaded,) = worker.of(events.ModelLoaded, run_id)
    assert (loaded.origin, loaded.checkpoint) == ("checkpoint", "fits/best")
    assert "d_model: have 8, want 16" in loaded.reason


def test_a_named_checkpoint_that_does_not_fit_is_refused_field_by_field(worker: Worker, runs: Runs, data: Data) -> None:
    trained = runs.start(commands.StartBatch, series_id=3, **data.batch_fields())
    runs.ended(trained)
    named = data.checkpoints() + "/best"
    run_id = runs.start(commands.LoadModel, series_id=3, config=small(d_model=32, n_layers=2), named=named)
    ended = runs.ended(run_id)
    assert ended.state == "failed"
    assert "d_model: have 16, want 32; n_layers: have 1, want 2" in str(ended.cause)
    still = runs.start(commands.LoadModel, series_id=3, config=small())
    runs.ended(still)
    assert worker.of(events.ModelLoaded, still)[0].checkpoint == f"{trained}/best"


def test_discarded_weights_are_forgotten(worker: Worker, runs: Runs, data: Data) -> None:
    runs.ended(runs.start(commands.StartBatch, series_id=4, **data.batch_fields()))
    worker.send(commands.Discard(request_id=77, series_id=4, model=None))
    answer = worker.until(lambda s: isinstance(s, events.Answer) and s.request_id == 77)
    assert answer.body == {"discarded": 1}
    after = runs.start(commands.LoadModel, series_id=4, config=small())
    runs.ended(after)
    assert worker.of(events.ModelLoaded, after)[0].origin == "fresh"


def test_a_live_run_says_what_a_session_without_a_worker_says(worker: Worker, runs: Runs, data: Data) -> None:
    run_id = runs.start(commands.StartLive, **data.live_fields())
    worker.send(*candle_commands(run_id, data.feed), commands.FeedEnded(run_id=run_id))
    assert runs.ended(run_id).state == "finished"
    expected = play(session(data.history), data.feed)
    for kind, moment in (
        (events.CandlePredicted, "latency_ms"),
        (events.CandleScored, "behind"),
        (events.CandleLearnt, "line"),
    ):
        said = [plain(e, moment) for e in worker.of(kind, run_id)]
        assert said == [plain(e, moment) for e in expected if isinstance(e, kind)]
    assert [done.candle_time for done in worker.of(events.CandleDone, run_id)] == data.feed.time.tolist()


def plain(event: events.Event, moment: str) -> dict[str, Any]:
    """Give an event without what depends on the moment and the run."""
    return {k: v for k, v in event.to_json().items() if k not in ("run_id", "time", moment)}


def test_one_candle_is_done_with_before_the_next_is_looked_at(worker: Worker, runs: Runs, data: Data) -> None:
    run_id = runs.start(commands.StartLive, **data.live_fields(config=live(learn_every=1)))
    worker.send(*candle_commands(run_id, data.feed), commands.FeedEnded(run_id=run_id))
    runs.ended(run_id)
    kinds = (events.CandleScored, events.CandlePredicted, events.CandleLearnt, events.CandleDone)
    order = [s.type for s in worker.said if isinstance(s, kinds) and s.run_id == run_id]
    assert order == [
        "candle_predicted",
        *(["candle_scored", "candle_predicted", "candle_learnt", "candle_done"] * FEED),
    ]


def test_under_backlog_only_learning_is_coalesced(worker: Worker, runs: Runs, data: Data) -> None:
    run_id = runs.start(commands.StartLive, **data.live_fields(coalesce=True))
    worker.send(*candle_commands(run_id, data.feed), commands.FeedEnded(run_id=run_id))
    runs.ended(run_id)
    times = data.feed.time.tolist()
    scored, learnt = worker.of(events.CandleScored, run_id), worker.of(events.CandleLearnt, run_id)
    assert [e.candle_time for e in scored] == [e.candle_time for e in learnt] == times
    assert all(e.loss is not None for e in learnt)
    assert max(e.behind for e in scored) > 0


def test_the_feed_may_send_a_candle_twice(worker: Worker, runs: Runs, data: Data) -> None:
    run_id = runs.start(commands.StartLive, **data.live_fields())
    sent = candle_commands(run_id, data.feed.slice(0, 4))
    worker.send(*sent, sent[1], sent[3], commands.FeedEnded(run_id=run_id))
    runs.ended(run_id)
    assert len(worker.of(events.CandleScored, run_id)) == len(worker.of(events.CandleLearnt, run_id)) == 4
    assert len(worker.of(events.CandleDone, run_id)) == 6


def test_stop_learns_what_was_scored_and_the_next_run_goes_on_from_the_last_weights(
    worker: Worker, runs: Runs, data: Data
) -> None:
    run_id = runs.start(commands.StartLive, series_id=5, **data.live_fields())
    worker.send(*candle_commands(run_id, data.feed.slice(0, 6)))
    last = int(data.feed.time[5])
    worker.until(lambda s: isinstance(s, events.CandleDone) and s.candle_time == last)
    worker.send(commands.StopRun(run_id=run_id))
    assert runs.ended(run_id).state == "stopped"
    assert [e.candle_time for e in worker.of(events.CandleLearnt, run_id)] == data.feed.time[:6].tolist()
    (saved,) = [s for s in worker.of(events.CheckpointSaved, run_id) if s.result and s.step == 2]
    assert saved.data_cut == last
    after = runs.start(commands.StartLive, series_id=5, **data.live_fields(checkpoint_dir=data.checkpoints("after")))
    started = worker.until(lambda s: isinstance(s, events.RunStarted) and s.run_id == after)
    assert started.origin == "loaded"
    assert started.data["seen_until"] == last


def test_a_paused_run_holds_and_goes_on(worker: Worker, runs: Runs, data: Data) -> None:
    run_id = runs.start(commands.StartLive, **data.live_fields())
    worker.send(commands.PauseRun(run_id=run_id))
    worker.until(lambda s: isinstance(s, events.RunState) and s.run_id == run_id and s.state == "paused")
    worker.send(*candle_commands(run_id, data.feed.slice(0, 4)))
    other = runs.start(commands.LoadModel, config=small())
    runs.ended(other)  # the loop has gone round since
    assert not worker.of(events.CandleScored, run_id)
    worker.send(commands.ResumeRun(run_id=run_id), commands.FeedEnded(run_id=run_id))
    runs.ended(run_id)
    assert len(worker.of(events.CandleLearnt, run_id)) == 4


def test_a_batch_run_pauses_and_stops(worker: Worker, runs: Runs, data: Data) -> None:
    run_id = runs.start(commands.StartBatch, **data.batch_fields(epochs=LONG))
    worker.until(lambda s: isinstance(s, events.BatchDone) and s.run_id == run_id)
    worker.send(commands.PauseRun(run_id=run_id))
    worker.until(lambda s: isinstance(s, events.RunState) and s.run_id == run_id and s.state == "paused")
    steps = len(worker.of(events.BatchDone, run_id))
    runs.ended(runs.start(commands.LoadModel, config=small()))
    assert len(worker.of(events.BatchDone, run_id)) == steps
    worker.send(commands.ResumeRun(run_id=run_id))
    worker.until(lambda s: isinstance(s, events.BatchDone) and s.run_id == run_id)
    worker.send(commands.StopRun(run_id=run_id))
    assert runs.ended(run_id).state == "stopped"


def test_a_second_batch_run_is_refused_while_one_trains(worker: Worker, runs: Runs, data: Data) -> None:
    first = runs.start(commands.StartBatch, **data.batch_fields(epochs=LONG))
    second = runs.start(commands.StartBatch, **data.batch_fields())
    ended = runs.ended(second)
    assert ended.state == "failed"
    assert f"run {first} is training" in str(ended.cause)


def test_a_run_that_fails_says_why_and_the_next_one_starts(worker: Worker, runs: Runs, data: Data) -> None:
    missing = runs.start(commands.StartBatch, **data.batch_fields() | {"dataset_dir": str(data.folder / "nowhere")})
    assert "nowhere: not a dataset directory" in str(runs.ended(missing).cause)
    unknown = runs.start(commands.LoadModel, config={"d_modle": 8})
    assert "d_modle = 8: unknown field" in str(runs.ended(unknown).cause)
    short = runs.start(commands.StartBatch, **data.batch_fields(sequence_length=400))
    assert "sequence_length = 400" in str(runs.ended(short).cause)
    broken = runs.start(commands.StartLive, **data.live_fields(checkpoint_dir="/dev/null/no"))
    assert "Traceback" in str(runs.ended(broken).cause)
    assert runs.ended(runs.start(commands.LoadModel, config=small())).state == "finished"


def test_a_feed_that_breaks_ends_the_run_with_its_cause_and_keeps_the_weights(
    worker: Worker, runs: Runs, data: Data
) -> None:
    run_id = runs.start(commands.StartLive, **data.live_fields())
    worker.send(*candle_commands(run_id, data.feed.slice(0, 8)), commands.FeedEnded(run_id=run_id, cause="no candles"))
    ended = runs.ended(run_id)
    assert (ended.state, ended.cause) == ("failed", "no candles")
    assert load(Path(data.checkpoints()) / "last").meta.step == 2


def test_a_question_is_answered_from_the_loaded_model(worker: Worker, runs: Runs, data: Data) -> None:
    trained = runs.start(commands.StartBatch, series_id=6, **data.batch_fields())
    runs.ended(trained)
    body = told(worker, series_id=6, history_dir=data.dataset_dir)
    assert body["run_id"] == trained
    assert body["as_of"] == data.candles.time[-1]
    assert sum(body["candle_probabilities"]) == pytest.approx(1.0)
    assert body["data_cut"] is not None
    assert told(worker, series_id=6, history_dir=data.dataset_dir)["trend_up"] == body["trend_up"]
    earlier = told(worker, series_id=6, history_dir=data.dataset_dir, as_of=int(data.candles.time[100]))
    assert earlier["as_of"] == data.candles.time[100]


def test_a_question_without_an_answer_says_what_is_missing(worker: Worker, runs: Runs, data: Data) -> None:
    assert "load one or train one first" in str(ask(worker, series_id=999, history_dir=data.dataset_dir).error)
    runs.ended(runs.start(commands.LoadModel, series_id=7, config=small()))
    early = ask(worker, series_id=7, history_dir=data.dataset_dir, as_of=int(data.candles.time[3]))
    assert "only 4 candles in a row" in str(early.error)
    between = ask(worker, series_id=7, history_dir=data.dataset_dir, as_of=int(data.candles.time[3]) + 1)
    assert "no candle of this series opens then" in str(between.error)


def told(worker: Worker, **fields: Any) -> dict[str, Any]:
    """Ask, and give the body of the answer."""
    answer = ask(worker, **fields)
    assert answer.error is None
    assert answer.body is not None
    return answer.body


def ask(worker: Worker, **fields: Any) -> events.Answer:
    Runs.count += 1
    number = Runs.count
    worker.send(commands.Predict(request_id=number, **{"model": None, "as_of": None} | fields))
    answer: events.Answer = worker.until(lambda s: isinstance(s, events.Answer) and s.request_id == number)
    return answer


def test_load_changes_the_weights_of_a_live_run_under_way(worker: Worker, runs: Runs, data: Data) -> None:
    trained = runs.start(commands.StartBatch, **data.batch_fields())
    runs.ended(trained)
    named = data.checkpoints() + "/best"
    fields = data.live_fields(checkpoint_dir=data.checkpoints("live"))
    run_id = runs.start(commands.StartLive, series_id=8, **fields)
    worker.send(*candle_commands(run_id, data.feed.slice(0, 4)))
    worker.until(lambda s: isinstance(s, events.CandleLearnt) and s.run_id == run_id)
    before = told(worker, series_id=8, history_dir=None)
    runs.ended(runs.start(commands.LoadModel, series_id=8, config=small(), named=named))
    after = told(worker, series_id=8, history_dir=None)
    assert after["run_id"] == before["run_id"] == run_id
    assert after["as_of"] == before["as_of"]
    assert after["snapshot"] > before["snapshot"]
    assert after["candle_probabilities"] != before["candle_probabilities"]


def test_training_beside_a_live_run_changes_no_bit_of_either(worker: Worker, runs: Runs, data: Data) -> None:
    alone = runs.start(commands.StartBatch, **data.batch_fields())
    runs.ended(alone)
    beside = runs.start(commands.StartBatch, **data.batch_fields() | {"checkpoint_dir": data.checkpoints("beside")})
    run_id = runs.start(commands.StartLive, **data.live_fields(checkpoint_dir=data.checkpoints("live")))
    worker.send(*candle_commands(run_id, data.feed), commands.FeedEnded(run_id=run_id))
    runs.ended(run_id)
    runs.ended(beside)
    losses = [[e.loss for e in worker.of(events.BatchDone, one)] for one in (alone, beside)]
    assert losses[0] == losses[1]
    expected = [e.loss for e in play(session(data.history), data.feed) if isinstance(e, events.CandleLearnt)]
    assert [e.loss for e in worker.of(events.CandleLearnt, run_id)] == expected


def test_a_live_run_whose_parent_was_killed_goes_on_bit_for_bit_in_another_worker(
    worker: Worker, runs: Runs, data: Data
) -> None:
    first = Worker(between=True)
    first.send(commands.StartLive(run_id=1, series_id=1, **data.live_fields()))
    first.send(*candle_commands(1, data.feed.slice(0, 18)))
    seventeenth = int(data.feed.time[17])
    first.until(lambda s: isinstance(s, events.CandleScored) and s.candle_time == seventeenth)
    first.kill()  # the parent: its pipes stay open, and the worker must end all the same
    goes_on_bit_for_bit(worker, runs, data, first)


def test_a_live_run_without_a_usable_checkpoint_is_done_again_from_its_first_candle(
    worker: Worker, runs: Runs, data: Data
) -> None:
    first = Worker()
    first.send(commands.StartLive(run_id=1, series_id=1, **data.live_fields()))
    first.send(*candle_commands(1, data.feed.slice(0, 19)))
    first.until(lambda s: isinstance(s, events.CandleScored) and s.candle_time == int(data.feed.time[18]))
    assert first.end() == 0
    first.rest()
    (Path(data.checkpoints()) / "last" / "state.pt").write_bytes(b"torn")
    goes_on_bit_for_bit(worker, runs, data, first, kind=events.RunStarted)


@pytest.mark.parametrize("candles", [1, 2, 19])
def test_a_live_run_that_left_while_candles_waited_to_be_learnt_goes_on_bit_for_bit(
    worker: Worker, runs: Runs, data: Data, candles: int
) -> None:
    first = Worker()
    first.send(commands.StartLive(run_id=1, series_id=1, **data.live_fields()))
    first.send(*candle_commands(1, data.feed.slice(0, candles)))
    first.until(lambda s: isinstance(s, events.CandleScored) and s.candle_time == int(data.feed.time[candles - 1]))
    assert first.end() == 0
    first.rest()
    assert newest(first)["learnt"] != newest(first)["scored"], "no candle waited, so the test shows nothing"
    goes_on_bit_for_bit(worker, runs, data, first)


def goes_on_bit_for_bit(
    worker: Worker, runs: Runs, data: Data, first: Worker, kind: type[events.Event] = events.RunResumed
) -> None:
    """Resume what `first` had told, and hold both parts against a run that nothing disturbed.

    `kind` is the event with which it must go on.
    """
    undisturbed = runs.start(commands.StartLive, **data.live_fields(checkpoint_dir=data.checkpoints("undisturbed")))
    worker.send(*candle_commands(undisturbed, data.feed), commands.FeedEnded(run_id=undisturbed))
    runs.ended(undisturbed)
    recorded = newest(first)
    following = int((recorded["scored"] - data.candles.time[0]) // MINUTE) + 1
    rest = data.candles.slice(following, len(data.candles))
    history = dataset(data.folder / "so-far", data.candles.slice(0, following))
    fields = {"history_dir": str(history), "first_time": int(rest.time[0]), "began": int(data.feed.time[0])}
    fields = data.live_fields(**fields, resume=True, recorded=recorded)
    resumed = runs.start(commands.StartLive, **fields)
    worker.send(*candle_commands(resumed, rest), commands.FeedEnded(run_id=resumed))
    assert runs.ended(resumed).state == "finished"
    begun = [s for s in worker.said if isinstance(s, events.RunResumed | events.RunStarted) and s.run_id == resumed]
    assert [type(event) for event in begun] == [kind]
    for told, moment in (
        (events.CandlePredicted, "latency_ms"),
        (events.CandleScored, "behind"),
        (events.CandleLearnt, "time"),
    ):
        expected = [plain(e, moment) for e in worker.of(told, undisturbed)]
        assert [plain(e, moment) for e in [*first.of(told), *worker.of(told, resumed)]] == expected


def newest(worker: Worker) -> dict[str, int | None]:
    """Give the newest candle of each kind of event, as the server reads it of what it has stored."""
    kinds = {"predicted": events.CandlePredicted, "scored": events.CandleScored, "learnt": events.CandleLearnt}
    return {name: max((e.candle_time for e in worker.of(kind)), default=None) for name, kind in kinds.items()}


def test_it_ends_by_itself_with_its_stdin_and_saves_what_is_under_way(data: Data) -> None:
    with Worker() as one:
        one.send(commands.StartBatch(run_id=1, series_id=1, **data.batch_fields(epochs=LONG)))
        one.send(commands.StartLive(run_id=2, series_id=2, **data.live_fields(checkpoint_dir=data.checkpoints("live"))))
        one.until(lambda s: isinstance(s, events.RunStarted) and s.run_id == 2)
        one.until(lambda s: isinstance(s, events.BatchDone))
        assert one.end() == 0
    leftover = one.rest()
    assert {(e.run_id, e.state) for e in leftover if isinstance(e, events.RunEnded)} == {
        (1, "interrupted"),
        (2, "interrupted"),
    }
    assert (Path(data.checkpoints()) / "last" / "meta.json").exists()
