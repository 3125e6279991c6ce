"""Text cells: harmless in a spreadsheet, and back as they were."""

from __future__ import annotations

import csv
import doctest
import io
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.exporting import archive, csv_text, iso
from annotate.exporting.csv_text import escape, row, unescape

CELLS = st.text(st.characters(exclude_categories=["Cs"]))


@given(st.lists(CELLS, min_size=2))
def test_cells_come_back_as_they_were(cells: list[str]) -> None:
    line = row(escape(cell) for cell in cells)
    [read] = list(csv.reader(io.StringIO(line, newline="")))
    assert [unescape(cell) for cell in read] == cells


@given(CELLS)
def test_no_cell_begins_with_what_a_spreadsheet_runs(cell: str) -> None:
    assert not escape(cell).startswith(("=", "+", "-", "@", "\t", "\r", "\n", "\0"))


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1", "@SUM(A1)", "'=1", "\tx", "\rx", "\x85=1", "=HYPERLINK(1)"])
def test_a_risky_cell_gets_one_quote_in_front(cell: str) -> None:
    assert escape(cell) == "'" + cell


@pytest.mark.parametrize("cell", [" =1+1", "\u00a0=1", "\ufeff@x", "\u200b-1", '"=1'])
def test_what_cannot_be_seen_hides_no_formula(cell: str) -> None:
    assert escape(cell) == "'" + cell


# Excel cuts at semicolons where they part lists, whatever the file was written with, and then knows no quotes inside.
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@given(cells=st.lists(st.text("=+-@a;\t|\r\n\"' ,1", max_size=12), min_size=2, max_size=4))
def test_no_formula_stands_in_a_cell_however_the_file_is_cut(delimiter: str, cells: list[str]) -> None:
    line = row(["id", *(escape(cell) for cell in cells)])
    for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_NONE):
        for read in csv.reader(io.StringIO(line, newline=""), delimiter=delimiter, quoting=quoting):
            if delimiter == "," and quoting == csv.QUOTE_NONE:
                continue  # every spreadsheet that cuts at commas knows the quotes around them
            assert not any(cell.lstrip(' "').startswith(("=", "+", "-", "@")) for cell in read)


@pytest.mark.parametrize("cell", ["Long", "", "a=1", "Épreuve", "🚀", "שלום", " spaced"])
def test_any_other_cell_stays_as_it_is(cell: str) -> None:
    assert escape(cell) == cell


@pytest.mark.parametrize("module", [archive, csv_text, iso])
def test_the_examples_in_the_docstrings_are_true(module: ModuleType) -> None:
    done = doctest.testmod(module)
    assert done.attempted > 0
    assert done.failed == 0
