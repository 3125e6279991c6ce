"""Runs, models and checkpoints over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import plotly.graph_objects
import pytest
from flask.testing import FlaskClient

from annotate.store.events import add_events
from annotate.store.runs import add_run
from tests.annotate.training.door import LIVE, LONG, SMALL, Door, Json

UNTYPED_PLOTLY: Any = plotly.graph_objects  # its Figure refuses what Plotly does not know


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    """One door for all: each test has a series of its own, and leaves no run behind."""
    made = Door(tmp_path_factory.mktemp("runs") / "data")
    yield made
    made.close()


@pytest.fixture
def api(door: Door) -> FlaskClient:
    return door.client()


@pytest.fixture
def series_id(door: Door) -> int:
    return door.add_series()


def test_a_run_is_accepted_listed_and_given(door: Door, api: FlaskClient, series_id: int) -> None:
    answer = _post_run(api, series_id, SMALL)
    assert answer.status_code == 202
    run = answer.get_json()["run"]
    assert (run["mode"], run["series_id"], run["config"]["epochs"]) == ("batch", series_id, 2)
    assert run["state"] in ("queued", "running")
    finished = door.wait_for_state(run["id"], "finished")
    assert api.get(f"/api/runs/{run['id']}").get_json() == {"run": finished}


def test_runs_are_listed_newest_first_and_by_series(door: Door, api: FlaskClient, series_id: int) -> None:
    other = door.add_series()
    runs = [door.finished_batch(one) for one in (series_id, other, series_id)]
    assert _ids(api.get("/api/runs"))[:3] == runs[::-1]
    assert _ids(api.get(f"/api/runs?series_id={series_id}")) == [runs[2], runs[0]]
    assert _ids(api.get("/api/runs?limit=1")) == [runs[2]]


def test_a_run_on_a_dataset_is_one_on_its_series(door: Door, api: FlaskClient, series_id: int) -> None:
    first = door.finished_batch(series_id)
    dataset_id = door.run(first)["dataset_id"]
    run = api.post("/api/runs", json={"mode": "batch", "dataset_id": dataset_id, "config": SMALL}).get_json()["run"]
    assert (run["series_id"], run["dataset_id"]) == (series_id, dataset_id)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"mode": "load"}, "mode"),
        ({"mode": "batch", "series_id": None}, "series_id"),
        ({"mode": "batch", "series_id": "1"}, "series_id"),
        ({"mode": "batch", "configuration": {}}, "configuration"),
        ({"mode": "batch", "config": [1]}, "config"),
        ({"mode": "batch", "config": {"d_model": 30}}, "n_heads"),
        ({"mode": "batch", "config": {"model": "lstm"}}, "model"),
        ({"mode": "batch", "config": {"model": None}}, "model"),
        ({"mode": "live", "config": {"feed": {"kind": "replay", "speed": 0}}}, "feed.speed"),
    ],
)
def test_a_run_that_cannot_be_taken_is_refused_by_field(
    api: FlaskClient, series_id: int, body: Json, field: str
) -> None:
    answer = api.post("/api/runs", json={"series_id": series_id, **body})
    error = answer.get_json()["error"]
    assert (answer.status_code, error["details"]["field"]) == (422, field)
    assert field.split(".")[0] in error["message"]
    assert _ids(api.get(f"/api/runs?series_id={series_id}")) == []


def test_a_refused_value_is_named_with_what_is_allowed(api: FlaskClient, series_id: int) -> None:
    error = _post_run(api, series_id, {"epochs": 0}).get_json()["error"]
    assert error["details"] == {"field": "epochs", "value": 0, "allowed": "must be from 1 to 10000"}
    assert error["message"] == "epochs = 0: must be from 1 to 10000"


def test_a_run_is_paused_resumed_and_stopped(door: Door, api: FlaskClient, series_id: int) -> None:
    run_id = door.started_batch(series_id)
    states = [api.post(f"/api/runs/{run_id}/{word}").get_json()["run"]["state"] for word in ("pause", "resume", "stop")]
    assert states == ["paused", "running", "stopping"]
    door.wait_for_state(run_id, "stopped")
    again = api.post(f"/api/runs/{run_id}/stop")
    assert (again.status_code, again.get_json()["error"]["message"]) == (
        409,
        f"run {run_id} is stopped; there is nothing to stop",
    )


def test_a_second_live_run_is_a_conflict_that_names_the_first(door: Door, api: FlaskClient, series_id: int) -> None:
    config = {**LIVE, "feed": {"kind": "replay", "speed": 1}}
    first = _post_run(api, series_id, config, "live").get_json()["run"]["id"]
    answer = _post_run(api, series_id, config, "live")
    assert (answer.status_code, answer.get_json()["error"]["details"]) == (409, {"run_id": first})
    door.trainer.stop_run(first)


def test_events_come_after_a_number_all_or_so_many(door: Door, api: FlaskClient, series_id: int) -> None:
    run_id = door.finished_batch(series_id)
    every = api.get(f"/api/runs/{run_id}/events").get_json()
    assert every["items"] == door.events(run_id)
    assert every["first_seq"] == 1
    assert every["items"][1].items() >= {"run_id": run_id, "seq": 2, "type": "batch_done", "line": "Batch 1"}.items()
    assert api.get(f"/api/runs/{run_id}/events?after=3&limit=2").get_json()["items"] == every["items"][3:5]
    assert api.get(f"/api/runs/{run_id}/events?after=1000").get_json()["items"] == []


def test_what_is_not_there_is_a_404(api: FlaskClient) -> None:
    for path in ("/api/runs/999", "/api/runs/999/events", "/api/runs/999/figures"):
        assert api.get(path).get_json()["error"]["code"] == "not_found"
    for path in ("/api/runs/999/stop", "/api/series/999/predict"):
        assert api.post(path, json={}).status_code == 404


def test_a_bad_number_in_a_query_is_named(api: FlaskClient, series_id: int) -> None:
    answer = api.get("/api/runs?limit=many")
    assert (answer.status_code, answer.get_json()["error"]["details"]) == (422, {"field": "limit"})


def test_models_are_listed_with_their_fields_and_checkpoints(door: Door, api: FlaskClient, series_id: int) -> None:
    run_id = door.finished_batch(series_id, {**SMALL, "model": "gru"})
    listed = api.get(f"/api/models?series_id={series_id}").get_json()
    assert [(model["name"], model["title"]) for model in listed["items"]] == [
        ("transformer", "Transformer"),
        ("gru", "GRU"),
        ("tcn", "TCN"),
        ("multiscale_logistic", "Multi-scale logistic"),
    ]
    checkpoints = {model["name"]: model["checkpoints"] for model in listed["items"]}
    assert checkpoints["transformer"] == []
    assert [(row["run_id"], row["name"], row["result"]) for row in checkpoints["gru"]] == [(run_id, "best", True)]
    assert set(listed["fields"]) == {"load", "batch", "live", "skill"}
    epochs = next(field for field in listed["fields"]["batch"] if field["name"] == "epochs")
    assert (epochs["type"], epochs["default"], epochs["least"], epochs["most"]) == ("int", 10, 1, 10_000)
    assert epochs["meaning"]
    assert api.get(f"/api/models?series_id={door.add_series()}").get_json()["items"][1]["checkpoints"] == []


def test_a_checkpoint_is_loaded_by_its_id(door: Door, api: FlaskClient, series_id: int) -> None:
    first, _second = door.finished_batch(series_id), door.finished_batch(series_id)
    rows = api.get(f"/api/models?series_id={series_id}").get_json()["items"][0]["checkpoints"]
    older = next(row for row in rows if row["run_id"] == first)
    body = {"model": "transformer", "series_id": series_id, "checkpoint": older["id"], "config": SMALL}
    answer = api.post("/api/models/load", json=body)
    assert answer.status_code == 202
    run = answer.get_json()["run"]
    assert run["mode"] == "load"
    door.wait_for_state(run["id"], "finished")
    assert door.events(run["id"], "model_loaded")[0]["checkpoint"].endswith(f"/{first}/best")


@pytest.mark.parametrize(("checkpoint", "status"), [("newest", 422), (0, 422), (True, 422), (999, 404)])
def test_a_checkpoint_that_is_none_is_refused(
    api: FlaskClient, series_id: int, checkpoint: object, status: int
) -> None:
    answer = api.post("/api/models/load", json={"series_id": series_id, "checkpoint": checkpoint})
    assert answer.status_code == status
    assert "checkpoint" in answer.get_json()["error"]["message"]


def test_checkpoints_are_discarded(door: Door, api: FlaskClient, series_id: int) -> None:
    door.finished_batch(series_id)
    assert api.delete(f"/api/series/{series_id}/checkpoints?model=gru").get_json() == {"deleted": 0}
    assert api.delete(f"/api/series/{series_id}/checkpoints").get_json() == {"deleted": 1}
    assert api.get(f"/api/models?series_id={series_id}").get_json()["items"][0]["checkpoints"] == []


def test_a_prediction_is_the_workers_answer(api: FlaskClient, series_id: int) -> None:
    answer = api.post(f"/api/series/{series_id}/predict", json={"as_of": 7000})
    assert (answer.status_code, answer.get_json()["as_of"]) == (200, 7000)
    refused = api.post(f"/api/series/{series_id}/predict", json={"model": "gru"})
    assert (refused.status_code, refused.get_json()["error"]["message"]) == (409, "no model is loaded")


def test_figures_of_a_batch_run_have_its_numbers_and_the_baselines_beside(
    door: Door, api: FlaskClient, series_id: int
) -> None:
    run_id = _told(
        door, series_id, "batch", [*(_batch(step) for step in range(1, 5001)), _epoch(1, 2500), _epoch(2, 2500)]
    )
    figures = _figures(api, run_id)
    assert list(figures) == [
        *("loss", "candle_accuracy", "trend_accuracy", "candle_nll", "trend_nll"),
        *("learning_rate", "gradient_norm", "windows_per_s"),
    ]
    batch, train, validation = figures["loss"]["batch"], figures["loss"]["train"], figures["loss"]["validation"]
    assert len(batch["x"]) <= 2000
    assert (batch["x"][0], batch["y"][0]) == (3, pytest.approx((1 + 1 / 2 + 1 / 3) / 3))
    assert batch["x"][-1] == 5000
    assert (train["x"], train["y"]) == ([2500, 5000], [0.9, 0.9])
    assert validation["y"] == [1.1, 1.1]
    accuracy = figures["candle_accuracy"]
    assert accuracy["majority (validation)"]["y"] == [0.24, 0.24]
    assert accuracy["logistic (validation)"]["line"]["dash"] == "dash"
    assert figures["candle_nll"]["validation"]["y"] == [1.5, 1.5]


def test_figures_without_a_validation_set_name_the_split_of_their_baselines(
    door: Door, api: FlaskClient, series_id: int
) -> None:
    run_id = _told(door, series_id, "batch", [_batch(1), {**_epoch(1, 1), "validation": None}])
    assert "majority (train)" in _figures(api, run_id)["candle_accuracy"]
    assert "validation" not in _figures(api, run_id)["loss"]


def test_figures_of_a_live_run_speak_of_unseen_candles_only(door: Door, api: FlaskClient, series_id: int) -> None:
    told = [_scored(second, seen=second < 10) for second in range(30)]
    figures = _figures(api, _told(door, series_id, "live", [*told, _learnt(29)]))
    accuracy = figures["candle_accuracy"]
    assert accuracy["since the start"]["x"][0] == "1970-01-01T00:00:10.000"
    assert len(accuracy["since the start"]["x"]) == 20
    assert set(accuracy) == {"last 100", "since the start", "majority", "persistence"}
    assert accuracy["majority"]["y"][-1] == 0.25
    assert figures["loss"]["candle"]["y"] == [0.7]


def test_a_run_without_figures_has_none(door: Door, api: FlaskClient, series_id: int) -> None:
    run_id = _told(door, series_id, "load", [])
    assert api.get(f"/api/runs/{run_id}/figures").get_json() == {"items": []}


def _post_run(api: FlaskClient, series_id: int, config: Json, mode: str = "batch") -> Any:
    return api.post("/api/runs", json={"mode": mode, "series_id": series_id, "config": config})


def _ids(answer: Any) -> list[int]:
    return [item["id"] for item in answer.get_json()["items"]]


def _told(door: Door, series_id: int, mode: str, events: list[Json]) -> int:
    with door.database.write() as session:
        run = add_run(session, mode=mode, series_id=series_id, dataset_id=None, config=LONG, created=0)
        numbered = [{"run_id": run.id, "seq": seq, "time": 0, **event} for seq, event in enumerate(events, 1)]
        add_events(session, numbered)
        run.state = "finished"
        return run.id


def _figures(api: FlaskClient, run_id: int) -> dict[str, dict[str, Any]]:
    """Give name → trace name → trace; Plotly itself checks each figure."""
    items = api.get(f"/api/runs/{run_id}/figures").get_json()["items"]
    for item in items:
        UNTYPED_PLOTLY.Figure(item["figure"])
        assert {trace["type"] for trace in item["figure"]["data"]} <= {"scatter"}
    return {item["name"]: {trace["name"]: trace for trace in item["figure"]["data"]} for item in items}


def _batch(step: int) -> Json:
    return {"type": "batch_done", "step": step, "loss": 1 / step, "candle_accuracy": 0.2, "trend_accuracy": None}


def _epoch(epoch: int, batches: int) -> Json:
    baselines = {"candle": {name: {"accuracy": 0.24, "nll": 1.6} for name in ("majority", "persistence", "logistic")}}
    figures = {
        "candle_accuracy": 0.3,
        "trend_accuracy": 0.5,
        "n": 10,
        "heads": {"candle": {"nll": 1.5}},
        "baselines": baselines,
    }
    split = {"train": {"loss": 0.9, **figures}, "validation": {"loss": 1.1, **figures}}
    return {"type": "epoch_done", "epoch": epoch, "batches": batches, **split}


def _scored(second: int, *, seen: bool) -> Json:
    rivals = {name: {"accuracy": 0.25, "nll": 1.6} for name in ("majority", "persistence")}
    window = {"n": 1, "accuracy": 0.3, "nll": 1.5, "baselines": rivals}
    figures = {"candle": {"100": window, "all": window}, "trend": {}}
    return {"type": "candle_scored", "candle_time": second * 1000, "seen": seen, "figures": figures}


def _learnt(second: int) -> Json:
    return {"type": "candle_learnt", "candle_time": second * 1000, "loss": 0.7, "average_loss": 0.8}
