"""Anthropic's documentation set: sections of pages, and questions labelled with section links."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from assay.model.documents import Document
from assay.model.golden import GoldenSet, Provenance, Query
from assay.model.notices import Notice, listed
from assay.store.imports.form import Form, Imported, Options, absent_labels, counted
from assay.store.imports.records import read_as

_SECTIONS = "anthropic_docs.json"
_QUESTIONS = "docs_evaluation_dataset.json"
_BARE_WORDS = 3


class _Section(msgspec.Struct):
    chunk_link: str
    chunk_heading: str
    text: str


class _Question(msgspec.Struct):
    id: str | int
    question: str
    correct_chunks: list[str]


def _detect(path: Path) -> bool:
    return (path / _SECTIONS).is_file() and (path / _QUESTIONS).is_file()


def _parse(path: Path, options: Options) -> Imported:  # noqa: ARG001 - it has none
    sections = [row for _, row in read_as(path / _SECTIONS, _Section)]
    documents = tuple(
        Document(
            id=row.chunk_link,
            text=row.text,
            title=row.chunk_heading,
            meta={"page": row.chunk_link.split("#")[0]},
        )
        for row in sections
    )
    golden = GoldenSet(
        name="anthropic-docs",
        queries=tuple(
            Query(
                id=str(row.id),
                text=row.question,
                labels=dict.fromkeys(row.correct_chunks, 1.0),
                provenance=Provenance(origin="imported", source="anthropic-docs"),
            )
            for _, row in read_as(path / _QUESTIONS, _Question)
        ),
    )
    pages = len({document.meta["page"] for document in documents})
    return Imported(
        golden=golden,
        documents=documents,
        notices=(*absent_labels(golden, documents), *_bare(documents)),
        counts=counted(golden, documents, pages=pages),
    )


def _bare(documents: tuple[Document, ...]) -> Iterator[Notice]:
    bare = tuple(document.id for document in documents if len(document.text.split()) <= _BARE_WORDS)
    if bare:
        text = f"{len(bare)} section(s) are a bare heading, which a search cannot tell apart: {listed(bare)}"
        yield Notice(code="bare-headings", text=text, ids=bare)


FORM = Form(
    name="anthropic-docs",
    about="Anthropic's documentation set: anthropic_docs.json (sections), docs_evaluation_dataset.json.",
    detect=_detect,
    parse=_parse,
)
