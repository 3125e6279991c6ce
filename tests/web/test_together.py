"""Several people on one series: agreement over HTTP, a second pass, and reviews that keep both marks."""

from __future__ import annotations

import io
from uuid import uuid4

import pytest

from annotate.models import Json
from tests.annotate.annotations.builders import point, span, trade
from tests.web.marking import Marking, answered, refused
from tests.web.test_annotations import following


def agreement(marking: Marking, query: str) -> Json:
    return answered(marking.client.get(f"/api/series/{marking.series_id}/agreement?{query}"))


def review(marking: Marking, mark: Json, author: str = "Ben", **body: object) -> Json:
    path = f"/api/series/{marking.series_id}/annotations/{mark['id']}/review"
    return answered(marking.client.put(path, json=body, headers={"X-Author": author}))


def test_two_people_are_compared_on_the_marks_that_each_made(marking: Marking) -> None:
    for body in (span(10, 20), span(30, 40, "Short"), point(50), trade(60, 70)):
        marking.put_ok(body, X_Author="Ann")
    for body in (span(11, 21), span(60, 70), point(51), trade(61, 65)):
        marking.put_ok(body, X_Author="Ben")
    found = agreement(marking, "first=Ann&second=Ben")
    assert [found[kind]["f1"] for kind in ("spans", "points", "trades")] == [0.5, 1.0, 1.0]
    assert found["candles"]["default"]["kappa"] is not None
    assert agreement(marking, "first=Ann&second=Ben&tolerance=0")["points"]["f1"] == 0.0
    authors = answered(marking.client.get(f"/api/series/{marking.series_id}/authors"))["items"]
    assert [(each["author"], each["marks"]) for each in authors] == [("Ann", 4), ("Ben", 4)]


def test_one_person_is_compared_with_their_own_second_pass(marking: Marking) -> None:
    for place in (10, 30, 50):
        marking.put_ok(span(place, place + 10), X_Author="Ann")
    path, headers = f"/api/series/{marking.series_id}/blind", {"X-Author": "Ann"}
    begun = answered(marking.client.post(path, json={"hides": "all"}, headers=headers), 201)["pass"]
    for place in (11, 31, 80):
        marking.put_ok(span(place, place + 10), X_Author="Ann")
    assert (
        refused(marking.client.get(f"{path[:-5]}agreement?pass={begun['id']}", headers=headers), 409)["code"]
        == "blind_pass"
    )
    answered(marking.client.delete(path, headers=headers))
    found = agreement(marking, f"pass={begun['id']}")
    assert (found["first"], found["second"]) == ("Ann", "Ann")
    assert (found["spans"]["matched"], found["spans"]["first"], found["spans"]["second"]) == (2, 3, 3)


def test_a_comparison_needs_two_sides(marking: Marking) -> None:
    path = f"/api/series/{marking.series_id}/agreement"
    assert refused(marking.client.get(path), 422)["message"].startswith("first is missing: name an author")
    assert refused(marking.client.get(f"{path}?first={'A' * 500}&second=Ben"), 422)["details"]["field"] == "first"
    assert "blind pass of one" in refused(marking.client.get(f"{path}?first=Ann&second=Ann"), 422)["message"]
    assert "no blind pass 77" in refused(marking.client.get(f"{path}?pass=77"), 404)["message"]


def test_a_review_is_kept_beside_the_mark_and_leaves_it_as_it_was(marking: Marking) -> None:
    mark = marking.put_ok(span(10, 20), X_Author="Ann")
    with following(marking) as notices:
        reviewed = review(marking, mark, verdict="accept", comment="clear")
        assert notices.get(timeout=10)["annotation"] == reviewed
    assert {name: value for name, value in reviewed.items() if name != "review"} == {
        name: value for name, value in mark.items() if name != "review"
    }
    told = reviewed["review"]
    assert (told["verdict"], told["by"], told["comment"], told["correction"]) == ("accept", "Ben", "clear", None)
    assert marking.marks() == [reviewed]
    assert review(marking, mark)["review"] is None


def test_a_correction_is_a_mark_of_its_own_and_both_are_kept(marking: Marking) -> None:
    mark = marking.put_ok(span(10, 20), X_Author="Ann")
    right = marking.put_ok(span(12, 22, "Short"), X_Author="Ben")
    review(marking, mark, verdict="correct", correction=right["id"])
    both = {each["id"]: each for each in marking.marks()}
    assert both[mark["id"]]["review"]["correction"] == right["id"]
    assert both[right["id"]]["author"] == "Ben"
    undone = answered(marking.client.post(f"/api/series/{marking.series_id}/undo", headers={"X-Author": "Ann"}))
    assert undone["deleted"] == [mark["id"]]  # a review is no change that blocks the author's undo


def test_a_mark_that_a_reviewer_found_wrong_gives_no_candle_a_class(marking: Marking) -> None:
    mark = marking.put_ok(span(10, 20), X_Author="Ann")
    review(marking, mark, verdict="reject")
    facts = answered(marking.client.post("/api/datasets/preview", json={"series_id": marking.series_id}))["facts"]
    assert facts["chance"]["default"]["candles"]["Long"] == 0
    review(marking, mark, verdict="accept")
    facts = answered(marking.client.post("/api/datasets/preview", json={"series_id": marking.series_id}))["facts"]
    assert facts["chance"]["default"]["candles"]["Long"] == 10


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"verdict": "fine"}, "verdict"),
        ({"verdict": "correct"}, "correction"),
        ({"verdict": "accept", "correction": str(uuid4())}, "correction"),
        ({"verdict": "correct", "correction": str(uuid4())}, "correction"),
        ({"verdict": "correct", "correction": "x"}, "correction"),
    ],
)
def test_a_review_that_cannot_be_taken_is_refused_by_name(marking: Marking, body: Json, field: str) -> None:
    mark = marking.put_ok(span(10, 20))
    path = f"/api/series/{marking.series_id}/annotations/{mark['id']}/review"
    error = refused(marking.client.put(path, json=body), 422)
    assert error["details"].get("field") == field
    assert refused(marking.client.put(path.replace(mark["id"], str(uuid4())), json={"verdict": "accept"}), 404)


def test_a_review_travels_in_a_dataset_and_back(marking: Marking) -> None:
    mark = marking.put_ok(span(10, 20), X_Author="Ann")
    review(marking, mark, verdict="reject", comment="=late")
    body = {"series_id": marking.series_id, "name": "reviewed"}
    dataset = answered(marking.client.post("/api/datasets", json=body), 201)["dataset"]
    content = marking.client.get(f"/api/datasets/{dataset['id']}/download").get_data()
    path = f"/api/series/{marking.series_id}/annotations/import"
    report = answered(marking.client.post(path, data={"file": (io.BytesIO(content), "x.zip")}))["report"]
    assert (report["same"], report["new"], report["conflicts"]) == (1, 0, [])
