"""SciFact: abstracts as lists of sentences, claims with rationale sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from assay.model.documents import Document
from assay.model.errors import Fault, InputError
from assay.model.golden import Anchor, GoldenSet, Provenance, Query
from assay.model.notices import Notice, listed
from assay.store.imports.form import Form, Imported, Options, counted
from assay.store.imports.pins import Pins
from assay.store.imports.records import read_as


class _Abstract(msgspec.Struct):
    doc_id: str | int
    title: str
    sentences: list[str]


class _Rationale(msgspec.Struct):
    doc_id: str | int
    stance: str
    sentence_ids: list[int]
    sentences: list[str]


class _Claim(msgspec.Struct):
    query_id: str | int
    query: str
    labels: list[_Rationale]
    cited_doc_ids: list[str | int] = []


def _corpus(path: Path) -> Path:
    return next((file for file in (path / "corpus.jsonl", path / "corpus.jsonl.gz") if file.is_file()), path)


def _detect(path: Path) -> bool:
    return _corpus(path) != path and bool(list(path.glob("claims_*.jsonl")))


def _parse(path: Path, options: Options) -> Imported:  # noqa: ARG001 - it has none
    abstracts = {str(row.doc_id): row for _, row in read_as(_corpus(path), _Abstract)}
    documents = tuple(
        Document(id=doc_id, text=" ".join(row.sentences), title=row.title)
        for doc_id, row in abstracts.items()
    )
    files = sorted(path.glob("claims_*.jsonl"))
    if len(files) != 1:
        raise InputError(
            Fault(
                where=str(path),
                what=f"{len(files)} files of claims; one file is one set",
                fix="keep one claims_*.jsonl in the folder",
            )
        )
    rows = read_as(files[0], _Claim)
    pins = Pins({document.id: document for document in documents})
    golden = GoldenSet(
        name="scifact",
        kinds=("supported", "contradicted", "no evidence"),
        queries=tuple(_query(row, abstracts, pins) for _, row in rows),
    )
    rationales = sum(len(row.labels) for _, row in rows)
    return Imported(
        golden=golden,
        documents=documents,
        notices=(*_without_evidence(golden), *pins.notices()),
        counts=counted(golden, documents, rationales=rationales, **pins.counts()),
    )


def _query(row: _Claim, abstracts: Mapping[str, _Abstract], pins: Pins) -> Query:
    stances = {label.stance for label in row.labels}
    kind = {
        frozenset({"SUPPORT"}): "supported",
        frozenset({"CONTRADICT"}): "contradicted",
        frozenset[str](): "no evidence",
    }.get(frozenset(stances), "both")
    return Query(
        id=str(row.query_id),
        text=row.query,
        kind=kind,
        anchors=tuple(_anchors(row, abstracts, pins)),
        provenance=Provenance(origin="imported", source="scifact"),
        meta={"cited": " ".join(map(str, row.cited_doc_ids))} if row.cited_doc_ids else {},
    )


def _anchors(row: _Claim, abstracts: Mapping[str, _Abstract], pins: Pins) -> Iterator[Anchor]:
    """Yield each rationale sentence once, pinned where the abstract has it."""
    seen: set[tuple[str, int]] = set()
    for rationale in row.labels:
        doc_id = str(rationale.doc_id)
        for sentence_id, sentence in zip(rationale.sentence_ids, rationale.sentences, strict=False):
            if (doc_id, sentence_id) in seen:
                continue
            seen.add((doc_id, sentence_id))
            abstract = abstracts.get(doc_id)
            start = sum(len(before) + 1 for before in abstract.sentences[:sentence_id]) if abstract else None
            at = None if start is None else (start, start + len(sentence))
            yield pins.anchor(str(row.query_id), f"a{len(seen)}", doc_id, sentence, at)


def _without_evidence(golden: GoldenSet) -> Iterator[Notice]:
    ids = tuple(query.id for query in golden.queries if not query.anchors)
    if ids:
        text = (
            f"{len(ids)} claims have no evidence: they have no value, leave the mean, and are counted; "
            "nobody has searched the whole corpus for them, so they are not called unanswerable: "
            f"{listed(ids)}"
        )
        yield Notice(code="unlabelled", text=text, ids=ids)


FORM = Form(
    name="scifact",
    about="SciFact: corpus.jsonl of abstracts (sentences) and claims_*.jsonl with rationale sentences.",
    detect=_detect,
    parse=_parse,
)
