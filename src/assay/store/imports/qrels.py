"""BEIR's judgements (a header, then query, document, grade) and its folder of corpus and queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from assay.model.documents import Document
from assay.model.errors import Fault, InputError
from assay.model.golden import GoldenSet, Provenance, Query
from assay.model.notices import Notice, listed
from assay.store.imports.form import Form, Imported, Option, Options, absent_labels, counted
from assay.store.imports.records import read_as
from assay.store.jsonl import read_text, split_lines

_CORPORA = ("corpus.jsonl", "corpus.jsonl.gz")
_QUERIES = ("queries.jsonl", "queries.jsonl.gz")


class _Document(msgspec.Struct):
    id: str | int = msgspec.field(name="_id")
    text: str
    title: str = ""


class QueryLine(msgspec.Struct):
    """One line of BEIR's queries."""

    id: str | int = msgspec.field(name="_id")
    text: str


def read_qrels(path: Path) -> dict[str, dict[str, float]]:
    """Return the judgements of a BEIR file: query -> document -> grade.

    The first line may be a header; columns are parted by tabs. Grades are kept as they are.

    Raises:
        InputError: lines without three columns or with no number, or a pair judged twice: all of them.
    """
    judged: dict[str, dict[str, float]] = {}
    faults: list[Fault] = []
    for number, line in enumerate(split_lines(read_text(path)), start=1):
        cells = line.split("\t")
        if not line.strip() or (number == 1 and not _is_number(cells[-1])):
            continue
        if len(cells) != 3 or not _is_number(cells[-1]):
            what = f"{len(cells)} columns, or a grade that is no number"
            faults.append(
                Fault(where=f"{path}:{number}", what=what, fix="query, document and grade, parted by tabs")
            )
            continue
        query, document, grade = cells
        if document in judged.setdefault(query, {}):
            what = f"document {document!r} is judged twice for query {query!r}"
            faults.append(Fault(where=f"{path}:{number}", what=what, fix="keep one of the two lines"))
        judged[query][document] = float(grade)
    if faults:
        raise InputError(faults)
    return judged


def labelled(
    queries: Sequence[tuple[str, str]],
    judged: Mapping[str, Mapping[str, float]],
    *,
    source: str,
    meta: Mapping[str, str] | None = None,
) -> Iterator[Query]:
    """Yield the queries (id, text) that are judged, with their labels."""
    for query_id, text in queries:
        if query_id in judged:
            yield Query(
                id=query_id,
                text=text,
                labels=dict(judged[query_id]),
                provenance=Provenance(origin="imported", source=source),
                meta=dict(meta or {}),
            )


def unmatched(
    queries: Sequence[tuple[str, str]], judged: Mapping[str, object], *, where: str
) -> Iterator[Notice]:
    """Yield notices of queries without judgements, and of judgements without their query.

    Raises:
        InputError: no query is judged at all, which is a slip in the ids.
    """
    ids = [query_id for query_id, _ in queries]
    if not set(ids) & set(judged):
        example = f"{ids[0]!r} and {next(iter(judged))!r}" if ids and judged else "one side is empty"
        raise InputError(
            Fault(
                where=where,
                what=f"no query of the queries is in the judgements (for example {example})",
                fix="name judgements of these queries; ids are compared as text",
            )
        )
    unjudged = tuple(query_id for query_id in ids if query_id not in judged)
    if unjudged:
        text = f"{len(unjudged)} queries are not judged and were left out: {listed(unjudged)}"
        yield Notice(code="unjudged-queries", text=text, ids=unjudged)
    nameless = tuple(query_id for query_id in judged if query_id not in set(ids))
    if nameless:
        text = f"{len(nameless)} judged queries have no text and were left out: {listed(nameless)}"
        yield Notice(code="judged-without-query", text=text, ids=nameless)


def _first(path: Path, names: Sequence[str]) -> Path | None:
    return next((path / name for name in names if (path / name).is_file()), None)


def _detect(path: Path) -> bool:
    return _first(path, _QUERIES) is not None and bool(list((path / "qrels").glob("*.tsv")))


def _parse(path: Path, options: Options) -> Imported:
    queries_file = _first(path, _QUERIES)
    if queries_file is None:
        raise InputError(
            Fault(
                where=str(path),
                what="there is no queries.jsonl",
                fix="name the folder that holds corpus.jsonl, queries.jsonl and qrels",
            )
        )
    split = _split_file(path / "qrels", options["split"])
    queries = [(str(row.id), row.text) for _, row in read_as(queries_file, QueryLine)]
    judged = read_qrels(split)
    corpus_file = _first(path, _CORPORA)
    documents = tuple(
        Document(id=str(row.id), text=row.text, title=row.title or None)
        for _, row in (read_as(corpus_file, _Document) if corpus_file else [])
    )
    golden = GoldenSet(
        name=path.resolve().name, queries=tuple(labelled(queries, judged, source=f"beir {split.stem}"))
    )
    return Imported(
        golden=golden,
        documents=documents,
        notices=(
            *unmatched(queries, judged, where=str(split)),
            *(absent_labels(golden, documents) if documents else ()),
        ),
        counts=counted(golden, documents),
    )


def _split_file(folder: Path, chosen: str) -> Path:
    files = {file.stem: file for file in sorted(folder.glob("*.tsv"))}
    if chosen in files:
        return files[chosen]
    if not chosen and ("test" in files or len(files) == 1):
        return files.get("test") or next(iter(files.values()))
    names = ", ".join(files) or "none"
    what = f"there is no split {chosen!r}" if chosen else "there are several splits, none called test"
    raise InputError(Fault(where=str(folder), what=what, fix=f"choose one: split=NAME ({names})"))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


FORM = Form(
    name="beir",
    about="BEIR's folder: corpus.jsonl, queries.jsonl and qrels/*.tsv.",
    detect=_detect,
    parse=_parse,
    options={"split": Option(about="which file of qrels; test, or the only one, when left out")},
)
