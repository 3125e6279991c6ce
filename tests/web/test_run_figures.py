"""Runs beside each other, as a table, as a page to keep; notes; memory told before a run."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator

import pytest
from flask.testing import FlaskClient

from tests.annotate.training.door import SMALL, Door


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    """One door for all; its worker is a peer that trains nothing."""
    made = Door(tmp_path_factory.mktemp("figures") / "data")
    yield made
    made.close()


@pytest.fixture(scope="module")
def runs(door: Door) -> list[int]:
    series_id = door.add_series()
    return [door.finished_batch(series_id, {**SMALL, "stride": stride}) for stride in (7, 8)]


@pytest.fixture
def api(door: Door) -> FlaskClient:
    return door.client()


def test_runs_are_compared_by_curves_in_one_figure_and_the_fields_that_differ(
    api: FlaskClient, runs: list[int]
) -> None:
    found = api.get(f"/api/runs/compare?ids={runs[1]},{runs[0]}").get_json()
    assert found["runs"] == runs[::-1]
    assert found["differences"] == [{"field": "stride", "values": [8, 7]}]
    train = next(item for item in found["items"] if item["name"] == "train_loss")
    assert [trace["name"] for trace in train["figure"]["data"]] == [
        f"run {run_id}, transformer" for run_id in runs[::-1]
    ]
    assert {fact["field"] for fact in found["facts"]} >= {"state", "validation loss", "best epoch"}


@pytest.mark.parametrize("ids", ["", "1", "1,1", "1,x", "1,2,", "1,99999999999999999", "-1,2"])
def test_ids_that_name_no_two_runs_are_refused(api: FlaskClient, runs: list[int], ids: str) -> None:
    answer = api.get(f"/api/runs/compare?ids={ids}")
    assert (answer.status_code, answer.get_json()["error"]["details"]["field"]) == (422, "ids")


def test_a_run_that_does_not_exist_is_not_compared(api: FlaskClient, runs: list[int]) -> None:
    assert api.get(f"/api/runs/compare?ids={runs[0]},999").status_code == 404


def test_the_table_holds_every_point_of_every_line(api: FlaskClient, runs: list[int]) -> None:
    answer = api.get(f"/api/runs/{runs[0]}/figures.csv")
    assert answer.headers["Content-Disposition"] == f'attachment; filename="run-{runs[0]}.csv"'
    rows = list(csv.reader(io.StringIO(answer.get_data(as_text=True))))
    assert rows[0] == ["figure", "trace", "x", "y"]
    items = api.get(f"/api/runs/{runs[0]}/figures").get_json()["items"]
    lines = [(item["name"], trace) for item in items for trace in item["figure"]["data"] if trace["type"] == "scatter"]
    wanted = [
        [name, trace["name"], float(x), y] for name, trace in lines for x, y in zip(trace["x"], trace["y"], strict=True)
    ]
    assert [[row[0], row[1], float(row[2]), float(row[3]) if row[3] else None] for row in rows[1:]] == wanted


def test_the_report_is_one_page_that_asks_nobody(api: FlaskClient, runs: list[int]) -> None:
    api.put(f"/api/runs/{runs[0]}/note", json={"note": "</script><b>bold</b>"})
    page = api.get(f"/api/runs/{runs[0]}/report.html").get_data(as_text=True)
    assert "<b>bold</b>" not in page
    assert "src=" not in page.split("<body>")[1]
    items = page.split('type="application/json">')[1].split("</script>")[0]
    assert json.loads(items)[0]["name"] == "loss"


def test_a_comparison_can_be_kept_as_a_table_and_as_a_page(api: FlaskClient, runs: list[int]) -> None:
    asked = f"ids={runs[0]},{runs[1]}"
    found = api.get(f"/api/runs/compare?{asked}").get_json()
    points = sum(len(trace["x"]) for item in found["items"] for trace in item["figure"]["data"])
    table = api.get(f"/api/runs/compare.csv?{asked}")
    assert table.headers["Content-Disposition"] == f'attachment; filename="runs-{runs[0]}-{runs[1]}.csv"'
    assert len(list(csv.reader(io.StringIO(table.get_data(as_text=True))))) == points + 1
    page = api.get(f"/api/runs/compare.html?{asked}").get_data(as_text=True)
    assert "<td>stride</td><td>7</td><td>8</td>" in page
    assert "src=" not in page.split("<body>")[1]
    items = page.split('type="application/json">')[1].split("</script>")[0]
    assert [item["name"] for item in json.loads(items)] == [item["name"] for item in found["items"]]


def test_a_note_is_kept_and_taken_away(api: FlaskClient, runs: list[int]) -> None:
    assert api.put(f"/api/runs/{runs[1]}/note", json={"note": " too short "}).get_json()["run"]["note"] == "too short"
    assert api.get(f"/api/runs/{runs[1]}").get_json()["run"]["note"] == "too short"
    assert api.put(f"/api/runs/{runs[1]}/note", json={"note": ""}).get_json()["run"]["note"] is None
    assert api.put(f"/api/runs/{runs[1]}/note", json={"note": "x" * 2001}).status_code == 422


def test_memory_is_told_with_what_to_change(api: FlaskClient) -> None:
    small = api.post("/api/memory", json={"config": {}}).get_json()
    assert small["fits"]
    assert small["words"].startswith("a step will need about ")
    large = {"d_model": 4096, "n_layers": 64, "batch_size": 4096, "sequence_length": 8192}
    told = api.post("/api/memory", json={"mode": "batch", "config": large}).get_json()
    assert not told["fits"]
    assert told["needed"] > told["there"]
    assert told["savings"][0]["saves"] > 0
    refused = api.post("/api/memory", json={"config": {"d_model": 7}})
    assert (refused.status_code, refused.get_json()["error"]["details"]["field"]) == (422, "d_model")
