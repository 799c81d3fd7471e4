"""CSV as spreadsheets write it."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.model.errors import InputError
from assay.store.tables import parse_table, read_table
from shared_data import DATASETS, load_cases, needs_shared


@needs_shared
def test_case_l03_commas_quotes_and_line_ends_stand_inside_fields() -> None:
    case = load_cases()["L03"]
    rows = [row for _, row in parse_table(case["input"]["csv"], where="t.csv").rows]
    assert len(rows) == case["expected"]["rows"]
    assert rows == [case["expected"]["row1"], case["expected"]["row2"]]


@needs_shared
def test_case_l04_a_field_may_be_as_long_as_a_document(tmp_path: Path) -> None:
    case = load_cases()["L04"]
    path = tmp_path / "long.csv"
    path.write_text(f"id,text\n1,{'x' * case['input']['csv_field_characters']}\n", encoding="utf-8")
    ((_, row),) = read_table(path).rows
    assert len(row["text"]) == case["expected"]["field_characters"]


@needs_shared
def test_mixed_line_ends_and_a_nameless_last_column_are_read() -> None:
    table = read_table(DATASETS / "awkward-text" / "ragas_hf_doc_qa_eval_mixed_eol.csv")
    assert table.columns == ("question", "expected_answer")
    assert len(table.rows) == 66
    assert table.rows[0][1]["question"].endswith("binary designed for?\n")
    assert [line for line, _ in table.rows][:3] == [2, 4, 6]


@needs_shared
def test_a_mark_crlf_and_no_break_spaces_are_kept_apart() -> None:
    table = read_table(DATASETS / "awkward-text" / "cuad_category_descriptions_bom_crlf_nbsp.csv")
    assert table.columns[0] == "Category (incl. context and answer)"
    assert any("\u00a0" in cell for _, row in table.rows for cell in row.values())


def test_the_line_of_a_row_is_where_it_begins() -> None:
    table = parse_table('a,b\n\n"1\n2",x\n3,y\n', where="t.csv")
    assert [line for line, _ in table.rows] == [3, 5]


def test_short_rows_are_filled_and_long_ones_refused_together() -> None:
    assert parse_table("a,b\n1\n", where="t.csv").rows == ((2, {"a": "1", "b": ""}),)
    with pytest.raises(InputError) as caught:
        parse_table("a,b,a\n1,2,3,4\n1,2,3\n5,6,7,8\n", where="t.csv")
    assert [str(fault).split("\n")[0] for fault in caught.value.faults] == [
        "t.csv:1: the header names 'a' more than once",
        "t.csv:2: 4 cells, but the header has 3",
        "t.csv:4: 4 cells, but the header has 3",
    ]


@pytest.mark.parametrize(("text", "message"), [("", "holds no header"), ('a,b\n"1,2\n', "not CSV")])
def test_what_is_no_table_is_said(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_table(text, where="t.csv")


def test_tabs_part_the_cells_of_a_tsv(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text("a\tb\n007\t1,5\n", encoding="utf-8")
    assert read_table(path).rows == ((2, {"a": "007", "b": "1,5"}),)
