"""SQuAD answers placed in whole articles: docs/*.txt and golden.jsonl with character spans."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from assay.model.documents import Document
from assay.model.errors import Fault, InputError
from assay.model.golden import Anchor, GoldenSet, Provenance, Query
from assay.store.imports.form import Form, Imported, Option, Options, counted
from assay.store.imports.pins import Pins
from assay.store.jsonl import read_jsonl, read_text

_SENTENCE_END = re.compile(r"(?:[.!?؟]+[\"'”’)\]]*\s+(?=[\"'“‘(\[]*[^\W_a-z])|[。！？]+|\n+)")


class _Label(msgspec.Struct):
    doc_id: str
    start: int
    end: int
    text: str


class _Row(msgspec.Struct):
    query_id: str
    query: str
    labels: list[_Label]


def _detect(path: Path) -> bool:
    golden = path / "golden.jsonl"
    if not (golden.is_file() and (path / "docs").is_dir()):
        return False
    with golden.open(encoding="utf-8", errors="replace") as file:
        first = file.readline()
    return '"query_id"' in first and '"labels"' in first


def _parse(path: Path, options: Options) -> Imported:
    documents = tuple(
        Document(id=file.name, text=read_text(file)) for file in sorted((path / "docs").glob("*.txt"))
    )
    pins = Pins({document.id: document for document in documents})
    sentences = options["anchors"] == "sentence"
    queries: list[Query] = []
    faults: list[Fault] = []
    for line, record in read_jsonl(path / "golden.jsonl").records:
        try:
            row = msgspec.convert(record, _Row)
        except msgspec.ValidationError as error:
            where, fix = f"{path / 'golden.jsonl'}:{line}", "a line has query_id, query and labels"
            faults.append(Fault(where=where, what=str(error), fix=fix))
            continue
        queries.append(
            Query(
                id=row.query_id,
                text=row.query,
                anchors=tuple(_anchors(row.query_id, row.labels, pins, sentences=sentences)),
                provenance=Provenance(origin="imported", source="squad-fulldoc"),
            )
        )
    if faults:
        raise InputError(faults)
    golden = GoldenSet(name="squad-fulldoc", queries=tuple(queries))
    return Imported(
        golden=golden,
        documents=documents,
        notices=tuple(pins.notices()),
        counts=counted(golden, documents, **pins.counts()),
    )


def _anchors(query_id: str, labels: Sequence[_Label], pins: Pins, *, sentences: bool) -> Iterator[Anchor]:
    for place, label in enumerate(labels, start=1):
        at = (label.start, label.end)
        text = label.text
        if sentences and label.doc_id in pins.documents:
            document = pins.documents[label.doc_id]
            if document.text[at[0] : at[1]] == text:
                at = sentence_around(document.text, *at)
                text = document.text[at[0] : at[1]]
        yield pins.anchor(query_id, f"a{place}", label.doc_id, text, at)


def sentence_around(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span of the sentence (or sentences) that hold a span, without white space around.

    >>> text = "It rained. The fee is 12 euros. Bring it."
    >>> begin, stop = sentence_around(text, 22, 24)
    >>> text[begin:stop]
    'The fee is 12 euros.'
    """
    left = text.rfind("\n", 0, start) + 1
    for mark in _SENTENCE_END.finditer(text, left, len(text)):
        if mark.end() > start:
            break
        left = mark.end()
    mark = next((mark for mark in _SENTENCE_END.finditer(text, left) if mark.end() >= end), None)
    right = mark.end() if mark else len(text)
    while right > end and text[right - 1].isspace():
        right -= 1
    return left, right


FORM = Form(
    name="squad-fulldoc",
    about="SQuAD answers in whole articles: docs/*.txt and golden.jsonl with character spans.",
    detect=_detect,
    parse=_parse,
    options={
        "anchors": Option(
            about="the answer itself, pinned to its place, or the sentence around it",
            default="answer",
            choices=("answer", "sentence"),
        )
    },
)
