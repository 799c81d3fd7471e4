"""The forms on small sets of our own: what each key means, and what is said when something is wrong."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from assay.model.errors import InputError
from assay.model.golden import Query
from assay.store.imports.form import Imported
from assay.store.imports.known import FORMS, form_named, guess_form
from shared_data import load_cases, needs_shared

SQUAD: dict[str, Any] = {
    "version": "v2.0",
    "data": [
        {
            "title": "Moon/Light",
            "paragraphs": [
                {"context": "The moon is grey. It is far.", "qas": []},
                {
                    "context": "It rose at 9. It set at 4.",
                    "qas": [
                        {
                            "id": "s1",
                            "question": "When did it rise?",
                            "answers": [
                                {"text": "at 9", "answer_start": 8},
                                {"text": "9", "answer_start": 11},
                                {"text": "at 9", "answer_start": 8},
                            ],
                        },
                        {"id": "s2", "question": "Why?", "answers": [], "is_impossible": True},
                        {"id": 3, "question": "Set?", "answers": [{"text": "at 4", "answer_start": 0}]},
                        {"id": "s4", "question": "Gone?", "answers": [{"text": "noon", "answer_start": 2}]},
                    ],
                },
            ],
        }
    ],
}


def write(path: Path, *rows: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="")
    return path


def queries_of(imported: Imported) -> dict[str, Query]:
    return {query.id: query for query in imported.golden.queries}


def codes(imported: Imported) -> list[str]:
    return [notice.code for notice in imported.notices]


def faults_of(form: str, path: Path, **options: str) -> str:
    with pytest.raises(InputError) as caught:
        FORMS[form].read(path, options)
    return str(caught.value)


def test_each_form_says_what_it_is_and_what_can_be_chosen() -> None:
    assert len(FORMS) == 15
    for name, form in FORMS.items():
        assert form.name == name
        assert form.about.endswith(".")
        for option in form.options.values():
            assert option.about
            assert not option.choices or option.default in option.choices


def test_names_and_options_that_nobody_knows_get_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no form 'squadd'\n  fix: did you mean 'squad'"):
        form_named("squadd")
    path = write(tmp_path / "s.json", SQUAD)
    message = faults_of("squad", path, anchor="x", documents="page")
    assert "there is no option 'anchor'\n  fix: did you mean 'anchors'?" in message
    assert "documents must be one of article, paragraph, not 'page'" in message
    assert "there is no such file or folder" in faults_of("squad", tmp_path / "none.json")
    with pytest.raises(InputError, match="there is no such file or folder"):
        guess_form(tmp_path / "none")


def test_squad_articles_join_their_paragraphs_and_move_the_answers(tmp_path: Path) -> None:
    path = write(tmp_path / "set.json", SQUAD)
    assert guess_form(path).name == "squad"
    imported = FORMS["squad"].read(path)
    (document,) = imported.documents
    assert document.id == "Moon_Light.txt"
    assert document.text == "The moon is grey. It is far.\n\nIt rose at 9. It set at 4."
    queries = queries_of(imported)
    (item,) = queries["s1"].anchors
    assert (item.quote, item.start, item.end) == ("at 9", 38, 42)
    assert [(other.quote, other.start) for other in item.alternatives] == [("9", 41)]
    assert (queries["s2"].answerable, queries["s2"].anchors) == (False, ())
    assert queries["3"].anchors[0].start == 30 + 21  # the file said 30
    assert queries["s4"].anchors[0].start is None
    assert codes(imported) == ["repaired-offsets", "stale-labels"]
    assert imported.counts == {
        "documents": 1,
        "queries": 4,
        "anchors": 3,
        "labels": 0,
        "unanswerable": 1,
        "paragraphs": 2,
        "exact_places": 2,
        "repaired": 1,
        "stale": 1,
    }


def test_squad_paragraphs_can_be_documents_and_sentences_anchors(tmp_path: Path) -> None:
    path = tmp_path / "set.json.gz"
    path.write_bytes(gzip.compress(b"\xef\xbb\xbf" + json.dumps(SQUAD).encode()))
    imported = FORMS["squad"].read(path, {"documents": "paragraph", "anchors": "sentence"})
    assert [document.id for document in imported.documents] == ["Moon_Light/001.txt", "Moon_Light/002.txt"]
    (item,) = queries_of(imported)["s1"].anchors
    assert (item.doc_id, item.quote, item.start) == ("Moon_Light/002.txt", "It rose at 9.", 0)
    assert item.alternatives == ()  # both answers stand in that sentence


def beir(folder: Path, *qrels: str) -> Path:
    write(
        folder / "corpus.jsonl",
        {"_id": "d1", "title": "One", "text": "First."},
        {"_id": 7, "title": "", "text": "Seventh."},
    )
    write(folder / "queries.jsonl", {"_id": "q1", "text": "Who?"}, {"_id": "q2", "text": "Why?"})
    write(folder / "qrels" / "test.tsv", *qrels)
    return folder


def test_beir_folders(tmp_path: Path) -> None:
    folder = beir(tmp_path / "set", "query-id\tcorpus-id\tscore", "q1\td1\t2", "q1\t7\t0", "q1\tgone\t1")
    assert guess_form(folder).name == "beir"
    imported = FORMS["beir"].read(folder)
    assert [(document.id, document.title) for document in imported.documents] == [("d1", "One"), ("7", None)]
    assert queries_of(imported)["q1"].labels == {"d1": 2.0, "7": 0.0, "gone": 1.0}
    assert codes(imported) == ["unjudged-queries", "labels-absent"]
    assert imported.notices[0].ids == ("q2",)
    assert imported.notices[1].ids == ("gone",)


def test_beir_splits_and_a_first_line_without_header(tmp_path: Path) -> None:
    folder = beir(tmp_path / "set", "q1\td1\t1")
    write(folder / "qrels" / "dev.tsv", "query-id\tcorpus-id\tscore", "q2\td1\t1")
    assert list(queries_of(FORMS["beir"].read(folder))) == ["q1"]
    assert list(queries_of(FORMS["beir"].read(folder, {"split": "dev"}))) == ["q2"]
    assert "there is no split 'train'\n  fix: choose one: split=NAME (dev, test)" in faults_of(
        "beir", folder, split="train"
    )


def test_beir_judgements_that_are_wrong_are_all_told(tmp_path: Path) -> None:
    folder = beir(tmp_path / "set", "q\td\ts", "q1\td1\t1", "q1 d1 1", "q1\td1\thigh", "q1\td1\t0")
    message = faults_of("beir", folder)
    assert "test.tsv:3: 1 columns" in message
    assert "test.tsv:4: 3 columns" in message
    assert "test.tsv:5: document 'd1' is judged twice for query 'q1'" in message


@needs_shared
def test_case_q02_judgements_of_other_ids_are_refused_with_one_of_each_side(tmp_path: Path) -> None:
    case = load_cases()["Q02"]
    golden, other = case["input"]["golden"], case["input"]["run_disjoint"]
    folder = beir(tmp_path / "set", *(f"{query}\t{docs[0]}\t1" for query, docs in other.items()))
    write(folder / "queries.jsonl", *({"_id": query, "text": "?"} for query in golden))
    message = faults_of("beir", folder)
    for name in case["expected"]["run_disjoint"]["message_names"]:
        assert repr(name) in message


def smart(folder: Path, queries: list[str], *relevance: str) -> Path:
    write(
        folder / "X.ALL",
        ".I 1",
        ".T",
        "a title",
        ".W",
        "a title and",
        "more  ",
        ".I 2",
        ".W",
        "",
        ".I 3",
        ".W",
        "x",
    )
    write(folder / "X.QRY", *(line for query in queries for line in (f".I {query}", ".W", "what is", " it?")))
    write(folder / "X.REL", *relevance)
    return folder


def test_smart_fields(tmp_path: Path) -> None:
    imported = FORMS["smart"].read(smart(tmp_path / "X", ["1", "2"], "1 1 0 0.000000", "1\t3\t0\t0.0", ""))
    assert [document.text for document in imported.documents] == ["a title and\nmore", "", "x"]
    assert queries_of(imported)["1"].text == "what is it?"
    assert queries_of(imported)["1"].labels == {"1": 1.0, "3": 1.0}
    assert codes(imported) == ["unlabelled", "empty-documents"]


def test_smart_queries_with_gaps_are_judged_by_place_and_it_is_said(tmp_path: Path) -> None:
    imported = FORMS["smart"].read(smart(tmp_path / "X", ["001", "002", "004"], "1 1 1", "3 2 1"))
    labels = {query.id: query.labels for query in imported.golden.queries}
    assert labels == {"001": {"1": 1.0}, "002": {}, "004": {"2": 1.0}}
    assert imported.notices[0].text == (
        "X.REL numbers queries by their place (1 to 3), not by their ids (001 to 004): "
        "they were joined by place"
    )


def test_smart_judgements_of_queries_that_are_not_there_are_refused(tmp_path: Path) -> None:
    message = faults_of("smart", smart(tmp_path / "X", ["1", "2"], "9 1 1"))
    assert "judges queries that are not there: 9" in message


def test_smart_grades_need_to_be_told_which_end_is_best(tmp_path: Path) -> None:
    folder = smart(tmp_path / "X", ["1"], "1 1 1", "1 2 4", "1 3 -1")
    assert "has the grades -1, 1, 4, and does not say which end is best" in faults_of("smart", folder)
    wanted: dict[str, dict[str, float]] = {
        "low-is-best": {"1": 4, "2": 1, "3": -1},
        "high-is-best": {"1": 1, "2": 4, "3": -1},
        "binary": {"1": 1, "2": 1, "3": 0},
    }
    for way, labels in wanted.items():
        assert queries_of(FORMS["smart"].read(folder, {"grades": way}))["1"].labels == labels


def autorag(folder: Path, truth: list[list[str]]) -> Path:
    folder.mkdir()
    corpus = {"doc_id": ["a", "b", "c"], "contents": ["Alpha.", "Beta.", "Gamma."]}
    pl.DataFrame(corpus).write_parquet(folder / "corpus.parquet")
    pl.DataFrame({"doc_id": ["z"], "contents": ["Zeta."]}).write_parquet(folder / "other.parquet")
    rows = {"qid": ["1", "2"], "query": ["one?", "two?"], "retrieval_gt": [truth, [["c"]]]}
    pl.DataFrame(rows).write_parquet(folder / "qa.parquet")
    return folder


def test_autorag_needs_all_of_the_outer_and_any_of_the_inner(tmp_path: Path) -> None:
    folder = autorag(tmp_path / "set", [["a"], ["b", "c"]])
    assert guess_form(folder).name == "autorag"
    imported = FORMS["autorag"].read(folder)
    first, second = imported.golden.queries[0].anchors
    assert (first.doc_id, first.quote, first.start, first.end) == ("a", "Alpha.", 0, 6)
    assert (second.doc_id, [other.doc_id for other in second.alternatives]) == ("b", ["c"])
    assert codes(imported) == ["whole-passages"]


def test_autorag_without_alternatives_is_plain_labels(tmp_path: Path) -> None:
    imported = FORMS["autorag"].read(autorag(tmp_path / "set", [["a"], ["gone"]]))
    assert imported.golden.queries[0].labels == {"a": 1.0, "gone": 1.0}
    assert codes(imported) == ["labels-absent"]


def columns(tmp_path: Path, text: str, name: str = "set.csv", **options: str) -> Imported:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8", newline="")
    return FORMS["columns"].read(path, options)


@needs_shared
def test_case_i01_ids_of_a_csv_are_text(tmp_path: Path) -> None:
    case = load_cases()["I01"]
    imported = columns(tmp_path, case["input"]["golden_csv"])
    assert queries_of(imported)["q1"].labels == {"007": 1.0}


@needs_shared
def test_case_i04_a_field_that_is_absent_is_refused_with_its_count(tmp_path: Path) -> None:
    case = load_cases()["I04"]
    rows = [{"id": "q1", "query": "?", **row} for row in case["input"]["golden_docs"]]
    path = write(tmp_path / "set.jsonl", *rows)
    message = faults_of("columns", path, doc=case["input"]["compare_by"], query="query")
    assert "field 'meta.file_id' (for doc) is absent on all 1 rows" in message


@needs_shared
def test_case_q03_one_id_with_two_questions_is_refused(tmp_path: Path) -> None:
    case = load_cases()["Q03"]
    message = faults_of("columns", write(tmp_path / "set.jsonl", *case["input"]["golden_rows"]))
    for name in case["expected"]["message_names"]:
        assert name in message


def test_rows_of_one_id_are_one_query(tmp_path: Path) -> None:
    imported = columns(
        tmp_path,
        "qid,question,document,anchor,start,grade,category\n"
        "1,Who?,a.md,the owner,10,2,factual\n"
        "1,Who?,b.md,the keeper,,,factual\n"
        "2,Why?,c.md,,,,\n",
    )
    first, second = imported.golden.queries
    assert (first.kind, second.kind) == ("factual", "unspecified")
    assert [(one.id, one.doc_id, one.quote, one.start, one.end, one.grade) for one in first.anchors] == [
        ("a1", "a.md", "the owner", 10, 19, 2.0),
        ("a2", "b.md", "the keeper", None, None, 1.0),
    ]
    assert second.labels == {"c.md": 1.0}
    assert imported.notices[0].text.startswith("columns were read as: id = qid, query = question")


def test_rows_without_an_id_are_one_query_a_question(tmp_path: Path) -> None:
    imported = columns(tmp_path, "question,doc\nWho?,a\nWhy?,b\nWho?,c\n")
    assert [(query.id, query.text, dict(query.labels)) for query in imported.golden.queries] == [
        ("q001", "Who?", {"a": 1.0, "c": 1.0}),
        ("q002", "Why?", {"b": 1.0}),
    ]


@pytest.mark.parametrize(
    ("cell", "labels"),
    [
        ('"a; b"', {"a": 1.0, "b": 1.0}),
        ('"a|b"', {"a": 1.0, "b": 1.0}),
        ('"[""a"", 7]"', {"a": 1.0, "7": 1.0}),
        ('"{""a"": 2, ""b"": 0}"', {"a": 2.0, "b": 0.0}),
        ("", {}),
    ],
)
def test_relevant_ids_in_one_cell(tmp_path: Path, cell: str, labels: dict[str, float]) -> None:
    imported = columns(tmp_path, f"id,query,relevant\nq1,Who?,{cell}\n")
    assert imported.golden.queries[0].labels == labels


def test_columns_of_any_name_can_be_named_and_reach_inside(tmp_path: Path) -> None:
    row: dict[str, Any] = {"key": 7, "frage": "Wer?", "meta": {"file": "a.md"}, "zitat": "der Besitzer"}
    text = json.dumps([row])
    imported = columns(tmp_path, text, "set.json", id="key", query="frage", doc="meta.file", quote="zitat")
    (query,) = imported.golden.queries
    assert (query.id, query.text, query.anchors[0].doc_id) == ("7", "Wer?", "a.md")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,query,doc,quote,start\nq1,Who?,a,b c,x\n", "2: query 'q1': start is 'x', not an offset"),
        ("id,query,doc,grade\nq1,Who?,a,high\n", "2: query 'q1': grade is 'high', not a number"),
        ('id,query,relevant\nq1,Who?,"[1"\n', "2: query 'q1': relevant is no JSON"),
        ('id,query,relevant\nq1,Who?,"{""a"": ""b""}"\n', "the grade of 'a' is 'b', not a number"),
        ("id,query\n,Who?\n", "2: id is empty"),
        ("colour,size\nred,3\n", "no column looks like the question (it has: colour, size)"),
        ("id,query\n", "holds no row"),
    ],
)
def test_rows_that_are_wrong_are_told_with_their_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        columns(tmp_path, text)
    assert message in str(caught.value)


def test_scifact_keeps_rationales_that_cannot_be_placed(tmp_path: Path) -> None:
    write(tmp_path / "corpus.jsonl", {"doc_id": 1, "title": "T", "sentences": ["One is red.", "Two."]})
    label = {"stance": "CONTRADICT", "sentence_ids": [1], "sentences": ["Two."]}
    write(
        tmp_path / "claims_x.jsonl",
        {"query_id": 5, "query": "c", "labels": [{"doc_id": 1, **label}, {"doc_id": 1, **label}]},
        {"query_id": 6, "query": "d", "labels": [{"doc_id": 9, **label}]},
    )
    imported = FORMS["scifact"].read(tmp_path)
    assert [(one.start, one.end) for one in queries_of(imported)["5"].anchors] == [(12, 16)]
    assert queries_of(imported)["5"].kind == "contradicted"
    assert codes(imported) == ["documents-absent"]


def test_records_that_do_not_fit_a_form_are_all_told(tmp_path: Path) -> None:
    write(tmp_path / "queries.jsonl", {"query_id": "q1", "gold_source": "a"}, {"query_id": 2, "query": "x"})
    (tmp_path / "runs").mkdir()
    assert guess_form(tmp_path).name == "ray-docs"
    message = faults_of("ray-docs", tmp_path)
    assert "queries.jsonl:1: object missing required field query" in message
    assert "queries.jsonl:2: " in message
