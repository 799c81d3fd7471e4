"""ClapNQ: questions, each with its passage and the sentences that annotators chose."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from assay.model.documents import Document
from assay.model.golden import Anchor, GoldenSet, Provenance, Query
from assay.model.notices import Notice, listed
from assay.store.imports.form import Form, Imported, Options, counted
from assay.store.imports.pins import Pins
from assay.store.imports.records import read_as

_FILES = "*answerable.jsonl*"


class _Passage(msgspec.Struct):
    title: str
    text: str


class _Output(msgspec.Struct):
    selected_sentences: list[str] = []


class _Row(msgspec.Struct):
    id: str | int
    input: str
    passages: list[_Passage]
    output: list[_Output]


def _detect(path: Path) -> bool:
    return any("clapnq" in file.name for file in path.glob(_FILES))


def _parse(path: Path, options: Options) -> Imported:  # noqa: ARG001 - it has none
    rows: list[tuple[_Row, bool]] = []
    for file in sorted(path.glob(_FILES)):
        answerable = "unanswerable" not in file.name
        rows.extend((row, answerable) for _, row in read_as(file, _Row))
    documents: dict[str, Document] = {}
    for row, _ in rows:
        for passage in row.passages:
            doc_id = _doc_id(passage)
            documents.setdefault(doc_id, Document(id=doc_id, text=passage.text, title=passage.title))
    pins = Pins(documents)
    golden = GoldenSet(
        name="clapnq",
        kinds=("answerable", "unanswerable"),
        queries=tuple(
            Query(
                id=str(row.id),
                text=row.input,
                kind="answerable" if answerable else "unanswerable",
                anchors=tuple(_anchors(row, pins)) if answerable else (),
                answerable=answerable,
                provenance=Provenance(origin="imported", source="clapnq"),
            )
            for row, answerable in rows
        ),
    )
    return Imported(
        golden=golden,
        documents=tuple(documents.values()),
        notices=(*_shared(rows), *_nothing_chosen(golden), *pins.notices()),
        counts=counted(
            golden,
            tuple(documents.values()),
            chosen_sentences=sum(len(output.selected_sentences) for row, _ in rows for output in row.output),
            **pins.counts(),
        ),
    )


def _doc_id(passage: _Passage) -> str:
    """The files give passages no id: the title tells people which it is, the text which one of its title."""
    slug = re.sub(r"\W+", "-", passage.title).strip("-").lower()
    return f"{slug}-{hashlib.sha256(passage.text.encode()).hexdigest()[:8]}"


def _anchors(row: _Row, pins: Pins) -> Iterator[Anchor]:
    """Yield each chosen sentence once, whoever chose it."""
    doc_id = _doc_id(row.passages[0])
    chosen = dict.fromkeys(sentence for output in row.output for sentence in output.selected_sentences)
    for place, sentence in enumerate(chosen, start=1):
        yield pins.anchor(str(row.id), f"a{place}", doc_id, sentence)


def _shared(rows: list[tuple[_Row, bool]]) -> Iterator[Notice]:
    askers: dict[str, list[str]] = {}
    for row, _ in rows:
        askers.setdefault(_doc_id(row.passages[0]), []).append(str(row.id))
    shared = tuple(doc_id for doc_id, ids in askers.items() if len(ids) > 1)
    if shared:
        text = f"{len(shared)} passage(s) serve several questions and became one document: {listed(shared)}"
        yield Notice(code="shared-passages", text=text, ids=shared)


def _nothing_chosen(golden: GoldenSet) -> Iterator[Notice]:
    ids = tuple(query.id for query in golden.queries if query.answerable and not query.anchors)
    if ids:
        text = f"{len(ids)} answerable question(s) have no chosen sentence and so no value: {listed(ids)}"
        yield Notice(code="unlabelled", text=text, ids=ids)


FORM = Form(
    name="clapnq",
    about="ClapNQ: *_answerable.jsonl and *_unanswerable.jsonl, a passage and chosen sentences a question.",
    detect=_detect,
    parse=_parse,
)
