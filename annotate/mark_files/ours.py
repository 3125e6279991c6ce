"""Our own marks, whole: annotations.jsonl and labels.csv, and both inside of a dataset's zip. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from annotate.annotations.draft import MAX_REVISION, AnnotationDraft
from annotate.annotations.fields import Fields
from annotate.annotations.review import read_review
from annotate.errors import InvalidInput
from annotate.mark_files.found import Found, FoundMark
from annotate.zips import parsed_json

Json = dict[str, Any]

SOURCES = ("human", "model_accepted", "model_corrected", "import")
MODES = ("replay", "hindsight")
MAX_AUTHOR = 100


def read_jsonl(text: str, name: str = "annotations.jsonl") -> Found:
    """Read annotations.jsonl; raise InvalidInput naming the line."""
    lines = [(f"{name}, line {number}", line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    return Found("annotate_jsonl", [found_mark(parsed_json(line, where), where) for where, line in lines])


def of_marks(format_name: str, marks: Iterable[Mapping[str, Any]], name: str) -> Found:
    """Take marks as `labels_csv.read_labels` gives them."""
    return Found(format_name, [found_mark(mark, f"{name}, row {row}") for row, mark in enumerate(marks, 1)])


def found_mark(given: object, where: str) -> FoundMark:
    """Check one stored mark as the API shows it; raise InvalidInput naming place and field."""
    try:
        fields = Fields(given)
        mark_id = fields.uuid("id")
        draft = AnnotationDraft.from_json(given, mark_id)
        facts = {
            "author": fields.text("author", MAX_AUTHOR),
            "source": fields.choice("source", SOURCES),
            "mode": fields.choice("mode", MODES),
            **{time: fields.time(time) for time in ("decided_at", "known_at", "created", "updated")},
            "revision": fields.whole("revision", 1, MAX_REVISION),
            "entry_decided_at": fields.optional_time("entry_decided_at"),
            "review": read_review(fields),
        }
        facts["updated_by"] = fields.text("updated_by", MAX_AUTHOR, default=str(facts["author"]))
        if draft.kind == "trade" and facts["entry_decided_at"] is None:  # written before it was kept
            facts["entry_decided_at"] = facts["decided_at"]
    except InvalidInput as error:
        raise InvalidInput(f"{where}: {error.message}", **error.details) from None
    body = {name: value for name, value in draft.to_json().items() if name != "revision"}
    return FoundMark(where, body, mark_id, facts)
