"""Marks in the store: revisions, repeats, conflicts, labels, and who could see what."""

from __future__ import annotations

import threading
from uuid import uuid4

import pytest

from annotate.annotations.labels import LabelSetDraft
from annotate.errors import AnnotateError, Conflict, InvalidInput, NotFound
from annotate.models import Json, UndoStep
from annotate.store.label_sets import assign_label_set, create_label_set, default_label_set, save_label_set
from annotate.store.series import get_series
from tests.annotate.annotations.builders import HOUR, START, Workspace, candles_at, every, point, span, trade

NAMES = ['quote " and, comma', "=1+1", "@cmd", "🚀🚀", "שלום עולם", "two\nlines", "'tis", "-5", "\ttab", "\0null"]


def test_a_new_mark_is_stored_whole_with_what_the_server_knows(workspace: Workspace) -> None:
    mark = workspace.put(trade(10, 20, stop=98.5, comment="why", confidence=0.75), author="Ann")
    expected = trade(10, 20, stop=98.5, target=None, comment="why", confidence=0.75) | {
        "id": mark["id"],
        "revision": 1,
        "author": "Ann",
        "source": "human",
        "mode": "hindsight",
        "decided_at": START + 100 * HOUR,
        "known_at": START + 21 * HOUR,
        "created": workspace.clock,
        "updated": workspace.clock,
        "status": "done",
        "updated_by": "Ann",
        "entry_decided_at": START + 100 * HOUR,
        "review": None,
    }
    assert mark == expected
    assert workspace.marks() == [expected]


def test_the_same_draft_again_changes_nothing(workspace: Workspace) -> None:
    first = workspace.put(span())
    assert workspace.put(span(), first["id"]) == first
    moved = workspace.put(span(11, 21, revision=1), first["id"])
    assert moved["revision"] == 2
    assert workspace.put(span(11, 21, revision=1), first["id"]) == moved
    assert len(steps(workspace)) == 2


def test_a_draft_that_says_what_is_stored_makes_no_revision_and_no_undo_step(workspace: Workspace) -> None:
    first = workspace.put(span())
    assert workspace.put(span(revision=1), first["id"]) == first
    assert len(steps(workspace)) == 1


def test_a_stale_revision_is_refused_with_both_versions(workspace: Workspace) -> None:
    mark = workspace.put(span())
    workspace.put(span(11, 21, revision=1), mark["id"], author="Ben")
    with pytest.raises(Conflict) as refused:
        workspace.put(span(12, 22, revision=1), mark["id"])
    assert refused.value.code == "stale_revision"
    assert refused.value.details["yours"]["start"] == START + 12 * HOUR
    assert refused.value.details["stored"] == workspace.marks()[0]
    assert workspace.marks()[0]["start"] == START + 11 * HOUR


def test_a_late_repeat_of_an_earlier_draft_does_not_undo_a_later_one(workspace: Workspace) -> None:
    mark = workspace.put(span())
    workspace.put(span(11, 21, revision=1), mark["id"])
    with pytest.raises(Conflict):
        workspace.put(span(), mark["id"])


def test_an_edit_of_a_removed_mark_is_a_conflict_without_a_stored_version(workspace: Workspace) -> None:
    mark = workspace.put(span())
    workspace.delete(mark)
    with pytest.raises(Conflict) as refused:
        workspace.put(span(11, 21, revision=1), mark["id"])
    assert refused.value.details["stored"] is None
    with pytest.raises(NotFound):
        workspace.delete(mark)


def test_a_stale_delete_is_refused(workspace: Workspace) -> None:
    mark = workspace.put(span())
    workspace.put(span(11, 21, revision=1), mark["id"])
    with pytest.raises(Conflict) as refused:
        workspace.delete(mark)
    assert refused.value.details["yours"] == {"revision": 1}
    assert len(workspace.marks()) == 1


def test_an_id_of_another_series_is_refused(workspace: Workspace) -> None:
    mark = workspace.put(span())
    workspace.series_id = workspace.add_series(candles_at(every("1h", 100)))
    with pytest.raises(Conflict, match="another series"):
        workspace.put(span(), mark["id"])


def test_an_edit_keeps_its_first_author_and_a_comment_keeps_the_decision(workspace: Workspace) -> None:
    mark = workspace.put(span(), author="Ann")
    workspace.candles.append(workspace.series_id, candles_at([START + 100 * HOUR]))
    commented = workspace.put(span(comment="ok", revision=1), mark["id"], author="Ben")
    assert (commented["author"], commented["decided_at"]) == ("Ann", mark["decided_at"])
    moved = workspace.put(span(11, 21, comment="ok", revision=2), mark["id"], author="Ben")
    assert (moved["author"], moved["decided_at"]) == ("Ann", START + 101 * HOUR)


def test_marks_are_listed_by_start_then_id(workspace: Workspace) -> None:
    ids = sorted(str(uuid4()) for _ in range(3))
    for mark_id, body in zip(reversed(ids), (span(5, 9), point(5), span(3, 4)), strict=True):
        workspace.put(body, mark_id)
    assert [mark["id"] for mark in workspace.marks()] == [ids[0], *ids[1:]]


def test_an_unknown_label_is_refused_with_those_there_are(workspace: Workspace) -> None:
    with pytest.raises(InvalidInput, match="Long, Short, Range, Noise") as refused:
        workspace.put(span(label="long"))
    assert refused.value.details["field"] == "label"


@pytest.mark.parametrize("name", NAMES)
def test_any_name_is_only_a_name(workspace: Workspace, name: str) -> None:
    rename(workspace, {"Long": name})
    mark = workspace.put(span(label=name, comment=name), author=name)
    assert workspace.marks() == [mark]
    assert (mark["label"], mark["comment"], mark["author"]) == (name, name, name)


def test_a_rename_keeps_marks_and_names_may_swap(workspace: Workspace) -> None:
    long, short = workspace.put(span(1, 2)), workspace.put(span(3, 4, "Short"))
    rename(workspace, {"Long": "Short", "Short": "Long"})
    assert [mark["label"] for mark in workspace.marks()] == ["Short", "Long"]
    assert workspace.marks() == [long | {"label": "Short"}, short | {"label": "Long"}]


def test_a_used_label_that_is_left_out_is_archived_and_an_unused_one_is_deleted(workspace: Workspace) -> None:
    mark = workspace.put(span(label="Noise"))
    after = replace_labels(workspace, [label for label in labels(workspace) if label["name"] in ("Long", "Short")])
    assert [(label["name"], label["archived"], label["key"]) for label in after] == [
        ("Long", False, "1"),
        ("Short", False, "2"),
        ("Noise", True, None),
    ]
    assert workspace.marks() == [mark]
    moved = workspace.put(span(11, 21, "Noise", revision=1), mark["id"])
    assert moved["label"] == "Noise"
    with pytest.raises(InvalidInput, match="archived"):
        workspace.put(span(label="Noise"))


def test_a_label_that_only_an_undo_step_knows_is_archived_too(workspace: Workspace) -> None:
    mark = workspace.put(span(label="Noise"))
    workspace.delete(mark)
    after = replace_labels(workspace, labels(workspace)[:2])
    assert [label["name"] for label in after] == ["Long", "Short", "Noise"]
    workspace.undo()
    assert workspace.marks()[0]["label"] == "Noise"


def test_a_new_label_may_not_take_the_name_of_an_archived_one(workspace: Workspace) -> None:
    workspace.put(span(label="Noise"))
    kept = labels(workspace)[:3]
    with pytest.raises(InvalidInput, match="send id = 4"):
        replace_labels(workspace, [*kept, {"name": "Noise", "colour": "#112233"}])


def test_an_archived_label_comes_back_by_its_id(workspace: Workspace) -> None:
    workspace.put(span(label="Noise"))
    archived = replace_labels(workspace, labels(workspace)[:3])
    back = replace_labels(workspace, [*archived[:3], archived[3] | {"archived": False, "key": "4"}])
    assert back[3] | {"id": 0} == {
        "id": 0, "name": "Noise", "colour": "#8c8c8c", "key": "4", "layer": "default", "archived": False,
    }  # fmt: skip
    assert workspace.put(span(label="Noise"))["label"] == "Noise"


def test_the_default_set_stays_the_default_when_it_is_renamed(workspace: Workspace) -> None:
    with workspace.database.write() as session:
        first = default_label_set(session)
        create_label_set(session, LabelSetDraft.from_json({"name": "Default", "labels": [label("A")]}))
        draft = {"name": "Mine", "revision": 1, "labels": [label("B")]}
        save_label_set(session, first.id, LabelSetDraft.from_json(draft))
        assert default_label_set(session).id == first.id


def test_marks_and_their_undo_follow_their_names_into_another_set(workspace: Workspace) -> None:
    mark = workspace.put(span())
    other = add_set(workspace, "Long", "Breakout")
    use_set(workspace, other)
    assert workspace.marks() == [mark]
    moved = workspace.put(span(11, 21, revision=1), mark["id"])
    relabelled = workspace.put(span(11, 21, "Breakout", revision=2), mark["id"])
    assert (moved["label"], relabelled["label"]) == ("Long", "Breakout")
    for _ in range(3):
        workspace.undo()
    assert workspace.marks() == []


def test_a_set_without_a_class_in_use_is_refused(workspace: Workspace) -> None:
    workspace.put(span(label="Range"))
    with pytest.raises(InvalidInput, match="Range"):
        use_set(workspace, add_set(workspace, "Long"))


def test_eight_threads_write_at_once_and_none_is_locked_out(workspace: Workspace) -> None:
    wrong: list[BaseException] = []

    def draw(author: str) -> None:
        try:
            for place in range(12):
                mark = workspace.put(span(place, place + 5), author=author)
                workspace.put(span(place, place + 6, revision=1), mark["id"], author=author)
        except BaseException as error:  # noqa: BLE001 - a thread's error has to reach the test
            wrong.append(error)

    threads = [threading.Thread(target=draw, args=(f"author {number}",)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(workspace.marks()) == 8 * 12
    assert {mark["revision"] for mark in workspace.marks()} == {2}


def test_of_two_who_edit_the_same_revision_at_once_one_is_told(workspace: Workspace) -> None:
    mark = workspace.put(span())
    ready, told = threading.Barrier(2), []

    def edit(end: int) -> None:
        ready.wait()
        try:
            workspace.put(span(10, end, revision=1), mark["id"])
        except AnnotateError as error:
            told.append(error.code)

    threads = [threading.Thread(target=edit, args=(end,)) for end in (30, 40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert told == ["stale_revision"]
    assert workspace.marks()[0]["revision"] == 2


def steps(workspace: Workspace) -> list[UndoStep]:
    with workspace.database.read() as session:
        return list(session.query(UndoStep))


def label(name: str) -> Json:
    return {"name": name, "colour": "#123456"}


def labels(workspace: Workspace) -> list[Json]:
    with workspace.database.read() as session:
        found = get_series(session, workspace.series_id).label_set.labels
        names = ("id", "name", "colour", "key", "layer", "archived")
        return [{name: getattr(each, name) for name in names} for each in found]


def replace_labels(workspace: Workspace, wanted: list[Json]) -> list[Json]:
    with workspace.database.write() as session:
        label_set = get_series(session, workspace.series_id).label_set
        body = {"name": label_set.name, "revision": label_set.revision, "labels": wanted}
        save_label_set(session, label_set.id, LabelSetDraft.from_json(body))
    return labels(workspace)


def rename(workspace: Workspace, names: dict[str, str]) -> None:
    replace_labels(workspace, [each | {"name": names.get(each["name"], each["name"])} for each in labels(workspace)])


def add_set(workspace: Workspace, *names: str) -> int:
    with workspace.database.write() as session:
        draft = LabelSetDraft.from_json({"name": "Other", "labels": [label(name) for name in names]})
        return create_label_set(session, draft).id


def use_set(workspace: Workspace, label_set_id: int) -> None:
    with workspace.database.write() as session:
        assign_label_set(session, get_series(session, workspace.series_id), label_set_id)
