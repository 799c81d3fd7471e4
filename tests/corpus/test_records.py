"""Documents in JSONL, JSON and CSV."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from assay.corpus import Columns, read_corpus
from assay.corpus.records import Records, read_records
from assay.model.errors import InputError
from shared_data import DATASETS, load_cases, needs_shared


def read(text: str, suffix: str = ".jsonl", columns: Columns | None = None) -> Records:
    return read_records(text, name=f"docs{suffix}", suffix=suffix, columns=columns or Columns())


def faults(records: Records) -> list[str]:
    return [str(fault).split("\n")[0] for fault in records.faults]


def test_numbers_are_read_as_their_text():
    documents = read('{"id": 7, "text": "a"}\n{"id": "007", "text": "b"}\n{"id": 1e2, "text": "c"}').documents
    assert [document.id for document in documents] == ["7", "007", "1e2"]


def test_other_plain_columns_become_metadata():
    line = '{"_id": "a", "title": " T ", "text": "x", "lang": "de", "n": 3, "tags": [1], "no": null}'
    [document] = read(line).documents
    assert document.title == "T"
    assert document.meta == {"lang": "de", "n": "3"}


def test_a_line_separator_inside_a_string_ends_no_record():
    [document] = read('{"id": "a", "text": "one\u2028two"}\r\n').documents
    assert document.text == "one\u2028two"


def test_everything_wrong_is_said_at_once_in_the_order_of_the_lines():
    lines = [
        '{"id": "a", "text": "x"}',
        "not json",
        '{"id": "a", "text": "y"}',
        '{"id": "b", "text": null}',
        '{"text": "z"}',
        "[1]",
    ]
    assert [fault.replace(" (", ": ").split(": ")[:2] for fault in faults(read("\n".join(lines)))] == [
        ["docs.jsonl:2", "not a JSON object"],
        ["docs.jsonl:3", "the id 'a' stands already in line 1"],
        ["docs.jsonl:4", "column 'text' holds no text"],
        ["docs.jsonl:5", "column 'id' holds no id"],
        ["docs.jsonl:6", "not a JSON object"],
    ]


def test_without_an_id_column_records_are_named_by_their_line():
    records = read('\n{"text": "x"}\n{"text": "y"}\n')
    assert [document.id for document in records.documents] == ["docs.jsonl:2", "docs.jsonl:3"]
    assert [notice.code for notice in records.notices] == ["ids-by-line"]


def test_columns_can_be_named_and_a_wrong_name_gets_the_nearest():
    columns = Columns(id="key", text="prose", title="caption")
    [document] = read('{"key": "a", "prose": "x", "caption": "T", "text": "no"}', columns=columns).documents
    assert (document.id, document.text, document.title) == ("a", "x", "T")
    records = read('{"key": "a", "prose": "x"}', columns=Columns(id="kee", text="prose"))
    assert [str(fault) for fault in records.faults] == [
        "docs.jsonl: no column is called 'kee' (for the id)\n  fix: did you mean 'key'?"
    ]


def test_no_column_with_text_is_said():
    assert faults(read('{"id": "a", "n": 1}')) == [
        "docs.jsonl: no column looks like the text of a document (it has: id, n)"
    ]


def test_a_file_without_records_is_said():
    assert faults(read("\n \n")) == ["docs.jsonl: holds no record"]


def test_a_json_list_is_read_as_well():
    [document] = read('[{"id": "a", "contents": "x"}]', ".json").documents
    assert document.text == "x"
    assert faults(read('{"id": "a"}', ".json"))[0].startswith("docs.json: not a JSON list of objects")


def test_csv_keeps_line_ends_in_cells_and_finds_its_delimiter():
    [document] = read('id;text\na;"one\r\ntwo"\r\n', ".csv").documents
    assert document.text == "one\r\ntwo"
    [document] = read("id\ttext\na\tx, y\n", ".tsv").documents
    assert document.text == "x, y"


def test_csv_faults_name_the_line_where_the_record_begins():
    text = 'id,text\na,"one\ntwo"\nb,x,y\nc,"open\n'
    assert faults(read(text, ".csv")) == [
        "docs.csv:4: 3 cells, but the header names 2",
        "docs.csv:5: not readable as CSV: unexpected end of data",
    ]


def test_a_header_that_names_a_column_twice_is_refused():
    assert faults(read("id,text,text\na,x,y\n", ".csv")) == [
        "docs.csv:1: the header names 'text' more than once"
    ]


@needs_shared
def test_case_l01_mark_and_blank_lines(tmp_path: Path):
    given = load_cases()["L01"]
    lines = given["input"]["jsonl_after_mark"].replace('"relevant":["a"]', '"text":"a"')
    lines = lines.replace('"relevant":["b"]', '"text":"b"')
    path = tmp_path / "docs.jsonl"
    path.write_bytes(bytes.fromhex(given["input"]["bytes_hex_of_start"]) + lines.encode())
    corpus = read_corpus(path)
    assert len(corpus) == given["expected"]["queries"]
    assert corpus.documents[0].id == given["expected"]["first_id"]


@needs_shared
def test_case_l03_commas_quotes_and_line_ends():
    case = load_cases()["L03"]
    documents = read(case["input"]["csv"], ".csv", Columns(id="query", text="anchor")).documents
    assert [{"query": document.id, "anchor": document.text} for document in documents] == [
        case["expected"]["row1"],
        case["expected"]["row2"],
    ]


@needs_shared
def test_case_l04_very_long_fields(tmp_path: Path):
    case = load_cases()["L04"]
    length = case["input"]["csv_field_characters"]
    (tmp_path / "docs.csv").write_text(f"id,text\na,{'x' * length}\n", encoding="utf-8")
    limit = csv.field_size_limit()
    assert limit == case["input"]["python_csv_default_limit"]
    assert len(read_corpus(tmp_path / "docs.csv").documents[0].text) == case["expected"]["field_characters"]
    assert csv.field_size_limit() == limit, "the limit of others stays theirs"


def test_the_same_id_in_two_files_is_an_error(tmp_path: Path):
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_text('{"id": "x", "text": "t"}\n', encoding="utf-8")
    with pytest.raises(InputError, match="x: two documents have this id"):
        read_corpus(tmp_path, include=["*.jsonl"])


@needs_shared
def test_real_records():
    corpus = read_corpus(
        DATASETS / "anthropic-docs" / "anthropic_docs.json",
        columns=Columns(id="chunk_link", title="chunk_heading"),
    )
    assert len(corpus) == 232
    name = "ragas_hf_doc_qa_eval_mixed_eol.csv"
    mixed = read_corpus(DATASETS / "awkward-text" / name, columns=Columns(text="question"))
    assert any("\n" in document.text for document in mixed.documents)
