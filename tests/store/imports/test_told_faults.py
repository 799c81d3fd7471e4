"""What is said of a set in a known form that cannot be read: the place, what is wrong, and the fix."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from assay.model.errors import InputError
from assay.store.imports.known import FORMS

Make = Callable[[Path], Path]
"""Writes a set into a folder and returns what is read."""


def text(name: str, *lines: str) -> Make:
    def make(folder: Path) -> Path:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return folder

    return make


def all_of(*makes: Make) -> Make:
    def make(folder: Path) -> Path:
        for one in makes:
            one(folder)
        return folder

    return make


def the_file(name: str, make: Make) -> Make:
    return lambda folder: make(folder) / name


def autorag_questions(folder: Path) -> Path:
    rows = {"qid": ["q1"], "query": ["Who?"], "retrieval_gt": [[["p1"]]]}
    pl.DataFrame(rows).write_parquet(folder / "qa.parquet")
    return folder


def autorag_pair(folder: Path) -> Path:
    for name in ("one", "two"):
        autorag_questions(folder).joinpath("qa.parquet").rename(folder / f"{name}.parquet")
    return folder


ABSTRACT = '{"doc_id": 1, "title": "T", "sentences": ["A."]}'
CLAIM = '{"query_id": 1, "query": "A?", "labels": []}'

FAULTS: dict[str, tuple[str, Make, str]] = {
    "columns of other names": (
        "aragog",
        text("eval_questions_relevant_doc.json", '{"question": []}'),
        (
            "{path}/eval_questions_relevant_doc.json: not ARAGOG's columns: "
            "Object missing required field `questions`\n"
            "  fix: name the folder that holds eval_questions_relevant_doc.json and pdf_text, "
            "as they were published"
        ),
    ),
    "columns of two lengths": (
        "aragog",
        text(
            "eval_questions_relevant_doc.json", '{"questions": ["A?"], "ground_truths": [], "filepaths": []}'
        ),
        (
            "{path}/eval_questions_relevant_doc.json: 1 questions, but 0 papers\n"
            "  fix: restore the file; every question has its paper"
        ),
    ),
    "no file of questions": (
        "autorag",
        text("readme.txt", "-"),
        "{path}: no file has qid, query, retrieval_gt\n  fix: name the folder of AutoRAG's data",
    ),
    "two files of questions": (
        "autorag",
        autorag_pair,
        "{path}: there are 2 files of questions: one.parquet, two.parquet\n  fix: choose one: questions=NAME",
    ),
    "questions without their passages": (
        "autorag",
        autorag_questions,
        (
            "{path}/qa.parquet: no file beside it holds a passage that the questions name\n"
            "  fix: put the corpus (doc_id, contents) beside it"
        ),
    ),
    "a Parquet file that is none": (
        "autorag",
        the_file("qa.parquet", text("qa.parquet", "not Parquet")),
        "{path}/qa.parquet: not Parquet: ",
    ),
    "references that are no JSON": (
        "chroma-chunking",
        all_of(
            text("corpora/a.md", "A."), text("questions_df.csv", "question,references,corpus_id", "A?,[,a")
        ),
        (
            "{path}/questions_df.csv:2: references cannot be read: Input data was truncated\n"
            "  fix: a JSON list of objects with content, start_index and end_index"
        ),
    ),
    "no queries": (
        "beir",
        text("qrels/test.tsv", "query-id\tcorpus-id\tscore"),
        (
            "{path}: there is no queries.jsonl\n"
            "  fix: name the folder that holds corpus.jsonl, queries.jsonl and qrels"
        ),
    ),
    "a record that is not of the form": (
        "squad-fulldoc",
        text("golden.jsonl", '{"query_id": "q1", "query": 7, "labels": []}'),
        (
            "{path}/golden.jsonl:1: Expected `str`, got `int` - at `$.query`\n"
            "  fix: a line has query_id, query and labels"
        ),
    ),
    "a claim without its words": (
        "scifact",
        all_of(text("corpus.jsonl", ABSTRACT), text("claims_dev.jsonl", '{"query_id": 1, "labels": []}')),
        (
            "{path}/claims_dev.jsonl:1: object missing required field query\n"
            "  fix: a record has query_id, query, labels, cited_doc_ids"
        ),
    ),
    "two files of claims": (
        "scifact",
        all_of(
            text("corpus.jsonl", ABSTRACT), text("claims_dev.jsonl", CLAIM), text("claims_train.jsonl", CLAIM)
        ),
        "{path}: 2 files of claims; one file is one set\n  fix: keep one claims_*.jsonl in the folder",
    ),
    "a collection without its judgements": (
        "smart",
        all_of(text("CRAN.ALL", ".I 1", ".W", "a"), text("CRAN.QRY", ".I 1", ".W", "a")),
        "{path}: there is no *.REL (relevance)\n  fix: name the folder that holds all three",
    ),
    "judgements of two columns": (
        "smart",
        all_of(
            text("CRAN.ALL", ".I 1", ".W", "a"),
            text("CRAN.QRY", ".I 1", ".W", "a"),
            text("CRAN.REL", "1 1"),
        ),
        (
            "{path}/CRAN.REL:1: not query, document and grade: 2 columns\n"
            "  fix: three or four numbers, parted by blanks"
        ),
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_set_that_cannot_be_read_is_told_with_its_place_and_its_fix(name: str, tmp_path: Path):
    form, make, told = FAULTS[name]
    path = make(tmp_path)
    with pytest.raises(InputError) as caught:
        FORMS[form].read(path, {})
    assert str(caught.value).startswith(told.format(path=tmp_path))
    assert all(fault.fix for fault in caught.value.faults)
