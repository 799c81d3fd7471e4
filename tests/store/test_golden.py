"""Golden files: what is read, what is refused and how it is said, and what is written."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.model.errors import InputError
from assay.model.golden import Anchor, GoldenSet, Provenance, Query
from assay.store.golden import golden_bytes, load_golden, load_golden_lines, parse_golden, save_golden
from assay.store.golden_form import golden_schema
from shared_data import load_cases, needs_shared

FULL = {
    "id": "q1",
    "query": "How long are logs kept?",
    "kind": "factual",
    "anchors": [
        {
            "doc": "guide.md",
            "quote": "kept for 30 days",
            "start": 10,
            "end": 26,
            "grade": 2,
            "alternatives": [{"doc": "faq.md", "quote": "thirty days of logs"}],
        },
        {"id": "owner", "doc": "guide.md", "quote": "the platform team"},
    ],
    "relevant": {"guide.md": 1, "faq.md": 0.5},
    "split": "heldout",
    "provenance": {"origin": "log", "source": "april.log", "verified_by": "Ada", "judged_by": "tiny"},
    "meta": {"language": "en", "tenant": 7},
}


def faults_of(text: str, **settings: Any) -> list[str]:
    with pytest.raises(InputError) as caught:
        parse_golden(text, where="golden.jsonl", **settings)
    return [str(fault) for fault in caught.value.faults]


def line(**changes: Any) -> str:
    return json.dumps({"id": "q1", "query": "Who?", **changes})


def query_of(**changes: Any) -> Query:
    return parse_golden(line(**changes), where="golden.jsonl").golden.queries[0]


def notices_of(*rows: str, **settings: Any) -> dict[str, str]:
    loaded = parse_golden("\n".join(rows), where="golden.jsonl", **settings)
    return {notice.code: notice.text for notice in loaded.notices}


def test_a_full_line_becomes_the_nouns_of_the_model() -> None:
    query = parse_golden(json.dumps(FULL), where="golden.jsonl").golden.queries[0]
    assert query == Query(
        id="q1",
        text="How long are logs kept?",
        kind="factual",
        anchors=(
            Anchor(
                id="a1",
                doc_id="guide.md",
                quote="kept for 30 days",
                start=10,
                end=26,
                grade=2.0,
                alternatives=(Anchor(id="a1.1", doc_id="faq.md", quote="thirty days of logs", grade=2.0),),
            ),
            Anchor(id="owner", doc_id="guide.md", quote="the platform team"),
        ),
        labels={"guide.md": 1.0, "faq.md": 0.5},
        split="heldout",
        provenance=Provenance(origin="log", source="april.log", verified_by="Ada", judged_by="tiny"),
        meta={"language": "en", "tenant": "7"},
    )


@needs_shared
def test_case_l01_a_byte_order_mark_and_blank_lines_are_nothing(tmp_path: Path) -> None:
    case = load_cases()["L01"]
    path = tmp_path / "golden.jsonl"
    data = bytes.fromhex(case["input"]["bytes_hex_of_start"])
    path.write_bytes(data + case["input"]["jsonl_after_mark"].encode())
    golden = load_golden(path)
    assert len(golden.queries) == case["expected"]["queries"]
    assert golden.queries[0].id == case["expected"]["first_id"]


@needs_shared
def test_case_q03_one_query_id_used_twice_is_refused_and_both_rows_are_named() -> None:
    case = load_cases()["Q03"]
    text = "\n".join(json.dumps(row) for row in case["input"]["golden_rows"])
    message = "\n".join(faults_of(text))
    for name in case["expected"]["message_names"]:
        assert name in message
    renamed = text.replace('"text"', '"query"')
    (fault,) = faults_of(renamed)
    assert fault.startswith("golden.jsonl:3: query id 'q1' is used 2 times, in rows 1 and 3\n  fix: ")
    assert faults_of(renamed, lenient=True) == faults_of(renamed)


@needs_shared
def test_case_m07_an_item_listed_twice_counts_once_and_is_said() -> None:
    case = load_cases()["M07"]
    row = line(relevant=case["input"]["relevant"])
    assert query_of(relevant=case["input"]["relevant"]).labels == {"A": 1.0, "B": 1.0}
    assert notices_of(row)["repeated-items"] == "golden item listed twice in one query, counted once: A (q1)"


def test_an_anchor_listed_twice_counts_once_at_its_higher_grade() -> None:
    twice = [{"doc": "a.md", "quote": "red box"}, {"doc": "a.md", "quote": "red box", "grade": 3}]
    assert [anchor.grade for anchor in query_of(anchors=twice).anchors] == [3.0]
    assert "repeated-items" in notices_of(line(anchors=twice))


@needs_shared
def test_case_m10_a_negative_grade_is_kept_and_said() -> None:
    case = load_cases()["M10"]
    grades = case["input"]["grades"]
    assert query_of(relevant=grades).labels == {"a": -1.0, "b": 2.0, "z": 0.0}
    assert notices_of(line(relevant=grades))["negative-grades"].startswith(case["expected"]["warning"])


@needs_shared
def test_case_i01_ids_are_text_and_a_number_is_its_spelling() -> None:
    case = load_cases()["I01"]
    zeros, plain = case["expected"]["distinct_ids"]
    assert set(query_of(relevant=[zeros, plain]).labels) == {zeros, plain}
    assert query_of(relevant=[7]).labels == {"7": 1.0}
    assert parse_golden('{"id": 1.10, "query": "Who?"}', where="g").golden.queries[0].id == "1.10"


@needs_shared
def test_case_i02_ids_are_compared_with_their_letters_composed() -> None:
    case = load_cases()["I02"]
    composed = case["expected"]["id_key"]
    decomposed = case["input"]["run"]["q1"][0]
    assert len(composed) == case["input"]["code_points"]["golden_id"]
    assert len(decomposed) == case["input"]["code_points"]["run_id"]
    assert query_of(relevant=[decomposed]).labels == {composed: 1.0}
    assert query_of(anchors=[{"doc": decomposed, "quote": "x y"}]).anchors[0].doc_id == composed
    (fault,) = faults_of(line(relevant={composed: 1, decomposed: 2}))
    assert "are one id" in fault


@pytest.mark.parametrize(
    ("row", "wanted"),
    [
        ('{"id": "q1", "query": "Who?", "anchors": [', "not JSON"),
        ('{"id": "q1", "query": "Who?", "relevant": {"a": NaN}}', "NaN is not a JSON number"),
        ('["q1"]', "the record is a list, not an object"),
        (line(kindd="x"), "unknown key 'kindd'\n  fix: did you mean 'kind'?"),
        ('{"id": "q1", "question": "Who?"}', "unknown key 'question'\n  fix: did you mean 'query'?"),
        (line(zzz=1), "unknown key 'zzz'\n  fix: known keys: id, query"),
        ('{"query": "Who?"}', "id is missing"),
        ('{"id": null, "query": "Who?"}', "id: expected `int | float | str`, not null"),
        ('{"id": true, "query": "Who?"}', "id: expected `int | float | str`, not true"),
        ('{"id": " ", "query": "Who?"}', "id is empty"),
        ('{"id": "q1"}', "query is missing or blank"),
        (line(query="  ", anchors=[{"doc": "a", "quote": "b"}]), "query is missing or blank"),
        (line(split="test"), "split: expected one of 'dev', 'heldout', not 'test'"),
        (line(anchors=[{"doc": "a", "quote": 3}]), "anchors[1].quote: expected `str`, not 3"),
        (
            line(anchors=[{"doc": "a", "text": "b"}]),
            "unknown key 'anchors[1].text'\n  fix: did you mean 'quote'?",
        ),
        (line(anchors=[{"doc": "a", "quote": " "}]), "anchor 1: quote is blank"),
        (line(anchors=[{"doc": "", "quote": "b"}]), "anchor 1: doc is empty"),
        (line(anchors=[{"doc": "a", "quote": "b", "start": 3}]), "start and end go together"),
        (line(anchors=[{"doc": "a", "quote": "b", "start": 3, "end": 3}]), "end 3 is not after start 3"),
        (
            line(anchors=[{"doc": "a", "quote": "b", "start": -1, "end": 3}]),
            "anchors[1].start: expected `int` >= 0",
        ),
        (
            line(anchors=[{"id": "x", "doc": "a", "quote": "b"}, {"id": "x", "doc": "a", "quote": "c"}]),
            "'x' is used 2",
        ),
        (
            line(answerable=False, anchors=[{"doc": "a", "quote": "b"}]),
            "answerable is false, yet the query has anchors",
        ),
        (line(answerable=False, relevant=["a"]), "answerable is false, yet the query has labels"),
        ('{"id": "q1", "id": "q2", "query": "Who?"}', "key 'id' stands more than once"),
        ('{"id": "q1", "query": "Who?", "relevant": {"a": 1, "a": 2}}', "relevant names 'a' more than once"),
        ('{"id": "q1", "query": "half \\ud800"}', "half a surrogate pair"),
        (line(relevant={"a": "1"}), "relevant['a']: expected `float`, not '1'"),
    ],
)
def test_what_is_wrong_is_said_with_its_place_and_its_fix(row: str, wanted: str) -> None:
    message = "\n".join(faults_of(row))
    assert message.startswith("golden.jsonl:1: ")
    assert wanted in message


def test_all_faults_of_a_file_are_told_at_once() -> None:
    rows = [
        '{"id": "q1", "query": "Who?", "kindd": "x", "split": "test", "anchors": [{"doc": 1}]}',
        line(id="q2"),
        "{",
        '{"id": "q2", "query": ""}',
        "[]",
    ]
    assert [fault.split("\n")[0].split(" column")[0] for fault in faults_of("\n".join(rows))] == [
        "golden.jsonl:1: query 'q1': unknown key 'kindd'",
        "golden.jsonl:1: query 'q1': split: expected one of 'dev', 'heldout', not 'test'",
        "golden.jsonl:1: query 'q1': anchors[1].quote is missing",
        "golden.jsonl:3: not JSON: Expecting property name enclosed in double quotes: line 1",
        "golden.jsonl:4: query 'q2': query is missing or blank",
        "golden.jsonl:4: query id 'q2' is used 2 times, in rows 2 and 4",
        "golden.jsonl:5: the record is a list, not an object",
    ]


def test_a_lenient_reading_says_what_it_left_out() -> None:
    text = "\n".join([line(id="q1", relevant=["a"]), "{", line(id="q3", relevant=["a"])])
    loaded = parse_golden(text, where="golden.jsonl", lenient=True)
    assert [query.id for query in loaded.golden.queries] == ["q1", "q3"]
    assert loaded.skipped == (2,)
    assert "1 faulty line left out (2), 2 loaded" in loaded.notices[0].text


def test_the_line_of_each_query_is_known_past_blank_lines(tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl.gz"
    path.write_bytes(gzip.compress(f"\n{line(id='q1')}\r\n\r\n{line(id='q2')}".encode()))
    loaded = load_golden_lines(path, name="mine")
    assert loaded.lines == {"q1": 2, "q2": 4}
    assert loaded.golden.name == "mine"
    assert load_golden(path).name == "set"


def test_a_line_separator_inside_a_string_ends_no_line() -> None:
    assert query_of(query="one\u2028two").text == "one\u2028two"


def test_a_query_with_nothing_relevant_is_allowed_and_said() -> None:
    texts = notices_of(line(id="q1"), line(id="q2", answerable=False))
    assert texts == {
        "unlabelled": "1 query has no anchor and no label, so no value, and no part in the mean: q1"
    }


def test_a_set_of_plain_labels_may_lack_the_questions_and_says_so() -> None:
    assert "no-text" in notices_of('{"id": "q1", "relevant": ["a"]}')


def test_a_kind_that_nobody_declared_is_said_with_the_nearest() -> None:
    texts = notices_of(line(kind="factul"), kinds=("factual", "lexical"))
    assert texts["undeclared-kind"] == "kind 'factul' is not declared (did you mean 'factual'?): q1"
    loaded = parse_golden(line(kind="x"), where="g", kinds=("factual",)).golden
    assert loaded.all_kinds == ("factual", "x")


@pytest.mark.parametrize("text", ["", "\n \n", "\ufeff"])
def test_a_file_without_queries_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "golden.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="holds no query"):
        load_golden(path)


def test_a_missing_file_and_bytes_that_are_no_text_are_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        load_golden(tmp_path / "none.jsonl")
    path = tmp_path / "golden.jsonl"
    path.write_bytes(b'{"id": "q1"}\n{"id": "\xe9"}\n')
    with pytest.raises(InputError, match=r"golden\.jsonl:2: byte 0xe9 at 21 is not UTF-8"):
        load_golden(path)
    path.write_bytes(b"\x1f\x8b\x08broken")
    with pytest.raises(InputError, match="gzip stream is broken"):
        load_golden(path)


def test_saving_and_loading_give_the_same_set_and_the_same_bytes(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "golden.jsonl"
    golden = parse_golden(json.dumps(FULL) + "\n" + line(id="q2", answerable=False), where="g").golden
    save_golden(golden, path)
    first = path.read_bytes()
    loaded = load_golden(path)
    assert loaded.queries == golden.queries
    assert loaded.digest == golden.digest
    save_golden(loaded, path)
    assert path.read_bytes() == first
    assert [left.name for left in path.parent.iterdir()] == ["golden.jsonl"]


def test_what_equals_its_default_is_not_written() -> None:
    golden = parse_golden(
        line(anchors=[{"id": "a1", "doc": "a", "quote": "é b", "grade": 1}]), where="g"
    ).golden
    wanted = '{"id": "q1", "query": "Who?", "anchors": [{"doc": "a", "quote": "é b"}]}\n'
    assert golden_bytes(golden).decode() == wanted


def test_a_split_that_no_file_can_hold_is_not_written() -> None:
    golden = GoldenSet(name="g", queries=(Query(id="q1", text="Who?", split="train"),))
    with pytest.raises(InputError, match="split must be 'dev' or 'heldout', not 'train'"):
        golden_bytes(golden)


words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(lambda text: text.strip())


@given(
    text=words,
    quote=words,
    labels=st.dictionaries(st.text("abcé", min_size=1), st.floats(-3, 3), max_size=3),
    meta=st.dictionaries(words, words, max_size=2),
)
def test_any_set_survives_the_file(
    text: str, quote: str, labels: dict[str, float], meta: dict[str, str]
) -> None:
    anchor = Anchor(id="a1", doc_id="a.md", quote=quote, start=0, end=len(quote), grade=0.5)
    query = Query(id="q", text=text, anchors=(anchor,), labels=labels, meta=meta)
    written = golden_bytes(GoldenSet(name="g", queries=(query,)))
    loaded = parse_golden(written.decode(), where="g").golden
    assert loaded.queries == (query,)
    assert golden_bytes(loaded) == written


def test_the_published_schema_is_current() -> None:
    path = Path(__file__).parents[2] / "docs" / "schemas" / "golden.schema.json"
    assert json.loads(path.read_text(encoding="utf-8")) == golden_schema()
