"""How right and wrong answers are drawn: calibration, confusion and classes of the best epoch, the test beside."""

from __future__ import annotations

import numpy as np

from annotate.judged_figures import judged_figures, skill_figures
from annotate.models import Json
from nn.calibration import calibration
from nn.metrics import confusion, per_class

TARGETS = np.array([0, 0, 0, 1, 1, -1])
ANSWERS = np.log(np.array([[0.8, 0.2], [0.6, 0.4], [0.3, 0.7], [0.1, 0.9], [0.4, 0.6], [0.5, 0.5]]))


def judged(*, spans: bool = False) -> Json:
    """Make what a run tells of one head, from answers."""
    matrix = confusion(TARGETS, ANSWERS.argmax(axis=1), 2)
    head: Json = {
        "confusion": matrix.tolist(),
        "classes": per_class(matrix, ("down", "up")),
        "calibration": calibration(ANSWERS, TARGETS),
    }
    if spans:
        head["spans"] = {"f1": 0.5, "both_ends": 0.25, "found": 1, "true": 2}
    return head


def test_the_best_epoch_gives_calibration_confusion_and_classes_of_each_head() -> None:
    best = {"validation": {"heads": {"trend": judged(), "label": judged(spans=True)}}}
    made = {each["name"]: each["figure"] for each in judged_figures(best, None)}
    assert list(made) == [
        f"{head}_{sort}" for head in ("trend", "label") for sort in ("calibration", "confusion", "classes")
    ]
    heat = made["trend_confusion"]["data"][0]
    assert heat["text"] == [[2, 1], [0, 2]]
    assert heat["z"] == [[2 / 3, 1 / 3], [0.0, 1.0]]
    table = made["trend_classes"]["data"][0]
    assert table["header"]["values"] == ["class", "n", "precision", "recall", "f1"]
    assert [column[0] for column in table["cells"]["values"]] == ["down", 3, "100.0%", "66.7%", "80.0%"]
    assert made["label_classes"]["data"][0]["cells"]["values"][0][-1] == "spans at IoU 0.5"
    told, line = made["trend_calibration"]["data"]
    assert told["x"] == told["y"] == [0, 1]
    assert (line["x"], line["y"]) == ([0.6, 0.7, 0.8, 0.9], [1.0, 0.0, 1.0, 1.0])


def test_the_test_split_stands_beside_validation_and_alone_where_there_is_none() -> None:
    of = {"heads": {"trend": judged()}}
    both = {each["name"]: each["figure"] for each in judged_figures({"validation": of}, {"test": of})}
    assert [trace["name"].split(":")[0] for trace in both["trend_calibration"]["data"]] == [
        "as told",
        "validation",
        "test, once",
    ]
    alone = {each["name"]: each["figure"] for each in judged_figures({"validation": None}, {"test": of})}
    assert alone["trend_confusion"]["data"][0]["name"] == "test, once"


def test_runs_of_earlier_versions_and_runs_without_a_judgement_have_none_of_these() -> None:
    assert not list(judged_figures(None, None))
    assert not list(judged_figures({"validation": {"heads": {"trend": {"accuracy": 0.5}}}}, None))


def test_a_check_on_skill_is_drawn_as_the_real_run_among_the_shuffled_ones() -> None:
    of = {"verdict": "skill", "real": 1.5, "shuffled": [1.6, 1.61], "limit": 1.58}
    overall, candle = skill_figures({**of, "heads": {"candle": of}})
    assert (overall["name"], candle["name"]) == ("loss", "candle_nll")
    assert candle["title"] == "Candle: skill, validation loss"
    shuffled, real, limit = candle["figure"]["data"]
    assert (shuffled["y"], real["y"], limit["y"]) == ([1.6, 1.61], [1.5], [1.58, 1.58])
    assert not list(skill_figures(None))
