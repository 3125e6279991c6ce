"""Label sets over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from annotate.models import Json
from tests.annotate.annotations.builders import span
from tests.web.marking import Marking, answered, refused

SETS = "/api/label-sets"


def label(name: str, **fields: Any) -> Json:
    return {"name": name, "colour": "#A0b0C0", **fields}


def make(marking: Marking, *labels: Json, name: str = "Mine") -> Json:
    return answered(marking.client.post(SETS, json={"name": name, "labels": list(labels)}), 201)


def put(marking: Marking, label_set: Json, **changes: Any) -> Any:
    return marking.client.put(f"{SETS}/{label_set['id']}", json=label_set | changes)


def test_every_series_takes_the_default_set(marking: Marking) -> None:
    series = answered(marking.client.get(f"/api/series/{marking.series_id}"))["series"]
    found = answered(marking.client.get(f"{SETS}/{series['label_set_id']}"))
    assert (found["name"], found["revision"]) == ("Default", 1)
    assert [(each["name"], each["key"]) for each in found["labels"]] == [
        ("Long", "1"), ("Short", "2"), ("Range", "3"), ("Noise", "4"),
    ]  # fmt: skip
    assert marking.series_id in found["used_by"]
    assert len(found["used_by"]) > 3
    assert found in answered(marking.client.get(SETS))["items"]


def test_a_set_is_made_with_ids_and_lower_case_colours(marking: Marking) -> None:
    made = make(marking, label("Up", key="7", layer="trend"), label("Flat"))
    assert made["revision"] == 1
    assert made["used_by"] == []
    first, second = made["labels"]
    assert first | {"id": 0} == {
        "id": 0, "name": "Up", "colour": "#a0b0c0", "key": "7", "layer": "trend", "archived": False,
    }  # fmt: skip
    assert (second["key"], second["layer"]) == (None, "default")
    assert answered(marking.client.get(f"{SETS}/{made['id']}")) == made


def test_a_put_replaces_the_list_in_its_order(marking: Marking) -> None:
    made = make(marking, label("A"), label("B"), label("C"))
    first, second, third = made["labels"]
    after = answered(put(marking, made, name="Yours", labels=[third, second | {"name": "Bee", "key": "2"}, label("D")]))
    assert (after["name"], after["revision"]) == ("Yours", 2)
    assert [each["name"] for each in after["labels"]] == ["C", "Bee", "D"]
    assert [each["id"] for each in after["labels"][:2]] == [third["id"], second["id"]]
    assert answered(marking.client.get(f"{SETS}/{made['id']}")) == after
    assert first["id"] not in [each["id"] for each in after["labels"]]


def test_the_same_put_again_changes_nothing(marking: Marking) -> None:
    made = make(marking, label("A"))
    after = answered(put(marking, made, labels=[*made["labels"], label("B")]))
    assert answered(put(marking, made, labels=[*made["labels"], label("B")])) == after
    assert answered(put(marking, after)) == after


def test_a_stale_put_is_409_with_both_versions(marking: Marking) -> None:
    made = make(marking, label("A"))
    after = answered(put(marking, made, name="First"))
    error = refused(put(marking, made, name="Second"), 409)
    assert error["code"] == "stale_revision"
    assert error["details"]["stored"] == after
    assert error["details"]["yours"]["name"] == "Second"


def test_archived_labels_of_a_used_set_keep_their_marks(marking: Marking) -> None:
    made = make(marking, label("A"), label("B"))
    path = f"/api/series/{marking.series_id}"
    answered(marking.client.patch(path, json={"label_set_id": made["id"]}))
    stored = marking.put_ok(span(label="A"))
    after = answered(put(marking, made, labels=made["labels"][1:]))
    assert [(each["name"], each["archived"]) for each in after["labels"]] == [("B", False), ("A", True)]
    assert after["used_by"] == [marking.series_id]
    assert marking.marks() == [stored]


def test_a_series_moves_to_another_set_only_where_its_classes_fit(marking: Marking) -> None:
    marking.put_ok(span(label="Range"))
    made = make(marking, label("Long"))
    error = refused(marking.client.patch(f"/api/series/{marking.series_id}", json={"label_set_id": made["id"]}), 422)
    assert "Range" in error["message"]
    refused(marking.client.patch(f"/api/series/{marking.series_id}", json={"label_set_id": 99_999}), 404)


def test_whoever_may_not_see_every_mark_is_not_told_which_labels_they_have(marking: Marking) -> None:
    made = make(marking, label("A"), label("Theirs"), label("Unused"))
    path = f"/api/series/{marking.series_id}"
    answered(marking.client.patch(path, json={"label_set_id": made["id"]}))
    marking.put_ok(span(label="Theirs"), X_Author="Ben")
    answered(marking.client.post(f"{path}/blind", json={"hides": "others"}), 201)
    after = answered(put(marking, made, labels=made["labels"][:1]))
    assert [(each["name"], each["archived"]) for each in after["labels"][1:]] == [("Theirs", True), ("Unused", True)]
    error = refused(marking.client.patch(path, json={"label_set_id": 1}), 409)
    assert (error["code"], error["details"]["end"]) == ("blind_pass", f"DELETE {path}/blind")
    answered(marking.client.delete(f"{path}/blind"))
    assert [each["name"] for each in answered(put(marking, after, labels=after["labels"][:1]))["labels"]] == [
        "A",
        "Theirs",
    ]


@pytest.mark.parametrize(
    ("labels", "field"),
    [
        ([], "labels"),
        ([label("A", archived=True)], "labels"),
        ([label("")], "labels[0].name"),
        ([label("A"), label("A")], "labels[1].name"),
        ([label("A", key="1"), label("B", key="1")], "labels[1].key"),
        ([label("A", key="0")], "labels[0].key"),
        ([label("A", key="12")], "labels[0].key"),
        ([label("A", key=1)], "labels[0].key"),
        ([label("A") | {"colour": "red"}], "labels[0].colour"),
        ([label("A") | {"colour": "#12345g"}], "labels[0].colour"),
        ([label("A") | {"colour": "#12345"}], "labels[0].colour"),
        ([label("A", layer=" ")], "labels[0].layer"),
        ([label("A", archived="no")], "labels[0].archived"),
        ([label("A", id=10**6)], "labels[0].id"),
        ([label("A", hotkey="x")], "labels[0].hotkey"),
        (["A"], "labels[0]"),
        ({"A": 1}, "labels"),
        ([label(str(number)) for number in range(201)], "labels"),
    ],
)
def test_a_bad_label_is_refused_by_its_place(marking: Marking, labels: Any, field: str) -> None:
    error = refused(marking.client.post(SETS, json={"name": "Bad", "labels": labels}), 422)
    assert error["details"]["field"] == field
    assert error["message"].startswith(field)


def test_a_label_without_a_key_may_be_one_of_many(marking: Marking) -> None:
    made = make(marking, *[label(f"L{number}", key=str(number) if number < 10 else None) for number in range(1, 30)])
    assert len(made["labels"]) == 29


def test_a_set_that_is_not_there_is_404(marking: Marking) -> None:
    refused(marking.client.get(f"{SETS}/99999"), 404)
    refused(marking.client.put(f"{SETS}/99999", json={"name": "A", "labels": [label("A")]}), 404)
