"""The page about importing names every answer that the code takes and every entry of a report."""

from __future__ import annotations

import re
from pathlib import Path

from tests.annotate.importing import files
from tests.annotate.importing.asking import table

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "importing.md").read_text()


def test_every_answer_stands_in_the_page() -> None:
    source = "\n".join(path.read_text() for path in (ROOT / "annotate" / "importing").glob("*.py"))
    names = set(re.findall(r"doubts\.(?:ask|option|given)\(\s*\"(\w+)\"", source))
    assert {"zone", "symbols", "duplicates"} <= names
    assert [name for name in sorted(names) if f"`{name}`" not in PAGE] == []


def test_every_entry_of_a_report_stands_in_the_page(tmp_path: Path) -> None:
    report = files.imported(tmp_path, "a.csv", table(["2024-01-01", "2024-01-02"])).report
    described = PAGE.split("## The report")[1]
    assert [name for name in report if not re.search(rf"\b{name}\b", described)] == []
