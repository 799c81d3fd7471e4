"""ARAGOG: questions on papers, each labelled with a whole PDF; some of the papers' text."""

from __future__ import annotations

from pathlib import Path

import msgspec

from assay.model.documents import Document
from assay.model.errors import Fault, InputError
from assay.model.golden import GoldenSet, Provenance, Query
from assay.model.notices import Notice
from assay.store.imports.form import Form, Imported, Options, absent_labels, counted
from assay.store.jsonl import read_raw, read_text

_QUESTIONS = "eval_questions_relevant_doc.json"


class _Columns(msgspec.Struct):
    questions: list[str]
    filepaths: list[str]


def _detect(path: Path) -> bool:
    return (path / _QUESTIONS).is_file()


def _parse(path: Path, options: Options) -> Imported:  # noqa: ARG001 - it has none
    file = path / _QUESTIONS
    try:
        columns = msgspec.json.decode(read_raw(file), type=_Columns)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(
            Fault(
                where=str(file),
                what=f"not ARAGOG's columns: {error}",
                fix=f"name the folder that holds {_QUESTIONS} and pdf_text, as they were published",
            )
        ) from error
    if len(columns.questions) != len(columns.filepaths):
        what = f"{len(columns.questions)} questions, but {len(columns.filepaths)} papers"
        raise InputError(
            Fault(where=str(file), what=what, fix="restore the file; every question has its paper")
        )
    documents = tuple(
        Document(id=f"{text.stem}.pdf", text=read_text(text), title=text.stem)
        for text in sorted((path / "pdf_text").glob("*.txt"))
    )
    golden = GoldenSet(
        name="aragog",
        queries=tuple(
            Query(
                id=f"q{number:03}",
                text=question,
                labels={paper: 1.0},
                provenance=Provenance(origin="imported", source="aragog"),
            )
            for number, (question, paper) in enumerate(
                zip(columns.questions, columns.filepaths, strict=True), start=1
            )
        ),
    )
    papers = len(set(columns.filepaths))
    return Imported(
        golden=golden,
        documents=documents,
        notices=(*absent_labels(golden, documents), *_results(path)),
        counts=counted(golden, documents, papers=papers),
    )


def _results(path: Path) -> tuple[Notice, ...]:
    files = tuple(sorted(file.name for file in (path / "results").glob("detailed_*.csv*")))
    if not files:
        return ()
    text = (
        f"{len(files)} file(s) of results were left out: their contexts name no document, and stand in "
        "another extraction of the PDFs than the text that is here"
    )
    return (Notice(code="results-left-out", text=text, ids=files),)


FORM = Form(
    name="aragog",
    about="ARAGOG: eval_questions_relevant_doc.json with one paper a question, pdf_text/*.txt.",
    detect=_detect,
    parse=_parse,
)
