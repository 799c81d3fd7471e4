"""Chroma's chunking evaluation: one Markdown corpus a subject, questions with character spans."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec

from assay.model.documents import Document
from assay.model.errors import Fault, InputError
from assay.model.golden import GoldenSet, Provenance, Query
from assay.store.imports.form import Form, Imported, Options, counted
from assay.store.imports.pins import Pins
from assay.store.jsonl import read_text
from assay.store.tables import read_table

_QUESTIONS = "questions_df.csv"
_CORPORA = "corpora"


class _Reference(msgspec.Struct):
    content: str
    start_index: int
    end_index: int


def _detect(path: Path) -> bool:
    return (path / _QUESTIONS).is_file() and (path / _CORPORA).is_dir()


def _parse(path: Path, options: Options) -> Imported:  # noqa: ARG001 - it has none
    documents = tuple(
        Document(id=file.name, text=read_text(file)) for file in sorted((path / _CORPORA).glob("*.md"))
    )
    pins = Pins({document.id: document for document in documents})
    faults: list[Fault] = []
    golden = GoldenSet(name="chroma-chunking", queries=tuple(_queries(path / _QUESTIONS, pins, faults)))
    if faults:
        raise InputError(faults)
    return Imported(
        golden=golden,
        documents=documents,
        notices=tuple(pins.notices()),
        counts=counted(golden, documents, **pins.counts()),
    )


def _queries(path: Path, pins: Pins, faults: list[Fault]) -> Iterator[Query]:
    numbers: Counter[str] = Counter()
    for line, row in read_table(path).rows:
        try:
            references = msgspec.json.decode(row["references"], type=list[_Reference])
        except (msgspec.DecodeError, KeyError) as error:
            what, fix = (
                f"references cannot be read: {error}",
                "a JSON list of objects with content, start_index and end_index",
            )
            faults.append(Fault(where=f"{path}:{line}", what=what, fix=fix))
            continue
        corpus = row.get("corpus_id", "")
        numbers[corpus] += 1
        query_id = f"{corpus}-{numbers[corpus]:03}"
        yield Query(
            id=query_id,
            text=row.get("question", ""),
            anchors=tuple(
                pins.anchor(
                    query_id,
                    f"a{place}",
                    f"{corpus}.md",
                    reference.content,
                    (reference.start_index, reference.end_index),
                )
                for place, reference in enumerate(references, start=1)
            ),
            provenance=Provenance(origin="imported", source="chroma-chunking"),
            meta={"corpus": corpus},
        )


FORM = Form(
    name="chroma-chunking",
    about="Chroma's chunking evaluation: corpora/*.md and questions_df.csv with character spans.",
    detect=_detect,
    parse=_parse,
)
